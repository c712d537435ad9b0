#include "nested/pattern_terminal.hpp"

#include <array>
#include <utility>

#include "base/budget.hpp"
#include "frontends/json_strings.hpp"
#include "regular/determinize.hpp"
#include "regular/plain_patterns.hpp"

namespace pdacon {

namespace {

constexpr std::int64_t kMostStates = 1'000, kMostBytesStates = 20'000;

// Strings between a quote and what follows them, if there are any.
std::vector<NestedTerminal> spelled(const CharacterDfa& strings, bool is_ascii, std::string_view after) {
    if (strings.size() == 0) return {};
    constexpr std::array<std::uint8_t, 1> kQuote{'"'};
    const std::vector<std::uint8_t> end(after.begin(), after.end());
    Budget budget(kMostBytesStates, 0);
    auto automaton =
        json_strings(strings, is_ascii ? Escapes::kAscii : Escapes::kNeeded, kQuote, end, budget);
    NestedTerminal made;
    for (std::size_t state = 0; state + 1 < automaton.offset.size(); ++state) {
        const bool ends = automaton.offset[state] == automaton.offset[state + 1];
        made.kind.push_back(ends ? NestedTerminal::kMatch : NestedTerminal::kBytes);
    }
    made.offset = std::move(automaton.offset);
    made.lo = std::move(automaton.low);
    made.hi = std::move(automaton.high);
    made.target = std::move(automaton.target);
    return {std::move(made)};
}

bool goes_on_everywhere(const CharacterDfa& strings) {
    const auto width = strings.classes.count;
    for (std::size_t state = 0; state < strings.size(); ++state) {
        std::int32_t cls = 0;
        while (cls < width && strings.next(static_cast<std::int32_t>(state), cls) < 0) ++cls;
        if (cls == width) return false;
    }
    return true;
}

}  // namespace

std::optional<std::vector<NestedTerminal>> pattern_terminals(std::string_view pattern, bool is_ascii) try {
    const auto plain = PlainPattern::read(pattern);
    if (!plain) return std::nullopt;
    Budget budget(kMostStates, 0);
    const auto strings = plain->strings(budget);
    if (!strings) return std::nullopt;
    return spelled(*strings, is_ascii, "\"");
} catch (const LimitExceeded&) {
    return std::nullopt;
}

std::optional<std::vector<NestedTerminal>> string_terminals(const CharacterDfa& strings, bool is_ascii) try {
    return spelled(strings, is_ascii, "\"");
} catch (const LimitExceeded&) {
    return std::nullopt;
}

std::optional<NamesByPattern> names_by_pattern(std::string_view pattern, bool is_ascii,
                                               std::string_view end_of_name) try {
    const auto plain = PlainPattern::read(pattern);
    if (!plain) return std::nullopt;
    Budget budget(kMostStates, 0);
    const auto matching = plain->strings(budget);
    if (!matching) return std::nullopt;
    const CharacterDfa* const all[] = {&*matching};
    const Diagram negation{{0}, {0}, {1}};
    const auto others = combined(all, negation, budget);
    if (!goes_on_everywhere(*matching) || !goes_on_everywhere(others)) return std::nullopt;
    return NamesByPattern{spelled(*matching, is_ascii, end_of_name), spelled(others, is_ascii, end_of_name)};
} catch (const LimitExceeded&) {
    return std::nullopt;
}

bool reads(const NestedTerminal& terminal, std::string_view text) {
    auto state = static_cast<std::size_t>(terminal.start);
    for (const auto byte : text) {
        const auto read = static_cast<std::uint8_t>(byte);
        auto edge = static_cast<std::size_t>(terminal.offset[state]);
        const auto end = static_cast<std::size_t>(terminal.offset[state + 1]);
        while (edge < end && (read < terminal.lo[edge] || read > terminal.hi[edge])) ++edge;
        if (edge == end) return false;
        state = static_cast<std::size_t>(terminal.target[edge]);
    }
    return terminal.kind[state] == NestedTerminal::kMatch;
}

}  // namespace pdacon
