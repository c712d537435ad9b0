// GreedyWords: the sequences of tokens that WordPiece makes of words, which takes the longest token at each
// place.
//
// A token is the longest one if what follows never completes a longer one: so a state has, for each token of
// the word so far that a longer one begins with, where the text stands in the tree of tokens. It also counts
// the word's characters, since a word of too many is unknown.
//
// Source: Song et al. 2021, "Fast WordPiece tokenization" (matches that are pending, in a tree).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/interner.hpp"
#include "detokenizer/tokens.hpp"
#include "filters/text_states.hpp"
#include "filters/token_tree.hpp"

namespace pdacon {

class GreedyWords final : public TextStates {
  public:
    // A token begins a word, or goes on with one, or is a word by itself that nothing continues.
    enum Kind : std::uint8_t { kUnused, kBegins, kContinues, kAlone };
    // `kinds`: of each token. Tokens that begin a word have a space before it, or none. `most`: the
    // characters of a word. Throws std::invalid_argument.
    GreedyWords(std::shared_ptr<const Tokens> tokens, std::vector<std::uint8_t> kinds, std::int32_t most,
                VocabularyStar settled);

    std::int32_t step(std::int32_t state, std::int32_t token) override;
    bool is_delicate(std::int32_t state, std::int32_t token) const override {
        return state != kStart && kinds_[token] == kContinues;
    }
    const VocabularyStar& settled() const override { return settled_; }

  private:
    static constexpr std::int32_t kWords = 0, kContinuations = 1;  // the roots of two trees of tokens
    std::string_view word_of(std::int32_t token) const;
    // The node after a text, or -1; `ended`: whether a token ends on the way.
    std::int32_t descend(std::int32_t node, std::string_view text, bool& ended) const;

    std::shared_ptr<const Tokens> tokens_;
    std::vector<std::uint8_t> kinds_;
    std::int32_t most_;
    VocabularyStar settled_;
    TokenTree tree_{2};
    Interner states_;  // the characters of the word, or 0 where none may go on; then the nodes
};

}  // namespace pdacon
