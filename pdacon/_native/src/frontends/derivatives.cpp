#include "frontends/derivatives.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>

namespace pdacon {

namespace {

constexpr auto kFalse = Formulas::kFalse, kTrue = Formulas::kTrue;
constexpr std::int32_t kUndecided = -1;

bool any(const Vector& formulas) {
    return std::ranges::any_of(formulas, [](auto one) { return one != kFalse; });
}

// Formulas whose topmost variable is large come first: what is put on top of them then costs one node.
void from_the_last(Formulas& formulas, Vector& some) {
    std::ranges::sort(some, std::greater{}, [&](auto one) { return formulas.node(one).variable; });
}

}  // namespace

const std::vector<Outcome>& Derivatives::outcomes(std::span<const std::int32_t> vector, std::int32_t read) {
    Vector key{read};
    key.insert(key.end(), vector.begin(), vector.end());
    const auto known = outcomes_.find(key);
    if (known != outcomes_.end()) return known->second;
    auto made = found({vector.begin(), vector.end()}, read);
    return outcomes_.emplace(std::move(key), std::move(made)).first->second;
}

Derivatives::Askers Derivatives::askers(Vector& vector, std::int32_t read) {
    std::vector<Asker> all;
    std::unordered_map<std::int32_t, std::size_t> place;
    bool is_any_decided = false;
    Replacing decided(formulas_);
    Replacing(formulas_)->for_each_variable(vector, [&](std::int32_t variable) {
        about_.look();
        if (!is_concerned(variable, read)) return kUndecided;  // it stays as it is
        const auto next = step(variable, read);
        if (next.question <= kTrue) {
            const auto left = next.question == kFalse ? next.no : next.yes;
            if (left > kTrue) return left;
            is_any_decided = true;
            decided->give(variable, left);
            return left;
        }
        const auto [known, is_new] = place.emplace(next.question, all.size());
        if (is_new) all.push_back({next.question, {}});
        all[known->second].variables.push_back(variable);
        return kUndecided;
    });
    if (is_any_decided)
        for (auto& formula : vector) formula = decided->apply(formula);
    Askers asked;
    if (all.size() < 2) {
        asked.others = std::move(all);
        return asked;
    }
    for (auto& asker : all)
        if (auto values = about_.listed(asker.question)) {
            asked.questions.push_back(asker.question);
            asked.listed.push_back(std::move(asker));
            asked.values.push_back(std::move(*values));
        } else {
            asked.others.push_back(std::move(asker));
        }
    std::ranges::sort(asked.questions);
    return asked;
}

// Exactly some of the askers that list values are satisfied; `sets` are those that some value satisfies. What
// excludes them anyway is not said.
std::int32_t Derivatives::condition(const Askers& asked, const Vector& granted,
                                    std::span<const Vector> sets) {
    Vector parts;
    for (const auto k : granted) parts.push_back(asked.listed[static_cast<std::size_t>(k)].question);
    std::set<std::int32_t> beside;
    for (const auto& set : sets)
        if (set.size() > granted.size() && std::ranges::includes(set, granted))
            std::ranges::set_difference(set, granted, std::inserter(beside, beside.end()));
    for (const auto k : beside) parts.push_back(negation(asked.listed[static_cast<std::size_t>(k)].question));
    from_the_last(formulas_, parts);
    auto whole = kTrue;
    for (const auto part : parts) whole = conjunction(part, whole);
    return whole;
}

// One case for each set of askers that some value satisfies, and one for all values that none of them lists.
// Halves of the sets are told apart again and again, so that formulas shrink with the sets that are left.
std::vector<Derivatives::Case> Derivatives::cases_by_value(const Askers& asked, const Vector& vector,
                                                           std::int32_t read) {
    std::vector<std::pair<std::int32_t, std::int32_t>> listing;  // of each value those who list it
    for (std::size_t k = 0; k < asked.values.size(); ++k)
        for (const auto value : asked.values[k]) listing.emplace_back(value, static_cast<std::int32_t>(k));
    std::ranges::sort(listing);
    std::vector<Vector> sets{{}};
    std::vector<std::vector<Vector>> sets_of(asked.listed.size());  // which have an asker beside others
    for (std::size_t k = 0; k < listing.size();) {
        Vector set;
        for (const auto value = listing[k].first; k < listing.size() && listing[k].first == value; ++k)
            set.push_back(listing[k].second);
        sets.push_back(std::move(set));
    }
    std::ranges::sort(sets);
    sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
    for (const auto& set : sets)
        for (const auto asker : set)
            if (set.size() > 1) sets_of[static_cast<std::size_t>(asker)].push_back(set);
    struct Range {
        std::size_t first, end;
        Vector asking;  // askers in some set of the range that contains this one
        Vector left;
    };
    Vector all(asked.listed.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<Range> ranges{{0, sets.size(), std::move(all), vector}};
    std::vector<Case> cases;
    while (!ranges.empty()) {
        about_.look();
        auto range = std::move(ranges.back());
        ranges.pop_back();
        Vector asking, lost;
        for (auto at = range.first; at < range.end; ++at)
            asking.insert(asking.end(), sets[at].begin(), sets[at].end());
        std::ranges::sort(asking);
        asking.erase(std::unique(asking.begin(), asking.end()), asking.end());
        Vector none;
        std::ranges::set_difference(range.asking, asking, std::back_inserter(none));
        for (const auto k : none) {
            const auto some = refused(asked.listed[static_cast<std::size_t>(k)], read);
            lost.insert(lost.end(), some.begin(), some.end());
        }
        auto left = lost.empty() ? std::move(range.left) : without_all(range.left, lost);
        if (!any(left)) continue;
        if (range.end - range.first > 1) {
            const auto middle = range.first + (range.end - range.first) / 2;
            ranges.push_back({middle, range.end, asking, left});
            ranges.push_back({range.first, middle, std::move(asking), std::move(left)});
            continue;
        }
        const auto& set = sets[range.first];
        Case one{0, kTrue, std::move(left), {}, {}};
        for (const auto k : set) one.granted.push_back(asked.listed[static_cast<std::size_t>(k)].question);
        std::ranges::sort(one.granted);
        if (set.empty()) {
            Vector everyone(asked.listed.size());
            std::iota(everyone.begin(), everyone.end(), 0);
            one.condition = condition(asked, {}, std::array{everyone});
        } else {
            const auto sets_with = [&](auto k) { return sets_of[static_cast<std::size_t>(k)].size(); };
            const auto rarest = *std::ranges::min_element(set, {}, sets_with);
            one.condition = condition(asked, set, sets_of[static_cast<std::size_t>(rarest)]);
        }
        cases.push_back(std::move(one));
    }
    std::ranges::reverse(cases);
    return cases;
}

// The variables that are false where a question is not satisfied.
Vector Derivatives::refused(const Asker& asker, std::int32_t read) {
    Vector lost;
    for (const auto variable : asker.variables)
        if (step(variable, read).no == kFalse) lost.push_back(variable);
    return lost;
}

// The values of a case that satisfy a question, and those that do not.
void Derivatives::split(Case one, const Asker& asker, std::int32_t read, std::vector<Case>& pending) {
    bool asks = false;
    formulas_.for_each_node(one.left, [&](const auto& node) {
        asks = asks || std::ranges::binary_search(asker.variables, node.variable);
    });
    ++one.at;
    if (!asks) {
        pending.push_back(std::move(one));
        return;
    }
    const auto lost = refused(asker, read);
    auto without = lost.empty() ? one.left : without_all(one.left, lost);
    const auto denying = any(without) ? conjunction(one.condition, negation(asker.question)) : kFalse;
    if (denying != kFalse && about_.possible(denying)) {
        auto denied = one.denied;
        denied.insert(asker.question);
        pending.push_back({one.at, denying, std::move(without), one.granted, std::move(denied)});
    }
    one.condition = conjunction(one.condition, asker.question);
    if (one.condition != kFalse && about_.possible(one.condition)) pending.push_back(std::move(one));
}

Vector Derivatives::answered(const Case& one, const Vector& listed, std::int32_t read) {
    Replacing after(formulas_);
    after->for_each_variable(one.left, [&](std::int32_t variable) {
        if (!is_concerned(variable, read)) return kUndecided;  // it stays as it is
        const auto next = step(variable, read);
        const bool no = next.question == kFalse || one.denied.contains(next.question) ||
                        (std::ranges::binary_search(listed, next.question) &&
                         !std::ranges::binary_search(one.granted, next.question));
        const auto left = no ? next.no : next.yes;
        after->give(variable, left);
        return left;
    });
    Vector result;
    for (const auto formula : one.left) result.push_back(after->apply(formula));
    return result;
}

std::vector<Outcome> Derivatives::found(Vector vector, std::int32_t read) {
    const auto asked = askers(vector, read);
    if (!any(vector)) return {};
    std::map<Vector, std::size_t> place;
    std::vector<std::pair<Vector, Vector>> results;  // what is left, and the conditions under which it is
    std::vector<Case> pending{{0, kTrue, vector, {}, {}}};
    if (!asked.listed.empty()) pending = cases_by_value(asked, vector, read);
    while (!pending.empty()) {
        about_.look();
        auto one = std::move(pending.back());
        pending.pop_back();
        if (one.at < asked.others.size()) {
            const auto& asker = asked.others[one.at];
            split(std::move(one), asker, read, pending);
            continue;
        }
        auto result = answered(one, asked.questions, read);
        if (!any(result)) continue;
        const auto [known, is_new] = place.emplace(result, results.size());
        if (is_new) results.push_back({std::move(result), {}});
        results[known->second].second.push_back(one.condition);
    }
    std::vector<Outcome> found;
    for (auto& [left, conditions] : results) {
        from_the_last(formulas_, conditions);
        auto question = kFalse;
        for (const auto condition : conditions) question = formulas_.choice(condition, kTrue, question);
        found.push_back({std::move(left), question});
    }
    return found;
}

Vector Derivatives::without_all(std::span<const std::int32_t> formulas, std::span<const std::int32_t> lost) {
    Replacing replacing(formulas_);
    for (const auto variable : lost) replacing->give(variable, kFalse);
    Vector results;
    for (const auto formula : formulas) results.push_back(replacing->apply(formula));
    return results;
}

Vector Derivatives::without(std::span<const std::int32_t> vector, std::int32_t read) {
    Replacing replacing(formulas_);
    bool changes = false;
    for (const auto variable : Vector(support(vector))) {
        if (!is_concerned(variable, read)) continue;
        const auto after = step(variable, read).left_out;
        if (after == formulas_.variable(variable)) continue;
        replacing->give(variable, after);
        changes = true;
    }
    Vector results(vector.begin(), vector.end());
    if (changes)
        for (auto& formula : results) formula = replacing->apply(formula);
    return results;
}

Vector Derivatives::without_range(std::span<const std::int32_t> vector, std::int32_t first,
                                  std::int32_t end) {
    Vector changing;
    bool is_each = end - first < 2;
    for (const auto variable : support(vector)) {
        if (is_each) break;
        const auto& some = changes_without(variable);
        is_each = !some;
        if (some)
            std::ranges::copy_if(*some, std::back_inserter(changing),
                                 [&](auto read) { return read >= first && read < end; });
    }
    Vector left(vector.begin(), vector.end());
    if (is_each) {
        for (auto read = first; read < end; ++read) left = without(left, read);
        return left;
    }
    std::ranges::sort(changing);
    for (const auto read : changing) left = without(left, read);
    return left;
}

const Vector& Derivatives::support(std::span<const std::int32_t> formulas) {
    if (!std::ranges::equal(formulas, supported_)) {
        support_ = formulas_.support(formulas);
        supported_.assign(formulas.begin(), formulas.end());
    }
    return support_;
}

const std::optional<Vector>& Derivatives::changes_without(std::int32_t variable) {
    const auto known = changes_.find(variable);
    if (known != changes_.end()) return known->second;
    auto found = about_.changes_without(variable);
    if (!found) found = concerns(variable);
    return changes_.emplace(variable, std::move(found)).first->second;
}

bool Derivatives::at_end(std::int32_t formula) {
    while (formula > kTrue) {
        const auto [variable, then, otherwise] = formulas_.node(formula);
        formula = holds_at_end(variable) ? then : otherwise;
    }
    return formula == kTrue;
}

bool Derivatives::holds_at_end(std::int32_t variable) {
    const auto known = at_end_.find(variable);
    if (known != at_end_.end()) return known->second;
    return at_end_.emplace(variable, about_.at_end(variable)).first->second;
}

const std::optional<Vector>& Derivatives::concerns(std::int32_t variable) {
    const auto known = concerns_.find(variable);
    if (known != concerns_.end()) return known->second;
    return concerns_.emplace(variable, about_.concerns(variable)).first->second;
}

bool Derivatives::is_concerned(std::int32_t variable, std::int32_t read) {
    const auto& about = concerns(variable);
    return !about || std::ranges::binary_search(*about, read);
}

Step Derivatives::step(std::int32_t variable, std::int32_t read) {
    if (!is_concerned(variable, read)) {
        const auto same = formulas_.variable(variable);
        return {kTrue, same, kFalse, same};
    }
    const auto key =
        std::uint64_t{static_cast<std::uint32_t>(variable)} << 32 | static_cast<std::uint32_t>(read);
    const auto step = steps_.find(key);
    if (step != steps_.end()) return step->second;
    return steps_.emplace(key, about_.step(variable, read)).first->second;
}

}  // namespace pdacon
