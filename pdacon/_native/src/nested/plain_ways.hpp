// Ways on from a state of an object that are plain: some names that have to come, and nothing that forbids
// it.
//
// In: what is left of the formulas about an object whose order of names depends on no lists. Out: whether a
// text goes on to its end, mostly, without a look at the states behind it, which are as many as there are
// sets of names. A way reads a formula's diagram from the top: facts that hold at the end are kept, names
// that are asked for are read, and no others. What is not found plain may still be possible.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "frontends/member_order.hpp"

namespace pdacon {

class PlainWays {
  public:
    struct Way {
        std::int32_t kept;      // the number of the facts that are kept
        Vector needed, denied;  // names that come, in an order in which they may, and facts that stay false
        bool is_only;           // whether all texts keep those facts, and have those names
    };

    // `possible`: whether some value satisfies a question.
    PlainWays(const MemberOrder& order, Formulas& formulas, Derivatives& derivatives,
              std::function<bool(std::int32_t)> possible)
        : order_(order), formulas_(formulas), derivatives_(derivatives), possible_(std::move(possible)) {}
    static bool are_for(const MemberOrder& order) { return order.lists.empty(); }

    // Nothing: none is plain.
    std::optional<Way> way(const MemberState& state);
    // Whether a member of a listed name, which may still come, or of a class of others leaves a way open.
    bool leaves_open(const Way& way, std::int32_t read);
    // Whether a listed name may still come, as far as the order says so.
    bool may_come(const MemberState& state, std::int32_t name) const {
        return order_.is_total ? name >= state.at[0] : !MemberStates::has(state.at, name);
    }

  private:
    std::optional<Way> way(const MemberState& state, std::int32_t formula);
    bool may_follow_one_another(const Vector& names) const;
    // Facts that are kept: those that some names concern, ascending, each with such a name first, and those
    // that may concern all.
    struct Kept {
        std::vector<std::pair<std::int32_t, std::int32_t>> by_name;
        Vector others;
    };
    const Kept& kept(std::int32_t number);
    // Whether some value of a member keeps facts as they are.
    bool keeps(std::int32_t kept, std::int32_t read);
    bool concern(const Vector& variables, std::int32_t read);

    const MemberOrder& order_;
    Formulas& formulas_;
    Derivatives& derivatives_;
    std::function<bool(std::int32_t)> possible_;
    Interner kept_;
    std::vector<std::unique_ptr<const Kept>> kept_by_name_;  // once they are needed
    std::map<Vector, bool> keeps_;                           // by what is read and the facts that it concerns
};

}  // namespace pdacon
