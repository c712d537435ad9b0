#include "nested/digit_states.hpp"

namespace pdacon {

void DigitStates::add(std::int32_t from, const std::string& least, const std::optional<std::string>& most) {
    if (most && least.size() == most->size()) return same_length(from, least, *most);
    at_least(from, least);
    if (!most) return edge(from, '1', '9', digits_from(least.size()));
    for (auto length = least.size() + 1; length < most->size(); ++length)
        edge(from, '1', '9', digits(length - 1));
    at_most(from, *most, '1');
}

std::optional<NestedTerminal> DigitStates::terminal() const {
    std::vector<std::vector<std::int32_t>> sources(states_.size());
    for (std::size_t state = 0; state < states_.size(); ++state)
        for (const auto& edge : states_[state])
            sources[static_cast<std::size_t>(edge.target)].push_back(static_cast<std::int32_t>(state));
    std::vector<std::uint8_t> ends(states_.size());
    std::vector<std::int32_t> pending{kEnd};
    ends[kEnd] = 1;
    while (!pending.empty()) {
        const auto state = static_cast<std::size_t>(pending.back());
        pending.pop_back();
        for (const auto source : sources[state])
            if (auto& known = ends[static_cast<std::size_t>(source)]; known == 0) {
                known = 1;
                pending.push_back(source);
            }
    }
    if (ends[kStart] == 0) return std::nullopt;
    NestedTerminal made;
    made.offset.push_back(0);
    for (std::size_t state = 0; state < states_.size(); ++state) {
        made.kind.push_back(state == kEnd ? NestedTerminal::kMatch : NestedTerminal::kBytes);
        for (const auto& [lo, hi, target] : states_[state]) {
            if (ends[static_cast<std::size_t>(target)] == 0) continue;
            made.lo.push_back(lo);
            made.hi.push_back(hi);
            made.target.push_back(target);
        }
        made.offset.push_back(static_cast<std::int32_t>(made.target.size()));
    }
    return made;
}

std::int32_t DigitStates::digits(std::size_t count) {
    while (exactly_.size() <= count) {
        const auto made = state();
        edge(made, '0', '9', exactly_.back());
        exactly_.push_back(made);
    }
    return exactly_[count];
}

std::int32_t DigitStates::digits_from(std::size_t count) {
    auto made = state();
    edge(made, '0', '9', kEnd);
    edge(made, '0', '9', made);
    for (std::size_t k = 1; k < count; ++k) {
        const auto before = state();
        edge(before, '0', '9', made);
        made = before;
    }
    return made;
}

void DigitStates::at_least(std::int32_t from, const std::string& low) {
    for (std::size_t at = 0; at < low.size(); ++at) {
        edge(from, low[at] + 1, '9', digits(low.size() - at - 1));
        const auto next = at + 1 == low.size() ? kEnd : state();
        edge(from, low[at], low[at], next);
        from = next;
    }
}

void DigitStates::at_most(std::int32_t from, const std::string& high, char first) {
    for (std::size_t at = 0; at < high.size(); ++at) {
        edge(from, at == 0 ? first : '0', high[at] - 1, digits(high.size() - at - 1));
        const auto next = at + 1 == high.size() ? kEnd : state();
        edge(from, high[at], high[at], next);
        from = next;
    }
}

void DigitStates::same_length(std::int32_t from, const std::string& low, const std::string& high) {
    std::size_t at = 0;
    for (; at + 1 < low.size() && low[at] == high[at]; ++at) {
        const auto next = state();
        edge(from, low[at], low[at], next);
        from = next;
    }
    if (low[at] == high[at]) return edge(from, low[at], high[at], kEnd);
    const auto left = low.size() - at - 1;
    edge(from, low[at] + 1, high[at] - 1, digits(left));
    const auto below = left == 0 ? kEnd : state(), above = left == 0 ? kEnd : state();
    edge(from, low[at], low[at], below);
    edge(from, high[at], high[at], above);
    if (left == 0) return;
    at_least(below, low.substr(at + 1));
    at_most(above, high.substr(at + 1), '0');
}

}  // namespace pdacon
