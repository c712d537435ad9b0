// The fewest tokens from a configuration to acceptance.
//
// A shortest path in the pushdown automaton over tokens. Its control locations are those of the automaton
// over bytes, each with the part of a token that is left to be read (TokenSpeller), so that a token may span
// several lexemes and begin in the middle of one. Its weights are 1 where a token ends. Weighted summaries
// and StackSearch solve it as they do for bytes.
//
// Exact in a grammar without layout that is not large (are_exact).
//
// Cost: O(LR states on top of a stack of which nothing is known); the first calls prepare what all share.
// Source: weighted pushdown systems (Reps, Schwoon, Jha and Melski 2005).
#pragma once

#include <cstdint>

#include "completion/least_yields.hpp"
#include "completion/lexeme_lengths.hpp"
#include "completion/stack_cells.hpp"
#include "completion/stack_search.hpp"
#include "completion/token_speller.hpp"
#include "completion/weighted_controls.hpp"
#include "detokenizer/trie.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class TokenDistances {
  public:
    static constexpr std::int64_t kNone = StackSearch::kNone;

    TokenDistances(const Pushdown& machine, const Trie& trie, Budget& budget, StackCells& cells)
        : speller_(trie, machine.lexer),
          lengths_(machine.lexer, machine.layout, budget, LexemeLengths::Unit::kTokens),
          bytes_(machine.lexer, machine.layout, budget),
          futures_(machine.lexer, speller_.star(), machine.layout.newline, machine.layout.classes, budget),
          controls_(futures_, machine.layout, lengths_, budget, &speller_),
          yields_(machine, are_exact(machine) ? lengths_ : bytes_, budget),
          search_(machine, controls_, yields_, budget, cells, false, are_exact(machine) ? nullptr : &bytes_) {
    }

    // Whether distances are exact. Not so in a large grammar, where only completions count that are nearly as
    // short in bytes as can be: a distance is that of the best of these, an upper bound. It is consistent: of
    // each configuration, unless it is 0, some token leads to one that is a token nearer. A configuration
    // that none of these completes is taken for one without a completion.
    static bool are_exact(const Pushdown& machine) {
        return std::int64_t{machine.lexer.num_states()} * machine.tables.num_states <= kLargest;
    }

    // kNone: there is no completion. `leading`: the next token loses one leading space.
    std::int64_t least(const LexerConfiguration& reading, bool leading, std::int32_t cell) {
        const auto from = leading ? speller_.leading() : TokenSpeller::kBoundary;
        return search_.cost(reading, from, cell, kNone - 1);
    }

    // Forgets what is known of cells.
    void forget() { search_.forget(); }
    std::size_t size() const { return search_.size(); }  // a measure of memory, without that of the cells

  private:
    TokenSpeller speller_;
    static constexpr std::int64_t kLargest = 400'000;

    LexemeLengths lengths_, bytes_;
    Futures futures_;
    WeightedControls controls_;
    LeastYields yields_;
    StackSearch search_;
};

}  // namespace pdacon
