// The fewest bytes from a configuration between two tokens to acceptance, of texts that tokens can spell.
//
// Exact in a grammar without layout. With layout there are two bounds: a lower one, where blanks that begin a
// line are free, and an upper one (LayoutDistances).
//
// Cost: O(LR states on top of a stack of which nothing is known); the first calls prepare what all share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "completion/layout_distances.hpp"
#include "completion/least_yields.hpp"
#include "completion/lexeme_lengths.hpp"
#include "completion/stack_cells.hpp"
#include "completion/stack_search.hpp"
#include "completion/weighted_controls.hpp"
#include "completion/weights.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class ByteDistances {
  public:
    static constexpr std::int64_t kNone = StackSearch::kNone;
    static constexpr std::int64_t kUnlimited = 2 * LeastYields::kMost;

    // `trie`: of the tokens that spell blanks, for upper bounds; null: nobody asks for these. `liveness`: of
    // the machine, if tokens spell every text; else null.
    ByteDistances(const Pushdown& machine, const VocabularyStar& speller, Futures& futures, Budget& budget,
                  StackCells& cells, const Trie* trie = nullptr, Coaccessibility* liveness = nullptr)
        : lengths_(machine.lexer, machine.layout, budget),
          yields_(machine, lengths_, Weights::bytes(), budget),
          controls_(futures, machine.layout, lengths_, Weights::bytes(), budget),
          search_(machine, controls_, yields_, budget, cells, speller.edges.size() == 1),
          cells_(cells) {
        if (machine.layout.newline < 0 || trie == nullptr) return;
        const Measure measure{futures, lengths_, nullptr, &search_, liveness};
        layout_ = std::make_unique<LayoutDistances>(machine, *trie, measure, budget, cells);
    }

    // An upper bound of the bytes that are missing, exact in a grammar without layout; kNone: there is no
    // completion.
    std::int64_t at_most(const LexerConfiguration& lexing, const StackView& stack) {
        return layout_ ? layout_->least(lexing, 0, stack) : least(lexing, 0, cells_.of(stack.top));
    }
    // The bytes that are missing, if they are no more than the limit; else some number beyond it, or kNone.
    // With layout a lower bound of them.
    std::int64_t least(const LexerConfiguration& lexing, std::int32_t speller_state, std::int32_t cell,
                       std::int64_t limit = kUnlimited) {
        return search_.cost(lexing, speller_state, cell, limit);
    }
    const LexemeLengths& lengths() const { return lengths_; }
    // What finds the lower bounds of stacks.
    StackSearch& search() { return search_; }
    // Forgets what is known of cells.
    void forget() {
        search_.forget();
        if (layout_) layout_->forget();
    }
    // A measure of memory, without that of the cells.
    std::size_t size() const { return search_.size() + (layout_ ? layout_->size() : 0); }

  private:
    LexemeLengths lengths_;
    LeastYields yields_;
    WeightedControls controls_;
    StackSearch search_;
    StackCells& cells_;
    std::unique_ptr<LayoutDistances> layout_;
};

}  // namespace pdacon
