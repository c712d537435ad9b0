#include "nested/pattern_terminal.hpp"

#include <array>
#include <utility>

#include "base/budget.hpp"
#include "frontends/json_strings.hpp"
#include "regular/plain_patterns.hpp"

namespace pdacon {

std::optional<std::vector<NestedTerminal>> pattern_terminals(std::string_view pattern, bool is_ascii) try {
    const auto plain = PlainPattern::read(pattern);
    if (!plain) return std::nullopt;
    constexpr std::int64_t kMostStates = 1'000, kMostBytesStates = 20'000;
    constexpr std::array<std::uint8_t, 1> kQuote{'"'};
    Budget budget(kMostStates, 0);
    const auto strings = plain->strings(budget);
    if (!strings) return std::nullopt;
    if (strings->size() == 0) return std::vector<NestedTerminal>();
    Budget of_bytes(kMostBytesStates, 0);
    auto spelled =
        json_strings(*strings, is_ascii ? Escapes::kAscii : Escapes::kNeeded, kQuote, kQuote, of_bytes);
    NestedTerminal made;
    for (std::size_t state = 0; state + 1 < spelled.offset.size(); ++state) {
        const bool ends = spelled.offset[state] == spelled.offset[state + 1];
        made.kind.push_back(ends ? NestedTerminal::kMatch : NestedTerminal::kBytes);
    }
    made.offset = std::move(spelled.offset);
    made.lo = std::move(spelled.low);
    made.hi = std::move(spelled.high);
    made.target = std::move(spelled.target);
    return std::vector{std::move(made)};
} catch (const LimitExceeded&) {
    return std::nullopt;
}

}  // namespace pdacon
