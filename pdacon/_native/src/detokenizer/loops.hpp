// Self-loops of the lexer against the vocabulary: which tokens stay in a loop, and where the others leave it.
//
// In every grammar some lexer states come back to themselves on a set of characters, or form a chain of
// states that count such characters: strings, names, spaces, texts of bounded length. What the tokens do in
// such a loop depends only on the set and on the vocabulary. It is computed once, by one walk over the trie,
// and shared by all states of all grammars that use the vocabulary.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "detokenizer/token_set.hpp"
#include "detokenizer/trie.hpp"
#include "detokenizer/trie_characters.hpp"

namespace pdacon {

// A set of characters: ASCII characters one by one, the others by the first byte of their UTF-8.
struct CharacterSet {
    static constexpr std::uint8_t kFirstLead = 0xC2, kLastLead = 0xF4;
    static constexpr std::uint64_t kAllLeads = (std::uint64_t{1} << (kLastLead - kFirstLead + 1)) - 1;
    std::array<std::uint64_t, 2> ascii{};
    std::uint64_t leads = 0;
    auto operator<=>(const CharacterSet&) const = default;

    static std::uint64_t lead(std::uint8_t byte) { return std::uint64_t{1} << (byte - kFirstLead); }
    // Whether the characters that begin with a byte are in the set.
    bool contains(std::uint8_t byte) const {
        if (byte < 128) return (ascii[byte / 64] >> (byte % 64) & 1U) != 0;
        return byte >= kFirstLead && byte <= kLastLead && (leads & lead(byte)) != 0;
    }
    // Whether the set contains all of the given ASCII characters and, if `others`, all other characters.
    bool contains(const std::array<std::uint64_t, 2>& bytes, bool others) const {
        return !(bytes[0] & ~ascii[0]) && !(bytes[1] & ~ascii[1]) && (!others || leads == kAllLeads);
    }
    int size() const { return std::popcount(ascii[0]) + std::popcount(ascii[1]) + 2 * std::popcount(leads); }
};

// What a loop reads: a set of characters; and, where only some characters of a first byte are in the loop and
// the set lacks that byte, those of the vocabulary. Bit c % 64 of word c / 64 is character c of
// TrieCharacters; no words: there are none.
struct LoopCharacters {
    CharacterSet set;
    std::vector<std::uint64_t> others;
    auto operator<=>(const LoopCharacters&) const = default;
};

// The tokens that stay in a loop, whose last character may be incomplete; and for all other tokens the trie
// nodes whose byte is the first to leave the loop, grouped by that byte and by the number of characters read
// in the loop. A byte sequence that is not UTF-8 leaves the loop at the first byte of its last character.
struct LoopTokens {
    struct Exit {
        std::uint8_t byte, characters;  // `characters` is 0 if the loop reads any number of them
        std::vector<std::int32_t> nodes;
    };
    TokenSet staying;
    std::vector<Exit> exits;
};

// The trie nodes whose byte leaves a loop when reading begins at any boundary between two characters. The
// first bytes of sequences that are not UTF-8 are among them. One bit for each node.
class LoopExits {
  public:
    // `kinds`: what `kinds_of_nodes` says of the trie.
    LoopExits(std::span<const std::uint8_t> kinds, const CharacterSet& loop);
    // Of each node what its byte is where reading begins at any boundary before it, whatever the loop is.
    static std::vector<std::uint8_t> kinds_of_nodes(const Trie& trie);
    // Leaves out the nodes at which no characters begin but those of LoopCharacters.
    void leave_out(const TrieCharacters& characters, std::span<const std::uint64_t> others);

    bool has(std::int32_t node) const {
        return (words_[static_cast<std::size_t>(node) / 64] >> (node % 64) & 1U) != 0;
    }
    // The first exit in [node, end), or `end`.
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
    std::vector<std::uint64_t> words_;  // bit n % 64 of word n / 64 is node n
};

// What has been computed for loops, for all who use one trie. Safe from any thread. The first call for a set
// costs a walk over the trie, a later one a lookup. A full cache is emptied; callers keep what they hold.
class LoopCache {
  public:
    explicit LoopCache(const Trie& trie) : trie_(trie) {}

    // For a loop that reads at most `most` characters; 0: any number. The walk visits the nodes in the loop.
    // Only a loop that reads any number of more than a few characters is told apart by its other ones.
    std::shared_ptr<const LoopTokens> tokens(const LoopCharacters& loop, std::uint8_t most = 0);
    std::shared_ptr<const LoopTokens> tokens(const CharacterSet& loop, std::uint8_t most = 0) {
        return tokens(LoopCharacters{loop, {}}, most);
    }
    // Looks at each node once, by a table; the first call for a vocabulary walks over the trie.
    std::shared_ptr<const LoopExits> exits(const LoopCharacters& loop);
    std::shared_ptr<const LoopExits> exits(const CharacterSet& loop) {
        return exits(LoopCharacters{loop, {}});
    }
    // The characters that LoopCharacters has the numbers of.
    const TrieCharacters& characters();

  private:
    // An entry takes up to a megabyte, and a server sees the character sets of many grammars.
    static constexpr std::size_t kMostKept = 256;
    // Behind the lock.
    const std::vector<std::uint8_t>& known_kinds();
    const TrieCharacters& known_characters();

    const Trie& trie_;
    std::mutex lock_;
    // Of the nodes, and of their characters; made when they are first asked for.
    std::vector<std::uint8_t> kinds_;
    std::unique_ptr<const TrieCharacters> characters_;
    std::map<std::pair<LoopCharacters, std::uint8_t>, std::shared_ptr<const LoopTokens>> tokens_;
    std::map<LoopCharacters, std::shared_ptr<const LoopExits>> exits_;
};

}  // namespace pdacon
