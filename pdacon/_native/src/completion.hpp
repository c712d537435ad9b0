// The shortest way to acceptance: fewest bytes, then lexicographically least.
//
// Weighted summaries give the cost of every event on every symbol; a pass over the stack at hand adds what
// lies below; then the text is read off greedily, byte by byte, always the least byte that lowers the cost by
// one.
//
// Source: Knuth 1977, "A generalization of Dijkstra's algorithm" (here label-correcting, over summaries).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "futures.hpp"
#include "pushdown.hpp"
#include "stack.hpp"
#include "summaries.hpp"

namespace pdacon {

// The quotient of coaccessibility with costs: a label, with the set of the residues that it may leave for so
// many bytes. Single events would be as many as lookahead has texts.
class WeightedControls final : public PendingControls {
  public:
    using PendingControls::PendingControls;

    // What can follow in a lexer and speller state, one control per label, with the least number of bytes up
    // to it.
    std::span<const Successor> distances(std::int32_t lexer_state, std::int32_t speller_state);

  private:
    using Costs = std::unordered_map<std::int32_t, std::int32_t>;  // of events

    struct State {
        std::int32_t lexer_state, speller_state;
    };
    // Far ahead of a state its costs are computed first at every so many bytes, so that none looks further:
    // else a long literal would cost the square of its length.
    static constexpr std::int32_t kSpan = 64;
    static std::uint64_t key_of(State state) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(state.lexer_state)) << 32 |
               static_cast<std::uint32_t>(state.speller_state);
    }
    std::vector<Successor> lexed(std::int32_t context, std::span<const std::int32_t> residues) override;
    template <class Visit>
    void search(State from, Visit visit);
    const Costs& event_costs(std::int32_t lexer_state, std::int32_t speller_state);
    Costs costs_from(State from);
    std::vector<Successor> by_label(const Costs& costs);

    Interner distance_ids_;
    std::vector<std::vector<Successor>> distances_;
    std::unordered_map<std::uint64_t, Costs> event_costs_;  // of each lexer and speller state
};

class Completion {
  public:
    Completion(const Pushdown& machine, const Speller& speller, Futures& futures, Budget& budget)
        : machine_(machine),
          speller_(speller),
          controls_(futures, machine.layout),
          summaries_(machine, controls_, budget) {}

    // How many bytes the shortest completion has, kNone: there is none. `out`, if given, becomes it unless it
    // is longer than kLongest. Cost: O(depth of the stack), and O(byte classes) for each byte of `out`.
    static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
    static constexpr std::int64_t kLongest = 1 << 24;
    std::int64_t shortest(Reading reading, PersistentStack stack, std::string* out);

  private:
    std::int64_t cost(std::int32_t lexer_state, std::int32_t speller_state, const StackNode* stack);
    void spell(Reading reading, PersistentStack stack, std::int64_t left, std::string& out);
    std::int64_t cost_of_pop(std::int32_t pop, const StackNode* stack);
    bool step(Reading& reading, std::int32_t& speller_state, PersistentStack& stack, std::int64_t cost,
              std::string& out);
    std::int64_t step_to_column(Reading& reading, PersistentStack& stack, std::string& out);

    const Pushdown& machine_;
    const Speller& speller_;
    WeightedControls controls_;
    Summaries summaries_;
    std::unordered_map<std::uint64_t, std::int64_t> pop_costs_;  // of (pop control, serial of the stack node)
    std::unordered_map<const StackNode*, std::uint32_t> serials_;
    std::vector<PersistentStack> kept_;  // so that no address is used twice
};

}  // namespace pdacon
