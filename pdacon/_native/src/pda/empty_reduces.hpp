// What a chain of reduces of empty rules comes to, without a walk along it: it can be as long as 2 to the
// number of rules.
//
// What the reduces on one lookahead do above a state depends on that state alone, until they pop it. So it is
// found once for each state, from what they do above the state that the empty rule pushes on it.
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

    // What becomes of a state on top of the stack.
    struct Outcome {
        // kFails: an error, or the chain never ends, and Lark's parser would never come back from it.
        // kShifts: the terminal can be shifted with `state` on it, and on that what `state` leads to in its
        // turn; -1: as it is. kPops: a rule is reduced that pops `length` states, itself the first. kAccepts:
        // of $END.
        enum class Kind : std::uint8_t { kFails, kShifts, kPops, kAccepts } kind = Kind::kFails;
        std::int32_t state = -1;
        std::int32_t lhs = -1, length = 0;
    };
    Outcome of(std::int32_t state);

  private:
    // An empty rule has been reduced on a state, and left another one on it.
    struct Open {
        std::int32_t state, above;
        std::int32_t moves = 0;  // how often a reduce has put another one in its place
    };
    std::optional<Outcome> known(std::int32_t state) const;
    void open(std::int32_t state);
    std::optional<Outcome> follow(Open& open);

    const Pushdown& machine_;
    std::int32_t terminal_;
    // Of each state on which an empty rule is reduced. While it is open: kFails, because a chain that comes
    // to the same state above it goes on so for ever.
    std::unordered_map<std::int32_t, Outcome> outcomes_;
    std::vector<Open> open_;
};

}  // namespace pdacon
