// Room `completion`: the shortest text that ends a sentence.
//
// In: the pushdown automaton and what `liveness` knows of its lexer. Out: how many bytes are missing, and
// which. It does not know tokens.
//
// Source: Knuth 1977, "A generalization of Dijkstra's algorithm", for the least yields of rules; weighted
// pushdown systems (Reps, Schwoon, Jha and Melski 2005) for what stands on a stack.
//
// The shortest way to acceptance: fewest bytes, then lexicographically least.
//
// Weighted summaries say what it costs to pop each symbol of the stack at hand beyond the least yields of the
// grammar; a search down the stack adds them up, and asks them for no more than it needs; then the text is
// read off greedily, byte by byte, always the least byte that lowers the cost by one.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/interner.hpp"
#include "completion/least_yields.hpp"
#include "completion/lexeme_lengths.hpp"
#include "completion/weighted_controls.hpp"
#include "completion/weighted_summaries.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class Completion {
  public:
    Completion(const Pushdown& machine, const Speller& speller, Futures& futures, Budget& budget)
        : machine_(machine),
          speller_(speller),
          lengths_(machine.lexer, machine.layout, budget),
          yields_(machine, lengths_, budget),
          controls_(futures, machine.layout, lengths_),
          summaries_(machine, controls_, yields_, budget) {}

    // How many bytes the shortest completion has, kNone: there is none. `out`, if given, becomes it unless it
    // is longer than kLongest, or at least the first `most` bytes of it. Cost: O(depth of the stack), and
    // O(byte classes) for each byte of `out`.
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
    static constexpr std::int64_t kLongest = 1 << 24;
    std::int64_t shortest(Reading reading, PersistentStack stack, std::string* out,
                          std::size_t most = kLongest);

  private:
    // Where the parser stands on the stack at hand: with any one of a list of controls pending on a node, or
    // where the reduction to a nonterminal is complete above it, with one control pending.
    struct Place {
        std::int32_t lhs;      // -1: no reduction
        std::int32_t pending;  // a control, or a list of them, or kAny
        const StackNode* node;
        std::int64_t least;  // bytes from here
        bool exact = false;  // whether it is not more than those
    };
    // What may be the best of the ways on from a place.
    struct Choice {
        std::int64_t cost = kNone, second = kNone;
        bool exact = false;
        std::int32_t place = -1, summary = -1;  // what has to be looked into to know more
        std::int32_t goal = -1;                 // of the state, on the way
    };

    // Columns can need some steps that bring the end no nearer; only damaged tables need more.
    static constexpr int kMostIdle = 100;
    static constexpr std::int64_t kUnlimited = 2 * LeastYields::kMost;
    // Beyond so many bytes a summary is looked for at any cost.
    static constexpr std::int64_t kFewBytes = 64;
    // How much farther than where it begins what may be pending below is looked for.
    static constexpr std::int64_t kFarther = 8;
    static constexpr std::int32_t kAny = -2;

    std::int64_t cost(const Reading& reading, std::int32_t speller_state, const StackNode* stack,
                      std::int64_t limit);
    void refine(std::int32_t place, std::int64_t limit);
    Choice choose(const Place& place);
    std::int32_t place(std::int32_t lhs, std::int32_t pending, const StackNode* node, std::int64_t least);
    std::int32_t known_place(std::int32_t lhs, std::int32_t pending, const StackNode* node);
    std::int64_t least_from(const Place& place, std::int32_t goal);
    std::int64_t least_below(const StackNode* node, const LeastYields::Goal& goal);
    using Found = std::unordered_map<std::uint64_t, std::int64_t>;  // by left-hand side and node
    std::int64_t least_after(std::int32_t lhs, const StackNode* node);
    bool raise_below(const StackNode* node, const LeastYields::Goal& goal);
    template <class Find>
    void from_below(std::int32_t lhs, const StackNode* node, Found& found, Find find);
    std::int32_t serial(const StackNode* node);
    std::uint64_t key_of(std::int32_t lhs, const StackNode* node) {
        return static_cast<std::uint64_t>(serial(node)) << 32 | static_cast<std::uint32_t>(lhs);
    }

    void spell(Reading reading, PersistentStack stack, std::int64_t left, std::size_t most, std::string& out);
    bool step(Reading& reading, std::int32_t& speller_state, PersistentStack& stack, std::int64_t left,
              std::string& out);
    std::int64_t step_to_column(Reading& reading, std::int32_t& speller_state, PersistentStack& stack,
                                std::string& out);

    const Pushdown& machine_;
    const Speller& speller_;
    LexemeLengths lengths_;
    LeastYields yields_;
    WeightedControls controls_;
    WeightedSummaries summaries_;
    // Of the stack at hand.
    std::unordered_map<const StackNode*, std::int32_t> serials_;
    Found least_after_;   // what is known of each
    Found raised_below_;  // the same where no more is to be known, whatever is pending
    Interner place_ids_;
    std::vector<Place> places_;
    std::vector<PersistentStack> kept_;  // so that no address is used twice
};

}  // namespace pdacon
