// The multiples of a number -> automata over their spellings, by remainders.
//
// Scaled by a power of ten the divisor is an integer p, and a number with digits D after which so many places
// are left is a multiple of it if p divides D times a power of ten.
#pragma once

#include <cstdint>

#include "base/budget.hpp"
#include "regular/character_dfa.hpp"

namespace pdacon {

// A decimal, as `scaled` times ten to the power of `-places`.
struct Divisor {
    std::int32_t scaled, places;
};

// How multiples are spelled: as plain decimals, or with an exponent as Python writes it.
enum class Spelled : std::uint8_t { kPlain, kLarge, kSmall };

// Among the texts that are spelled so, the multiples; of others the automaton says anything. Throws
// LimitExceeded("states").
CharacterDfa multiples(const Divisor& divisor, Spelled spelled, Budget& budget);

}  // namespace pdacon
