#include "regular/characters.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/at.hpp"
#include "base/interner.hpp"
#include "base/utf8.hpp"

namespace pdacon {

namespace {

void check(const ByteNfa& bytes, std::int32_t start) {
    const auto states = bytes.kind.size(), edges = bytes.target.size();
    bool right = start >= 0 && at(start) < states && bytes.offset.size() == states + 1 &&
                 bytes.low.size() == edges && bytes.high.size() == edges && bytes.offset.front() == 0 &&
                 std::ranges::is_sorted(bytes.offset) && at(bytes.offset.back()) == edges;
    for (const auto kind : bytes.kind)
        right = right && kind <= static_cast<std::uint8_t>(ByteState::kNowhere);
    for (const auto to : bytes.target) right = right && to >= 0 && at(to) < states;
    if (!right) throw std::invalid_argument("automata over bytes: the arrays do not fit together");
}

struct Edge {
    std::int32_t first, last, target;
};

// Appends an edge, joined to the one before if it goes on there.
void join(std::vector<Edge>& edges, const Edge& edge) {
    if (!edges.empty() && edges.back().last + 1 == edge.first && edges.back().target == edge.target)
        edges.back().last = edge.last;
    else
        edges.push_back(edge);
}

// The subset construction over bytes.
class Subsets {
  public:
    Subsets(const ByteNfa& bytes, Budget& budget)
        : bytes_(bytes), budget_(budget), seen_(bytes.kind.size(), 0) {}

    std::int32_t of(std::span<const std::int32_t> states) {
        ++visit_;
        members_.clear();
        pending_.assign(states.begin(), states.end());
        bool accepts = false;
        while (!pending_.empty()) {
            const auto state = at(pending_.back());
            pending_.pop_back();
            if (std::exchange(seen_[state], visit_) == visit_) continue;
            switch (static_cast<ByteState>(bytes_.kind[state])) {
                case ByteState::kEnd:
                    accepts = true;
                    break;
                case ByteState::kBytes:
                    members_.push_back(static_cast<std::int32_t>(state));
                    break;
                case ByteState::kNowhere:
                    break;
                case ByteState::kSplit:
                    for (auto edge = bytes_.offset[state]; edge < bytes_.offset[state + 1]; ++edge)
                        pending_.push_back(bytes_.target[at(edge)]);
            }
        }
        std::ranges::sort(members_);
        members_.push_back(accepts ? -1 : -2);
        const auto id = known_.intern(members_);
        budget_.check_states(known_.size());
        return id;
    }

    bool accepts(std::int32_t subset) const { return known_[subset].back() == -1; }

    // The bytes that lead on, ascending, with the subsets after.
    std::span<const Edge> edges(std::int32_t subset) {
        if (at(subset) >= edges_.size()) edges_.resize(known_.size());
        if (!is_known(subset)) {
            budget_.tick();
            auto found = stepped(subset);  // makes subsets
            if (at(subset) >= edges_.size()) edges_.resize(known_.size());
            done_.resize(std::max(done_.size(), known_.size()), false);
            edges_[at(subset)] = std::move(found);
            done_[at(subset)] = true;
        }
        return edges_[at(subset)];
    }

  private:
    bool is_known(std::int32_t subset) const { return at(subset) < done_.size() && done_[at(subset)]; }

    std::vector<Edge> stepped(std::int32_t subset) {
        struct Border {
            std::int32_t byte, target;
            bool enters;
        };
        std::vector<Border> borders;
        for (const auto state : known_[subset]) {
            if (state < 0) continue;
            for (auto edge = at(bytes_.offset[at(state)]); edge < at(bytes_.offset[at(state) + 1]); ++edge) {
                borders.push_back({bytes_.low[edge], bytes_.target[edge], true});
                borders.push_back({bytes_.high[edge] + 1, bytes_.target[edge], false});
            }
        }
        std::ranges::sort(borders, {}, &Border::byte);
        std::vector<std::int32_t> open;  // ascending, perhaps more than once
        std::vector<Edge> found;
        for (std::size_t border = 0; border < borders.size();) {
            const auto byte = borders[border].byte;
            for (; border < borders.size() && borders[border].byte == byte; ++border) {
                const auto [_, target, enters] = borders[border];
                const auto where = std::ranges::lower_bound(open, target);
                if (enters)
                    open.insert(where, target);
                else if (where != open.end() && *where == target)
                    open.erase(where);
                else
                    throw std::invalid_argument("automata over bytes: an edge ends before it begins");
            }
            if (!open.empty()) join(found, {byte, borders[border].byte - 1, of(open)});
        }
        return found;
    }

    const ByteNfa& bytes_;
    Budget& budget_;
    Interner known_;  // the kBytes states, ascending, and whether a text may end
    std::vector<std::vector<Edge>> edges_;
    std::vector<bool> done_;
    std::vector<std::uint32_t> seen_;
    std::uint32_t visit_ = 0;
    std::vector<std::int32_t> members_, pending_;
};

// What a subset between two characters reads at once.
class Decoder {
  public:
    explicit Decoder(Subsets& subsets) : subsets_(subsets) {}

    // The characters that lead on, ascending, with the subsets after.
    std::vector<Edge> characters(std::int32_t subset) {
        std::vector<Edge> found;
        const auto leads = subsets_.edges(subset);
        for (const auto& edge : std::vector<Edge>(leads.begin(), leads.end()))
            for (auto byte = edge.first; byte <= edge.last; ++byte) {
                const auto after = utf8_step(kUtf8Boundary, static_cast<std::uint8_t>(byte));
                if (after == kUtf8Error)
                    throw std::invalid_argument("automata over bytes: a character begins wrong");
                if (after == kUtf8Boundary) {
                    join(found, {byte, byte, edge.target});
                    continue;
                }
                const int more = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
                const auto base = (byte & (0x3F >> more)) << (6 * more);
                for (const auto& rest : tail(edge.target, more, after))
                    join(found, {base + rest.first, base + rest.last, rest.target});
            }
        return found;
    }

  private:
    // The same for so many continuation bytes, in a state of well-formed UTF-8; values count from 0.
    const std::vector<Edge>& tail(std::int32_t subset, int more, int utf8) {
        const auto key = std::pair{subset, utf8};
        if (const auto known = tails_.find(key); known != tails_.end()) return known->second;
        std::vector<Edge> found;
        const auto edges = subsets_.edges(subset);
        for (const auto& edge : std::vector<Edge>(edges.begin(), edges.end()))
            for (auto byte = edge.first; byte <= edge.last; ++byte) {
                const auto after = utf8_step(utf8, static_cast<std::uint8_t>(byte));
                if (after == kUtf8Error)
                    throw std::invalid_argument("automata over bytes: a character goes on wrong");
                const auto base = (byte & 0x3F) << (6 * (more - 1));
                if (more == 1)
                    join(found, {base, base, edge.target});
                else
                    for (const auto& rest : tail(edge.target, more - 1, after))
                        join(found, {base + rest.first, base + rest.last, rest.target});
            }
        return tails_.emplace(key, std::move(found)).first->second;
    }

    Subsets& subsets_;
    std::map<std::pair<std::int32_t, int>, std::vector<Edge>> tails_;
};

}  // namespace

CharacterDfa characters_of(const ByteNfa& bytes, std::int32_t start, Budget& budget) {
    check(bytes, start);
    Subsets subsets(bytes, budget);
    Decoder decoder(subsets);
    struct Reading {
        std::int32_t set, target;
    };
    std::vector<std::int32_t> order{subsets.of(std::array{start})};
    std::map<std::int32_t, std::int32_t> number{{order[0], 0}};
    Interner sets;  // sets of characters that lead from one state to another
    std::vector<std::vector<Reading>> rows;
    std::vector<std::uint8_t> accepting;
    for (std::size_t state = 0; state < order.size(); ++state) {  // grows
        budget.tick();
        accepting.push_back(subsets.accepts(order[state]) ? 1 : 0);
        std::map<std::int32_t, std::vector<std::int32_t>> by_target;
        for (const auto& edge : decoder.characters(order[state])) {
            const auto [found, is_new] = number.emplace(edge.target, static_cast<std::int32_t>(order.size()));
            if (is_new) order.push_back(edge.target);
            auto& ranges = by_target[found->second];
            if (!ranges.empty() && ranges.back() + 1 == edge.first)
                ranges.back() = edge.last;
            else
                ranges.insert(ranges.end(), {edge.first, edge.last});
        }
        auto& row = rows.emplace_back();
        for (const auto& [target, ranges] : by_target) row.push_back({sets.intern(ranges), target});
    }
    budget.look();
    std::vector<CharacterRanges> views;
    for (std::size_t set = 0; set < sets.size(); ++set) views.push_back(sets[static_cast<std::int32_t>(set)]);
    std::vector<std::vector<std::int32_t>> members, classes(sets.size());
    CharacterDfa made{classes_of(views, members), {}, std::move(accepting)};
    for (std::size_t cls = 0; cls < members.size(); ++cls)
        for (const auto set : members[cls]) classes[at(set)].push_back(static_cast<std::int32_t>(cls));
    const auto width = at(made.classes.count);
    made.table.assign(rows.size() * width, -1);
    for (std::size_t state = 0; state < rows.size(); ++state)
        for (const auto& [set, target] : rows[state])
            for (const auto cls : classes[at(set)]) made.table[state * width + at(cls)] = target;
    budget.look();
    return minimized(made, budget);
}

}  // namespace pdacon
