#include "frontends/containers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace pdacon {

namespace {

using Numbers = std::span<const std::int32_t>;

// What objects and arrays have in common.
class ContainerWriter {
  protected:
    ContainerWriter(Productions& out, Formulas& formulas, AboutMembers& about, const Container& container,
                    Kind whole)
        : out_(out), derivatives_(formulas, about), about_(about), container_(container), whole_(whole) {}

    std::int32_t nonterminal(Kind kind, Numbers own, Numbers more = {}) {
        const auto size = static_cast<std::int32_t>(container_.machine.size());
        key_.assign({static_cast<std::int32_t>(kind), container_.depth, size});
        key_.insert(key_.end(), container_.machine.begin(), container_.machine.end());
        key_.insert(key_.end(), own.begin(), own.end());
        key_.insert(key_.end(), more.begin(), more.end());
        return out_.nonterminal(key_);
    }

    // The nonterminal of the values for which one formula of the machine holds.
    std::int32_t whole(std::int32_t formula) { return nonterminal(whole_, Vector{formula}); }

    void add(std::int32_t lhs, std::initializer_list<std::int32_t> rhs) {
        out_.add(lhs, {rhs.begin(), rhs.size()});
        about_.look();
    }

    // The empty ones, where a formula holds at once.
    void write_empty(Numbers start) {
        for (std::size_t k = 0; k < start.size(); ++k)
            if (derivatives_.at_end(start[k])) out_.add(whole(container_.machine[k]), container_.signs.empty);
    }

    void close(Numbers state, std::int32_t after) {
        for (std::size_t k = 0; k < state.size(); ++k)
            if (state[k] != Formulas::kFalse && derivatives_.at_end(state[k]))
                add(whole(container_.machine[k]), {after, container_.signs.closing});
    }

    static Vector family_of(const std::vector<Outcome>& found) {
        Vector family;
        for (const auto& one : found) family.push_back(one.question);
        std::ranges::sort(family);
        return family;
    }

    // The nonterminal of what lies within and satisfies one question of a family.
    std::int32_t inner_value(const Vector& family, std::int32_t question) {
        if (families_seen_.insert(family).second) families_.push_back(family);
        key_.assign({static_cast<std::int32_t>(Kind::kValue), container_.depth_within, question});
        key_.insert(key_.end(), family.begin(), family.end());
        return out_.nonterminal(key_);
    }

    Productions& out_;
    Derivatives derivatives_;
    AboutMembers& about_;
    const Container& container_;
    std::vector<Vector> families_;

  private:
    Kind whole_;
    Vector key_;
    std::set<Vector> families_seen_;
};

// A place in the order is how many names are decided; without an order, the set of those that have come, as
// bits.
class ObjectWriter : ContainerWriter {
  public:
    ObjectWriter(Productions& out, Formulas& formulas, AboutMembers& about, const Container& object,
                 std::int32_t names, std::int32_t classes, bool unordered)
        : ContainerWriter(out, formulas, about, object, Kind::kObject),
          names_(names),
          classes_(classes),
          unordered_(unordered) {}

    std::vector<Vector> write() {
        write_empty(container_.machine);
        if (!container_.is_deepest) {
            const auto words = unordered_ ? static_cast<std::size_t>(names_) / 32 + 1 : 1;
            add(state(Kind::kBefore, Vector(words, 0), container_.machine), {container_.signs.opening});
            while (!pending_.empty()) {
                const auto next = std::move(pending_.back());
                pending_.pop_back();
                expand(next);
            }
        }
        return std::move(families_);
    }

  private:
    struct State {
        Kind kind;
        Vector at, left;
        std::int32_t number;
    };

    std::int32_t state(Kind kind, const Vector& at, Numbers left) {
        const auto number = nonterminal(kind, at, left);
        if (seen_.insert(number).second)
            pending_.push_back({kind, at, Vector(left.begin(), left.end()), number});
        return number;
    }

    void expand(const State& own) {
        if (own.kind == Kind::kAfter) {
            close(own.left, own.number);
            const auto before = state(Kind::kBefore, own.at, own.left);
            add(before, {own.number, container_.signs.comma});
            return;
        }
        if (unordered_)
            for (std::int32_t k = 0; k < names_; ++k) {
                about_.look();
                auto at = own.at;
                auto& word = at[static_cast<std::size_t>(k) / 32];
                const auto bit = static_cast<std::int32_t>(std::uint32_t{1} << (k % 32));
                if ((word & bit) != 0) continue;
                word |= bit;
                const auto& found = derivatives_.outcomes(own.left, k);
                if (const auto name = terminal(k)) read_member(own, *name, at, found);
            }
        else if (own.at[0] < names_)
            expand_ordered(own);
        if (own.kind == Kind::kBefore)
            for (auto k = names_; k < names_ + classes_; ++k) {
                about_.look();
                const auto& found = derivatives_.outcomes(own.left, k);
                if (found.empty()) continue;
                if (const auto name = terminal(k)) read_member(own, *name, own.at, found);
            }
    }

    void expand_ordered(const State& own) {
        const auto name = own.at[0];
        const Vector next{name + 1};
        const auto& found = derivatives_.outcomes(own.left, name);
        if (const auto listed = terminal(name)) read_member(own, *listed, next, found);
        const auto left = derivatives_.without(own.left, name);
        if (std::ranges::any_of(left, [](auto one) { return one != Formulas::kFalse; }))
            add(state(Kind::kSkipped, next, left), {own.number});
    }

    void read_member(const State& own, std::int32_t name, const Vector& at,
                     const std::vector<Outcome>& found) {
        const auto family = family_of(found);
        for (const auto& [left, question] : found) {
            about_.look();
            const auto after = state(Kind::kAfter, at, left);
            Vector rhs{own.number, name};
            rhs.insert(rhs.end(), container_.signs.between.begin(), container_.signs.between.end());
            rhs.push_back(inner_value(family, question));
            out_.add(after, rhs);
        }
    }

    std::optional<std::int32_t> terminal(std::int32_t read) {
        const auto known = terminals_.find(read);
        if (known != terminals_.end()) return known->second;
        return terminals_.emplace(read, about_.terminal(read)).first->second;
    }

    std::int32_t names_, classes_;
    bool unordered_;
    std::vector<State> pending_;
    std::set<std::int32_t> seen_;
    std::map<std::int32_t, std::optional<std::int32_t>> terminals_;
};

class ArrayWriter : ContainerWriter {
  public:
    ArrayWriter(Productions& out, Formulas& formulas, AboutMembers& about, const Container& array)
        : ContainerWriter(out, formulas, about, array, Kind::kArray) {}

    std::vector<Vector> write(const Vector& start) {
        write_empty(start);
        if (container_.is_deepest) return {};
        add(nonterminal(Kind::kBeforeItem, start), {container_.signs.opening});
        std::set<Vector> seen{start}, closed;
        std::vector<Vector> pending{start};
        while (!pending.empty()) {
            const auto state = std::move(pending.back());
            pending.pop_back();
            const auto before = nonterminal(Kind::kBeforeItem, state);
            const auto& found = derivatives_.outcomes(state, 0);
            const auto family = family_of(found);
            for (const auto& [left, question] : found) {
                const auto after = nonterminal(Kind::kAfterItem, left);
                add(after, {before, inner_value(family, question)});
                if (closed.insert(left).second) {
                    close(left, after);
                    add(nonterminal(Kind::kBeforeItem, left), {after, container_.signs.comma});
                }
                if (seen.insert(left).second) pending.push_back(left);
            }
        }
        return std::move(families_);
    }
};

}  // namespace

std::vector<Vector> write_object(Productions& out, Formulas& formulas, AboutMembers& about,
                                 const Container& object, std::int32_t names, std::int32_t classes,
                                 bool unordered) {
    return ObjectWriter(out, formulas, about, object, names, classes, unordered).write();
}

std::vector<Vector> write_array(Productions& out, Formulas& formulas, AboutMembers& about,
                                const Container& array, const Vector& start) {
    return ArrayWriter(out, formulas, about, array).write(start);
}

}  // namespace pdacon
