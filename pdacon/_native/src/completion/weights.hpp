// What costs are counted in: bytes, tokens, or both at once.
//
// With both, costs are compared lexicographically: first the bytes; then the units that a budget is counted
// in; then the INDENTs. So a least cost has the fewest bytes that can be, and the fewest units of the texts
// with so few bytes. A search for it is guided by least yields in bytes, and is as cheap as one for bytes
// alone. In a grammar with layout, blanks that begin a line are no bytes here: they are units, as tokens or
// one by one.
//
// All three are in one number, so that costs are added and compared as numbers are.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pdacon {

struct Weights {
    // What each costs. `unit`: of what a budget is counted in; 0: costs are counted in nothing else.
    std::int64_t byte, token, unit = 0, indent = 0;

    static constexpr int kIndentBits = 14, kUnitBits = 22;
    static constexpr std::int64_t kUnit = std::int64_t{1} << kIndentBits;
    static constexpr std::int64_t kByte = kUnit << kUnitBits;
    // Sums saturate here: the shortest sentence can be as long as 2 to the number of rules.
    static constexpr std::int64_t kMost = std::int64_t{1} << 60;

    static constexpr Weights bytes() { return {1, 0}; }
    static constexpr Weights tokens() { return {0, 1}; }
    static constexpr Weights bytes_then_tokens() { return {kByte, kUnit, kUnit, 1}; }
    static constexpr Weights bytes_then_blanks() { return {kByte, 0, kUnit, 1}; }

    std::int64_t of_bytes(std::int64_t count) const {
        return byte > 0 && count > kMost / byte ? kMost : count * byte;
    }
    // By how much a search raises its limit at least: the cost of a byte, or of a token if bytes cost
    // nothing.
    std::int64_t step() const { return std::max<std::int64_t>(byte, 1); }

    // The parts of a cost.
    static constexpr std::int64_t bytes_in(std::int64_t cost) { return cost / kByte; }
    static constexpr std::int64_t units_in(std::int64_t cost) { return cost % kByte / kUnit; }
    static constexpr std::int64_t indents_in(std::int64_t cost) { return cost % kUnit; }
    // Whether no part of a cost can have run over into the next, if no byte comes with more than so many
    // units.
    static constexpr bool are_apart(std::int64_t cost, std::int64_t most_units) {
        return cost < kMost && bytes_in(cost) < (std::int64_t{1} << kUnitBits) / (most_units + 1);
    }
    // What a cost takes of a budget: its units and, of a budget in bytes, its bytes.
    std::int64_t measured(std::int64_t cost) const {
        if (unit == 0) return cost;
        return units_in(cost) + (token == 0 ? bytes_in(cost) : 0);
    }
};

}  // namespace pdacon
