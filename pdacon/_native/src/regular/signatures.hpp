// Which of some automata accept the same strings: the classes into which they part all strings.
//
// In: automata over code points. Out: the sets of automata that accept some string which no other automaton
// accepts. A string that is in no set is told apart by each of them, so that there can be as many classes as
// the product of the automata has states; of patterns that exclude one another there are few.
//
// Source: for the product, M. Rabin and D. Scott, "Finite Automata and Their Decision Problems", IBM Journal
// of Research and Development 3(2), 1959.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regular/character_dfa.hpp"

namespace pdacon {

// The sets in ascending order, each ascending. What has died in a state of the product is left out of it, so
// that its states cost what is alive there. Throws LimitExceeded("states").
std::vector<std::vector<std::int32_t>> signatures_of(std::span<const CharacterDfa* const> automata,
                                                     Budget& budget);

}  // namespace pdacon
