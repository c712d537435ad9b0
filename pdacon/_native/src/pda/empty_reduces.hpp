// The outcome of a chain of reduces on one lookahead that begins with an empty production, found without a
// walk along it: such a chain can be as long as 2 to the number of rules.
//
// What the reduces do above a state depends on that state alone, until one of them pops it. So it is found
// once for each state, from what they do above the state that the empty production pushes on it.
//
// Cost: for each state one visit, and at most as many moves as there are nonterminals. Iterative.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace pdacon {

struct Pushdown;

class EmptyReduces {
  public:
    EmptyReduces(const Pushdown& machine, std::int32_t terminal) : machine_(machine), terminal_(terminal) {}

    // What the reduces on the terminal come to, from a state on top of the stack on.
    struct Outcome {
        // kFails: an error; or the chain never ends, and Lark's parser would never come back from it.
        // kShifts: the terminal can be shifted. With `state` -1 that is so at once; otherwise `state` is
        // pushed first, and the outcome of `state`, which is kShifts as well, says what is pushed above it.
        // kPops: a production with the left-hand side `lhs` is reduced that pops `length` states, this one
        // first. kAccepts: $END leads to acceptance.
        enum class Kind : std::uint8_t { kFails, kShifts, kPops, kAccepts } kind = Kind::kFails;
        std::int32_t state = -1;
        std::int32_t lhs = -1, length = 0;
    };
    Outcome of(std::int32_t state);

  private:
    // An empty production has been reduced on a state, and pushed another one on it.
    struct Open {
        std::int32_t state, above;
        std::int32_t moves = 0;  // how often a reduce has put another state in the place of `above`
    };
    std::optional<Outcome> known(std::int32_t state) const;
    void open(std::int32_t state);
    std::optional<Outcome> follow(Open& open);

    const Pushdown& machine_;
    std::int32_t terminal_;
    // For each state on which an empty production is reduced. While a state is on `open_`, its outcome is
    // kFails: a chain that comes to the state again above itself never ends.
    std::unordered_map<std::int32_t, Outcome> outcomes_;
    std::vector<Open> open_;
};

}  // namespace pdacon
