// FilterDefinition: what a tokenizer is made of, as flat arrays: all that a CanonicalFilter needs beside the
// tokens. In files it is one sequence of int32. There an array is written as its values or, where that is
// shorter, as runs of equal differences, which most arrays have: classes of code points, ranks, ids in order.
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
    // See MergeTable: its pairs, member by member; or, where there are none, the `ranks` of the tokens.
    std::vector<std::int32_t> left, right, rank, made, ranks;
    std::vector<std::uint8_t> roles;
    // Where texts are split, see Pretokens. Merges begin with bytes if `bytewise` is empty, else with
    // characters.
    std::vector<std::uint8_t> classes;
    std::vector<std::int32_t> next;
    std::vector<std::uint8_t> ends, free, bytewise;
    // Texts that the tokenizer leaves as they are, see TextAutomaton; empty: it leaves all.
    std::vector<std::int32_t> text_classes, text_next;
    std::vector<std::uint8_t> settled;  // see Pretokens
    // TextStates::settled, an automaton over bytes, as pdacon.regular.string_programs makes it: of each state
    // where its edges begin and whether a text may end there; of each edge its range of bytes and its target.
    std::vector<std::int32_t> star_offset;
    std::vector<std::uint8_t> star_low, star_high;
    std::vector<std::int32_t> star_target;
    std::vector<std::uint8_t> star_accepting;
    std::vector<std::int32_t> added;  // tokens that are added words, see TextAutomaton
    // Of a model that does not merge: the kinds of GreedyWords, or, where there are `scores`, which tokens
    // UnigramPaths has. Empty: the tokenizer merges.
    std::vector<std::uint8_t> words;
    // See UnigramPaths; `unknown` has the margin as well, if there is one.
    std::vector<double> scores, unknown;
    // One number each: `most` of GreedyWords, `restarts` of TextAutomaton, and two of CanonicalFilter.
    std::vector<std::int32_t> most, restarts, prefixed, spaced;

    // The sequence of int32 in files.
    std::vector<std::int32_t> numbers() const;
    // Reads what `numbers` has made. Throws std::invalid_argument if it is something else.
    static FilterDefinition of(std::span<const std::int32_t> numbers);
    // Throws std::invalid_argument if the arrays do not fit together, or a number is out of range.
    std::shared_ptr<CanonicalFilter> filter(std::shared_ptr<const Tokens> tokens) const;
};

// The filters that are in use: constraints with equal tokens and an equal tokenizer share one.
class Filters {
  public:
    // The filter of a definition, by its `numbers`. Safe from any thread; a caller that comes while a filter
    // is made waits for it. Throws std::invalid_argument.
    std::shared_ptr<CanonicalFilter> of(const std::shared_ptr<const Tokens>& tokens,
                                        std::span<const std::int32_t> numbers);

  private:
    std::mutex lock_;
    std::vector<std::weak_ptr<CanonicalFilter>> known_;
};

}  // namespace pdacon
