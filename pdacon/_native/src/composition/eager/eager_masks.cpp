#include "composition/eager/eager_masks.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace pdacon {

std::size_t EagerMasks::run() {
    try {
        compute_all();
    } catch (const LimitExceeded& limit) {
        if (std::string_view(limit.what()) != "seconds") throw;
        left_ += std::max<std::size_t>(queue_.size(), 1);
    }
    return left_;
}

void EagerMasks::compute_all() {
    pda_.prepare();  // finds the predecessors of LR states
    configurations_.emplace(machine_, pda_.trie(), most_columns_, budget_);
    if (machine_.layout.newline >= 0) {
        find_levels();
        find_blocks();
    }
    pda_.plain().leading_mask();
    for (const auto& [lexing, tops] : configurations_->all())
        for (const auto top : tops) enqueue({lexing, {top}});
    while (!queue_.empty() && compute(queue_.front())) queue_.pop_front();
    left_ += queue_.size();
}

void EagerMasks::enqueue(Abstract next) {
    if (queue_.size() < kMostQueued)
        queue_.push_back(std::move(next));
    else
        ++left_;
}

// A fixpoint over the productions. INDENT and DEDENT may lie in rules of their own. The level of a
// nonterminal is the sum over the symbols of any one of its productions: blocks are balanced, so the sum is
// the same in all.
void EagerMasks::find_levels() {
    constexpr auto kUnknown = std::numeric_limits<std::int32_t>::min();
    const auto& tables = machine_.tables;
    levels_.assign(static_cast<std::size_t>(tables.num_states), kUnknown);
    for (std::int32_t state = 0; state < tables.num_states; ++state)
        for (std::int32_t terminal = 0; terminal < tables.num_terminals; ++terminal)
            for (const auto next : machine_.shifted(state, terminal))
                levels_[next] = (terminal == machine_.layout.indent) - (terminal == machine_.layout.dedent);
    const auto level_of = [&](std::int32_t end, std::int32_t length) {
        std::int32_t level = 0;
        for (auto at = static_cast<std::size_t>(end); length > 0; --length) {
            if (levels_[at] == kUnknown || machine_.predecessors[at].empty()) return kUnknown;
            level += levels_[at];
            at = static_cast<std::size_t>(machine_.predecessors[at].front());
        }
        return level;
    };
    std::vector<std::uint8_t> known(static_cast<std::size_t>(tables.num_nonterminals), 0);
    for (bool again = true; again;) {
        again = false;
        for (std::int32_t state = 0; state < tables.num_states; ++state) {
            budget_.look();
            for (std::int32_t terminal = 0; terminal <= tables.num_terminals; ++terminal) {
                const auto action = tables.action_of(state, terminal);
                if (action >= 0) continue;
                const auto production = static_cast<std::size_t>(-action - 1);
                const auto lhs = tables.lhs[production];
                if (known[lhs] != 0) continue;
                const auto level = level_of(state, tables.length[production]);
                if (level == kUnknown) continue;
                known[lhs] = 1;
                again = true;
                for (std::int32_t from = 0; from < tables.num_states; ++from)
                    if (const auto next = tables.goto_of(from, lhs); next >= 0) levels_[next] = level;
            }
        }
    }
    std::ranges::replace(levels_, kUnknown, 0);
}

// All ascending lists of columns that open blocks can have; with a fixed width of indentation, its multiples
// only.
void EagerMasks::find_blocks() {
    blocks_.emplace_back();
    if (const auto width = machine_.layout.indent_len; width > 0) {
        for (auto column = width; column <= most_columns_; column += width) {
            blocks_.push_back(blocks_.back());
            blocks_.back().push_back(column);
        }
        return;
    }
    for (std::int32_t column = 1; column <= most_columns_; ++column)
        for (std::size_t at = 0, size = blocks_.size(); at < size; ++at) {
            budget_.look();
            blocks_.push_back(blocks_[at]);
            blocks_.back().push_back(column);
        }
}

// Whether the blocks can be open with these topmost LR states.
bool EagerMasks::fits(const States& topmost, std::int32_t blocks) const {
    const auto& columns = blocks_[blocks];
    auto left = columns.size();
    std::int32_t closed = 0;  // how many blocks the states above have closed
    for (const auto state : topmost) {
        const auto column = Column::at(left == 0 ? 0 : columns[left - 1]);
        if (closed == 0 && machine_.layout.classes.least(column).value != machine_.block(state)) return false;
        closed -= levels_[state];
        for (; closed < 0; ++closed)
            if (left-- == 0) return false;
    }
    return true;
}

// Enqueues an abstract configuration with each list of open blocks that fits it.
void EagerMasks::enqueue_with_blocks(const Abstract& at) {
    for (std::int32_t blocks = 0; blocks < static_cast<std::int32_t>(blocks_.size()); ++blocks) {
        budget_.tick();
        if (fits(at.topmost, blocks)) enqueue({at.lexing, at.topmost, blocks});
    }
}

// Computes the mask of a stack with these topmost states, and enqueues those that differ from it in a state
// that the computation looked at. False: there is no room for more masks, so nothing more need be computed.
bool EagerMasks::compute(const Abstract& at) {
    const auto& topmost = at.topmost;
    budget_.look();
    const auto whole = configurations_->completed(topmost);
    PersistentStack stack(whole.back());
    for (auto depth = whole.size() - 1; depth > 0; --depth) stack.push(whole[depth - 1]);
    if (at.blocks >= 0)
        for (const auto column : blocks_[at.blocks]) stack.open_block(column);
    const auto filed = pda_.plain().file_mask(at.lexing, stack, at.blocks >= 0);
    if (!filed) return false;
    if (filed->columns && at.blocks < 0) {
        enqueue_with_blocks(at);
        return true;
    }
    for (auto depth = topmost.size(); depth < filed->states; ++depth) {
        States other(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
        for (const auto lower : configurations_->below(whole[depth - 1])) {
            if (lower == whole[depth]) continue;
            other.back() = lower;
            if (at.blocks >= 0 && !fits(other, at.blocks)) continue;
            if (depth < kDeepest)
                enqueue({at.lexing, other, at.blocks});
            else
                ++left_;
        }
    }
    return true;
}

}  // namespace pdacon
