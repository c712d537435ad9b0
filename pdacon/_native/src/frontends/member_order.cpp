#include "frontends/member_order.hpp"

#include <algorithm>
#include <map>

namespace pdacon {

namespace {

constexpr auto kFalse = Formulas::kFalse;
constexpr int kMostTried = 16;  // names of which it is looked at whether each value has them

bool any(const Vector& formulas) {
    return std::ranges::any_of(formulas, [](auto formula) { return formula != kFalse; });
}

}  // namespace

MemberStates::MemberStates(const MemberOrder& order, Formulas& formulas, Derivatives& derivatives)
    : order_(order),
      formulas_(formulas),
      derivatives_(derivatives),
      words_(order.is_total ? 1 : static_cast<std::size_t>(order.names) / 32 + 1),
      lists_of_(order.lists.empty() ? 0 : static_cast<std::size_t>(order.names)) {
    for (std::size_t list = 0; list < order.lists.size(); ++list)
        for (const auto& [name, rank] : order.lists[list].ranks)
            lists_of_[static_cast<std::size_t>(name)].emplace_back(static_cast<std::int32_t>(list), rank);
    if (order.is_total) return;
    is_ordered_.resize(static_cast<std::size_t>(order.names));
    for (std::size_t name = 0; name < is_ordered_.size(); ++name) {
        if (!order.closed_by[name].empty() || (!lists_of_.empty() && !lists_of_[name].empty()))
            is_ordered_[name] = true;
        for (const auto other : order.closed_by[name]) is_ordered_[static_cast<std::size_t>(other)] = true;
    }
}

MemberState MemberStates::start(const Vector& machine) const {
    MemberState state{Vector(words_, 0), machine, {}};
    if (!order_.lists.empty()) state.left.insert(state.left.end(), machine.begin(), machine.end());
    return state;
}

bool MemberStates::ends(const Vector& left, std::size_t side) {
    const auto holds = [&](auto formula) { return formula != kFalse && derivatives_.at_end(formula); };
    return holds(left[side]) && (order_.lists.empty() || holds(left[side + left.size() / 2]));
}

std::vector<std::pair<MemberState, std::int32_t>> MemberStates::next(const MemberState& state) {
    std::vector<std::pair<MemberState, std::int32_t>> reads;
    if (!order_.is_total) {
        for (std::int32_t name = 0; name < order_.names; ++name)
            if (auto from = turn(state, name)) reads.emplace_back(std::move(*from), name);
        return reads;
    }
    auto from = state;
    while (from.at[0] < order_.names && any(from.left)) {
        reads.emplace_back(from, from.at[0]);
        from.left = derivatives_.without(from.left, from.at[0]);
        ++from.at[0];
    }
    return reads;
}

Vector MemberStates::names_left(const MemberState& state) {
    std::vector<bool> asked_for(static_cast<std::size_t>(order_.names));
    for (const auto variable : formulas_.support(state.left)) {
        if (derivatives_.holds_at_end(variable)) continue;
        if (const auto& names = derivatives_.concerns(variable))
            for (const auto name : *names) asked_for[static_cast<std::size_t>(name)] = true;
    }
    Vector names;
    for (const bool asked : {false, true})
        for (auto name = order_.names; name-- > 0;)
            if (asked_for[static_cast<std::size_t>(name)] == asked && !has(state.at, name))
                names.push_back(name);
    return names;
}

std::optional<std::int32_t> MemberStates::must_come(const MemberState& state, const Vector& names_left) {
    auto tried = 0;
    for (auto name = names_left.rbegin(); name != names_left.rend() && tried < kMostTried; ++name)
        if (!is_ordered_[static_cast<std::size_t>(*name)]) {
            ++tried;
            if (!any(derivatives_.without(state.left, *name))) return *name;
        }
    return std::nullopt;
}

MemberState MemberStates::in_turn(const MemberState& state, std::int32_t name) {
    return {{name}, derivatives_.without_range(state.left, state.at[0], name), state.passed};
}

std::optional<MemberState> MemberStates::turn(const MemberState& state, std::int32_t name) {
    if (has(state.at, name)) return std::nullopt;
    auto from = state;
    for (const auto other : order_.closed_by[static_cast<std::size_t>(name)])
        if (!has(from.at, other)) {
            close(from.at, other);
            from.left = derivatives_.without(from.left, other);
        }
    Vector broken;
    for (std::size_t k = 0; k < from.passed.size(); k += 2)
        for (const auto& [list, rank] : lists_of_[static_cast<std::size_t>(name)])
            if (list == from.passed[k] && rank < from.passed[k + 1])
                broken.push_back(order_.lists[static_cast<std::size_t>(list)].variable);
    if (!broken.empty()) from.left = without_lists(from.left, broken);
    pass(from, name);
    close_out_of_turn(from);
    if (!trim(from.left)) return std::nullopt;
    return from;
}

std::optional<MemberState> MemberStates::behind(const MemberState& state, std::int32_t read,
                                                const Vector& left) {
    MemberState next{state.at, left, state.passed};
    if (!trim(next.left)) return std::nullopt;
    if (order_.is_total) {
        if (read < order_.names) next.at[0] = read + 1;
        return next;
    }
    if (read < order_.names) {
        if (order_.comes_once[static_cast<std::size_t>(read)] || is_spoken_of(state.left, read))
            close(next.at, read);
    }
    close_out_of_turn(next);
    settle(next);
    if (!trim(next.left)) return std::nullopt;
    return next;
}

bool MemberStates::is_spoken_of(const Vector& left, std::int32_t name) {
    return std::ranges::any_of(derivatives_.support(left), [&](auto variable) {
        const auto& names = derivatives_.concerns(variable);
        return !names || std::ranges::binary_search(*names, name);
    });
}

// A name has come: its rank in lists, where it is the highest.
void MemberStates::pass(MemberState& state, std::int32_t name) const {
    if (lists_of_.empty()) return;
    for (const auto& [list, rank] : lists_of_[static_cast<std::size_t>(name)]) {
        if (rank == 0) continue;
        std::size_t k = 0;
        while (k < state.passed.size() && state.passed[k] < list) k += 2;
        if (k < state.passed.size() && state.passed[k] == list)
            state.passed[k + 1] = std::max(state.passed[k + 1], rank);
        else
            state.passed.insert(state.passed.begin() + static_cast<std::ptrdiff_t>(k), {list, rank});
    }
}

// Names do not come of which nothing could hold any more, since they are out of turn in too many lists.
void MemberStates::close_out_of_turn(MemberState& state) {
    if (state.passed.empty()) return;
    const auto& spoken_of = support_of_lists(state.left);
    Vector passed;
    std::map<std::int32_t, Vector>
        broken_by;  // by name, the variables of the lists in which it is out of turn
    for (std::size_t k = 0; k < state.passed.size(); k += 2) {
        const auto& list = order_.lists[static_cast<std::size_t>(state.passed[k])];
        if (!std::ranges::binary_search(spoken_of, list.variable)) continue;
        passed.insert(passed.end(), {state.passed[k], state.passed[k + 1]});
        for (const auto& [name, rank] : list.ranks)
            if (rank < state.passed[k + 1] && !has(state.at, name)) broken_by[name].push_back(list.variable);
    }
    state.passed = std::move(passed);
    std::map<Vector, Vector> names_by;  // by such variables
    for (auto& [name, variables] : broken_by) {
        std::ranges::sort(variables);
        names_by[std::move(variables)].push_back(name);
    }
    for (const auto& [variables, names] : names_by) {
        if (may_hold_without(state.left, variables)) continue;
        for (const auto name : names) {
            close(state.at, name);
            state.left = derivatives_.without(state.left, name);
        }
    }
}

// What can become false only by names that do not come any more is true.
void MemberStates::settle(MemberState& state) {
    Vector settled;
    for (const auto variable : formulas_.support(state.left)) {
        const auto& names = derivatives_.concerns(variable);
        if (names && derivatives_.holds_at_end(variable) &&
            std::ranges::all_of(*names, [&](auto name) { return has(state.at, name); }))
            settled.push_back(variable);
    }
    if (!settled.empty()) replace(state.left, settled, Formulas::kTrue);
}

// A side of which one formula is false has none. Whether any is left.
bool MemberStates::trim(Vector& left) const {
    if (order_.lists.empty()) return any(left);
    const auto half = left.size() / 2;
    for (std::size_t side = 0; side < half; ++side)
        if (left[side] == kFalse || left[side + half] == kFalse) left[side] = left[side + half] = kFalse;
    return any(left);
}

const Vector& MemberStates::support_of_lists(const Vector& left) {
    const auto lists = std::span(left).subspan(left.size() / 2);
    if (!std::ranges::equal(lists, supported_)) {
        support_ = formulas_.support(lists);
        supported_.assign(lists.begin(), lists.end());
    }
    return support_;
}

bool MemberStates::may_hold_without(const Vector& left, const Vector& variables) const {
    const auto half = left.size() / 2;
    for (std::size_t side = 0; side < half; ++side)
        if (left[side] != kFalse && formulas_.may_hold_without(left[side + half], variables)) return true;
    return false;
}

Vector MemberStates::without_lists(const Vector& left, const Vector& variables) {
    auto changed = left;
    replace(std::span(changed).subspan(left.size() / 2), variables, kFalse);
    return changed;
}

void MemberStates::replace(std::span<std::int32_t> formulas, const Vector& variables, std::int32_t by) {
    Replacing replaced(formulas_);
    for (const auto variable : variables) replaced->give(variable, by);
    for (auto& formula : formulas) formula = replaced->apply(formula);
}

}  // namespace pdacon
