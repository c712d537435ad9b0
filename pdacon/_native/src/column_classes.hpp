// Which columns a grammar's newline has to be told apart by: those after which not the same can follow.
#pragma once

#include <cstdint>

#include "budget.hpp"
#include "columns.hpp"
#include "lexing.hpp"
#include "speller.hpp"

namespace pdacon {

// The coarsest classes of which this holds: from each place where a line begins, and from each place in a
// line that a residue leads to, whatever can be committed with one column of a class can be with every column
// of it. In most grammars that is one class, or two: the first column and all others.
//
// The columns that lead from a place to a commit are a regular set over one letter, for a byte adds 0, 1 or
// the width of a tab; so they repeat in the end. They are followed column by column until they do.
//
// Throws LimitExceeded("states") if they are more than the budget's states.
ColumnClasses find_column_classes(const LexingAutomaton& lexer, const Speller& speller, std::int32_t newline,
                                  Budget& budget);

}  // namespace pdacon
