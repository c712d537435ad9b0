#include "every_mask.hpp"

#include <utility>

namespace pdacon {

EveryMask::EveryMask(TokenPda& pda, std::int32_t most_columns, Budget budget)
    : pda_(pda),
      machine_(pda.machine()),
      budget_(budget),
      situations_(machine_, pda.trie(), most_columns, budget_) {
    if (machine_.layout.newline >= 0) find_blocks(most_columns);
}

std::size_t EveryMask::run() {
    pda_.leading_mask();
    for (const auto& [reading, tops] : situations_.places())
        for (const auto top : tops) open({reading, {top}});
    for (; !open_.empty(); open_.pop_front()) file(open_.front());
    return left_;
}

void EveryMask::open(Open next) {
    if (open_.size() < kMostOpen)
        open_.push_back(std::move(next));
    else
        ++left_;
}

// Sets of columns, as open blocks have them: each block is further in than the one around it, perhaps by a
// width that all have.
void EveryMask::find_blocks(std::int32_t most_columns) {
    opens_block_.assign(static_cast<std::size_t>(machine_.tables.num_states), 0);
    for (std::int32_t state = 0; state < machine_.tables.num_states; ++state)
        for (const auto next : machine_.shifted(state, machine_.layout.indent))
            opens_block_[static_cast<std::size_t>(next)] = 1;
    blocks_.emplace_back();
    if (const auto width = machine_.layout.indent_len; width > 0) {
        for (auto column = width; column <= most_columns; column += width) {
            blocks_.push_back(blocks_.back());
            blocks_.back().push_back(column);
        }
        return;
    }
    for (std::int32_t column = 1; column <= most_columns; ++column)
        for (std::size_t at = 0, size = blocks_.size(); at < size; ++at) {
            budget_.look();
            blocks_.push_back(blocks_[at]);
            blocks_.back().push_back(column);
        }
}

// Whether so many blocks can be open where these LR states are on top.
bool EveryMask::fits(const States& topmost, std::int32_t blocks) const {
    const auto& columns = blocks_[static_cast<std::size_t>(blocks)];
    auto left = columns.size();
    for (const auto state : topmost) {
        const auto column = Column::at(left == 0 ? 0 : columns[left - 1]);
        if (machine_.layout.classes.least(column).value != machine_.block(state)) return false;
        if (opens_block_[static_cast<std::size_t>(state)] == 0) continue;
        if (left == 0) return false;
        --left;
    }
    return true;
}

// The same situation for all columns of open blocks.
void EveryMask::open_blocks(const Open& at) {
    for (std::int32_t blocks = 0; blocks < static_cast<std::int32_t>(blocks_.size()); ++blocks) {
        budget_.tick();
        if (fits(at.topmost, blocks)) open({at.reading, at.topmost, blocks});
    }
}

// Files the mask of a stack with these topmost states, and opens the others that differ where it was looked
// at.
void EveryMask::file(const Open& at) {
    const auto& topmost = at.topmost;
    budget_.look();
    const auto whole = situations_.completed(topmost);
    PersistentStack stack(whole.back());
    for (auto depth = whole.size() - 1; depth > 0; --depth) stack.push(whole[depth - 1]);
    if (at.blocks >= 0)
        for (const auto column : blocks_[static_cast<std::size_t>(at.blocks)]) stack.open_block(column);
    const auto filed = pda_.file_mask(at.reading, stack, at.blocks >= 0);
    if (!filed) {
        ++left_;
        return;
    }
    if (filed->columns && at.blocks < 0) {
        open_blocks(at);
        return;
    }
    for (auto depth = topmost.size(); depth < filed->states; ++depth) {
        States other(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
        for (const auto lower : situations_.below(whole[depth - 1])) {
            if (lower == whole[depth]) continue;
            other.back() = lower;
            if (at.blocks >= 0 && !fits(other, at.blocks)) continue;
            if (depth < kDeepest)
                open({at.reading, other, at.blocks});
            else
                ++left_;
        }
    }
}

}  // namespace pdacon
