#include "regular/formulas.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "base/budget.hpp"

namespace pdacon {

namespace {

constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();  // the variable of the constants
constexpr std::uint32_t kLooked = 0x3FFF;                                 // steps between two looks
constexpr std::size_t kMostAnswers = 1 << 22;                             // some 100 MB

std::vector<std::int32_t> ascending(std::vector<std::int32_t> numbers) {
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

}  // namespace

Formulas::Formulas(std::int64_t max_nodes, std::function<void()> look)
    : max_nodes_(max_nodes), look_(std::move(look)) {
    nodes_.intern(std::array{kLast, kFalse, kFalse});
    nodes_.intern(std::array{kLast, kTrue, kTrue});
}

Formulas::~Formulas() = default;

Formulas::Node Formulas::node(std::int32_t formula) const {
    if (formula < 0 || static_cast<std::size_t>(formula) >= nodes_.size())
        throw std::out_of_range("formulas: no node");
    const auto node = nodes_[formula];
    return {node[0], node[1], node[2]};
}

std::int32_t Formulas::variable(std::int32_t variable) {
    if (variable < 0 || variable == kLast) throw std::out_of_range("formulas: no variable");
    return made(variable, kTrue, kFalse);
}

std::int32_t Formulas::branch(std::int32_t variable, std::int32_t then, std::int32_t otherwise) {
    if (nodes_[then][0] <= variable || nodes_[otherwise][0] <= variable)
        return choice(this->variable(variable), then, otherwise);
    if ((++steps_ & kLooked) == 0 && look_) look_();
    return made(variable, then, otherwise);
}

std::int32_t Formulas::made(std::int32_t variable, std::int32_t then, std::int32_t otherwise) {
    if (then == otherwise) return then;
    const auto node = nodes_.intern(std::array{variable, then, otherwise});
    if (static_cast<std::int64_t>(nodes_.size()) > max_nodes_)
        throw LimitExceeded("states", static_cast<double>(nodes_.size()), static_cast<double>(max_nodes_));
    return node;
}

std::int32_t Formulas::known(std::int32_t condition, std::int32_t then, std::int32_t otherwise) const {
    if (condition == kTrue || then == otherwise) return then;
    if (condition == kFalse) return otherwise;
    if (then == kTrue && otherwise == kFalse) return condition;
    const auto asked = asked_.find(std::array{condition, then, otherwise});
    return asked < 0 ? -1 : answers_[asked];
}

std::int32_t Formulas::choice(std::int32_t condition, std::int32_t then, std::int32_t otherwise) {
    for (const auto formula : {condition, then, otherwise}) static_cast<void>(node(formula));
    if (asked_.size() > kMostAnswers) {
        asked_.clear();
        answers_.clear();
    }
    // The recursion of Bryant's ITE, with a stack of its own: a path is as long as there are variables.
    calls_.clear();
    auto result = known(condition, then, otherwise);
    const auto call = [&](std::int32_t c, std::int32_t t, std::int32_t o) {
        const auto top = std::min({nodes_[c][0], nodes_[t][0], nodes_[o][0]});
        calls_.push_back({c, t, o, top, -1});
    };
    if (result < 0) call(condition, then, otherwise);
    while (!calls_.empty()) {
        if ((++steps_ & kLooked) == 0 && look_) look_();
        // A result of -1 says that the last call has just begun; else it is that of one of its two halves.
        auto& own = calls_.back();
        const auto half = [&](std::int32_t formula, std::size_t branch) {
            const auto node = nodes_[formula];
            return node[0] == own.variable ? node[branch] : formula;
        };
        if (result >= 0 && own.yes >= 0) {
            const auto answer = made(own.variable, own.yes, result);
            asked_.intern(std::array{own.condition, own.then, own.otherwise});
            answers_.resize(asked_.size(), answer);
            calls_.pop_back();
            result = answer;
            continue;
        }
        std::size_t branch = 1;
        if (result >= 0) {
            own.yes = result;
            branch = 2;
        }
        const std::array next{half(own.condition, branch), half(own.then, branch),
                              half(own.otherwise, branch)};
        result = known(next[0], next[1], next[2]);
        if (result < 0) call(next[0], next[1], next[2]);
    }
    return result;
}

std::vector<std::int32_t> Formulas::support(std::span<const std::int32_t> formulas) const {
    std::vector<std::int32_t> variables;
    for_each_node(formulas, [&](Node node) { variables.push_back(node.variable); });
    return ascending(std::move(variables));
}

bool Formulas::may_hold_without(std::int32_t formula, std::span<const std::int32_t> variables) const {
    std::unordered_set<std::int32_t> seen;
    std::vector<std::int32_t> pending{formula};
    while (!pending.empty()) {
        const auto at = pending.back();
        pending.pop_back();
        if (at == kTrue) return true;
        if (at == kFalse || !seen.insert(at).second) continue;
        const auto [variable, then, otherwise] = node(at);
        pending.push_back(otherwise);
        if (!std::ranges::binary_search(variables, variable)) pending.push_back(then);
    }
    return false;
}

std::optional<std::vector<std::int32_t>> Formulas::alternatives(std::int32_t formula) const {
    std::vector<std::int32_t> found;
    while (formula > kTrue) {
        const auto [variable, then, otherwise] = node(formula);
        if (then != kTrue) return std::nullopt;
        found.push_back(variable);
        formula = otherwise;
    }
    if (formula == kTrue) found.push_back(-1);
    return found;
}

std::vector<std::int32_t> Formulas::replaced(std::span<const std::int32_t> formulas,
                                             std::span<const std::int32_t> variables, std::int32_t by) {
    Replacing replacing(*this);
    for (const auto variable : variables) replacing->give(variable, by);
    std::vector<std::int32_t> results;
    for (const auto formula : formulas) results.push_back(replacing->apply(formula));
    return results;
}

Replacing::Replacing(Formulas& formulas) : formulas_(formulas) {
    if (formulas_.idle_.empty()) {
        auto made = std::make_unique<Substitution>(formulas_);
        made->let_others_stay();
        formulas_.idle_.reserve(++formulas_.substitutions_);  // so that all can be given back
        own_ = std::move(made);
    } else {
        own_ = std::move(formulas_.idle_.back());
        formulas_.idle_.pop_back();
        own_->forget();
    }
}

void Substitution::give(std::int32_t variable, std::int32_t formula) {
    static_cast<void>(formulas_.node(formula));
    given_.set(variable, formula);
}

std::vector<std::int32_t> Substitution::missing(std::span<const std::int32_t> formulas) const {
    std::vector<std::int32_t> variables;
    formulas_.for_each_node(formulas, [&](Formulas::Node node) {
        if (given_.at(node.variable) < 0) variables.push_back(node.variable);
    });
    return ascending(std::move(variables));
}

std::int32_t Substitution::apply(std::int32_t formula) {
    const auto done = [&](std::int32_t one) { return one <= Formulas::kTrue ? one : done_.at(one); };
    if (const auto known = done(formula); known >= 0) return known;
    pending_.assign(1, formula);
    while (!pending_.empty()) {
        const auto own = pending_.back();
        if (done(own) >= 0) {
            pending_.pop_back();
            continue;
        }
        const auto [variable, then, otherwise] = formulas_.node(own);
        const auto condition = given_.at(variable);
        const auto yes = condition == Formulas::kFalse ? Formulas::kFalse : done(then);
        const auto no = condition == Formulas::kTrue ? Formulas::kTrue : done(otherwise);
        if (yes < 0) pending_.push_back(then);
        if (no < 0) pending_.push_back(otherwise);
        if (yes < 0 || no < 0) continue;
        if (condition < 0 && !others_stay_) throw std::invalid_argument("formulas: no meaning of a variable");
        const bool stays = condition < 0 || formulas_.is_variable(condition, variable);
        done_.set(own, stays ? formulas_.branch(variable, yes, no) : formulas_.choice(condition, yes, no));
        pending_.pop_back();
    }
    return done(formula);
}

}  // namespace pdacon
