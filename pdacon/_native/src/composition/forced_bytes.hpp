// The bytes with which every continuation of a text starts.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "detokenizer/vocabulary_star.hpp"
#include "lexer/columns.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

// Whether a configuration, after the bytes of a token that lead to a state of the vocabulary star, is
// coaccessible.
using IsLive =
    std::function<bool(const LexerConfiguration& lexing, std::int32_t speller_state, const StackView& stack)>;

// At most `limit` bytes. They end where the text can end, and where more than one byte can come next. Takes
// O(bytes of the answer x byte classes) questions about liveness.
std::string find_forced_bytes(const Pushdown& machine, const VocabularyStar& star, LexerConfiguration lexing,
                              PersistentStack stack, std::size_t limit, const IsLive& is_live);

}  // namespace pdacon
