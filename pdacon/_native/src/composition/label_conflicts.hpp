// Where labels are in each other's way, or in that of text.
//
// A token that can be read as text is read so, and a token of two labels as the first of them. Liveness
// counts a label as readable wherever the lexer reads its spelling. Both agree if, wherever it does, some
// token of the label can be read as nothing else: then each way to the end of a sentence that liveness has
// found can be taken. Without such a token a text could go on for ever and never end, so that the grammar has
// to be refused.
//
// Which tokens can be read from a lexer state is asked of the lexer alone, as if the parser took every label
// that the lexer commits. So it is an over-approximation: a conflict that is found may be harmless, and a
// grammar without one has none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "detokenizer/labels.hpp"
#include "detokenizer/tokens.hpp"
#include "lexer/automaton.hpp"

namespace pdacon {

struct LabelConflict {
    // With `other` -1: each token of `label` can be read as text, or as a label before it. Otherwise the two
    // labels, `label` the first, can be read in one place and share `token`.
    std::int32_t label;
    std::int32_t other;
    std::int32_t token;
    std::string prefix;  // a beginning of a lexeme after which it is so
};

// The first conflict of each kind for each label. Cost: for each lexer state that reads a label, mostly one
// token.
std::vector<LabelConflict> find_label_conflicts(const LexingAutomaton& lexer, const Tokens& tokens,
                                                const Labels& labels, Budget& budget);

}  // namespace pdacon
