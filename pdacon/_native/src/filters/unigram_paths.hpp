// UnigramPaths: the sequences of tokens that a unigram model makes of texts, the best path through each.
//
// The best path to a place does not depend on what follows, so a sequence is right if each of its tokens is
// the last one of the best path to its end. Which that is depends on the scores of the best paths to those
// places before it from which a token may still be under way: these, and where they stand in the tree of
// tokens, are a state. Of equal paths the one with the longest last token counts.
//
// Where texts are split at each space, scores are summed up from there in the order in which the library
// does it, so that nearly equal ones are decided as there, bit by bit. Elsewhere the library sums up from the
// start of the text, and no state would come back: so scores are those beside the last place's. That is the
// same where no sum is rounded, as with scores that are multiples of some power of two. Where sums may be
// rounded, paths that differ by no more than a margin are all allowed.
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
    // `used`: of each token, whether it takes part; `scores`: of each token; `unknown`: of a character that
    // is no token; `margin`: none where texts are split at each space. Throws std::invalid_argument.
    UnigramPaths(std::shared_ptr<const Tokens> tokens, std::vector<std::uint8_t> used,
                 std::vector<double> scores, double unknown, std::optional<double> margin,
                 VocabularyStar settled);

    std::int32_t step(std::int32_t state, std::int32_t token) override;
    bool is_delicate(std::int32_t state, std::int32_t token) const override {
        if (state == kStart) return false;
        const auto first = static_cast<std::uint8_t>(tokens_->bytes_of(token).front());
        return margin_ ? going_on_[static_cast<std::size_t>(state)][first] : first != ' ';
    }
    const VocabularyStar& settled() const override { return settled_; }

  private:
    // A place from which a token is under way, and the score of the best path to it.
    struct Begun {
        std::int32_t node;
        double score;
    };
    static constexpr std::int32_t kRoot = 0;
    std::vector<Begun> begun_of(std::int32_t state) const;
    std::int32_t id_of(const std::vector<Begun>& begun);
    // The bytes with which a token goes on that is under way.
    std::bitset<256> going_on(const std::vector<Begun>& begun) const;

    std::shared_ptr<const Tokens> tokens_;
    std::vector<std::uint8_t> used_;
    std::vector<double> scores_;
    double unknown_;
    std::optional<double> margin_;
    VocabularyStar settled_;
    TokenTree tree_{1};
    std::unordered_set<std::string_view> characters_;
    std::vector<std::bitset<256>> going_on_;  // of each state, unless texts are split at each space
    Interner states_;  // for each place that has been begun, from the first on, its node and the score's bits
};

}  // namespace pdacon
