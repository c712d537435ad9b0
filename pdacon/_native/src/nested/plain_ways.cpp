#include "nested/plain_ways.hpp"

#include <algorithm>
#include <span>

namespace pdacon {

namespace {

constexpr auto kFalse = Formulas::kFalse, kTrue = Formulas::kTrue;
constexpr std::size_t kMostCompared = 32;  // names of which each two have to be in order

}  // namespace

std::optional<PlainWays::Way> PlainWays::way(const MemberState& state) {
    for (const auto formula : state.left)
        if (formula != kFalse)
            if (auto found = way(state, formula)) return found;
    return std::nullopt;
}

std::optional<PlainWays::Way> PlainWays::way(const MemberState& state, std::int32_t formula) {
    Way found{-1, {}, {}, state.left.size() == 1};
    Vector kept;
    while (formula > kTrue) {
        const auto [variable, then, otherwise] = formulas_.node(formula);
        found.is_only &= otherwise == kFalse;
        const auto& names = derivatives_.concerns(variable);
        if (derivatives_.holds_at_end(variable)) {
            if (then == kFalse) return std::nullopt;
            kept.push_back(variable);
            formula = then;
        } else if (otherwise != kFalse) {
            if (!names) return std::nullopt;
            found.denied.push_back(variable);
            formula = otherwise;
        } else {
            if (!names || names->size() != 1 || !may_come(state, names->front())) return std::nullopt;
            if (derivatives_.step(variable, names->front()).yes != kTrue) return std::nullopt;
            found.needed.push_back(names->front());
            formula = then;
        }
    }
    std::ranges::sort(found.needed);
    found.kept = kept_.intern(kept);
    const bool plain = std::ranges::all_of(
        found.needed, [&](auto name) { return keeps(found.kept, name) && !concern(found.denied, name); });
    if (!plain || !may_follow_one_another(found.needed)) return std::nullopt;
    return found;
}

bool PlainWays::may_follow_one_another(const Vector& names) const {
    if (order_.is_total) return true;
    const auto closes = [&](auto name) { return !order_.closed_by[static_cast<std::size_t>(name)].empty(); };
    if (std::ranges::none_of(names, closes)) return true;
    if (names.size() > kMostCompared) return false;
    for (std::size_t one = 0; one < names.size(); ++one)
        for (auto other = one + 1; other < names.size(); ++other)
            if (std::ranges::binary_search(order_.closed_by[static_cast<std::size_t>(names[one])],
                                           names[other]))
                return false;
    return true;
}

bool PlainWays::leaves_open(const Way& way, std::int32_t read) {
    if (!keeps(way.kept, read) || concern(way.denied, read)) return false;
    if (read >= order_.names) return true;
    if (order_.is_total) return way.needed.empty() || read <= way.needed.front();
    const auto& closed = order_.closed_by[static_cast<std::size_t>(read)];
    return std::ranges::none_of(closed,
                                [&](auto name) { return std::ranges::binary_search(way.needed, name); });
}

const PlainWays::Kept& PlainWays::kept(std::int32_t number) {
    const auto index = static_cast<std::size_t>(number);
    if (kept_by_name_.size() <= index) kept_by_name_.resize(index + 1);
    if (!kept_by_name_[index]) {
        auto made = std::make_unique<Kept>();
        const auto view = kept_[number];
        for (const auto variable : Vector(view.begin(), view.end())) {
            const auto& names = derivatives_.concerns(variable);
            if (!names) made->others.push_back(variable);
            if (names)
                for (const auto name : *names) made->by_name.emplace_back(name, variable);
        }
        std::ranges::sort(made->by_name);
        kept_by_name_[index] = std::move(made);
    }
    return *kept_by_name_[index];
}

// Facts that a member does not concern are kept, whatever its value.
bool PlainWays::keeps(std::int32_t number, std::int32_t read) {
    const auto& all = kept(number);
    Vector key{read};
    const auto by_name = [](const auto& entry) { return entry.first; };
    for (const auto& [name, variable] : std::ranges::equal_range(all.by_name, read, {}, by_name))
        key.push_back(variable);
    key.insert(key.end(), all.others.begin(), all.others.end());
    if (const auto known = keeps_.find(key); known != keeps_.end()) return known->second;
    auto question = kTrue;
    bool found = true;
    for (const auto variable : std::span(key).subspan(1)) {
        const auto step = derivatives_.step(variable, read);
        found &= step.yes == kTrue || step.yes == formulas_.variable(variable);
        question = formulas_.choice(step.question, question, kFalse);
    }
    found = found && possible_(question);
    return keeps_[std::move(key)] = found;
}

bool PlainWays::concern(const Vector& variables, std::int32_t read) {
    return std::ranges::any_of(variables, [&](auto variable) {
        const auto& names = derivatives_.concerns(variable);
        return !names || std::ranges::binary_search(*names, read);
    });
}

}  // namespace pdacon
