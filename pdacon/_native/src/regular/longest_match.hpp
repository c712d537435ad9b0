// A deterministic automaton over bytes -> the ordered one that reads the longest text that it accepts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pdacon {

// The arrays of a program: see Program in pdacon/regular/ordered/program.py.
struct OrderedAutomaton {
    std::vector<std::uint8_t> kind;
    std::vector<std::int32_t> offset;
    std::vector<std::uint8_t> low, high;
    std::vector<std::int32_t> target;
};

// State 0 is the start and does not accept. A state that accepts and goes on is a split: of what goes on,
// first, and the match. One that only accepts is the match. Throws std::invalid_argument if the arrays do not
// fit together.
OrderedAutomaton longest_match(std::span<const std::int32_t> offset, std::span<const std::uint8_t> low,
                               std::span<const std::uint8_t> high, std::span<const std::int32_t> target,
                               std::span<const std::uint8_t> accepting);

}  // namespace pdacon
