// What recurs in every grammar: a lexer state that comes back to itself on a set of characters, or states one
// after another that do the same and count them.
//
// For such a set, the tokens that are made of it, and the nodes of the trie where the others leave it, depend
// on the vocabulary alone. They are found once and shared by all states of all grammars with that loop:
// strings, names, spaces, texts of bounded length.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "detokenizer/token_set.hpp"

namespace pdacon {

class Trie;

// The characters of a loop: ASCII ones by bit, all others together.
struct LoopSet {
    std::array<std::uint64_t, 2> ascii{};
    bool other = false;
    auto operator<=>(const LoopSet&) const = default;

    bool contains(std::uint8_t byte) const {
        return byte < 128 && (ascii[byte / 64] >> (byte % 64) & 1U) != 0;
    }
    // Whether all of some ASCII bytes, and other characters if there are any, are in the loop.
    bool contains(const std::array<std::uint64_t, 2>& bytes, bool others) const {
        return !(bytes[0] & ~ascii[0]) && !(bytes[1] & ~ascii[1]) && (!others || other);
    }
    int size() const {
        return __builtin_popcountll(ascii[0]) + __builtin_popcountll(ascii[1]) + (other ? 128 : 0);
    }
};

// Tokens against a loop: those that stay in it (a character may be incomplete at the end), and the nodes
// whose byte is the first that leaves it, by that byte and how many characters of the loop come before. What
// is not well-formed leaves at the first byte of its last character.
struct LoopTokens {
    struct Exit {
        std::uint8_t byte, characters;  // 0 if the loop takes any number of them
        std::vector<std::int32_t> nodes;
    };
    TokenSet staying;
    std::vector<Exit> exits;
};

// The nodes of a trie whose byte leaves a loop, wherever a way begins between two characters; among them all
// first bytes of what is not well-formed.
class LoopLeaves {
  public:
    LoopLeaves(const Trie& trie, const LoopSet& loop);

    bool has(std::int32_t node) const {
        return (words_[static_cast<std::size_t>(node) / 64] >> (node % 64) & 1U) != 0;
    }
    // The first of them in node .. end, or the end.
    std::int32_t first(std::int32_t node, std::int32_t end) const {
        if (node >= end) return end;
        auto at = static_cast<std::size_t>(node) / 64;
        auto word = words_[at] >> (node % 64) << (node % 64);
        while (word == 0) {
            if (static_cast<std::int32_t>(++at * 64) >= end) return end;
            word = words_[at];
        }
        return std::min(end, static_cast<std::int32_t>(at * 64) + std::countr_zero(word));
    }
    std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }

  private:
    std::vector<std::uint64_t> words_;  // by bit
};

class LoopCache {
  public:
    explicit LoopCache(const Trie& trie) : trie_(trie) {}

    // For a loop that takes so many characters and no more; 0: any number. Safe from any thread. Cost: at
    // first sight one walk over the nodes within the loop, then a lookup. When many have been seen all are
    // forgotten; their users keep what they have.
    std::shared_ptr<const LoopTokens> of(const LoopSet& loop, std::uint8_t most = 0);
    // Safe from any thread. Cost: at first sight one walk over all nodes, then a lookup.
    std::shared_ptr<const LoopLeaves> leaves(const LoopSet& loop);

  private:
    // Each takes up to a megabyte; a server sees the character sets of many grammars.
    static constexpr std::size_t kMostKept = 256;

    const Trie& trie_;
    std::mutex lock_;
    std::map<std::pair<LoopSet, std::uint8_t>, std::shared_ptr<const LoopTokens>> known_;
    std::map<LoopSet, std::shared_ptr<const LoopLeaves>> leaves_;
};

}  // namespace pdacon
