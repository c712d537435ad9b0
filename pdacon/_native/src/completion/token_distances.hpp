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
#include "completion/stack_search.hpp"
#include "completion/token_speller.hpp"
#include "completion/weighted_controls.hpp"
#include "detokenizer/trie.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class TokenDistances {
  public:
    static constexpr std::int64_t kNone = StackSearch::kNone;

    // `first_cell`: numbers of cells below it mean nothing, whatever nodes of stacks say.
    TokenDistances(const Pushdown& machine, const Trie& trie, Budget& budget, std::int32_t first_cell)
        : speller_(trie, machine.lexer),
          lengths_(machine.lexer, machine.layout, budget, LexemeLengths::Unit::kTokens),
          bytes_(machine.lexer, machine.layout, budget),
          futures_(machine.lexer, speller_.star(), machine.layout.newline, machine.layout.classes, budget),
          controls_(futures_, machine.layout, lengths_, budget, &speller_),
          yields_(machine, are_exact(machine) ? lengths_ : bytes_, budget),
          search_(machine, controls_, yields_, budget, false, are_exact(machine) ? nullptr : &bytes_),
          first_cell_(first_cell) {}

    // Whether distances are exact. Not so in a large grammar, where only completions count that are nearly as
    // short in bytes as can be: a distance is that of the best of these, an upper bound. It is consistent: of
    // each configuration, unless it is 0, some token leads to one that is a token nearer. A configuration
    // that none of these completes is taken for one without a completion.
    static bool are_exact(const Pushdown& machine) {
        return std::int64_t{machine.lexer.num_states()} * machine.tables.num_states <= kLargest;
    }

    // A number for all LR states of a stack, equal for equal stacks. Found in O(1) if the node has been asked
    // for before.
    std::int32_t cell(const StackNode* node);
    // kNone: there is no completion. `leading`: the next token loses one leading space.
    std::int64_t least(const LexerConfiguration& reading, bool leading, std::int32_t cell) {
        const auto from = leading ? speller_.leading() : TokenSpeller::kBoundary;
        return search_.cost(reading, from, cell - first_cell_, kNone - 1);
    }

    // Forgets what is known of stacks if it is much; true: it did, and no number of a cell is used again.
    bool make_room();
    std::int32_t next_first_cell() const { return first_cell_ + search_.num_cells(); }

  private:
    static constexpr std::size_t kMostKnown = std::size_t{1} << 20;

    TokenSpeller speller_;
    static constexpr std::int64_t kLargest = 400'000;

    LexemeLengths lengths_, bytes_;
    Futures futures_;
    WeightedControls controls_;
    LeastYields yields_;
    StackSearch search_;
    std::int32_t first_cell_;
};

}  // namespace pdacon
