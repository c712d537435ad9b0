// Strings that match a plain pattern, as JSON writes them -> a terminal, or two of names.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "nested/schemas.hpp"
#include "regular/character_dfa.hpp"

namespace pdacon {

// The terminal of the strings in which a pattern matches, or none if there are none; `is_ascii`: where what
// is not ASCII is escaped. Nothing at all: the pattern is not plain, or there would be many states.
std::optional<std::vector<NestedTerminal>> pattern_terminals(std::string_view pattern, bool is_ascii);
// The same of an automaton of strings.
std::optional<std::vector<NestedTerminal>> string_terminals(const CharacterDfa& strings, bool is_ascii);

// The names of members in which a pattern matches, and all others, each with what follows a name.
struct NamesByPattern {
    std::vector<NestedTerminal> matching, others;  // one each, or none if there are no such names
};
// Nothing: as above, or some beginning of a name goes on in finitely many ways within its part. So there are
// infinitely many names in a part, and a listed name may stand in its terminal.
std::optional<NamesByPattern> names_by_pattern(std::string_view pattern, bool is_ascii,
                                               std::string_view end_of_name);
// Whether the automaton of such a terminal reads a text.
bool reads(const NestedTerminal& terminal, std::string_view text);

}  // namespace pdacon
