// Column equivalence: which columns of a line have to be told apart, in a grammar with an Indenter.
//
// Two columns are in one class if, from every point at which a line begins or a pushback leads into a line,
// whatever newline can be emitted with the one can be emitted with the other. These are the coarsest such
// classes; most grammars have one, or two: the first column and all others. Futures and the tables keep
// columns by class.
//
// The columns that lead from a point to an emission are a regular set over one letter, because a byte adds 0,
// 1 or the width of a tab. Such sets are ultimately periodic, and so are the classes: single ones first, then
// remainders.
//
// Cost: a shortcut decides most grammars in one visit of the lexer; otherwise, for each column until the sets
// repeat, one visit of the product of lexer and speller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/budget.hpp"
#include "detokenizer/trie.hpp"
#include "lexer/automaton.hpp"
#include "lexer/columns.hpp"
#include "liveness/futures.hpp"

namespace pdacon {

class Columns {
  public:
    // Throws LimitExceeded("states") where the sets of all columns are more than the budget's states.
    Columns(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const Trie> trie,
            std::int32_t newline, Budget budget);
    Columns(const Columns&) = delete;
    Columns& operator=(const Columns&) = delete;

    const ColumnClasses& classes() const { return classes_; }
    // The futures that the classes were found with, or null. They take all columns for one class, so they are
    // of use only if that is so. They refer to a budget of this object: copy them with another.
    const Futures* futures(const LexingAutomaton& lexer, const Trie& trie, std::int32_t newline) const;

  private:
    std::shared_ptr<const LexingAutomaton> lexer_;
    std::shared_ptr<const Trie> trie_;
    std::int32_t newline_;
    Budget budget_;  // futures_ refers to it
    std::optional<Futures> futures_;
    ColumnClasses classes_;
};

}  // namespace pdacon
