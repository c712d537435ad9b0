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
};

// The JSON strings, in UTF-8, whose contents an automaton accepts, each followed by fixed bytes. State 0 is
// the start, the only one that is left without edges has read it all; the automaton is deterministic. No
// states: there is no such string. Throws LimitExceeded("states").
ByteAutomaton json_strings(const CharacterDfa& contents, Escapes escapes,
                           std::span<const std::uint8_t> behind, Budget& budget);

}  // namespace pdacon
