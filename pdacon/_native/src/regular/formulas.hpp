// Boolean functions as reduced ordered decision diagrams: equal functions are one number.
//
// A node asks one variable and goes on with one of two nodes; the variables on a path ascend, no node has two
// equal successors, and no two nodes are alike, so that two formulas say the same exactly if they are the
// same node.
//
// Source: R. Bryant, "Graph-Based Algorithms for Boolean Function Manipulation", IEEE Transactions on
// Computers C-35(8), 1986, section 4.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/interner.hpp"

namespace pdacon {

class Substitution;

class Formulas {
  public:
    static constexpr std::int32_t kFalse = 0, kTrue = 1;
    struct Node {
        std::int32_t variable, then, otherwise;
    };

    // Whatever makes more nodes than so many throws LimitExceeded("states"). `look` is called now and then,
    // and may throw; all stays as it was then.
    explicit Formulas(std::int64_t max_nodes, std::function<void()> look = {});
    ~Formulas();
    Formulas(const Formulas&) = delete;
    Formulas& operator=(const Formulas&) = delete;

    // Throws std::out_of_range unless it is a node, which every public method does.
    Node node(std::int32_t formula) const;
    std::size_t size() const { return nodes_.size(); }

    // The formula that is true exactly if a variable, of 0 or more, is.
    std::int32_t variable(std::int32_t variable);
    // Whether a formula is that of a variable.
    bool is_variable(std::int32_t formula, std::int32_t variable) const {
        return std::ranges::equal(nodes_[formula], std::array{variable, kTrue, kFalse});
    }
    // `then` where a variable holds, else `otherwise`; nothing is remembered where both only depend on later
    // variables, since that takes one node.
    std::int32_t branch(std::int32_t variable, std::int32_t then, std::int32_t otherwise);
    // `then` where the condition holds, else `otherwise`. At most the product of the nodes of all three; what
    // was asked before is remembered.
    std::int32_t choice(std::int32_t condition, std::int32_t then, std::int32_t otherwise);

    // The variables that formulas depend on, ascending. Linear in their nodes.
    std::vector<std::int32_t> support(std::span<const std::int32_t> formulas) const;
    // Whether a formula holds for some values where some variables, ascending, are false. At most linear in
    // its nodes, and mostly as long as one path.
    bool may_hold_without(std::int32_t formula, std::span<const std::int32_t> variables) const;
    // Formulas with one formula in place of some variables.
    std::vector<std::int32_t> replaced(std::span<const std::int32_t> formulas,
                                       std::span<const std::int32_t> variables, std::int32_t by);
    // The variables of which the formula says that one holds, -1 for what always does; nothing if it says
    // more.
    std::optional<std::vector<std::int32_t>> alternatives(std::int32_t formula) const;

    // Calls a function with every node below some formulas, once; it makes none, and asks for none in turn.
    template <class Function>
    void for_each_node(std::span<const std::int32_t> from, Function function) const {
        seen_.resize(nodes_.size(), 0);
        if (++now_ == 0) {
            std::ranges::fill(seen_, 0);
            now_ = 1;
        }
        pending_.clear();
        const auto add = [&](std::int32_t formula) {
            if (formula <= kTrue || std::exchange(seen_[formula], now_) == now_) return;
            pending_.push_back(formula);
        };
        for (const auto formula : from) {
            static_cast<void>(node(formula));
            add(formula);
        }
        while (!pending_.empty()) {
            const auto one = nodes_[pending_.back()];
            pending_.pop_back();
            function(Node{one[0], one[1], one[2]});
            add(one[1]);
            add(one[2]);
        }
    }

  private:
    friend class Replacing;
    std::int32_t made(std::int32_t variable, std::int32_t then, std::int32_t otherwise);
    // What needs no work, or was asked before; -1 otherwise.
    std::int32_t known(std::int32_t condition, std::int32_t then, std::int32_t otherwise) const;

    struct Call {
        std::int32_t condition, then, otherwise, variable, yes;
    };

    std::int64_t max_nodes_;
    std::function<void()> look_;
    std::uint32_t steps_ = 0;
    Interner nodes_;  // variable, then, otherwise
    Interner asked_;  // the arguments of `choice`
    std::vector<std::int32_t> answers_;
    std::vector<Call> calls_;
    mutable std::vector<std::uint32_t> seen_;  // by node, the last walk that came by
    mutable std::vector<std::int32_t> pending_;
    mutable std::uint32_t now_ = 0;
    std::vector<std::unique_ptr<Substitution>> idle_;  // that nobody uses now
    std::size_t substitutions_ = 0;                    // with those that somebody does
};

// A formula in place of each variable; what was substituted once is remembered.
class Substitution {
  public:
    explicit Substitution(Formulas& formulas) : formulas_(formulas) {}

    void give(std::int32_t variable, std::int32_t formula);
    // The variables that formulas depend on and that nothing was given for, ascending.
    std::vector<std::int32_t> missing(std::span<const std::int32_t> formulas) const;
    // Calls a function, which may make formulas, with the variables that formulas depend on, ascending, and
    // goes on only where its answer leads: kTrue or kFalse decides a variable, all else leaves it open.
    template <class Decide>
    void for_each_variable(std::span<const std::int32_t> formulas, Decide decide) {
        reached_.forget();
        const auto add = [&](std::int32_t formula) {
            if (formula <= Formulas::kTrue || reached_.at(formula) == 0) return;
            reached_.set(formula, 0);
            waiting_.emplace_back(formulas_.node(formula).variable, formula);
            std::ranges::push_heap(waiting_, std::greater{});
        };
        waiting_.clear();
        for (const auto formula : formulas) add(formula);
        std::int32_t last = -1, decided = -1;
        while (!waiting_.empty()) {
            std::ranges::pop_heap(waiting_, std::greater{});
            const auto [variable, formula] = waiting_.back();
            waiting_.pop_back();
            if (variable != last) decided = decide(last = variable);
            const auto node = formulas_.node(formula);
            if (decided != Formulas::kFalse) add(node.then);
            if (decided != Formulas::kTrue) add(node.otherwise);
        }
    }
    // What a formula has become, or -1.
    std::int32_t known(std::int32_t formula) const { return done_.at(formula); }
    // Only the part that depends on more than the truth of constants is looked at. Throws
    // std::invalid_argument if a variable of it is missing.
    std::int32_t apply(std::int32_t formula);
    // From now on variables that nothing was given for stay.
    void let_others_stay() { others_stay_ = true; }
    // Forgets what was given and what was substituted.
    void forget() {
        given_.forget();
        done_.forget();
    }

  private:
    // Numbers by numbers from 0 on, -1 where there is none; all are forgotten in constant time.
    class Table {
      public:
        std::int32_t at(std::int32_t place) const {
            const auto index = static_cast<std::size_t>(place);
            return index < entries_.size() && entries_[index].first == now_ ? entries_[index].second : -1;
        }
        void set(std::int32_t place, std::int32_t value) {
            const auto index = static_cast<std::size_t>(place);
            if (index >= entries_.size()) entries_.resize(std::max(index + 1, 2 * entries_.size()));
            entries_[index] = {now_, value};
        }
        void forget() {
            if (++now_ == 0) {
                entries_.clear();
                now_ = 1;
            }
        }

      private:
        std::vector<std::pair<std::uint32_t, std::int32_t>> entries_;
        std::uint32_t now_ = 1;
    };

    Formulas& formulas_;
    bool others_stay_ = false;
    Table given_;  // by variable
    Table done_;   // by formula
    Table reached_;
    std::vector<std::int32_t> pending_;
    std::vector<std::pair<std::int32_t, std::int32_t>>
        waiting_;  // variables and nodes, the first variable on top
};

// A substitution for one use, in which variables that nothing was given for stay. Its tables, which have room
// for all formulas, are used again.
class Replacing {
  public:
    explicit Replacing(Formulas& formulas);
    ~Replacing() { formulas_.idle_.push_back(std::move(own_)); }
    Replacing(const Replacing&) = delete;
    Replacing& operator=(const Replacing&) = delete;
    Substitution* operator->() { return own_.get(); }

  private:
    Formulas& formulas_;
    std::unique_ptr<Substitution> own_;
};

}  // namespace pdacon
