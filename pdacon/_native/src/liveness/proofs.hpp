// What is alive on every stack with a given state on top.
//
// A rule ends before many labels alike. So a reduction under way is followed for all labels that wait behind
// it at once, and they part where they lead to different ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "liveness/summaries.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class Proofs {
  public:
    Proofs(const Pushdown& machine, PendingControls& controls, Budget& budget, Shortcuts& shortcuts)
        : machine_(machine), budget_(budget), summaries_(machine, controls, budget, &shortcuts) {}

    // Which pop controls can expose what lies below a state: those of any one of some pending controls on it,
    // or of a set of pop controls. The id of their set; kAccepts: acceptance is reached without a look below.
    static constexpr std::int32_t kAccepts = -1;
    std::int32_t below(std::vector<std::int32_t> pending, std::int32_t state);
    std::int32_t below(std::int32_t pops, std::int32_t state);
    bool is_empty(std::int32_t pops) const { return sets_[pops].empty(); }

    // Whether one of a set of pop controls leads to acceptance, whatever stack this state is the top of.
    bool always(std::int32_t pops, std::int32_t state);

  private:
    enum class Proof : std::uint8_t { kNone, kOpen, kHolds, kFails };
    struct Claim {
        Proof proof = Proof::kNone;
        std::int32_t below = kUnasked;
    };
    static constexpr std::int32_t kUnasked = -2;
    // A pop control for each of a set of pending controls.
    struct Group {
        std::int32_t lhs, left, labels;
        auto operator<=>(const Group&) const = default;
    };

    std::int32_t claim(std::int32_t pops, std::int32_t state);
    std::int32_t exposed(std::int32_t labels, std::int32_t state);
    std::int32_t find_exposed(std::span<const std::int32_t> pending, std::int32_t state);
    bool add_below(const Group& complete, std::int32_t state, std::vector<Group>& found);
    std::int32_t intern(std::vector<Group>& groups);
    bool is_part(std::int32_t labels, std::int32_t of) const;

    const Pushdown& machine_;
    Budget& budget_;
    Summaries summaries_;
    Interner labels_;  // sets of pending controls
    Interner sets_;    // of pop controls: groups, ascending, one for each reduction
    Interner exposed_ids_, claim_ids_;
    std::vector<std::int32_t> exposed_;       // of each set of pending controls and state
    std::vector<Claim> claims_;               // of each set of pop controls and state
    std::vector<std::int32_t> key_, joined_;  // scratch space
};

}  // namespace pdacon
