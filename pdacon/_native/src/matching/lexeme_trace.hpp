// How a text is read: its lexemes, and where the parser stands behind them, for those who ask why.
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
        std::int64_t dropped;  // whether the parser did not get to see it
    };
    std::deque<Lexeme> lexemes;  // the last ones, in the order of the text
    std::int64_t count = 0;      // of all those that were asked for
    std::int64_t begin = 0;      // where the lexeme begins that is open at the end
    // The parser's stack from its bottom: symbols, nonterminals counted from the end terminal on.
    std::vector<std::int32_t> symbols;
    std::vector<std::int32_t> columns;  // of the open blocks, from the outermost one
};

// Reads a text from its beginning. Asked for are the lexemes whose ends become certain behind `since` bytes;
// of these the last `most` are kept, or all if it is negative. Cost: that of accepting the text.
// Throws std::invalid_argument where no sentence begins with the text.
LexemeTrace trace_lexemes(const Pushdown& machine, std::string_view text, std::size_t since,
                          std::int64_t most);

}  // namespace pdacon
