#include "frontends/questions.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace pdacon {

namespace {

constexpr auto kFalse = Formulas::kFalse, kTrue = Formulas::kTrue;

std::vector<std::int32_t> both(std::span<const std::int32_t> one, std::span<const std::int32_t> other) {
    std::vector<std::int32_t> common;
    std::ranges::set_intersection(one, other, std::back_inserter(common));
    return common;
}

}  // namespace

const std::vector<std::int32_t>& Questions::types_of_schema(AboutSchemas& about, std::int32_t variable) {
    const auto known = types_of_schemas_.find(variable);
    if (known != types_of_schemas_.end()) return known->second;
    auto found = about.types(variable);
    return types_of_schemas_.emplace(variable, std::move(found)).first->second;
}

const Questions::Values& Questions::values(AboutSchemas& about, std::int32_t variable) {
    const auto known = values_.find(variable);
    if (known != values_.end()) return known->second;
    auto found = about.values(variable);
    return values_.emplace(variable, std::move(found)).first->second;
}

const std::vector<std::int32_t>& Questions::types(AboutSchemas& about, std::int32_t question) {
    const auto known = types_.find(question);
    if (known != types_.end()) return known->second;
    std::vector<std::int32_t> found(scalar_.size());
    std::iota(found.begin(), found.end(), 0);
    for (auto one = question; one > kTrue;) {
        const auto [variable, then, otherwise] = formulas_.node(one);
        if (otherwise == kFalse)  // a conjunction, so far
            found = both(found, types_of_schema(about, variable));
        else if (then != kFalse)
            break;
        one = then == kFalse ? otherwise : then;
    }
    return types_.emplace(question, std::move(found)).first->second;
}

std::int32_t Questions::meaning(AboutSchemas& about, std::int32_t question, std::int32_t type) {
    auto& given = meanings_.at(static_cast<std::size_t>(type));
    if (question <= kTrue) return question;
    if (const auto known = given.known(question); known >= 0) return known;
    for (const auto variable : given.missing(std::array{question})) {
        const bool may_be = std::ranges::binary_search(types_of_schema(about, variable), type);
        given.give(variable, may_be ? about.meaning(variable, type) : kFalse);
    }
    return given.apply(question);
}

const Questions::Values& Questions::listed(AboutSchemas& about, std::int32_t question) {
    const auto known = listed_.find(question);
    if (known != listed_.end()) return known->second;
    Values found;
    if (const auto alternatives = formulas_.alternatives(question); alternatives && question > kTrue) {
        found.emplace();
        for (const auto variable : *alternatives) {
            const auto some = variable < 0 ? std::nullopt : about.listed(variable);
            if (!some) {
                found.reset();
                break;
            }
            found->insert(found->end(), some->begin(), some->end());
        }
    }
    if (found) {
        std::ranges::sort(*found);
        found->erase(std::unique(found->begin(), found->end()), found->end());
    }
    return listed_.emplace(question, std::move(found)).first->second;
}

// A value that is listed nowhere, for which no fact holds, or one that is listed, may be one for which the
// formula holds. Where it is a conjunction, only what it lists itself is tried.
std::optional<bool> Questions::plainly_possible(AboutSchemas& about, std::int32_t formula) {
    std::vector<std::pair<std::int32_t, std::span<const std::int32_t>>> listed;  // by variable
    for (const auto variable : formulas_.support(std::array{formula})) {
        const auto& some = values(about, variable);
        if (!some) return std::nullopt;
        listed.emplace_back(variable, *some);
    }
    const auto holds = [&](std::int32_t value) {
        auto left = formula;
        for (auto at = listed.begin(); left > kTrue; ++at) {
            const auto [variable, then, otherwise] = formulas_.node(left);
            while (at->first != variable) ++at;
            left = std::ranges::binary_search(at->second, value) ? then : otherwise;
        }
        return left == kTrue;
    };
    if (holds(-1)) return true;
    for (auto one = formula; one > kTrue;) {
        const auto [variable, then, otherwise] = formulas_.node(one);
        if (then != kFalse && otherwise != kFalse) break;
        if (otherwise == kFalse) return std::ranges::any_of(*values(about, variable), holds);
        one = otherwise;
    }
    return std::ranges::any_of(listed,
                               [&](const auto& some) { return std::ranges::any_of(some.second, holds); });
}

bool Questions::possible_as(AboutSchemas& about, std::int32_t question, std::int32_t type) {
    const auto formula = meaning(about, question, type);
    if (formula <= kTrue || scalar_[static_cast<std::size_t>(type)] == 0) return formula != kFalse;
    const auto plain = plainly_possible(about, formula);
    return plain ? *plain : about.holds_for_any(formula, type);
}

bool Questions::possible(AboutSchemas& about, std::int32_t question) {
    const auto known = possible_.find(question);
    if (known != possible_.end()) return known->second;
    const auto& some = types(about, question);
    const bool found =
        std::ranges::any_of(some, [&](auto type) { return possible_as(about, question, type); });
    return possible_.emplace(question, found).first->second;
}

}  // namespace pdacon
