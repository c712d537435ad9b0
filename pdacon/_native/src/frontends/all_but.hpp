// All but some words: of a deterministic automaton over bytes, the texts that begin with none of them.
//
// The words form a trie; each of its nodes is a state that goes on as the automaton's own state after the
// same bytes does, but for the bytes that lead to longer prefixes, and for those that complete a word, which
// lead nowhere. Equal states are one. A front end has it for "every name but those that a schema lists".
//
// Source: the product construction of an automaton and the complement of a finite language. O(letters +
// edges).
#pragma once

#include <cstdint>
#include <span>

#include "base/budget.hpp"
#include "frontends/byte_automaton.hpp"

namespace pdacon {

// The states that come before those of `automaton`, whose numbers grow by so many: state 0 is the start.
// Throws std::invalid_argument on inconsistent input, LimitExceeded("states").
ByteAutomaton all_but_words(const ByteAutomaton& automaton, std::span<const std::uint8_t> letters,
                            std::span<const std::int32_t> lengths, Budget& budget);

}  // namespace pdacon
