// The quotient of coaccessibility with costs: a label, with the set of the pushbacks that it may leave for so
// many bytes. Single emissions would be as many as lookahead has texts.
//
// What a label costs is counted beyond the shortest lexeme of it, and a byte with the lexeme that it is of:
// those of a pushback with what they become. So costs say how much longer a text is than the grammar asks
// for.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/interner.hpp"
#include "completion/lexeme_lengths.hpp"
#include "liveness/pending_controls.hpp"

namespace pdacon {

class WeightedControls final : public PendingControls {
  public:
    WeightedControls(Futures& futures, const Layout& layout, const LexemeLengths& lengths)
        : PendingControls(futures, layout), lengths_(lengths), has_layout_(layout.newline >= 0) {}

    // What can follow a reading in a speller state: a list of successors, and what is to be added to their
    // costs, which is less than 0 where some of a lexeme has been read. The blanks of a line that has begun
    // cost nothing.
    struct Following {
        std::int32_t list = -1;
        std::int32_t cost = 0;
    };
    Following following(const Reading& reading, std::int32_t speller_state);
    // For each label and column a control with all pushbacks that one lexeme can leave, wherever it begins
    // between two tokens: what follows any control follows one of these, for no more than `slack` bytes
    // beyond.
    const std::vector<std::int32_t>& any();
    // Blanks are free in what is lexed again where a grammar has layout, and cost a byte each where they are
    // read.
    std::int32_t slack() const { return slack_; }
    // Of the shortest lexeme of a label.
    std::int32_t length(std::int32_t label) const { return lengths_.of(label); }

  private:
    using Costs = std::unordered_map<std::int32_t, std::int32_t>;  // of emissions

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
    std::vector<Successor> lexed(std::int32_t context, std::span<const std::int32_t> pushbacks) override;
    template <class Visit>
    void search(const State& from, Visit visit);
    const Costs& emission_costs(State from);
    Costs costs_from(const State& from);
    std::vector<Successor> by_label(const Costs& costs);

    const LexemeLengths& lengths_;
    bool has_layout_;
    std::vector<std::int32_t> any_;
    std::int32_t slack_ = 0;
    Interner numbers_;  // of states
    std::unordered_map<std::int32_t, Following> following_;
    std::unordered_map<std::int32_t, Costs> emission_costs_;
};

}  // namespace pdacon
