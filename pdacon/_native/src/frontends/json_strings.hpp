// Strings -> the bytes that JSON writes them in.
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
};

// What an automaton accepts as JSON writes it between quotes, in UTF-8, with fixed bytes before and after,
// such as the quotes. The result is deterministic, its one state without edges has read it all. Without
// states: there is no such string. After the states for `before` come those of `contents`, in their order.
//
// Throws std::invalid_argument if nothing is behind a string that others begin with, and it is JSON;
// LimitExceeded("states").
ByteAutomaton json_strings(const CharacterDfa& contents, Escapes escapes,
                           std::span<const std::uint8_t> before, std::span<const std::uint8_t> behind,
                           Budget& budget);

}  // namespace pdacon
