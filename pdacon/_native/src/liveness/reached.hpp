// What the texts of a machine lead to, with whole stacks: which productions are reduced, which transitions
// are made. Every text that leads there is followed, and only what some text leads to is found: demand-driven
// tabulation makes a node for each label on each top of stack that is reached, and for nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/budget.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

struct Reached {
    std::vector<std::uint8_t> productions;            // of each: whether it is reduced
    std::vector<std::array<std::int32_t, 2>> shifts;  // (LR state, terminal), ascending
    std::vector<std::array<std::int32_t, 2>> gotos;   // (LR state, nonterminal counted from 0), ascending
    // (LR state, label): which terminals come next where a state is on top, in texts and in sentences;
    // ascending.
    std::vector<std::array<std::int32_t, 2>> next, next_in_sentences;
};

// For a machine without layout. Throws LimitExceeded.
Reached find_reached(const Pushdown& machine, const VocabularyStar& speller, Budget budget);

}  // namespace pdacon
