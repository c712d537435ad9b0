// Room `completion`: the shortest text that ends a sentence.
//
// In: the pushdown automaton and what `liveness` knows of its lexer. Out: how many bytes are missing, and
// which. It does not know tokens.
//
// Source: Knuth 1977, "A generalization of Dijkstra's algorithm", for the least yields of rules; weighted
// pushdown systems (Reps, Schwoon, Jha and Melski 2005) for what stands on a stack.
//
// Completion: the fewest bytes to acceptance and, of the texts that have as many, the lexicographically
// least; where newlines indent, any of them.
//
// The least yields of the grammar are a lower bound: they know the stack, but not the lexer, which may need a
// blank between two words. Weighted summaries say what popping a symbol of the stack costs beyond that bound,
// and StackSearch adds them up. The text is then
// spelled greedily, byte by byte: always the least byte after which one byte less is missing.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "completion/byte_distances.hpp"
#include "completion/column_search.hpp"
#include "completion/stack_cells.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class Completion {
  public:
    // `cells`: of all stacks that completions are asked for.
    Completion(const Pushdown& machine, const VocabularyStar& speller, Futures& futures, Budget& budget,
               StackCells& cells)
        : machine_(machine),
          speller_(speller),
          cells_(cells),
          distances_(machine, speller, futures, budget, cells),
          budget_(budget) {}

    // The number of bytes of the shortest completion; kNone: there is none. If `out` is given, it becomes the
    // completion, or a beginning of it with `most` bytes or more; of a completion longer than kLongest it
    // becomes the text only if `most` is less than that. Cost: O(cells of the stack that no completion has
    // been asked for), and O(byte classes) for each byte of `out`.
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
    static constexpr std::int64_t kLongest = 1 << 24;
    std::int64_t shortest(LexerConfiguration lexing, PersistentStack stack, std::string* out,
                          std::size_t most = kLongest);

    // Where the text of a completion has come to: after so many of its bytes, `left` are missing.
    struct Place {
        LexerConfiguration lexing;
        PersistentStack stack;
        std::int64_t left = 0;
        std::int32_t speller_state = 0;
    };
    // Appends the next bytes of a completion, `most` or more if it has as many, and moves on to where these
    // end. Not for a machine with layout, whose texts may have to begin again where the end was nearest.
    void spell_part(Place& place, std::size_t most, std::string& out);
    // Forgets what is known of cells, as must be done before the cells are forgotten.
    void forget() { distances_.forget(); }

  private:
    // So much is kept of what is known of cells.
    static constexpr std::size_t kMostKnown = std::size_t{1} << 16;
    // How many steps to a column in a row may leave as many bytes missing as before. What is missing after a
    // newline is a lower bound: where blanks decide which terminal the newline is, the column that costs
    // least may be out of reach, and the least byte may lead round in a circle. So then the search begins
    // again where the end was nearest, and does not stop before it is nearer.
    static constexpr int kMostIdle = 4;
    // A search for a column keeps some dozens of paths, each with a stack of its own. With the tables of a
    // damaged file it may have no end: then the limit of states is met before memory is gone.
    static constexpr std::size_t kStatesPerPath = 16;

    std::int64_t cost(const LexerConfiguration& lexing, std::int32_t speller_state, const StackNode* stack,
                      std::int64_t limit) {
        return distances_.least(lexing, speller_state, cells_.of(stack), limit);
    }

    void spell(Place place, std::size_t most, std::string& out);
    bool spell_byte(Place& place, std::string& out);
    void spell_to_column(Place& place, std::int64_t below, std::string& out);
    LexerConfiguration alike(const LexerConfiguration& lexing, const PersistentStack& stack) const;
    void add_moves(ColumnSearch& search, std::int32_t at, std::int64_t below);

    const Pushdown& machine_;
    const VocabularyStar& speller_;
    StackCells& cells_;
    ByteDistances distances_;
    const Budget& budget_;
    // Of the byte that is being spelled: byte classes and speller states.
    std::vector<std::pair<std::int32_t, std::int32_t>> tried_;
    std::vector<std::int32_t> pending_;
};

}  // namespace pdacon
