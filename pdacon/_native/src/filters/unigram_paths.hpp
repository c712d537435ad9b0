// UnigramPaths: the sequences of tokens that a unigram model makes of texts, the best path through each.
//
// A piece begins at each space. The best path to a place does not depend on what follows, so a sequence is
// right if each of its tokens is the last one of the best path to its end. Which that is depends on the
// scores of the best paths to those places before it from which a token may still be under way: these, and
// where they stand in the tree of tokens, are a state. Scores are summed up from the space on in the order in
// which the library does it, so that equal and nearly equal ones are decided as there: of equal ones the
// longest last token counts.
//
// Source: Kudo 2018, "Subword regularization" (the model); Viterbi 1967; `Unigram::encode_optimized` of
// huggingface/tokenizers (the order of sums, the score of unknown characters).
#pragma once

#include <cstdint>
#include <memory>
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
    // is no token. Throws std::invalid_argument.
    UnigramPaths(std::shared_ptr<const Tokens> tokens, std::vector<std::uint8_t> used,
                 std::vector<double> scores, double unknown, VocabularyStar settled);

    std::int32_t step(std::int32_t state, std::int32_t token) override;
    bool is_delicate(std::int32_t state, std::int32_t token) const override {
        return state != kStart && tokens_->bytes_of(token).front() != ' ';
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

    std::shared_ptr<const Tokens> tokens_;
    std::vector<std::uint8_t> used_;
    std::vector<double> scores_;
    double unknown_;
    VocabularyStar settled_;
    TokenTree tree_{1};
    std::unordered_set<std::string_view> characters_;
    Interner states_;  // for each place that has been begun, from the first on, its node and the score's bits
};

}  // namespace pdacon
