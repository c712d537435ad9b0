// Masks within a budget: the tokens after which what is left of it is enough to end the text, and the end
// tokens where the text may end.
//
// How far a configuration and each of its tokens are from the end depends on the whole stack, so that such
// masks are known by the cell of the stack (StackCells), beside lexer configuration and columns. A
// configuration has one mask for each distance; by bytes, those that have been asked for. The distances are
// the MaskEngine's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/interned_map.hpp"
#include "base/interner.hpp"
#include "composition/allowance.hpp"
#include "composition/mask_resources.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class BudgetedMasks final : public MaskCache {
  public:
    explicit BudgetedMasks(MaskResources& resources) : MaskCache(resources) {}

    // The least allowance with which a sentence can be reached; TokenDistances::kNone: none can be.
    // `leading`: one leading space of the next token with text is not part of the text. Throws as
    // require_measurable.
    std::int64_t least(Allowance::Unit unit, const LexerConfiguration& lexing, bool leading,
                       const StackView& stack);
    // The mask of a configuration with an allowance. Throws LimitExceeded("bytes") if there is no room for
    // one more.
    Mask mask(const LexerConfiguration& lexing, bool leading, const StackView& stack,
              const Allowance& allowance);
    // The same if it is known, otherwise id -1; never waits.
    Mask known_mask(const LexerConfiguration& lexing, bool leading, const StackView& stack,
                    Allowance allowance) const;

    void forget_cells() override { forget(); }
    void forget() override;

  private:
    // The masks of a configuration by how many tokens may follow: see MaskEngine::ByDistance.
    struct ByDistance {
        bool may_end = false;       // whether the text may end here
        std::int32_t nothing = -1;  // the mask where no token may follow
        std::vector<std::pair<std::int64_t, std::int32_t>> masks;

        std::int32_t pick(const Allowance& allowance) const;
    };
    // The masks of a configuration that have been asked for, by how many bytes may follow and whether the
    // text is closing. With `enough` bytes or more the mask is the same.
    struct ByBytes {
        std::int64_t enough;
        std::map<std::pair<std::int64_t, bool>, std::int32_t> masks;
    };
    using Key = std::array<std::int32_t, 6>;
    static Key key_of(const LexerConfiguration& lexing, bool leading, std::int32_t cell,
                      std::int32_t columns) {
        return {lexing.state, lexing.now.value, lexing.matched.value, leading, cell, columns};
    }
    Key key_of(const LexerConfiguration& lexing, bool leading, const StackView& stack);
    bool may_end(const LexerConfiguration& lexing, const StackView& stack) const;
    std::int32_t make_by_distance(const LexerConfiguration& lexing, bool leading, const StackView& stack);
    // `allowance` becomes no more than what is enough.
    std::int32_t find_by_bytes(const Key& key, Allowance& allowance) const;
    std::int32_t make_by_bytes(const LexerConfiguration& lexing, bool leading, const StackView& stack,
                               Allowance allowance);

    Interner columns_;  // of open blocks
    InternedMap<ByDistance> by_distance_;
    InternedMap<ByBytes> by_bytes_;
};

}  // namespace pdacon
