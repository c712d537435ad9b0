// Which columns a grammar's newline has to be told apart by: those after which not the same can follow.
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

// The coarsest classes of which this holds: from each place where a line begins, and from each place in a
// line that a pushback leads to, whatever can be committed with one column of a class can be with every
// column of it. In most grammars that is one class, or two: the first column and all others.
//
// The columns that lead from a place to a commit are a regular set over one letter, for a byte adds 0, 1 or
// the width of a tab; so they repeat in the end. They are followed column by column until they do.
class Columns {
  public:
    // Throws LimitExceeded("states") if they are more than the budget's states.
    Columns(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const Trie> trie,
            std::int32_t newline, Budget budget);
    Columns(const Columns&) = delete;
    Columns& operator=(const Columns&) = delete;

    const ColumnClasses& classes() const { return classes_; }
    // The futures of the lexer, if they are known: what finds the classes takes all columns for one, so it
    // has those where there is one class. They need another budget.
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
