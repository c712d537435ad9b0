// The characters outside ASCII that the tokens of a vocabulary have, and the trie nodes at which they begin.
//
// A vocabulary has a few thousand of them, so a loop can know each by itself: which of those that share a
// first byte it reads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "detokenizer/trie.hpp"

namespace pdacon {

class TrieCharacters {
  public:
    // A character, or the beginning of one that a token ends in.
    struct Character {
        std::array<std::uint8_t, 4> bytes{};
        std::uint8_t length = 0;
        bool is_whole = false;
        std::span<const std::uint8_t> view() const { return {bytes.data(), length}; }
    };
    // A node whose byte is the first one of a character. A node has one place for each character below it.
    struct Place {
        std::int32_t node, character;
    };

    // `firsts`: the nodes at which such characters begin and all below is UTF-8. Cost: one visit of each node
    // of these characters.
    TrieCharacters(const Trie& trie, std::span<const std::int32_t> firsts);

    const std::vector<Character>& characters() const { return characters_; }  // each once
    const std::vector<Place>& places() const { return places_; }

  private:
    std::vector<Character> characters_;
    std::vector<Place> places_;
};

}  // namespace pdacon
