// The fewest bytes that a lexeme of each label has: what a text has to pay for a terminal, at least.
//
// Where a grammar has layout blanks count for nothing, because those that begin a line are free.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "lexer/automaton.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class LexemeLengths {
  public:
    static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

    // Cost: one visit of each state of the lexer and its edges.
    LexemeLengths(const LexingAutomaton& lexer, const Layout& layout, Budget& budget);

    // Of a terminal, kNever: no text is one; 0 of INDENT and DEDENT, of ignored text and of the end. Counted
    // without what is lexed again.
    std::int32_t of(std::int32_t label) const {
        return static_cast<std::size_t>(label) < lengths_.size() ? lengths_[static_cast<std::size_t>(label)]
                                                                 : 0;
    }
    std::int32_t of_byte(std::int32_t byte_class) const {
        return lexer_.is_space(byte_class) || lexer_.is_tab(byte_class) ? 0 : 1;
    }
    std::int32_t of_word(std::span<const std::int32_t> word) const;

  private:
    std::vector<std::int32_t> distances(Budget& budget) const;

    const LexingAutomaton& lexer_;
    std::vector<std::int32_t> lengths_;  // of each terminal
};

}  // namespace pdacon
