// In which order the members of an object come, and which do not come again.
//
// In: for each listed name those that do not come behind it any more, and lists of names in whose order a
// text need not come unless the object's value satisfies the schema by nothing else. Out: how a state changes
// where a name is read. With lists a state has each formula twice: about the value, and about the value as if
// the facts were false whose lists are not in order so far. Both have to hold at the end, so that a value is
// never taken which a schema forbids, and a text of an alternative need only keep that alternative's order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "frontends/derivatives.hpp"

namespace pdacon {

// The names of one list, ascending, each with its rank: a name must not come behind one of a higher rank.
struct OrderedList {
    std::int32_t variable;  // of the fact that lists them
    std::vector<std::pair<std::int32_t, std::int32_t>> ranks;
};

struct MemberOrder {
    std::int32_t names = 0;    // that are listed
    std::int32_t classes = 0;  // of other names, which may come anywhere
    bool is_total = true;      // each name comes behind all that are listed before it
    // Where it is not:
    std::vector<Vector> closed_by;  // by name, the names that do not come behind it any more
    std::vector<bool> comes_once;   // by name, also where no formula speaks of it any more
    std::vector<OrderedList> lists;
};

// Where an object's text stands between two members.
struct MemberState {
    Vector at;      // how many names are decided; without a total order, which do not come any more, as bits
    Vector left;    // the formulas about the rest
    Vector passed;  // numbers of lists that formulas still speak of, each with the highest rank that has come
};

class MemberStates {
  public:
    MemberStates(const MemberOrder& order, Formulas& formulas, Derivatives& derivatives);

    // How many numbers of a state say what is decided, and how many formulas it has.
    std::size_t words() const { return words_; }
    std::size_t width(std::size_t machine) const { return machine * (order_.lists.empty() ? 1 : 2); }
    MemberState start(const Vector& machine) const;
    // Whether the side of a number holds if nothing more comes.
    bool ends(const Vector& left, std::size_t side);
    // The listed names that may come next, as far as the order says so, each with the state in which it
    // comes.
    std::vector<std::pair<MemberState, std::int32_t>> next(const MemberState& state);
    // The same where the order is not total, without the states, which `turn` has: what is best tried first,
    // since formulas ask for it, comes last.
    Vector names_left(const MemberState& state);
    // Of these names one that each value has, and to whose place no order says anything. So if any text goes
    // on, one does that has it next: only this one has to be tried.
    std::optional<std::int32_t> must_come(const MemberState& state, const Vector& names_left);
    // The state in which a name comes. Nothing: it does not come here.
    std::optional<MemberState> turn(const MemberState& state, std::int32_t name);
    // Where the order is total: the state in which a name comes that may come in a state, or in one behind
    // it.
    MemberState in_turn(const MemberState& state, std::int32_t name);
    // The state behind a member that came in a state, by what is left of the formulas. Nothing: no text goes
    // on.
    std::optional<MemberState> behind(const MemberState& state, std::int32_t read, const Vector& left);

    // Whether a name does not come any more, where the order is not total.
    static bool has(const Vector& at, std::int32_t name) {
        const auto word = static_cast<std::uint32_t>(at[static_cast<std::size_t>(name) / 32]);
        return ((word >> (name % 32)) & 1U) != 0;
    }

  private:
    static void close(Vector& at, std::int32_t name) {
        auto& word = at[static_cast<std::size_t>(name) / 32];
        word |= static_cast<std::int32_t>(std::uint32_t{1} << (name % 32));
    }
    bool is_spoken_of(const Vector& left, std::int32_t name);
    void pass(MemberState& state, std::int32_t name) const;
    void close_out_of_turn(MemberState& state);
    void settle(MemberState& state);
    bool trim(Vector& left) const;
    // The second formulas, without what facts say whose lists are not in order.
    Vector without_lists(const Vector& left, const Vector& variables);
    // Whether that leaves a side of which both formulas may hold.
    bool may_hold_without(const Vector& left, const Vector& variables) const;
    // The variables of the second formulas; the last ones that were asked for are remembered.
    const Vector& support_of_lists(const Vector& left);
    void replace(std::span<std::int32_t> formulas, const Vector& variables, std::int32_t by);

    const MemberOrder& order_;
    Formulas& formulas_;
    Derivatives& derivatives_;
    Vector supported_, support_;
    std::size_t words_;
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> lists_of_;  // by name: lists, ranks there
    std::vector<bool> is_ordered_;  // by name, where the order is not total: whether it says where it comes
};

}  // namespace pdacon
