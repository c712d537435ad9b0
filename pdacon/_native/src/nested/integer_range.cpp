#include "nested/integer_range.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace pdacon {

namespace {

using Magnitude = std::uint64_t;

class Ranges {
  public:
    struct Edge {
        std::uint8_t lo, hi;
        std::int32_t target;
    };

    Ranges() { states_.resize(2); }
    static constexpr std::int32_t kStart = 0, kEnd = 1;

    std::int32_t state() {
        states_.emplace_back();
        return static_cast<std::int32_t>(states_.size()) - 1;
    }
    void edge(std::int32_t from, int lo, int hi, std::int32_t to) {
        if (lo <= hi)
            states_[static_cast<std::size_t>(from)].push_back(
                {static_cast<std::uint8_t>(lo), static_cast<std::uint8_t>(hi), to});
    }

    // Numbers from one to another, both greater than 0, behind a state; no `most`: all from `least` on.
    void add(std::int32_t from, Magnitude least, std::optional<Magnitude> most) {
        const auto low = std::to_string(least);
        const auto high = most ? std::to_string(*most) : "";
        if (most && low.size() == high.size()) return same_length(from, low, high);
        at_least(from, low);
        if (!most) return edge(from, '1', '9', digits_from(low.size()));
        for (auto length = low.size() + 1; length < high.size(); ++length)
            edge(from, '1', '9', digits(length - 1));
        at_most(from, high, '1');
    }

    NestedTerminal terminal() const {
        NestedTerminal made;
        made.offset.push_back(0);
        for (std::size_t state = 0; state < states_.size(); ++state) {
            made.kind.push_back(state == kEnd ? NestedTerminal::kMatch : NestedTerminal::kBytes);
            for (const auto& [lo, hi, target] : states_[state]) {
                made.lo.push_back(lo);
                made.hi.push_back(hi);
                made.target.push_back(target);
            }
            made.offset.push_back(static_cast<std::int32_t>(made.target.size()));
        }
        return made;
    }

  private:
    // The state from which so many digits lead to the end.
    std::int32_t digits(std::size_t count) {
        while (exactly_.size() <= count) {
            const auto made = state();
            edge(made, '0', '9', exactly_.back());
            exactly_.push_back(made);
        }
        return exactly_[count];
    }
    // The same of so many digits or more, one at least.
    std::int32_t digits_from(std::size_t count) {
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
    void at_least(std::int32_t from, const std::string& low) {
        for (std::size_t at = 0; at < low.size(); ++at) {
            edge(from, low[at] + 1, '9', digits(low.size() - at - 1));
            const auto next = at + 1 == low.size() ? kEnd : state();
            edge(from, low[at], low[at], next);
            from = next;
        }
    }
    void at_most(std::int32_t from, const std::string& high, char first) {
        for (std::size_t at = 0; at < high.size(); ++at) {
            edge(from, at == 0 ? first : '0', high[at] - 1, digits(high.size() - at - 1));
            const auto next = at + 1 == high.size() ? kEnd : state();
            edge(from, high[at], high[at], next);
            from = next;
        }
    }
    void same_length(std::int32_t from, const std::string& low, const std::string& high) {
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

    std::vector<std::vector<Edge>> states_;
    std::vector<std::int32_t> exactly_{
        kEnd};  // by count: the state from which so many digits lead to the end
};

}  // namespace

std::optional<NestedTerminal> integer_range(std::optional<std::int64_t> least,
                                            std::optional<std::int64_t> most) {
    if (least && most && *least > *most) return std::nullopt;
    const auto magnitude = [](std::int64_t number) {
        return number < 0 ? Magnitude{0} - static_cast<Magnitude>(number) : static_cast<Magnitude>(number);
    };
    Ranges ranges;
    if (!most || *most > 0)
        ranges.add(Ranges::kStart, least && *least > 0 ? magnitude(*least) : 1,
                   most ? std::optional(magnitude(*most)) : std::nullopt);
    if ((!least || *least <= 0) && (!most || *most >= 0)) ranges.edge(Ranges::kStart, '0', '0', Ranges::kEnd);
    if (!least || *least < 0) {
        const auto sign = ranges.state();
        ranges.edge(Ranges::kStart, '-', '-', sign);
        ranges.add(sign, most && *most < 0 ? magnitude(*most) : 1,
                   least ? std::optional(magnitude(*least)) : std::nullopt);
    }
    return ranges.terminal();
}

}  // namespace pdacon
