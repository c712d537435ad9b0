// What the blanks that begin a line cost, in bytes or in tokens, in a grammar with layout.
//
// Blanks are spelled by tokens of nothing else, from one boundary between tokens to another. Tokens that also
// hold the line break, or the first word of the line, only make a text shorter.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/interned_map.hpp"
#include "detokenizer/trie.hpp"
#include "lexer/automaton.hpp"
#include "lexer/columns.hpp"
#include "liveness/futures.hpp"

namespace pdacon {

// For runs of the pushdown automaton that do not know columns: what is paid for the blanks of each line,
// whatever its column.
struct LineCosts {
    static constexpr std::int64_t kNever = -1;
    std::int64_t weight;  // kNever: no line begins with blanks
};

// The configurations that blanks lead to from the beginning of a line, that one included. Columns stand for
// their classes.
std::vector<LexerConfiguration> placed_lines(const Futures& futures, const LexerConfiguration& begun);

class BlankCosts {
  public:
    enum class Unit { kBytes, kTokens };
    static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

    // `newline`: the terminal.
    BlankCosts(const LexingAutomaton& lexer, const Trie& trie, Unit unit, std::int32_t newline)
        : lexer_(lexer), trie_(trie), unit_(unit), newline_(newline) {}

    // A configuration, or one more blank that ends the newline there.
    struct Placed {
        LexerConfiguration reading;
        std::int32_t cost;
        std::int32_t commit = 0, byte_class = -1;  // byte_class -1: none
    };
    // The configurations that tokens of blanks lead to within a newline, up to a column, and how they end it,
    // at the least cost. Valid until the next call.
    const std::vector<Placed>& from(const LexerConfiguration& reading, std::int32_t most);
    // By column, up to the greatest: the most that it and those before it take, where a line begins and bytes
    // reach them; kNever: tokens do not reach one of them.
    std::vector<std::int32_t> up_to_columns(std::int32_t most) const;

  private:
    std::vector<Placed> search(const LexerConfiguration& reading, std::int32_t most) const;
    // The column of a newline that a blank ends; unknown: it does not.
    Column last_column(const LexerConfiguration& reading, std::int32_t byte_class) const;

    const LexingAutomaton& lexer_;
    const Trie& trie_;
    Unit unit_;
    std::int32_t newline_;
    InternedMap<std::vector<Placed>> known_;  // by configuration and column
};

}  // namespace pdacon
