#include "regular/determinize.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "base/at.hpp"
#include "base/interner.hpp"

namespace pdacon {

namespace {

void require(bool right) {
    if (!right) throw std::invalid_argument("automata over code points: the parts do not fit together");
}

// Whether offsets ascend from 0 to `last`.
bool are_offsets(const std::vector<std::int32_t>& offsets, std::size_t last) {
    return !offsets.empty() && offsets.front() == 0 && std::ranges::is_sorted(offsets) &&
           at(offsets.back()) == last;
}

bool all_below(const std::vector<std::int32_t>& numbers, std::size_t bound) {
    return std::ranges::all_of(numbers, [=](auto one) { return one >= 0 && at(one) < bound; });
}

void check(const Positions& given, std::int32_t start_list) {
    const auto positions = given.accepting.size();
    require(given.edge_offsets.size() == positions + 1);
    require(are_offsets(given.edge_offsets, given.edge_sets.size()));
    require(given.edge_lists.size() == given.edge_sets.size());
    require(all_below(given.edge_sets, given.sets.size()));
    require(are_offsets(given.list_offsets, given.lists.size()));
    require(all_below(given.edge_lists, given.list_offsets.size() - 1));
    require(all_below(given.lists, positions));
    require(start_list >= 0 && at(start_list) + 1 < given.list_offsets.size());
    require(given.everything < static_cast<std::int64_t>(positions));
    require(std::ranges::all_of(given.sets, is_character_set));
}

// Sets of positions, each once, with a number for each.
class Subsets {
  public:
    Subsets(const Positions& positions, Budget& budget)
        : positions_(positions), budget_(budget), seen_(positions.accepting.size(), 0) {}

    void begin() {
        members_.clear();
        ++round_;
    }
    void add(std::int32_t list) {
        for (auto place = positions_.list_offsets[at(list)]; place < positions_.list_offsets[at(list) + 1];
             ++place)
            if (const auto position = positions_.lists[at(place)]; seen_[at(position)] != round_) {
                seen_[at(position)] = round_;
                members_.push_back(position);
            }
    }
    // The number of what was added; -1 for nothing.
    std::int32_t end() {
        if (members_.empty()) return -1;
        if (positions_.everything >= 0 && seen_[at(positions_.everything)] == round_)
            members_.assign(1, positions_.everything);
        std::ranges::sort(members_);
        const auto number = known_.intern(members_);
        budget_.check_states(known_.size());
        return number;
    }
    std::size_t size() const { return known_.size(); }
    std::span<const std::int32_t> operator[](std::int32_t number) const { return known_[number]; }

  private:
    const Positions& positions_;
    Budget& budget_;
    Interner known_;
    std::vector<std::uint64_t> seen_;
    std::uint64_t round_ = 0;
    std::vector<std::int32_t> members_;
};

// A combination of automata that forgets those whose answer is known already, or no longer matters.
//
// A state of it is a key: the node of the diagram that is left, then for each automaton its state, or -1
// where that node does not depend on it.
class Combination {
  public:
    Combination(std::span<const CharacterDfa* const> automata, const Diagram& diagram) {
        for (const auto* automaton : automata) everything_.push_back(state_of_everything(*automaton));
        nodes_.intern(std::vector<std::int32_t>{0});  // false
        nodes_.intern(std::vector<std::int32_t>{1});  // true
        std::vector<std::int32_t> number{0, 1};
        for (std::size_t node = 0; node < diagram.automata.size(); ++node)
            number.push_back(this->node(diagram.automata[node], number[at(diagram.then[node])],
                                        number[at(diagram.otherwise[node])]));
        root_ = number.back();
    }

    std::int32_t root() const { return root_; }

    // The key of what is left of a node in these states of the automata, where -1 is one without a way left.
    void reduce(std::int32_t root, std::span<const std::int32_t> states, std::vector<std::int32_t>& key) {
        left_.resize(nodes_.size());
        below_.assign(1, root);
        collect_below();
        // A node was made after its successors.
        std::ranges::sort(below_);
        for (const auto node : below_) {
            if (node < 2) {
                left_[at(node)] = node;
                continue;
            }
            const auto asked = nodes_[node];
            const auto automaton = asked[0], yes = left_[at(asked[1])], no = left_[at(asked[2])];
            const auto state = states[at(automaton)];
            if (state < 0)
                left_[at(node)] = no;
            else if (state == everything_[at(automaton)])
                left_[at(node)] = yes;
            else
                left_[at(node)] = this->node(automaton, yes, no);
        }
        key.assign(states.size() + 1, -1);
        key[0] = left_[at(root)];
        below_.assign(1, key[0]);
        collect_below();
        for (const auto node : below_)
            if (node >= 2) key[at(nodes_[node][0]) + 1] = states[at(nodes_[node][0])];
    }

    bool accepts(std::span<const CharacterDfa* const> automata, std::span<const std::int32_t> key) const {
        auto node = key[0];
        while (node >= 2) {
            const auto asked = nodes_[node];
            const auto automaton = at(asked[0]);
            node = automata[automaton]->accepting[at(key[automaton + 1])] != 0 ? asked[1] : asked[2];
        }
        return node == 1;
    }

  private:
    std::int32_t node(std::int32_t automaton, std::int32_t yes, std::int32_t no) {
        return yes == no ? yes : nodes_.intern(std::array{automaton, yes, no});
    }

    // All nodes that can be met from those in `below_`, each once.
    void collect_below() {
        met_.resize(nodes_.size());
        ++round_;
        for (const auto node : below_) met_[at(node)] = round_;
        for (std::size_t next = 0; next < below_.size(); ++next) {
            if (below_[next] < 2) continue;
            const auto asked = nodes_[below_[next]];
            for (const auto child : asked.subspan(1))
                if (std::exchange(met_[at(child)], round_) != round_) below_.push_back(child);
        }
    }

    // The state from which every string is accepted, -1 if there is none; in a least automaton it is one.
    static std::int32_t state_of_everything(const CharacterDfa& dfa) {
        const auto& [firsts, numbers, count] = dfa.classes;
        for (std::size_t interval = 0; interval < firsts.size(); ++interval) {
            const auto end = interval + 1 < firsts.size() ? firsts[interval + 1] : kCodePoints;
            if (numbers[interval] < 0 && (firsts[interval] < 0xD800 || end > 0xE000)) return -1;
        }
        for (std::size_t state = 0; state < dfa.size(); ++state) {
            const auto own = static_cast<std::int32_t>(state);
            bool stays = dfa.accepting[state] != 0;
            for (std::int32_t cls = 0; stays && cls < count; ++cls) stays = dfa.next(own, cls) == own;
            if (stays) return own;
        }
        return -1;
    }

    std::vector<std::int32_t> everything_;
    Interner nodes_;  // automaton, yes, no; but for the first two
    std::int32_t root_ = 0;
    std::vector<std::int32_t> left_, below_;
    std::vector<std::uint64_t> met_;  // by node: the last round that has met it
    std::uint64_t round_ = 0;
};

// The coarsest common refinement of the automata's classes: for each class the class that it lies in of
// each automaton, or -1.
CharacterClasses common_classes(std::span<const CharacterDfa* const> automata,
                                std::vector<std::vector<std::int32_t>>& parts) {
    std::vector<std::int32_t> borders{0, 0xD800, 0xE000};
    for (const auto* automaton : automata)
        borders.insert(borders.end(), automaton->classes.firsts.begin(), automaton->classes.firsts.end());
    std::ranges::sort(borders);
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    CharacterClasses classes{{}, {}, 0};
    Interner known;
    std::vector<std::int32_t> own(automata.size());
    for (const auto border : borders) {
        std::int32_t number = -1;
        if (border < 0xD800 || border >= 0xE000) {
            for (std::size_t k = 0; k < automata.size(); ++k) own[k] = automata[k]->classes.of(border);
            number = known.intern(own);
        }
        if (!classes.numbers.empty() && classes.numbers.back() == number) continue;
        classes.firsts.push_back(border);
        classes.numbers.push_back(number);
    }
    classes.count = static_cast<std::int32_t>(known.size());
    parts.clear();
    for (std::int32_t cls = 0; cls < classes.count; ++cls)
        parts.emplace_back(known[cls].begin(), known[cls].end());
    return classes;
}

}  // namespace

CharacterDfa determinized(const Positions& positions, std::int32_t start_list, Budget& budget) {
    check(positions, start_list);
    std::vector<std::vector<std::int32_t>> members;
    CharacterDfa made;
    made.classes = classes_of(positions.sets, members);
    const auto width = at(made.classes.count);
    std::vector<std::vector<std::int32_t>> classes_in(positions.sets.size());
    for (std::size_t cls = 0; cls < width; ++cls)
        for (const auto set : members[cls]) classes_in[at(set)].push_back(static_cast<std::int32_t>(cls));
    Subsets subsets(positions, budget);
    subsets.begin();
    subsets.add(start_list);
    if (subsets.end() < 0) return {};
    std::vector<std::vector<std::int32_t>> lists(width);  // for each class what its edges lead to
    for (std::int32_t state = 0; at(state) < subsets.size(); ++state) {
        budget.tick();
        bool accepting = false;
        for (auto& some : lists) some.clear();
        for (const auto position : subsets[state]) {
            accepting = accepting || positions.accepting[at(position)] != 0;
            for (auto edge = positions.edge_offsets[at(position)];
                 edge < positions.edge_offsets[at(position) + 1]; ++edge)
                for (const auto cls : classes_in[at(positions.edge_sets[at(edge)])])
                    lists[at(cls)].push_back(positions.edge_lists[at(edge)]);
        }
        made.accepting.push_back(accepting ? 1 : 0);
        for (const auto& some : lists) {
            subsets.begin();
            for (const auto list : some) subsets.add(list);
            made.table.push_back(subsets.end());
        }
    }
    return minimized(made, budget);
}

CharacterDfa combined(std::span<const CharacterDfa* const> automata, const Diagram& diagram, Budget& budget) {
    const auto nodes = diagram.automata.size();
    require(diagram.then.size() == nodes && diagram.otherwise.size() == nodes);
    require(all_below(diagram.automata, automata.size()));
    for (std::size_t node = 0; node < nodes; ++node)
        for (const auto child : {diagram.then[node], diagram.otherwise[node]})
            require(child >= 0 && at(child) < node + 2);
    std::vector<std::vector<std::int32_t>> parts;
    CharacterDfa made;
    made.classes = common_classes(automata, parts);
    Combination combination(automata, diagram);
    Interner states;
    std::vector<std::int32_t> key, after(automata.size());
    for (std::size_t k = 0; k < automata.size(); ++k) after[k] = automata[k]->size() == 0 ? -1 : 0;
    combination.reduce(combination.root(), after, key);
    states.intern(key);
    std::vector<std::int32_t> own;
    for (std::int32_t state = 0; at(state) < states.size(); ++state) {
        budget.tick();
        own.assign(states[state].begin(), states[state].end());
        made.accepting.push_back(combination.accepts(automata, own) ? 1 : 0);
        for (const auto& part : parts) {
            for (std::size_t k = 0; k < automata.size(); ++k)
                after[k] = own[k + 1] < 0 || part[k] < 0 ? -1 : automata[k]->next(own[k + 1], part[k]);
            combination.reduce(own[0], after, key);
            made.table.push_back(key[0] == 0 ? -1 : states.intern(key));
            budget.check_states(states.size());
        }
    }
    return minimized(made, budget);
}

}  // namespace pdacon
