#include "regular/factor_automaton.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/at.hpp"

namespace pdacon {

namespace {

constexpr std::int32_t kNone = -1;

// The automaton over code points. A state stands for the factors that end in the same places of the text; its
// suffix link leads to the state of the longest suffix that ends in more places.
class SuffixAutomaton {
  public:
    SuffixAutomaton(std::size_t length, Budget& budget) : budget_(budget) {
        states_.reserve(2 * length + 1);  // the most that a text of this length needs
        edges_.reserve(3 * length);
        make(0, kNone);
    }

    void add(std::int32_t point) {
        budget_.tick();
        const auto last = std::exchange(last_, make(states_[at(last_)].length + 1, 0));
        auto state = last;
        for (; state != kNone && find(state, point) == kNone; state = states_[at(state)].link)
            lead(state, point, last_);
        if (state == kNone) return;
        const auto target = edges_[at(find(state, point))].target;
        const auto length = states_[at(state)].length + 1;
        states_[at(last_)].link = length == states_[at(target)].length ? target : split(state, point, target);
    }

    std::size_t size() const { return states_.size(); }
    std::size_t num_edges() const { return edges_.size(); }

    template <class Visit>
    void for_each_edge(std::size_t state, Visit visit) const {
        for (auto edge = states_[state].first; edge != kNone; edge = edges_[at(edge)].next)
            visit(edges_[at(edge)].point, edges_[at(edge)].target);
    }

  private:
    // A state with more edges than so many is asked by way of a hash table.
    static constexpr std::int32_t kFew = 6;
    struct State {
        std::int32_t length, link, first, degree;  // of its longest factor; a state; its first edge
    };
    struct Edge {
        std::int32_t from, point, target, next;
    };

    std::int32_t make(std::int32_t length, std::int32_t link) {
        states_.push_back({length, link, kNone, 0});
        budget_.check_states(states_.size());
        return static_cast<std::int32_t>(states_.size()) - 1;
    }

    void lead(std::int32_t from, std::int32_t point, std::int32_t target) {
        auto& state = states_[at(from)];
        edges_.push_back({from, point, target, state.first});
        state.first = static_cast<std::int32_t>(edges_.size()) - 1;
        if (++state.degree <= kFew) return;
        auto edge = state.first;
        do note(edge);
        while (state.degree == kFew + 1 && (edge = edges_[at(edge)].next) != kNone);
    }

    // The edge of a state that reads a code point.
    std::int32_t find(std::int32_t from, std::int32_t point) const {
        const auto& state = states_[at(from)];
        if (state.degree > kFew) return slots_[slot_of(from, point)];
        auto edge = state.first;
        while (edge != kNone && edges_[at(edge)].point != point) edge = edges_[at(edge)].next;
        return edge;
    }

    // Where the edge is in the hash table, or is to be.
    std::size_t slot_of(std::int32_t from, std::int32_t point) const {
        const auto key = static_cast<std::uint64_t>(from) << 21 | static_cast<std::uint64_t>(point);
        auto slot = static_cast<std::size_t>(key * 0x9E3779B97F4A7C15U >> 32) & (slots_.size() - 1);
        for (; slots_[slot] != kNone; slot = (slot + 1) & (slots_.size() - 1)) {
            const auto& edge = edges_[at(slots_[slot])];
            if (edge.from == from && edge.point == point) break;
        }
        return slot;
    }

    void note(std::int32_t edge) {
        if (++noted_ * 2 > slots_.size()) {
            const auto old = std::exchange(slots_, std::vector<std::int32_t>(slots_.size() * 2, kNone));
            for (const auto known : old)
                if (known != kNone) slots_[slot_of(edges_[at(known)].from, edges_[at(known)].point)] = known;
        }
        slots_[slot_of(edges_[at(edge)].from, edges_[at(edge)].point)] = edge;
    }

    // A state for the factors of `target` that are no longer than those of `state` and a code point: they now
    // end in one more place.
    std::int32_t split(std::int32_t state, std::int32_t point, std::int32_t target) {
        const auto made = make(states_[at(state)].length + 1, states_[at(target)].link);
        for (auto edge = states_[at(target)].first; edge != kNone; edge = edges_[at(edge)].next)
            lead(made, edges_[at(edge)].point, edges_[at(edge)].target);
        for (; state != kNone; state = states_[at(state)].link) {
            auto& edge = edges_[at(find(state, point))];
            if (edge.target != target) break;
            edge.target = made;
        }
        states_[at(target)].link = made;
        return made;
    }

    Budget& budget_;
    std::vector<State> states_;
    std::vector<Edge> edges_;
    std::vector<std::int32_t> slots_ = std::vector<std::int32_t>(1 << 10, kNone);  // edges, by their hashes
    std::size_t noted_ = 0;
    std::int32_t last_ = 0;
};

// Writes the code points on edges as bytes: first the states of the automaton, then those within a character.
class ByteWriter {
  public:
    ByteWriter(const SuffixAutomaton& factors, Budget& budget)
        : factors_(factors), budget_(budget), states_(factors.size()) {}

    WordAutomaton write() {
        made_.accepting.assign(states_, 1);
        made_.accepting[0] = 0;
        made_.offset.reserve(states_ + 1);
        made_.byte.reserve(factors_.num_edges());
        made_.target.reserve(factors_.num_edges());
        for (std::size_t state = 0; state < factors_.size(); ++state) {
            const auto begin = rest_.size();
            factors_.for_each_edge(state, [&](std::int32_t point, std::int32_t target) {
                rest_.push_back(spelled(point, target));
            });
            take(begin, rest_.size());
        }
        for (std::size_t next = 0; next < within_.size(); ++next) {  // grows
            const auto [begin, end] = within_[next];
            take(begin, end);
        }
        return std::move(made_);
    }

  private:
    // What is left to be read of a character: up to four bytes, the next one in the highest place.
    struct Rest {
        std::uint32_t bytes;
        std::int32_t count, target;
    };

    static Rest spelled(std::int32_t point, std::int32_t target) {
        const auto code = static_cast<std::uint32_t>(point);
        if (code < 0x80) return {code << 24, 1, target};
        if (code < 0x800) return {(0xC0U | code >> 6) << 24 | (0x80U | (code & 0x3FU)) << 16, 2, target};
        if (code < 0x10000)
            return {(0xE0U | code >> 12) << 24 | (0x80U | (code >> 6 & 0x3FU)) << 16 |
                        (0x80U | (code & 0x3FU)) << 8,
                    3, target};
        return {(0xF0U | code >> 18) << 24 | (0x80U | (code >> 12 & 0x3FU)) << 16 |
                    (0x80U | (code >> 6 & 0x3FU)) << 8 | (0x80U | (code & 0x3FU)),
                4, target};
    }

    // Makes the next state, of which rest_[begin .. end) is left to be read, and notes those within
    // characters.
    void take(std::size_t begin, std::size_t end) {
        budget_.tick();
        std::sort(rest_.begin() + static_cast<std::ptrdiff_t>(begin),
                  rest_.begin() + static_cast<std::ptrdiff_t>(end),
                  [](const Rest& one, const Rest& other) { return one.bytes < other.bytes; });
        for (auto next = begin; next < end;) {
            const auto byte = rest_[next].bytes >> 24;
            made_.byte.push_back(static_cast<std::uint8_t>(byte));
            if (rest_[next].count == 1) {
                made_.target.push_back(rest_[next++].target);
                continue;
            }
            const auto inner = rest_.size();
            for (; next < end && rest_[next].bytes >> 24 == byte; ++next)
                rest_.push_back({rest_[next].bytes << 8, rest_[next].count - 1, rest_[next].target});
            within_.emplace_back(inner, rest_.size());
            made_.target.push_back(static_cast<std::int32_t>(states_++));
            made_.accepting.push_back(0);
            budget_.check_states(states_);
        }
        made_.offset.push_back(static_cast<std::int32_t>(made_.target.size()));
        if (end == rest_.size()) rest_.resize(begin);  // nothing is noted after
    }

    const SuffixAutomaton& factors_;
    Budget& budget_;
    std::size_t states_;
    WordAutomaton made_;
    std::vector<Rest> rest_;
    std::vector<std::pair<std::size_t, std::size_t>> within_;  // parts of rest_, of states to be made
};

}  // namespace

WordAutomaton factor_automaton(std::span<const std::int32_t> points, Budget& budget) {
    SuffixAutomaton factors(points.size(), budget);
    for (const auto point : points) {
        if (point < 0 || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
            throw std::invalid_argument("factors: no code point of a text");
        factors.add(point);
    }
    return ByteWriter(factors, budget).write();
}

}  // namespace pdacon
