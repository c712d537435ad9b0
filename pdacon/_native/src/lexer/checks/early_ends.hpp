// Where priorities make a terminal match less than its pattern denotes: an alternative that comes first, or a
// lazy repetition, ends a text early.
//
// Method: breadth-first search over texts, with the threads in order of priority, and beside them all threads
// that there would be if none were ever cut. It ends at the first text that one of all threads matches whole,
// and that the ordered ones match only in part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/budget.hpp"
#include "lexer/nfa.hpp"

namespace pdacon {

// The shortest text that the pattern denotes as a regular expression and that the terminal does not match
// whole.
struct EarlyEnd {
    std::string text;
    std::int32_t matched;  // how many of its bytes are matched
};
// Nothing if there is none. Throws LimitExceeded("states"): there can be exponentially many states.
std::optional<EarlyEnd> find_early_end(const Nfa& nfa, std::int32_t terminal, Budget& budget);

}  // namespace pdacon
