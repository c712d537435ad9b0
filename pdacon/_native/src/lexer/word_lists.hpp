// Long lists of words -> the states that read them, in which equal ends are one.
//
// This is what the general way makes of `word|word|...`, at a tenth of the cost. Letters of ASCII have no
// case. Alternatives are tried in order, so that this holds only where their order does not matter: where no
// word that ends by itself begins another one, or has one that waits for a tail at its beginning.
//
// Source: Daciuk, Mihov, Watson and Watson 2000, "Incremental construction of minimal acyclic finite-state
// automata", for words in ascending order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/budget.hpp"

namespace pdacon {

struct WordLists {
    std::span<const std::uint8_t> letters;  // of all words, one behind the other; small ones
    std::span<const std::int32_t> lengths;  // of each word
    std::span<const std::int32_t> after;  // of each word: kMatch, kTail, or an earlier list, which comes next
    std::span<const std::int32_t> num_words;  // of each list; its words ascend
    // A word ends by itself, or what follows it decides; a longer one that goes on is tried first.
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

// The states of the last list; nothing where the order of the words matters. O(letters). Throws
// std::invalid_argument on inconsistent input, LimitExceeded("states").
std::optional<WordStates> read_words(const WordLists& lists, Budget& budget);

}  // namespace pdacon
