// Overlaps: terminals that match the same text, so that the lexer would choose between them by name or
// length.
//
// Method: breadth-first search in the product of two leftmost-first automata, for a shortest common lexeme.
// Where a match depends on following text, a second search looks for a text that both can have after them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "lexer/nfa.hpp"

namespace pdacon {

struct Collision {
    std::int32_t first, second;  // in the order in which the lexer tries them
    std::string witness;
    // A shortest text that has to follow the witness for both to match it; mostly empty.
    std::string following;
};

// The shortest text that is a whole lexeme of both terminals of each given pair, where there is one.
// `following`: for each terminal those that can follow a lexeme of it. Throws LimitExceeded("states").
std::vector<Collision> find_collisions(const Nfa& nfa, std::span<const std::int32_t> pairs,
                                       std::span<const std::vector<std::int32_t>> following, Budget& budget);

}  // namespace pdacon
