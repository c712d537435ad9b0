// The automaton that spells tokens for a lexer, byte class by byte class, and knows where each token ends.
//
// Unlike VocabularyStar it is not deterministic: at the end of a token that others begin with, it goes on
// within these or is between two tokens. Its states are the subtrees of the trie, less what the lexer does
// not tell apart: bytes of one class, and subtrees with the same texts in these classes, are one. So it is a
// directed acyclic graph but for the edges to the boundary.
//
// Cost: one visit of the trie.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "detokenizer/trie.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "lexer/automaton.hpp"

namespace pdacon {

class TokenSpeller {
  public:
    static constexpr std::int32_t kBoundary = 0;  // the state between two tokens

    TokenSpeller(const Trie& trie, const LexingAutomaton& lexer);

    const VocabularyStar& star() const { return star_; }
    // The state at the beginning of a text where a token loses one leading space.
    std::int32_t leading() const { return static_cast<std::int32_t>(star_.edges.size()) - 1; }
    // Whether a state spells all that another one does. It may say no where that would take long to see.
    bool covers(std::int32_t state, std::int32_t other) { return covers(state, other, 0); }
    std::int64_t size(std::int32_t state) const { return std::ssize(star_.edges[state]); }

  private:
    static constexpr int kDeepest = 64;
    bool covers(std::int32_t state, std::int32_t other, int depth);

    VocabularyStar star_;
    std::unordered_map<std::uint64_t, bool> covers_;
};

}  // namespace pdacon
