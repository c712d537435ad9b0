// What the blanks that begin a line cost, in bytes or in tokens, in a grammar with layout.
//
// Only tokens of blanks are taken for them. Tokens that also have the line break, or the first word of the
// line, only make a text shorter.
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

// What runs of the pushdown automaton, which do not know columns, pay for the blanks of each line.
struct LineCosts {
    static constexpr std::int64_t kNever = -1;
    std::int64_t weight;  // kNever: no line begins with blanks
};

// The configurations that blanks lead to from the beginning of a line, the beginning included, one for each
// class of columns.
std::vector<LexerConfiguration> placed_lines(const Futures& futures, const LexerConfiguration& begun);

class BlankCosts {
  public:
    enum class Unit { kBytes, kTokens };
    static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

    // `newline`: the terminal.
    BlankCosts(const LexingAutomaton& lexer, const Trie& trie, Unit unit, std::int32_t newline)
        : lexer_(lexer), trie_(trie), unit_(unit), newline_(newline) {}

    // A configuration within a newline; with a byte class, one more blank after it, which commits the
    // newline.
    struct Placed {
        LexerConfiguration lexing;
        std::int32_t cost;
        std::int32_t commit = 0, byte_class = -1;  // byte_class -1: none
    };
    // What tokens of blanks lead to within a newline, up to a column, by ascending cost. Valid until the next
    // call.
    const std::vector<Placed>& from(const LexerConfiguration& lexing, std::int32_t most);
    // For each column up to `most`: what the dearest column up to it costs from the beginning of a line, of
    // those that blanks lead to. kNever: tokens of blanks do not lead to one of them.
    std::vector<std::int32_t> up_to_columns(std::int32_t most) const;

  private:
    std::vector<Placed> search(const LexerConfiguration& lexing, std::int32_t most) const;
    // The column of a newline that is committed on a blank; unknown: the blank commits none.
    Column last_column(const LexerConfiguration& lexing, std::int32_t byte_class) const;

    const LexingAutomaton& lexer_;
    const Trie& trie_;
    Unit unit_;
    std::int32_t newline_;
    InternedMap<std::vector<Placed>> known_;  // by configuration and column
};

}  // namespace pdacon
