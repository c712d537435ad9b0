// Where priorities make a terminal match less than its pattern denotes as a set of texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/budget.hpp"
#include "lexer/nfa.hpp"

namespace pdacon {

// The shortest text of the set that a terminal's pattern denotes which the terminal does not match whole: an
// alternative that comes first, or a lazy repetition, ends it sooner. Nothing if there is none.
struct EarlyEnd {
    std::string text;
    std::int32_t matched;  // the bytes of it that are matched
};
std::optional<EarlyEnd> find_early_end(const Nfa& nfa, std::int32_t terminal, Budget& budget);

}  // namespace pdacon
