// The fewest tokens from a configuration between two tokens to acceptance.
//
// This is a shortest path in the pushdown automaton over tokens, which is not built: a token can span
// several lexemes and begin in the middle of one. Its weights are 1 where a token ends. Weighted summaries
// and StackSearch solve it as they do for bytes.
//
// Exact in a grammar without layout that is not large (are_exact). Else an upper bound: the tokens of the
// completion that has the fewest of those that are as short in bytes as can be (Weights); with layout see
// LayoutDistances. It is consistent: of each configuration, unless it is 0, some token leads to one that is a
// token nearer, since what is left of such a completion is one, too.
//
// Cost: O(LR states on top of a stack of which nothing is known); the first calls prepare what all share.
// Source: weighted pushdown systems (Reps, Schwoon, Jha and Melski 2005).
#pragma once

#include <cstdint>
#include <memory>

#include "completion/byte_distances.hpp"
#include "completion/layout_distances.hpp"
#include "completion/least_yields.hpp"
#include "completion/stack_cells.hpp"
#include "completion/stack_search.hpp"
#include "completion/token_speller.hpp"
#include "completion/weighted_controls.hpp"
#include "completion/weights.hpp"
#include "detokenizer/trie.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class TokenDistances {
  public:
    static constexpr std::int64_t kNone = StackSearch::kNone;

    // `bytes`: of the same machine and cells. `liveness`: of the machine, if tokens spell every text; else
    // null.
    TokenDistances(const Pushdown& machine, const Trie& trie, Budget& budget, StackCells& cells,
                   ByteDistances& bytes, Coaccessibility* liveness)
        : speller_(trie, machine.lexer),
          futures_(machine.lexer, speller_.star(), machine.layout.newline, machine.layout.classes, budget),
          cells_(cells) {
        if (machine.layout.newline < 0) {
            plain_ = std::make_unique<Plain>(machine, futures_, speller_, budget, cells, bytes);
        } else {
            const Measure measure{futures_, bytes.lengths(), &speller_, &bytes.search(), liveness};
            layout_ = std::make_unique<LayoutDistances>(machine, trie, measure, budget, cells);
        }
    }

    // Whether distances are exact. By the size of the automata alone, so that none depends on what was asked
    // before.
    static bool are_exact(const Pushdown& machine) {
        return machine.layout.newline < 0 &&
               std::int64_t{machine.lexer.num_states()} * machine.tables.num_states <= kLargest;
    }

    // kNone: there is no completion. `leading`: the next token loses one leading space.
    std::int64_t least(const LexerConfiguration& lexing, bool leading, const StackView& stack) {
        const auto from = leading ? speller_.leading() : TokenSpeller::kBoundary;
        if (layout_) return layout_->least(lexing, from, stack);
        const auto& weights = plain_->weights;
        const auto found = plain_->search.cost(lexing, from, cells_.of(stack.top), ByteDistances::kUnlimited);
        const bool is_known = weights.unit > 0 ? Weights::are_apart(found, 1) : found < LeastYields::kMost;
        return is_known ? weights.measured(found) : kNone;
    }

    // Forgets what is known of cells.
    void forget() { return layout_ ? layout_->forget() : plain_->search.forget(); }
    // A measure of memory, without that of the cells.
    std::size_t size() const { return layout_ ? layout_->size() : plain_->search.size(); }

  private:
    static constexpr std::int64_t kLargest = 400'000;

    // What answers in a grammar without layout.
    struct Plain {
        Plain(const Pushdown& machine, Futures& futures, TokenSpeller& speller, Budget& budget,
              const StackCells& cells, ByteDistances& bytes)
            : weights(are_exact(machine) ? Weights::tokens() : Weights::bytes_then_tokens()),
              controls(futures, machine.layout, bytes.lengths(), weights, budget, &speller),
              yields(machine, bytes.lengths(), weights, budget),
              search(machine, controls, yields, budget, cells, false,
                     are_exact(machine) ? nullptr : &bytes.search()) {}
        Weights weights;
        WeightedControls controls;
        LeastYields yields;
        StackSearch search;
    };

    TokenSpeller speller_;
    Futures futures_;
    StackCells& cells_;
    std::unique_ptr<Plain> plain_;             // or:
    std::unique_ptr<LayoutDistances> layout_;  // with layout
};

}  // namespace pdacon
