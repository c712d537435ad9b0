#include "nested/integer_range.hpp"

#include "nested/digit_states.hpp"

namespace pdacon {

std::optional<NestedTerminal> integer_range(std::optional<std::int64_t> least,
                                            std::optional<std::int64_t> most) {
    using Magnitude = DigitStates::Magnitude;
    if (least && most && *least > *most) return std::nullopt;
    const auto magnitude = [](std::int64_t number) {
        return number < 0 ? Magnitude{0} - static_cast<Magnitude>(number) : static_cast<Magnitude>(number);
    };
    DigitStates states;
    constexpr auto kStart = DigitStates::kStart, kEnd = DigitStates::kEnd;
    if (!most || *most > 0)
        states.add(kStart, least && *least > 0 ? magnitude(*least) : 1,
                   most ? std::optional(magnitude(*most)) : std::nullopt);
    if ((!least || *least <= 0) && (!most || *most >= 0)) states.edge(kStart, '0', '0', kEnd);
    if (!least || *least < 0) {
        const auto sign = states.state();
        states.edge(kStart, '-', '-', sign);
        states.add(sign, most && *most < 0 ? magnitude(*most) : 1,
                   least ? std::optional(magnitude(*least)) : std::nullopt);
    }
    return states.terminal();
}

}  // namespace pdacon
