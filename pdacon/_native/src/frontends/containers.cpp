#include "frontends/containers.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pdacon {

namespace {

using Numbers = std::span<const std::int32_t>;

// What objects and arrays have in common.
class ContainerWriter {
  protected:
    // A question that a value satisfies, and the state behind it; without one only a sign comes, or nothing.
    struct Way {
        std::int32_t question, after;
    };
    static constexpr std::int32_t kNoQuestion = -1;

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

    void close_side(std::size_t side, std::int32_t after) {
        ends_.push_back(after);
        add(whole(container_.machine[side]), {after, container_.signs.closing});
    }

    // Records what leads from one state to others; nothing is written before it is known which of them lead
    // on to an end. How a value may be written depends on what else might stand in its place, and that must
    // not be a value after which no text ends.
    void lead(std::int32_t from, std::optional<std::int32_t> terminal, std::vector<Way> ways) {
        num_ways_ += ways.size();
        out_.require(num_ways_);
        about_.look();
        reads_.push_back({from, terminal, std::move(ways)});
    }
    void lead(std::int32_t from, std::int32_t to, std::optional<std::int32_t> sign) {
        lead(from, sign, {{kNoQuestion, to}});
    }

    // The nonterminals of states after which a text may end, and those from which one leads there.
    std::set<std::int32_t> leading_on() const {
        std::unordered_map<std::int32_t, Vector> before;
        for (const auto& read : reads_)
            for (const auto& way : read.ways) before[way.after].push_back(read.from);
        std::set<std::int32_t> leading(ends_.begin(), ends_.end());
        Vector pending(ends_.begin(), ends_.end());
        while (!pending.empty()) {
            const auto state = pending.back();
            pending.pop_back();
            for (const auto from : before[state])
                if (leading.insert(from).second) pending.push_back(from);
        }
        return leading;
    }

    // Writes what leads to states that lead on. `between` stands before the values of members.
    void write_ways(Numbers between) {
        const auto leading = leading_on();
        Vector rhs;
        for (auto& [from, terminal, ways] : reads_) {
            about_.look();
            std::erase_if(ways, [&](const Way& way) { return !leading.contains(way.after); });
            Vector family;
            for (const auto& way : ways) family.push_back(way.question);
            std::ranges::sort(family);
            for (const auto& [question, after] : ways) {
                rhs.assign({from});
                if (terminal) rhs.push_back(*terminal);
                if (question != kNoQuestion) {
                    if (terminal) rhs.insert(rhs.end(), between.begin(), between.end());
                    rhs.push_back(inner_value(family, question));
                }
                out_.add(after, rhs);
            }
        }
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
    struct Read {
        std::int32_t from;
        std::optional<std::int32_t> terminal;
        std::vector<Way> ways;
    };

    Kind whole_;
    Vector key_;
    std::vector<Read> reads_;
    std::size_t num_ways_ = 0;
    Vector ends_;
    std::set<Vector> families_seen_;
};

class ObjectWriter : ContainerWriter {
  public:
    ObjectWriter(Productions& out, Formulas& formulas, AboutMembers& about, const Container& object,
                 const MemberOrder& order)
        : ContainerWriter(out, formulas, about, object, Kind::kObject),
          order_(order),
          states_(order, formulas, derivatives_) {}

    std::vector<Vector> write(const Vector& machine) {
        const auto start = states_.start(machine);
        write_empty(machine);
        if (!container_.is_deepest) {
            add(state(Kind::kBefore, start), {container_.signs.opening});
            while (!pending_.empty()) {
                const auto next = std::move(pending_.back());
                pending_.pop_back();
                expand(next);
            }
            write_ways(container_.signs.between);
        }
        return std::move(families_);
    }

  private:
    struct State {
        Kind kind;
        MemberState own;
        std::int32_t number;
    };

    std::int32_t state(Kind kind, const MemberState& own) {
        more_.assign(own.left.begin(), own.left.end());
        more_.insert(more_.end(), own.passed.begin(), own.passed.end());
        const auto number = nonterminal(kind, own.at, more_);
        if (seen_.insert(number).second) pending_.push_back({kind, own, number});
        return number;
    }

    void expand(const State& from) {
        const auto& own = from.own;
        if (from.kind == Kind::kAfter) {
            for (std::size_t k = 0; k < container_.machine.size(); ++k)
                if (states_.ends(own.left, k)) close_side(k, from.number);
            lead(from.number, state(Kind::kBefore, own), container_.signs.comma);
            return;
        }
        if (!order_.is_total)
            for (const auto& [before, name] : states_.next(own)) {
                about_.look();
                read_member(from, before, name);
            }
        else if (own.at[0] < order_.names)
            expand_in_order(from);
        if (from.kind == Kind::kBefore)
            for (auto k = order_.names; k < order_.names + order_.classes; ++k) {
                about_.look();
                read_member(from, own, k);
            }
    }

    void expand_in_order(const State& from) {
        const auto name = from.own.at[0];
        read_member(from, from.own, name);
        MemberState skipped{{name + 1}, derivatives_.without(from.own.left, name), {}};
        if (std::ranges::any_of(skipped.left, [](auto one) { return one != Formulas::kFalse; }))
            lead(from.number, state(Kind::kSkipped, skipped), std::nullopt);
    }

    // `before` is the state in which the name comes, where others have been left out.
    void read_member(const State& from, const MemberState& before, std::int32_t read) {
        const auto& found = derivatives_.outcomes(before.left, read);
        if (found.empty()) return;
        const auto name = terminal(read);
        if (!name) return;
        std::vector<Way> ways;
        for (const auto& [left, question] : found)
            if (const auto after = states_.behind(before, read, left))
                ways.push_back({question, state(Kind::kAfter, *after)});
        if (!ways.empty()) lead(from.number, name, std::move(ways));
    }

    std::optional<std::int32_t> terminal(std::int32_t read) {
        const auto known = terminals_.find(read);
        if (known != terminals_.end()) return known->second;
        return terminals_.emplace(read, about_.terminal(read)).first->second;
    }

    const MemberOrder& order_;
    MemberStates states_;
    Vector more_;
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
            std::vector<Way> ways;
            for (const auto& [left, question] : found) {
                const auto after = nonterminal(Kind::kAfterItem, left);
                ways.push_back({question, after});
                if (closed.insert(left).second) {
                    for (std::size_t k = 0; k < left.size(); ++k)
                        if (left[k] != Formulas::kFalse && derivatives_.at_end(left[k])) close_side(k, after);
                    lead(after, nonterminal(Kind::kBeforeItem, left), container_.signs.comma);
                }
                if (seen.insert(left).second) pending.push_back(left);
            }
            lead(before, std::nullopt, std::move(ways));
        }
        write_ways({});
        return std::move(families_);
    }
};

}  // namespace

std::vector<Vector> write_object(Productions& out, Formulas& formulas, AboutMembers& about,
                                 const Container& object, const Vector& start, const MemberOrder& order) {
    return ObjectWriter(out, formulas, about, object, order).write(start);
}

std::vector<Vector> write_array(Productions& out, Formulas& formulas, AboutMembers& about,
                                const Container& array, const Vector& start) {
    return ArrayWriter(out, formulas, about, array).write(start);
}

}  // namespace pdacon
