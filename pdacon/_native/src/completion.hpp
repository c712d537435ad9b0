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

    // What can follow a reading in a speller state, with the least number of bytes up to it, not counting the
    // spaces of a line that has begun.
    std::span<const Successor> distances(const Reading& reading, std::int32_t speller_state);

  private:
    using Costs = std::unordered_map<std::int32_t, std::int32_t>;  // of events

    struct State {
        Reading reading;
        std::int32_t speller_state;
    };
    // Far ahead of a state its costs are computed first at every so many bytes, so that none looks further:
    // else a long literal would cost the square of its length.
    static constexpr std::int32_t kSpan = 64;
    std::int32_t number(const State& state) {
        const std::int32_t key[] = {state.reading.state, state.reading.now.value, state.reading.matched.value,
                                    state.speller_state};
        return numbers_.intern(key);
    }
    std::vector<Successor> lexed(std::int32_t context, std::span<const std::int32_t> residues) override;
    template <class Visit>
    void search(const State& from, Visit visit);
    const Costs& event_costs(State from);
    Costs costs_from(const State& from);
    std::vector<Successor> by_label(const Costs& costs);

    Interner numbers_;  // of states
    std::unordered_map<std::int32_t, std::vector<Successor>> distances_;
    std::unordered_map<std::int32_t, Costs> event_costs_;
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
    std::int64_t cost(const Reading& reading, std::int32_t speller_state, const StackNode* stack);
    void spell(Reading reading, PersistentStack stack, std::int64_t left, std::string& out);
    std::int64_t cost_of_pop(std::int32_t pop, const StackNode* stack);
    bool step(Reading& reading, std::int32_t& speller_state, PersistentStack& stack, std::int64_t cost,
              std::string& out);
    std::int64_t step_to_column(Reading& reading, std::int32_t& speller_state, PersistentStack& stack,
                                std::string& out);

    const Pushdown& machine_;
    const Speller& speller_;
    WeightedControls controls_;
    Summaries summaries_;
    std::unordered_map<std::uint64_t, std::int64_t> pop_costs_;  // of (pop control, serial of the stack node)
    std::unordered_map<const StackNode*, std::uint32_t> serials_;
    std::vector<PersistentStack> kept_;  // so that no address is used twice
};

}  // namespace pdacon
