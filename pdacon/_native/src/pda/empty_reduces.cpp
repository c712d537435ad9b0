#include "pda/empty_reduces.hpp"

#include "pda/pushdown.hpp"

namespace pdacon {

std::optional<EmptyReduces::Outcome> EmptyReduces::known(std::int32_t state) const {
    const auto& tables = machine_.tables;
    const auto action = tables.action_of(state, terminal_);
    if (action == 0) return Outcome{};
    if (action > 0) return Outcome{Outcome::Kind::kShifts};
    const auto production = static_cast<std::size_t>(-action - 1);
    if (const auto length = tables.length[production]; length > 0)
        return Outcome{Outcome::Kind::kPops, -1, tables.lhs[production], length};
    const auto found = outcomes_.find(state);
    return found == outcomes_.end() ? std::nullopt : std::optional(found->second);
}

void EmptyReduces::open(std::int32_t state) {
    const auto& tables = machine_.tables;
    const auto production = static_cast<std::size_t>(-tables.action_of(state, terminal_) - 1);
    outcomes_.emplace(state, Outcome{});
    open_.push_back({state, tables.goto_of(state, tables.lhs[production])});
}

EmptyReduces::Outcome EmptyReduces::of(std::int32_t state) {
    if (const auto found = known(state)) return *found;
    open(state);
    while (!open_.empty()) {
        if (const auto found = follow(open_.back())) {
            outcomes_[open_.back().state] = *found;
            open_.pop_back();
        } else {
            open(open_.back().above);
        }
    }
    return outcomes_.at(state);
}

// The outcome of an open state, or nothing where that of the state above it has to be found first.
std::optional<EmptyReduces::Outcome> EmptyReduces::follow(Open& open) {
    const auto& tables = machine_.tables;
    for (; open.moves <= tables.num_nonterminals; ++open.moves) {
        if (open.above < 0) return Outcome{};
        if (terminal_ == tables.num_terminals && open.above == machine_.start.end_state)
            return Outcome{Outcome::Kind::kAccepts};
        auto found = known(open.above);
        if (!found) return std::nullopt;
        if (found->kind == Outcome::Kind::kShifts) found->state = open.above;
        if (found->kind != Outcome::Kind::kPops) return found;
        if (found->length > 1) {
            --found->length;
            return found;
        }
        open.above = tables.goto_of(open.state, found->lhs);
    }
    return Outcome{};  // some nonterminal has been pushed twice on the same state
}

}  // namespace pdacon
