// What the texts of a machine reach, on real stacks: which productions are reduced and which transitions are
// made.
//
// LR tables have transitions that no text takes, because its terminals cannot be lexed in that order. Here
// summaries are tabulated for the start of a text. Since that is driven by demand, there is a node for each
// label on each top of stack that some text reaches, and for nothing else.
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
    // (LR state, label), ascending: the labels that come next with a state on top, in any text, and in
    // sentences.
    std::vector<std::array<std::int32_t, 2>> next, next_in_sentences;
};

// For a machine without layout. Throws LimitExceeded.
Reached find_reached(const Pushdown& machine, const VocabularyStar& speller, Budget budget);

}  // namespace pdacon
