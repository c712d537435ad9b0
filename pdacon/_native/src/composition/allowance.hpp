// What is left of a budget, and which grammars can have one.
#pragma once

#include <cstdint>
#include <limits>

#include "pda/pushdown.hpp"

namespace pdacon {

// `closing`: no token may lead further from the end than the text is already, so that nothing is begun any
// more.
struct Allowance {
    enum class Unit : std::uint8_t { kTokens, kBytes };
    static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
    Unit unit;
    bool closing;
    std::int64_t most;  // tokens, end tokens not counted, or bytes of text

    // The most that may be missing after a token. `least`: what is missing before it.
    std::int64_t after(std::int64_t least) const { return closing ? least : kAny; }
};

// Throws std::invalid_argument in a grammar that has no allowances: where lines are escaped, since a blank
// can have several bytes there, which LayoutDistances does not know; and with layout under a filter.
void require_measurable(const Pushdown& machine, bool is_filtered);

}  // namespace pdacon
