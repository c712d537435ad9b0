// UnigramPaths: the sequences of tokens that a unigram model makes of texts, each the best path through its
// text by the sum of its tokens' scores (Viterbi's algorithm over positions between characters).
//
// The best path to a position does not depend on what follows, so a sequence is right if each of its tokens
// is the last one of the best path to its end. A state is what decides that: each position from which a token
// may still be under way, with the node in the tree of tokens that the text since then leads to, and the
// score of the best path to it. Of equal paths the one with the longest last token counts.
//
// Where texts are split at each space, scores are summed up from there in the order in which the library
// does it, so that nearly equal ones are decided as there, bit by bit. Elsewhere the library sums up from the
// start of the text, and sums would make all states different: so a state has the differences to the score of
// the last position. They decide the same where no sum is rounded, as with scores that are multiples of some
// power of two. Where sums may be rounded, all paths that are worse than the best one by no more than a
// margin are allowed (decision 41).
//
// Source: Kudo 2018, "Subword regularization" (the model); Viterbi 1967; `Unigram::encode_optimized` of
// huggingface/tokenizers (the order of sums, the score of unknown characters).
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/interner.hpp"
#include "detokenizer/tokens.hpp"
#include "filters/text_states.hpp"
#include "filters/token_tree.hpp"

namespace pdacon {

class UnigramPaths final : public TextStates {
  public:
    // `used`: of each token, whether the model has it; `scores`: of each token; `unknown`: the score of a
    // character that is no token; `margin`: none where texts are split at each space. Throws
    // std::invalid_argument.
    UnigramPaths(std::shared_ptr<const Tokens> tokens, std::vector<std::uint8_t> used,
                 std::vector<double> scores, double unknown, std::optional<double> margin,
                 VocabularyStar settled);

    std::int32_t step(std::int32_t state, std::int32_t token) override;
    bool is_delicate(std::int32_t state, std::int32_t token) const override {
        if (state == kStart) return false;
        const auto first = static_cast<std::uint8_t>(tokens_->bytes_of(token).front());
        return splits_at_spaces() ? first != ' ' : going_on_[state][first];
    }
    const VocabularyStar& settled() const override { return settled_; }

  private:
    // A position from which a token may be under way: the node that the text since then leads to, and the
    // score of the best path to the position. In a state the last one is the end of the text, at the root.
    struct Begun {
        std::int32_t node;
        double score;
    };
    bool splits_at_spaces() const { return !margin_; }
    static constexpr std::int32_t kRoot = 0;
    std::vector<Begun> begun_of(std::int32_t state) const;
    std::int32_t id_of(const std::vector<Begun>& begun);
    // The bytes that continue a token that has begun before the end of the text.
    std::bitset<256> going_on(const std::vector<Begun>& begun) const;

    std::shared_ptr<const Tokens> tokens_;
    std::vector<std::uint8_t> used_;
    std::vector<double> scores_;
    double unknown_;
    std::optional<double> margin_;
    VocabularyStar settled_;
    TokenTree tree_{1};
    std::unordered_set<std::string_view> characters_;  // those that are a token
    std::vector<std::bitset<256>> going_on_;           // of each state, unless texts are split at each space
    Interner states_;  // of each Begun, by position: its node, and the bits of its score in two numbers
};

}  // namespace pdacon
