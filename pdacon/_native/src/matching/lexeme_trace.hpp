// The trace of a text: its lexemes and the parser's stack after them, for `explain` and messages.
//
// A second reading of the whole text. The matcher keeps neither: commits stand for classes of texts, so their
// pushbacks do not say where lexemes lie in the text at hand. Here what is pushed back is read from the text
// itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "pda/pushdown.hpp"

namespace pdacon {

struct LexemeTrace {
    struct Lexeme {
        std::int64_t label, begin, end;
        std::int64_t dropped;  // whether the label was skipped
    };
    std::deque<Lexeme> lexemes;  // the last ones that were asked for, in the order of the text
    std::int64_t count = 0;      // of those asked for
    std::int64_t begin = 0;      // where the lexeme under way at the end begins
    // The symbols on the parser's stack from its bottom; nonterminals count from the end terminal on.
    std::vector<std::int32_t> symbols;
    std::vector<std::int32_t> columns;  // of the open blocks, from the outermost one
};

// Reads a text from its beginning. Asked for are the lexemes that are committed after more than `since` bytes
// have been read; the last `most` of them are kept, or all if `most` is negative. Cost: that of accepting the
// text. Throws std::invalid_argument where no sentence begins with the text.
LexemeTrace trace_lexemes(const Pushdown& machine, std::string_view text, std::size_t since,
                          std::int64_t most);

}  // namespace pdacon
