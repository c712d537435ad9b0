// How many characters the tokens of a vocabulary have, up to each node of its trie.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "detokenizer/token_set.hpp"
#include "detokenizer/trie.hpp"

namespace pdacon {

// Characters are counted where they begin, so that the last one of a token may be incomplete.
class CharacterCounts {
  public:
    // Nodes behind so many characters, and up to `kMost`, are listed by how many these are.
    static constexpr std::int32_t kLeast = 16, kMost = 32;

    explicit CharacterCounts(const Trie& trie);
    // That begin up to the byte of a node, its own among them.
    std::int32_t up_to(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
    // That begin before it.
    std::int32_t before(const Trie& trie, std::int32_t node) const {
        return up_to(node) - begins(trie.byte(node));
    }
    // Of a token, by its number in the order of the trie.
    std::int32_t of_token(std::int32_t number) const { return tokens_[static_cast<std::size_t>(number)]; }
    // The mask of those tokens of a set that have at most so many.
    std::vector<std::int32_t> few(const Trie& trie, const TokenSet& tokens, std::int32_t most) const;
    // Nodes that begin a character behind so many.
    const std::vector<std::int32_t>& behind(std::int32_t characters) const {
        return behind_[static_cast<std::size_t>(characters - kLeast)];
    }

  private:
    static bool begins(std::uint8_t byte) { return (byte & 0xC0) != 0x80; }

    std::vector<std::int32_t> nodes_, tokens_;
    std::vector<std::vector<std::int32_t>> behind_;
    std::vector<std::vector<std::int32_t>> few_;  // masks of those that have at most so many, up to kLeast
    std::vector<std::int32_t> by_count_;          // all tokens, with fewer characters first
    std::vector<std::size_t> end_;                // how many have at most so many
};

// For all who use a trie. Safe from any thread.
class KeptCharacterCounts {
  public:
    const CharacterCounts& of(const Trie& trie);

  private:
    std::mutex lock_;
    std::unique_ptr<const CharacterCounts> known_;
};

}  // namespace pdacon
