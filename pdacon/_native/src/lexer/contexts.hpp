// Which terminals the lexer looks for in which LR states, and where it goes on after each.
//
// In: the action table, and the order in which terminals are tried. Out: the distinct contexts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.hpp"

namespace pdacon {

struct LexicalContexts {
    std::vector<std::vector<std::int32_t>>
        terminals;  // of each context, in the order in which they are tried
    std::vector<std::int32_t> of_state;
    std::vector<std::vector<std::int32_t>> after;  // for each terminal the contexts that a shift leads to
};

// `action` has a row for each LR state and a column for each terminal, and for $END, as in lalr::Tables.
// `order`: the terminals that have a pattern, in the order in which they are tried. `always`: for each
// terminal whether it is looked for everywhere. Contexts count up in the order of the states. Linear in the
// table.
LexicalContexts lexical_contexts(std::span<const std::int32_t> action, std::span<const std::int32_t> order,
                                 std::span<const std::uint8_t> always, Budget& budget);

}  // namespace pdacon
