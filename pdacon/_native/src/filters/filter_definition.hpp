// FilterDefinition: what a tokenizer is made of, as flat arrays: all that a CanonicalFilter needs beside the
// tokens. In a file it is a row of numbers in which runs of equal differences are short, as most arrays have
// them: classes of code points, ranks, ids in order.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "detokenizer/tokens.hpp"
#include "filters/canonical_filter.hpp"

namespace pdacon {

struct FilterDefinition {
    // Two neighbours, the rank of their merge and what they become; or `ranks` of the tokens say what merges.
    std::vector<std::int32_t> left, right, rank, made, ranks;
    std::vector<std::uint8_t> roles;  // see MergeTable
    // Where texts are split, see Pretokens; `bytewise`: of the classes; without it texts begin as bytes, else
    // as characters.
    std::vector<std::uint8_t> classes;
    std::vector<std::int32_t> next;
    std::vector<std::uint8_t> ends, free, bytewise;
    // Texts that are left as they are, see TextAutomaton, by class of code points; none: all.
    std::vector<std::int32_t> text_classes, text_next;
    std::vector<std::uint8_t> settled;
    // The automaton over the bytes of texts, as pdacon.frontends.texts makes it; a text may end where
    // `star_accepting`.
    std::vector<std::int32_t> star_offset;
    std::vector<std::uint8_t> star_low, star_high;
    std::vector<std::int32_t> star_target;
    std::vector<std::uint8_t> star_accepting;
    std::vector<std::int32_t> added;  // tokens that are added words
    // See GreedyWords, or, with `scores`, UnigramPaths; none: the tokenizer merges.
    std::vector<std::uint8_t> words;
    // Of tokens; of a character that is no token, and after it, unless texts are split at each space, the
    // margin.
    std::vector<double> scores, unknown;
    // One number each: the characters of a word; whether texts begin anew after an added word; whether the
    // tokenizer puts a space before a text, and whether none of its tokens is without one there.
    std::vector<std::int32_t> most, restarts, prefixed, spaced;

    std::vector<std::int32_t> numbers() const;
    // Reads what `numbers` has made. Throws std::invalid_argument.
    static FilterDefinition of(std::span<const std::int32_t> numbers);
    // Throws std::invalid_argument if the arrays do not fit together, or another number is none of theirs.
    std::shared_ptr<CanonicalFilter> filter(std::shared_ptr<const Tokens> tokens) const;
};

// The filters that are in use: constraints with equal tokens and an equal tokenizer share one.
class Filters {
  public:
    // Safe from any thread; a caller that comes while a filter is made waits for it. `numbers`: those of a
    // FilterDefinition. Throws std::invalid_argument.
    std::shared_ptr<CanonicalFilter> of(const std::shared_ptr<const Tokens>& tokens,
                                        std::span<const std::int32_t> numbers);

  private:
    std::mutex lock_;
    std::vector<std::weak_ptr<CanonicalFilter>> known_;
};

}  // namespace pdacon
