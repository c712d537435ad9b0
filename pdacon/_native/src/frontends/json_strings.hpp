// Strings -> the bytes that JSON, or YAML, writes them in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "frontends/byte_automaton.hpp"
#include "regular/character_dfa.hpp"

namespace pdacon {

// Which spellings a character of a string has, beside itself.
enum class Escapes : std::uint8_t {
    kNeeded,  // as json.dumps(..., ensure_ascii=False): none but where it cannot stand for itself
    kAscii,   // as json.dumps does by default: what is not ASCII has escapes only
    kAny,     // every character any that JSON allows
    kNone,    // none at all: it is UTF-8, not JSON
    kYaml,    // as in double quotes of YAML, where what is not printable and what ends a line has escapes
};

// The strings of an automaton over code points, as JSON writes them between quotes, in UTF-8, with fixed
// bytes before and after each, such as the quotes. The result is deterministic and has no states if there are
// no such strings. Its final state is the one without edges; plain text (kNone) with nothing after it ends
// where `contents` accepts. The states of `before` come first, then those of `contents`, in their order.
//
// Cost: O(states of `contents` x nodes of the trie of all spellings).
// Throws std::invalid_argument where `after` does not tell where a string ends, since a longer one goes on
// with the same byte; LimitExceeded("states").
ByteAutomaton json_strings(const CharacterDfa& contents, Escapes escapes,
                           std::span<const std::uint8_t> before, std::span<const std::uint8_t> after,
                           Budget& budget);

}  // namespace pdacon
