// What Pushbacks asks of the subset construction while it is under way.
#include <algorithm>

#include "lexer/subset_construction.hpp"

namespace pdacon {

std::vector<std::int32_t> SubsetConstruction::entries_after(std::int32_t label, std::int32_t look_behind) {
    std::vector<std::int32_t> entries;
    for (const auto context : contexts_after(label)) {
        const auto found = entry(context, look_behind);
        if (std::ranges::find(entries, found) == entries.end()) entries.push_back(found);
    }
    return entries;
}

std::int32_t SubsetConstruction::next(std::int32_t state, std::int32_t cls) {
    const auto number = number_of(state);
    if (number >= 0 && static_cast<std::size_t>(number) < made_.end.size()) {
        const auto target = transitions_.next(number, cls);
        if (target == LexingAutomaton::kDead) return target;
        return target >= 0 ? reached_[target] : reached_commits_[LexingAutomaton::commit_number(target)];
    }
    if (is_plain(state)) state = written_out(state);
    const auto at = static_cast<std::size_t>(state);
    if (steps_[at].empty()) {
        std::vector<Step> row(static_cast<std::size_t>(bytes_.count));
        if (states_[at].at_start) complete(state, row);  // all of it will be asked for
        steps_[at] = std::move(row);
    }
    auto found = steps_[at][cls];
    if (found.target == Step::kUnknown) {
        found = step(state, cls);
        steps_[at][cls] = found;
    }
    return found.target;
}

std::vector<std::int32_t> SubsetConstruction::carried(std::int32_t state) const {
    std::vector<std::int32_t> found;
    if (is_plain(state)) return found;
    const auto& of = states_[state];
    for (const auto slot : waiting_slots(of)) found.push_back(match_in(of, slot).pushback);
    return found;
}

void SubsetConstruction::move(LexerConfiguration& lexing, std::int32_t next, std::int32_t cls) const {
    if (columns_.active()) columns_.move(lexing, keeps(lexing.state), keeps(next), cls);
}

Pushbacks::Committed SubsetConstruction::committed(std::int32_t commit, const LexerConfiguration& lexing,
                                                   std::int32_t cls) {
    const auto& match = commits_[LexingAutomaton::commit_number(commit)];
    Column column;
    if (match.label == spec_.newline)
        column = match.waits() ? lexing.matched : columns_.after(lexing.now, keeps(lexing.state), cls);
    return {match.label, match.look_behind, match.pushback, column};
}

}  // namespace pdacon
