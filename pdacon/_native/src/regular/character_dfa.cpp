#include "regular/character_dfa.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/at.hpp"
#include "base/interner.hpp"

namespace pdacon {

namespace {

// Sets of elements, each in one of them, that are split by marking some of their elements.
class Partition {
  public:
    // All elements in one set, if there are any.
    explicit Partition(std::size_t elements)
        : elements_(elements), place_(elements), set_of_(elements, 0), ends_(elements == 0 ? 0 : 1) {
        std::iota(elements_.begin(), elements_.end(), 0);
        std::iota(place_.begin(), place_.end(), 0);
        if (elements != 0) ends_[0] = {0, elements, 0};
    }

    std::size_t size() const { return ends_.size(); }
    std::int32_t set_of(std::int32_t element) const { return set_of_[at(element)]; }
    std::span<const std::int32_t> operator[](std::size_t set) const {
        return std::span(elements_).subspan(ends_[set].first, ends_[set].last - ends_[set].first);
    }

    void mark(std::int32_t element) {
        auto& set = ends_[at(set_of(element))];
        const auto from = place_[at(element)], to = set.first + set.marked;
        if (from < to) return;
        if (set.marked++ == 0) touched_.push_back(set_of(element));
        const auto other = elements_[to];
        std::swap(elements_[from], elements_[to]);
        place_[at(element)] = to;
        place_[at(other)] = from;
    }

    // The smaller part of every set that is marked in part becomes a new set.
    void split() {
        for (const auto number : touched_) {
            auto& set = ends_[at(number)];
            const auto middle = set.first + std::exchange(set.marked, 0);
            if (middle == set.last) continue;
            const bool low = middle - set.first <= set.last - middle;
            const Ends made = low ? Ends{set.first, middle, 0} : Ends{middle, set.last, 0};
            (low ? set.first : set.last) = middle;
            for (auto place = made.first; place < made.last; ++place)
                set_of_[at(elements_[place])] = static_cast<std::int32_t>(size());
            ends_.push_back(made);
        }
        touched_.clear();
    }

  private:
    struct Ends {
        std::size_t first, last, marked;
    };
    std::vector<std::int32_t> elements_;
    std::vector<std::size_t> place_;
    std::vector<std::int32_t> set_of_;
    std::vector<Ends> ends_;
    std::vector<std::int32_t> touched_;
};

// The states from which a string is accepted.
std::vector<bool> coaccessible(const CharacterDfa& dfa) {
    const auto width = at(dfa.classes.count);
    std::vector<std::vector<std::int32_t>> sources(dfa.size());
    for (std::size_t state = 0; state < dfa.size(); ++state)
        for (std::size_t cls = 0; cls < width; ++cls)
            if (const auto to = dfa.table[state * width + cls]; to >= 0) {
                auto& known = sources[at(to)];
                if (known.empty() || known.back() != static_cast<std::int32_t>(state))
                    known.push_back(static_cast<std::int32_t>(state));
            }
    std::vector<bool> live(dfa.size());
    std::vector<std::int32_t> pending;
    for (std::size_t state = 0; state < dfa.size(); ++state)
        if (dfa.accepting[state] != 0) {
            live[state] = true;
            pending.push_back(static_cast<std::int32_t>(state));
        }
    while (!pending.empty()) {
        const auto state = pending.back();
        pending.pop_back();
        for (const auto source : sources[at(state)])
            if (!live[at(source)]) {
                live[at(source)] = true;
                pending.push_back(source);
            }
    }
    return live;
}

// For each live state its block: those that accept the same strings are one.
std::vector<std::int32_t> blocks_of(const CharacterDfa& dfa, const std::vector<bool>& live, Budget& budget) {
    struct Edge {
        std::int32_t from, to;
    };
    const auto width = at(dfa.classes.count);
    std::vector<Edge> edges;
    std::vector<std::size_t> first_of_class;
    for (std::size_t cls = 0; cls < width; ++cls) {
        budget.look();
        first_of_class.push_back(edges.size());
        for (std::size_t state = 0; state < dfa.size(); ++state)
            if (const auto to = dfa.table[state * width + cls]; live[state] && to >= 0 && live[at(to)])
                edges.push_back({static_cast<std::int32_t>(state), to});
    }
    // Those that lead into each state, one state after the other.
    budget.look();
    std::vector<std::size_t> incoming(dfa.size() + 1);
    for (const auto& edge : edges) ++incoming[at(edge.to) + 1];
    std::partial_sum(incoming.begin(), incoming.end(), incoming.begin());
    budget.look();
    std::vector<std::int32_t> by_target(edges.size());
    auto place = incoming;
    for (std::size_t edge = 0; edge < edges.size(); ++edge)
        by_target[place[at(edges[edge].to)]++] = static_cast<std::int32_t>(edge);

    // Edges of one class that lead into one block, to begin with: into any.
    budget.look();
    Partition splitters(edges.size());
    for (std::size_t cls = 0; cls < width; ++cls) {
        budget.look();
        const auto end = cls + 1 < width ? first_of_class[cls + 1] : edges.size();
        for (auto edge = first_of_class[cls]; edge < end; ++edge)
            splitters.mark(static_cast<std::int32_t>(edge));
        splitters.split();
    }
    budget.look();
    Partition blocks(dfa.size());
    for (std::size_t state = 0; state < dfa.size(); ++state)
        if (dfa.accepting[state] != 0) blocks.mark(static_cast<std::int32_t>(state));
    blocks.split();
    std::size_t done = 1;  // one of the first two blocks is enough
    for (std::size_t set = 0; set < splitters.size(); ++set) {
        budget.tick();
        for (const auto edge : splitters[set]) blocks.mark(edges[at(edge)].from);
        blocks.split();
        for (; done < blocks.size(); ++done) {
            for (const auto state : blocks[done])
                for (auto edge = incoming[at(state)]; edge < incoming[at(state) + 1]; ++edge)
                    splitters.mark(by_target[edge]);
            splitters.split();
        }
    }
    std::vector<std::int32_t> block(dfa.size());
    for (std::size_t state = 0; state < dfa.size(); ++state)
        block[state] = blocks.set_of(static_cast<std::int32_t>(state));
    return block;
}

// The same automaton without classes that are alike, or lead nowhere. Columns are hashed row by row, as they
// lie in memory; only those of one hash are compared.
CharacterDfa with_fewer_classes(CharacterDfa dfa, Budget& budget) {
    const auto width = at(dfa.classes.count);
    std::vector<std::uint64_t> hashes(width);
    std::vector<std::uint8_t> leads(width);
    for (std::size_t state = 0; state < dfa.size(); ++state) {
        budget.tick();
        const auto row = std::span(dfa.table).subspan(state * width, width);
        for (std::size_t cls = 0; cls < width; ++cls) {
            hashes[cls] = (hashes[cls] ^ static_cast<std::uint32_t>(row[cls])) * 0x9E3779B97F4A7C15U;
            leads[cls] |= row[cls] >= 0;
        }
    }
    const auto are_alike = [&](std::size_t one, std::size_t other) {
        for (std::size_t state = 0; state < dfa.size(); ++state)
            if (dfa.table[state * width + one] != dfa.table[state * width + other]) return false;
        return true;
    };
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_hash;  // the first class of each kind
    std::vector<std::int32_t> renamed(width, -1);
    std::vector<std::size_t> kept;
    for (std::size_t cls = 0; cls < width; ++cls) {
        budget.look();
        if (leads[cls] == 0) continue;
        auto& some = by_hash[hashes[cls]];
        const auto known = std::ranges::find_if(some, [&](auto one) { return are_alike(one, cls); });
        renamed[cls] = known == some.end() ? static_cast<std::int32_t>(kept.size()) : renamed[*known];
        if (known != some.end()) continue;
        some.push_back(cls);
        kept.push_back(cls);
    }
    CharacterDfa made{{{}, {}, static_cast<std::int32_t>(kept.size())}, {}, std::move(dfa.accepting)};
    for (std::size_t interval = 0; interval < dfa.classes.firsts.size(); ++interval) {
        const auto old = dfa.classes.numbers[interval];
        const auto number = old < 0 ? -1 : renamed[at(old)];
        if (!made.classes.numbers.empty() && made.classes.numbers.back() == number) continue;
        made.classes.firsts.push_back(dfa.classes.firsts[interval]);
        made.classes.numbers.push_back(number);
    }
    if (kept.size() == width) {
        made.table = std::move(dfa.table);
        return made;
    }
    made.table.reserve(made.size() * kept.size());
    for (std::size_t state = 0; state < made.size(); ++state)
        for (const auto cls : kept) made.table.push_back(dfa.table[state * width + cls]);
    return made;
}

}  // namespace

bool is_character_set(CharacterRanges set) {
    for (std::size_t border = 0; border < set.size(); ++border) {
        const auto least = border == 0 ? 0 : set[border - 1] + (border % 2 == 0 ? 1 : 0);
        if (set[border] < least || set[border] >= kCodePoints) return false;
    }
    return set.size() % 2 == 0;
}

std::int32_t CharacterClasses::of(std::int32_t point) const {
    const auto after = std::ranges::upper_bound(firsts, point);
    return after == firsts.begin() ? -1 : numbers[static_cast<std::size_t>(after - firsts.begin()) - 1];
}

bool CharacterDfa::accepts(std::span<const std::int32_t> points) const {
    std::int32_t state = size() == 0 ? -1 : 0;
    for (const auto point : points) {
        if (state < 0) return false;
        const auto cls = classes.of(point);
        state = cls < 0 ? -1 : next(state, cls);
    }
    return state >= 0 && accepting[at(state)] != 0;
}

CharacterClasses classes_of(std::span<const CharacterRanges> sets,
                            std::vector<std::vector<std::int32_t>>& members) {
    struct Border {
        std::int32_t point, set;
        bool enters;
    };
    std::vector<Border> borders;
    for (std::size_t set = 0; set < sets.size(); ++set)
        for (std::size_t range = 0; range + 1 < sets[set].size(); range += 2) {
            borders.push_back({sets[set][range], static_cast<std::int32_t>(set), true});
            borders.push_back({sets[set][range + 1] + 1, static_cast<std::int32_t>(set), false});
        }
    std::ranges::sort(borders, {}, &Border::point);
    CharacterClasses classes;
    Interner known;
    const auto none = known.intern({});
    std::vector<std::int32_t> open;  // the sets that the code points from here on lie in, ascending
    for (std::size_t border = 0; border < borders.size();) {
        const auto point = borders[border].point;
        for (; border < borders.size() && borders[border].point == point; ++border) {
            const auto [_, set, enters] = borders[border];
            const auto where = std::ranges::lower_bound(open, set);
            // Of two ranges side by side the second may be entered before the first is left.
            if (enters)
                open.insert(where, set);
            else
                open.erase(where);
        }
        const auto number = known.intern(open) - none - 1;
        if (number == classes.numbers.back()) continue;
        if (point == 0) {
            classes.numbers.back() = number;
        } else if (point < kCodePoints) {
            classes.firsts.push_back(point);
            classes.numbers.push_back(number);
        }
    }
    classes.count = static_cast<std::int32_t>(known.size()) - 1;
    members.clear();
    for (std::int32_t cls = 0; cls < classes.count; ++cls) {
        const auto some = known[cls + 1];
        members.emplace_back(some.begin(), some.end());
    }
    return classes;
}

CharacterDfa minimized(const CharacterDfa& dfa, Budget& budget) {
    const auto live = coaccessible(dfa);
    if (live.empty() || !live[0]) return {};
    budget.look();
    const auto small = with_fewer_classes(dfa, budget);
    const auto block = blocks_of(small, live, budget);
    budget.look();
    std::vector<std::int32_t> number(small.size(), -1), kept;
    for (std::size_t state = 0; state < small.size(); ++state)
        if (live[state] && number[at(block[state])] < 0) {
            number[at(block[state])] = static_cast<std::int32_t>(kept.size());
            kept.push_back(static_cast<std::int32_t>(state));
        }
    CharacterDfa made{small.classes, {}, {}};
    for (const auto state : kept) {
        made.accepting.push_back(small.accepting[at(state)]);
        for (std::int32_t cls = 0; cls < small.classes.count; ++cls) {
            const auto to = small.next(state, cls);
            made.table.push_back(to >= 0 && live[at(to)] ? number[at(block[at(to)])] : -1);
        }
    }
    return with_fewer_classes(std::move(made), budget);
}

}  // namespace pdacon
