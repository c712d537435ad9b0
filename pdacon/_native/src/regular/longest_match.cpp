#include "regular/longest_match.hpp"

#include <stdexcept>

#include "base/at.hpp"

namespace pdacon {

namespace {

constexpr std::uint8_t kBytes = 0, kSplit = 1, kMatch = 2;  // as in pdacon/regular/ordered/program.py

void check(std::span<const std::int32_t> offset, std::span<const std::uint8_t> low,
           std::span<const std::uint8_t> high, std::span<const std::int32_t> target,
           std::span<const std::uint8_t> accepting) {
    const auto states = accepting.size();
    bool good = states > 0 && offset.size() == states + 1 && offset[0] == 0 && accepting[0] == 0 &&
                low.size() == target.size() && high.size() == target.size();
    for (std::size_t state = 0; good && state < states; ++state) good = offset[state] <= offset[state + 1];
    good = good && at(offset[states]) == target.size();
    for (const auto to : target) good = good && to >= 0 && at(to) < states;
    if (!good) throw std::invalid_argument("longest_match: the arrays do not fit together");
}

}  // namespace

OrderedAutomaton longest_match(std::span<const std::int32_t> offset, std::span<const std::uint8_t> low,
                               std::span<const std::uint8_t> high, std::span<const std::int32_t> target,
                               std::span<const std::uint8_t> accepting) {
    check(offset, low, high, target, accepting);
    const auto states = accepting.size();
    const auto degree = [&](std::size_t state) { return offset[state + 1] - offset[state]; };
    std::vector<std::int32_t> number(states);  // the match is -1 until its number is known
    std::vector<std::size_t> forks;
    std::int32_t kept = 0;
    for (std::size_t state = 0; state < states; ++state) {
        const bool accepts = accepting[state] != 0;
        number[state] = accepts && degree(state) == 0 ? -1 : kept++;
        if (accepts && degree(state) != 0) forks.push_back(state);
    }
    const auto match = kept + static_cast<std::int32_t>(forks.size());
    const auto numbered = [&](std::int32_t state) {
        const auto found = number[at(state)];
        return found < 0 ? match : found;
    };
    OrderedAutomaton made;
    const auto edges = target.size() + 2 * forks.size();
    made.kind.reserve(at(match) + 1);
    made.offset.reserve(at(match) + 2);
    made.low.reserve(edges);
    made.high.reserve(edges);
    made.target.reserve(edges);
    made.offset.push_back(0);
    const auto close = [&](std::uint8_t kind) {
        made.kind.push_back(kind);
        made.offset.push_back(static_cast<std::int32_t>(made.target.size()));
    };
    const auto copy = [&](std::size_t state) {
        const auto first = at(offset[state]), last = at(offset[state + 1]);
        made.low.insert(made.low.end(), low.begin() + offset[state], low.begin() + offset[state + 1]);
        made.high.insert(made.high.end(), high.begin() + offset[state], high.begin() + offset[state + 1]);
        for (auto edge = first; edge < last; ++edge) made.target.push_back(numbered(target[edge]));
        close(kBytes);
    };
    std::int32_t reads = kept;
    for (std::size_t state = 0; state < states; ++state) {
        if (number[state] < 0) continue;
        if (accepting[state] == 0) {
            copy(state);
            continue;
        }
        for (const auto to : {reads++, match}) {
            made.low.push_back(0);
            made.high.push_back(0);
            made.target.push_back(to);
        }
        close(kSplit);
    }
    for (const auto state : forks) copy(state);
    close(kMatch);
    return made;
}

}  // namespace pdacon
