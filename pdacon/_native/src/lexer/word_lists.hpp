// Word lists: a minimal acyclic automaton for a long alternation of plain words, `word|word|...`.
//
// The result is what the general construction would make, at a tenth of its cost. ASCII letters match in both
// cases. Alternatives are tried in order, so a set of words may replace them only where the order does not
// matter: where no word that ends by itself is a prefix of another one, or has a prefix that waits for a
// tail.
//
// Source: Daciuk, Mihov, Watson and Watson 2000, "Incremental construction of minimal acyclic finite-state
// automata", for words in ascending order. O(letters).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/budget.hpp"

namespace pdacon {

struct WordLists {
    std::span<const std::uint8_t> letters;    // of all words, one after the other, in lower case
    std::span<const std::int32_t> lengths;    // of each word
    std::span<const std::int32_t> after;      // of each word: kMatch, kTail, or the earlier list that goes on
    std::span<const std::int32_t> num_words;  // of each list; its words ascend
    // kMatch: the word ends by itself. kTail: it matches if what follows allows it, and longer words are
    // tried first.
    static constexpr std::int32_t kMatch = -1, kTail = -2;
};

// States as those of an Nfa, of the kinds kBytes and kSplit. A target is one of them, kMatch or kTail.
struct WordStates {
    std::vector<std::uint8_t> kind;
    std::vector<std::int32_t> offset{0};
    std::vector<std::uint8_t> bytes;
    std::vector<std::int32_t> target;
    std::int32_t entry = 0;
};

// The states of the last list; nothing where the order of the words matters. Throws
// std::invalid_argument on inconsistent input, LimitExceeded("states").
std::optional<WordStates> read_words(const WordLists& lists, Budget& budget);

}  // namespace pdacon
