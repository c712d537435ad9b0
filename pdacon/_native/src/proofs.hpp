// What is alive on every stack with a given state on top.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interner.hpp"
#include "pushdown.hpp"
#include "summaries.hpp"

namespace pdacon {

class Proofs {
  public:
    Proofs(const Pushdown& machine, PendingControls& controls, Budget& budget, Shortcuts& shortcuts)
        : machine_(machine), summaries_(machine, controls, budget, &shortcuts) {}

    // Which pop controls can expose what lies below a state: those of any one of some pending controls on it,
    // or of a set of pop controls. The id of their set; kAccepts: acceptance is reached without a look below.
    static constexpr std::int32_t kAccepts = -1;
    std::int32_t below(std::span<const std::int32_t> pending, std::int32_t state);
    std::int32_t below(std::int32_t pops, std::int32_t state);
    bool is_empty(std::int32_t pops) const { return sets_[pops].empty(); }

    // Whether one of a set of pop controls leads to acceptance, whatever stack this state is the top of.
    bool always(std::int32_t pops, std::int32_t state);

  private:
    enum class Proof : std::uint8_t { kNone, kHolds, kFails };
    struct Claim {
        Proof proof = Proof::kNone;
        std::int32_t below = kUnasked;
    };
    static constexpr std::int32_t kUnasked = -2;

    std::int32_t claim(std::int32_t pops, std::int32_t state);
    std::int32_t intern_found();

    const Pushdown& machine_;
    Summaries summaries_;
    Interner sets_, claim_ids_;
    std::vector<Claim> claims_;  // of each set of pop controls and state
    std::vector<std::int32_t> found_;
};

}  // namespace pdacon
