// Strings that match a plain pattern, as JSON writes them -> a terminal.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "nested/schemas.hpp"

namespace pdacon {

// The terminal of the strings in which a pattern matches, or none if there are none; `is_ascii`: where what
// is not ASCII is escaped. Nothing at all: the pattern is not plain, or there would be many states.
std::optional<std::vector<NestedTerminal>> pattern_terminals(std::string_view pattern, bool is_ascii);

}  // namespace pdacon
