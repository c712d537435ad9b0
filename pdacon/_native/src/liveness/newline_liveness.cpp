#include "liveness/newline_liveness.hpp"

#include <algorithm>

namespace pdacon {

bool NewlineLiveness::is_live(const LexerConfiguration& lexing, std::int32_t speller_state) {
    if (!is_future_live(lexing, speller_state)) return false;
    const bool free = speller_state == 0 ? coaccessibility_.is_column_independent(lexing)
                                         : any_column(machine_.lexer, lexing);
    return free || search(lexing, speller_state);
}

bool NewlineLiveness::is_future_live(const LexerConfiguration& lexing, std::int32_t speller_state) {
    if (speller_state != 0) return coaccessibility_.is_future_live(lexing, speller_state, stack_);
    const auto future = coaccessibility_.future(lexing);
    const auto known = std::ranges::find(futures_, future, &std::pair<std::int32_t, bool>::first);
    if (known != futures_.end()) return known->second;
    futures_.emplace_back(future, coaccessibility_.is_live(future, stack_));
    return futures_.back().second;
}

bool NewlineLiveness::search(const LexerConfiguration& lexing, std::int32_t speller_state) {
    if (equivalent_from_ < 0) equivalent_from_ = machine_.layout.equivalent_from(stack_.column());
    nodes_.clear();
    node_ids_ = Interner();
    add(lexing, speller_state, -1);
    for (std::int32_t at = 0; at < static_cast<std::int32_t>(nodes_.size()); ++at) {
        budget_.tick();
        const auto node = nodes_[at];
        const auto known = known_[node.id];
        if (known == Liveness::kDeadOnAll) continue;
        if (known != Liveness::kLiveOnAll && !ends_here(node) && !goes_on_after(at)) continue;
        for (auto back = at; back >= 0; back = nodes_[back].from)
            known_[nodes_[back].id] = Liveness::kLiveOnAll;
        return true;
    }
    for (const auto& node : nodes_) known_[node.id] = Liveness::kDeadOnAll;
    return false;
}

// Columns further in than the innermost block can open are equivalent within their class.
void NewlineLiveness::add(const LexerConfiguration& lexing, std::int32_t speller_state, std::int32_t from) {
    const auto next = machine_.layout.classes.least(lexing, equivalent_from_);
    const std::int32_t key[] = {next.state, next.now.value, next.matched.value, speller_state};
    const auto id = configuration_ids_.intern(key);
    if (static_cast<std::size_t>(id) == known_.size()) known_.push_back(Liveness::kUnknown);
    const auto known = node_ids_.size();
    if (static_cast<std::size_t>(node_ids_.intern(std::span(&id, 1))) == known)
        nodes_.push_back({next, speller_state, id, from});
}

bool NewlineLiveness::ends_here(const SearchNode& at) {
    auto closed = stack_;
    return coaccessibility_.futures().may_end(at.speller_state) && ends(machine_, closed, at.lexing);
}

// Whether one more byte leads out of the newline, or to a new line of it, with a live future. If not, all
// configurations within the line that one byte leads to are added to the search.
bool NewlineLiveness::goes_on_after(std::int32_t at) {
    const auto from = nodes_[at];
    taken_.clear();
    std::vector<std::int32_t> pending;
    for (const auto& move : coaccessibility_.futures().moves(from.speller_state)) {
        auto next = from.lexing;
        const auto state = machine_.lexer.next(next.state, move.byte_class);
        if (state == LexingAutomaton::kDead) continue;
        auto after = stack_;
        if (state >= 0) {
            machine_.lexer.move(next, state, move.byte_class);
            if (!any_column(machine_.lexer, next)) {
                add(next, move.speller_state, at);
                continue;
            }
        } else {
            const auto& commit = machine_.lexer.commit(state);
            if (!takes(commit, machine_.lexer.committed_column(commit, next, move.byte_class))) continue;
            pending.assign(1, move.byte_class);
            if (!read(machine_, after, next, pending)) continue;
        }
        if (coaccessibility_.is_future_live(next, move.speller_state, after)) return true;
    }
    return false;
}

// Whether the parser takes a label with a column. Most of the bytes that end a lexeme commit it alike.
bool NewlineLiveness::takes(const Commit& commit, Column column) {
    const auto known = std::find_if(taken_.begin(), taken_.end(), [&](const Taken& known_label) {
        return known_label.label == commit.label && known_label.column == column;
    });
    if (known != taken_.end()) return known->taken;
    auto after = stack_;
    taken_.push_back({commit.label, column, feed_label(machine_, after, commit.label, column)});
    return taken_.back().taken;
}

}  // namespace pdacon
