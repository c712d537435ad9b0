// The integers between two bounds, each in its one spelling, as a terminal.
//
// In: bounds. Out: an automaton over bytes with some states for each digit of the bounds. Along the digits of
// a bound it stays at that bound, or leaves it for digits of which only the number matters.
#pragma once

#include <cstdint>
#include <optional>

#include "nested/schemas.hpp"

namespace pdacon {

// Nothing as a bound: there is none on that side. No integer lies between the bounds: nothing.
std::optional<NestedTerminal> integer_range(std::optional<std::int64_t> least,
                                            std::optional<std::int64_t> most);

}  // namespace pdacon
