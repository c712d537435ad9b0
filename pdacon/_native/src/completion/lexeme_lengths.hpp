// The fewest bytes that a lexeme of each label has: a lower bound of what a terminal adds to a text.
//
// Shortest paths in the lexer, breadth first. Where a grammar has layout, blanks count for nothing, because
// those that begin a line are free.
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

    // The bytes of a label, without those that its commit pushes back; kNever: no text is a lexeme of it. 0
    // for INDENT and DEDENT, for ignored text and for the end.
    std::int32_t of(std::int32_t label) const {
        return static_cast<std::size_t>(label) < lengths_.size() ? lengths_[label] : 0;
    }
    std::int32_t of_byte(std::int32_t byte_class) const { return lexer_.indents(byte_class) ? 0 : 1; }
    std::int32_t of_word(std::span<const std::int32_t> word) const;

  private:
    std::vector<std::int32_t> distances(Budget& budget) const;

    const LexingAutomaton& lexer_;
    std::vector<std::int32_t> lengths_;  // by terminal
};

}  // namespace pdacon
