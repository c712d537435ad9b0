#include "frontends/all_but.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/interner.hpp"

namespace pdacon {

namespace {

using Words = std::vector<std::span<const std::uint8_t>>;

// The words, ascending, without those that begin with another one: all of their texts are excluded by that.
Words sorted_words(std::span<const std::uint8_t> letters, std::span<const std::int32_t> lengths) {
    Words words;
    for (const auto length : lengths) {
        if (length <= 0 || static_cast<std::size_t>(length) > letters.size())
            throw std::invalid_argument("all but words: bad length");
        words.push_back(letters.first(static_cast<std::size_t>(length)));
        letters = letters.subspan(static_cast<std::size_t>(length));
    }
    if (!letters.empty()) throw std::invalid_argument("all but words: lengths differ");
    std::ranges::sort(words,
                      [](auto one, auto other) { return std::ranges::lexicographical_compare(one, other); });
    const auto goes_on = [](auto word, auto prefix) {
        return word.size() >= prefix.size() && std::ranges::equal(word.first(prefix.size()), prefix);
    };
    Words kept;
    for (const auto word : words)
        if (kept.empty() || !goes_on(word, kept.back())) kept.push_back(word);
    return kept;
}

void check(const ByteAutomaton& automaton) {
    const auto states = static_cast<std::int32_t>(automaton.offset.size()) - 1;
    const auto edges = automaton.target.size();
    bool right = states > 0 && automaton.offset.front() == 0 && std::ranges::is_sorted(automaton.offset) &&
                 static_cast<std::size_t>(automaton.offset.back()) == edges &&
                 automaton.low.size() == edges && automaton.high.size() == edges;
    right = right && std::ranges::all_of(automaton.target,
                                         [=](auto target) { return target >= 0 && target < states; });
    if (!right) throw std::invalid_argument("all but words: no automaton");
}

// A prefix of some words: those from `first` to `last` - 1, of which so many bytes are read, and the state of
// the automaton after them.
struct Prefix {
    std::size_t first, last, length;
    std::int32_t state;
};

}  // namespace

ByteAutomaton all_but_words(const ByteAutomaton& automaton, std::span<const std::uint8_t> letters,
                            std::span<const std::int32_t> lengths, Budget& budget) {
    check(automaton);
    const auto words = sorted_words(letters, lengths);
    // Every edge as (low, high, target); the target of a longer prefix is its number, below 0 as ~number.
    std::vector<std::vector<std::int32_t>> edges_of;
    std::vector<Prefix> prefixes{{0, words.size(), 0, 0}};
    for (std::size_t at = 0; at < prefixes.size(); ++at) {
        budget.tick();
        budget.check_states(prefixes.size());
        const auto [first, last, length, state] = prefixes[at];
        auto& edges = edges_of.emplace_back();
        std::size_t word = first;
        const auto begin = static_cast<std::size_t>(automaton.offset[static_cast<std::size_t>(state)]);
        const auto end = static_cast<std::size_t>(automaton.offset[static_cast<std::size_t>(state) + 1]);
        for (auto edge = begin; edge < end; ++edge) {
            std::int32_t low = automaton.low[edge];
            const std::int32_t high = automaton.high[edge], target = automaton.target[edge];
            while (word < last && words[word][length] < low) ++word;  // not read by the automaton
            while (word < last && words[word][length] <= high) {
                const std::int32_t byte = words[word][length];
                if (low < byte) edges.insert(edges.end(), {low, byte - 1, target});
                const auto group = word;
                while (word < last && words[word][length] == byte) ++word;
                if (words[group].size() > length + 1) {
                    edges.insert(edges.end(), {byte, byte, ~static_cast<std::int32_t>(prefixes.size())});
                    prefixes.push_back({group, word, length + 1, target});
                }
                low = byte + 1;
            }
            if (low <= high) edges.insert(edges.end(), {low, high, target});
        }
    }
    // From the longest prefixes on, equal ones become one. The start is the last to get its number, and so
    // the first of all states when they are laid out from the end.
    Interner states;
    std::vector<std::int32_t> number(prefixes.size());
    std::vector<std::int32_t> key;
    for (auto at = prefixes.size(); at-- > 0;) {
        key = edges_of[at];
        for (std::size_t edge = 2; edge < key.size(); edge += 3)
            if (key[edge] < 0) key[edge] = ~number[static_cast<std::size_t>(~key[edge])];
        number[at] = states.intern(key);
    }
    ByteAutomaton made;
    const auto count = static_cast<std::int32_t>(states.size());
    for (auto id = count; id-- > 0;) {
        const auto edges = states[id];
        for (std::size_t edge = 0; edge < edges.size(); edge += 3) {
            made.low.push_back(static_cast<std::uint8_t>(edges[edge]));
            made.high.push_back(static_cast<std::uint8_t>(edges[edge + 1]));
            const auto target = edges[edge + 2];
            made.target.push_back(target < 0 ? count - 1 - ~target : count + target);
        }
        made.offset.push_back(static_cast<std::int32_t>(made.target.size()));
    }
    return made;
}

}  // namespace pdacon
