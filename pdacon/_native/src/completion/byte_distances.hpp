// The fewest bytes from a configuration between two tokens to acceptance, of texts that tokens can spell.
//
// Exact in a grammar without layout; with layout blanks that begin a line are free, so that it is a lower
// bound.
//
// Cost: O(LR states on top of a stack of which nothing is known); the first calls prepare what all share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "completion/least_yields.hpp"
#include "completion/lexeme_lengths.hpp"
#include "completion/stack_cells.hpp"
#include "completion/stack_search.hpp"
#include "completion/weighted_controls.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class ByteDistances {
  public:
    static constexpr std::int64_t kNone = StackSearch::kNone;
    static constexpr std::int64_t kUnlimited = 2 * LeastYields::kMost;

    ByteDistances(const Pushdown& machine, const VocabularyStar& speller, Futures& futures, Budget& budget,
                  StackCells& cells)
        : lengths_(machine.lexer, machine.layout, budget),
          yields_(machine, lengths_, budget),
          controls_(futures, machine.layout, lengths_, budget),
          search_(machine, controls_, yields_, budget, cells, speller.edges.size() == 1) {}

    // The bytes that are missing, if they are no more than the limit; else some number beyond it, or kNone.
    std::int64_t least(const LexerConfiguration& reading, std::int32_t speller_state, std::int32_t cell,
                       std::int64_t limit = kUnlimited) {
        return search_.cost(reading, speller_state, cell, limit);
    }
    const LexemeLengths& lengths() const { return lengths_; }
    // Forgets what is known of cells.
    void forget() { search_.forget(); }
    std::size_t size() const { return search_.size(); }  // a measure of memory, without that of the cells

  private:
    LexemeLengths lengths_;
    LeastYields yields_;
    WeightedControls controls_;
    StackSearch search_;
};

}  // namespace pdacon
