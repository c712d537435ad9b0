// Which terminals match the same text, so that the lexer would choose between them by name or length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "lexer/nfa.hpp"

namespace pdacon {

// Two terminals of equal standing that match the same text: the lexer would choose between them by name or
// length.
struct Collision {
    std::int32_t first, second;  // in the order in which the lexer tries them
    std::string witness;
    std::string
        following;  // a shortest text that has to be behind the witness, for both to match it; often none
};

// The shortest text that is a whole lexeme of both terminals of each given pair, where there is one.
// `following`: for each terminal those that can be read behind a lexeme of it.
std::vector<Collision> find_collisions(const Nfa& nfa, std::span<const std::int32_t> pairs,
                                       std::span<const std::vector<std::int32_t>> following, Budget& budget);

}  // namespace pdacon
