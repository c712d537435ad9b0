#include "frontends/derivatives.hpp"

#include <algorithm>

namespace pdacon {

namespace {

constexpr auto kFalse = Formulas::kFalse, kTrue = Formulas::kTrue;

bool any(const Vector& formulas) {
    return std::ranges::any_of(formulas, [](auto one) { return one != kFalse; });
}

}  // namespace

const std::vector<Outcome>& Derivatives::outcomes(std::span<const std::int32_t> vector, std::int32_t read) {
    Vector key{read};
    key.insert(key.end(), vector.begin(), vector.end());
    const auto known = outcomes_.find(key);
    if (known != outcomes_.end()) return known->second;
    auto made = found(Vector(vector.begin(), vector.end()), read);
    return outcomes_.emplace(std::move(key), std::move(made)).first->second;
}

std::vector<Outcome> Derivatives::found(const Vector& vector, std::int32_t read) {
    const auto variables = formulas_.support(vector);
    // Each question that is asked, with the variables that ask it.
    std::vector<std::pair<std::int32_t, Vector>> askers;
    for (const auto variable : variables) {
        about_.look();
        const auto question = step(variable, read).question;
        if (question <= kTrue) continue;
        const auto known = std::ranges::find(askers, question, &std::pair<std::int32_t, Vector>::first);
        if (known == askers.end())
            askers.emplace_back(question, Vector{variable});
        else
            known->second.push_back(variable);
    }
    std::vector<Outcome> found;
    std::map<Vector, std::size_t> place;
    std::vector<Case> pending{{0, kTrue, vector, {}}};
    while (!pending.empty()) {
        about_.look();
        auto one = std::move(pending.back());
        pending.pop_back();
        if (one.at < askers.size()) {
            const auto& [question, asking] = askers[one.at];
            const auto support = formulas_.support(one.left);
            ++one.at;
            if (std::ranges::none_of(asking,
                                     [&](auto v) { return std::ranges::binary_search(support, v); })) {
                pending.push_back(std::move(one));
                continue;
            }
            Vector lost;
            for (const auto variable : asking)
                if (step(variable, read).no == kFalse) lost.push_back(variable);
            auto without = lost.empty() ? one.left : without_all(one.left, lost);
            const auto refused = conjunction(one.condition, formulas_.choice(question, kFalse, kTrue));
            if (any(without) && refused != kFalse && about_.possible(refused)) {
                auto denied = one.denied;
                denied.insert(question);
                pending.push_back({one.at, refused, std::move(without), std::move(denied)});
            }
            const auto granted = conjunction(one.condition, question);
            if (granted != kFalse && about_.possible(granted))
                pending.push_back({one.at, granted, std::move(one.left), std::move(one.denied)});
            continue;
        }
        after_.forget();
        for (const auto variable : after_.missing(one.left)) {
            const auto& next = step(variable, read);
            const bool no = next.question == kFalse || one.denied.contains(next.question);
            after_.give(variable, no ? next.no : next.yes);
        }
        Vector result;
        for (const auto formula : one.left) result.push_back(after_.apply(formula));
        if (!any(result)) continue;
        const auto [known, is_new] = place.emplace(result, found.size());
        if (is_new)
            found.push_back({std::move(result), one.condition});
        else
            found[known->second].question =
                formulas_.choice(found[known->second].question, kTrue, one.condition);
    }
    return found;
}

Vector Derivatives::without_all(std::span<const std::int32_t> formulas, std::span<const std::int32_t> lost) {
    without_.forget();
    for (const auto variable : lost) without_.give(variable, kFalse);
    Vector results;
    for (const auto formula : formulas) results.push_back(without_.apply(formula));
    return results;
}

Vector Derivatives::without(std::span<const std::int32_t> vector, std::int32_t read) {
    Vector lost;
    for (const auto variable : formulas_.support(vector))
        if (step(variable, read).needs) lost.push_back(variable);
    return lost.empty() ? Vector(vector.begin(), vector.end()) : without_all(vector, lost);
}

bool Derivatives::at_end(std::int32_t formula) {
    while (formula > kTrue) {
        const auto [variable, then, otherwise] = formulas_.node(formula);
        const auto known = at_end_.find(variable);
        const bool holds = known != at_end_.end()
                               ? known->second
                               : at_end_.emplace(variable, about_.at_end(variable)).first->second;
        formula = holds ? then : otherwise;
    }
    return formula == kTrue;
}

const Step& Derivatives::step(std::int32_t variable, std::int32_t read) {
    const auto known = steps_.find({variable, read});
    if (known != steps_.end()) return known->second;
    const auto made = about_.step(variable, read);
    return steps_.emplace(std::pair{variable, read}, made).first->second;
}

}  // namespace pdacon
