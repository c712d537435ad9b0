#include "regular/word_automaton.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/at.hpp"

namespace pdacon {

namespace {

using Word = std::span<const std::uint8_t>;

// Ascending. Most comparisons are of the first eight bytes, as one number.
std::vector<Word> sorted(std::span<const std::uint8_t> letters, std::span<const std::int32_t> lengths) {
    struct Keyed {
        std::uint64_t key;
        Word word;
    };
    std::vector<Keyed> keyed;
    keyed.reserve(lengths.size());
    for (const auto length : lengths) {
        if (length < 0 || at(length) > letters.size()) throw std::invalid_argument("words: lengths differ");
        const auto word = letters.first(at(length));
        std::uint64_t key = 0;
        for (std::size_t place = 0; place < 8; ++place)
            key = key << 8 | (place < word.size() ? word[place] : 0U);
        keyed.push_back({key, word});
        letters = letters.subspan(at(length));
    }
    if (!letters.empty()) throw std::invalid_argument("words: lengths differ");
    const auto before = [](const Keyed& one, const Keyed& other) {
        if (one.key != other.key) return one.key < other.key;
        return std::ranges::lexicographical_compare(one.word, other.word);
    };
    if (!std::ranges::is_sorted(keyed, before)) std::ranges::sort(keyed, before);
    std::vector<Word> words;
    words.reserve(keyed.size());
    for (const auto& one : keyed) words.push_back(one.word);
    return words;
}

class Builder {
  public:
    explicit Builder(Budget& budget) : slots_(1 << 12, -1), budget_(budget) {}

    // Adds a word that does not come before the last one.
    void add(Word word) {
        const auto common = std::ranges::mismatch(last_, word).in2 - word.begin();
        settle(static_cast<std::size_t>(common));
        if (path_.size() <= word.size()) path_.resize(word.size() + 1);
        path_[word.size()].accepting = true;
        last_ = word;
    }

    // States are made from the ends of the words on; they are numbered the other way round.
    WordAutomaton finish() {
        settle(0);
        make(path_[0]);
        WordAutomaton turned;
        const auto states = accepting_.size();
        turned.accepting.assign(accepting_.rbegin(), accepting_.rend());
        turned.byte.reserve(byte_.size());
        turned.target.reserve(target_.size());
        turned.offset.reserve(states + 1);
        for (auto state = states; state-- > 0;) {
            for (auto edge = offset_[state]; edge < offset_[state + 1]; ++edge) {
                turned.byte.push_back(byte_[edge]);
                turned.target.push_back(static_cast<std::int32_t>(states) - 1 - target_[edge]);
            }
            turned.offset.push_back(static_cast<std::int32_t>(turned.target.size()));
        }
        return turned;
    }

  private:
    using Edge = std::pair<std::uint8_t, std::int32_t>;
    // A prefix of the last word, to which more words may still be added.
    struct Prefix {
        std::vector<Edge> edges;
        bool accepting = false;
    };

    // Makes states of the prefixes longer than `depth`: all further words have at most so many letters in
    // common with the last one.
    void settle(std::size_t depth) {
        for (auto length = last_.size(); length > depth; --length)
            path_[length - 1].edges.emplace_back(last_[length - 1], state_of(path_[length]));
    }

    // The state of a prefix, which is forgotten; prefixes with the same suffixes share one.
    std::int32_t state_of(Prefix& prefix) {
        if ((accepting_.size() + 1) * 2 > slots_.size()) grow();
        auto slot = hash(prefix.accepting, prefix.edges) & (slots_.size() - 1);
        for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1))
            if (is(slots_[slot], prefix)) {
                const auto known = slots_[slot];
                prefix.edges.clear();
                prefix.accepting = false;
                return known;
            }
        slots_[slot] = make(prefix);
        return static_cast<std::int32_t>(accepting_.size()) - 1;
    }

    std::int32_t make(Prefix& prefix) {
        budget_.tick();
        for (const auto& [byte, target] : prefix.edges) {
            byte_.push_back(byte);
            target_.push_back(target);
        }
        offset_.push_back(target_.size());
        accepting_.push_back(prefix.accepting ? 1 : 0);
        budget_.check_states(accepting_.size());
        prefix.edges.clear();
        prefix.accepting = false;
        return static_cast<std::int32_t>(accepting_.size()) - 1;
    }

    bool is(std::int32_t state, const Prefix& prefix) const {
        const auto first = offset_[at(state)], count = offset_[at(state) + 1] - first;
        if (count != prefix.edges.size() || (accepting_[at(state)] != 0) != prefix.accepting) return false;
        for (std::size_t edge = 0; edge < count; ++edge)
            if (byte_[first + edge] != prefix.edges[edge].first ||
                target_[first + edge] != prefix.edges[edge].second)
                return false;
        return true;
    }

    static std::size_t hash(bool accepting, std::span<const Edge> edges) {
        std::uint64_t value = 0x9e3779b97f4a7c15ULL + (accepting ? 1U : 0U);
        for (const auto& [byte, target] : edges) {
            value = (value ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(target)) << 8 | byte)) *
                    0xff51afd7ed558ccdULL;
            value ^= value >> 32;
        }
        return static_cast<std::size_t>(value);
    }

    void grow() {
        slots_.assign(slots_.size() * 4, -1);
        std::vector<Edge> edges;
        for (std::size_t state = 0; state < accepting_.size(); ++state) {
            edges.clear();
            for (auto edge = offset_[state]; edge < offset_[state + 1]; ++edge)
                edges.emplace_back(byte_[edge], target_[edge]);
            auto slot = hash(accepting_[state] != 0, edges) & (slots_.size() - 1);
            while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = static_cast<std::int32_t>(state);
        }
    }

    std::vector<std::size_t> offset_{0};
    std::vector<std::uint8_t> byte_;
    std::vector<std::int32_t> target_;
    std::vector<std::uint8_t> accepting_;
    std::vector<std::int32_t> slots_;  // a hash table of the states; -1: free
    std::vector<Prefix> path_{1};      // of the last word, from the start on
    Word last_;
    Budget& budget_;
};

}  // namespace

WordAutomaton word_automaton(std::span<const std::uint8_t> letters, std::span<const std::int32_t> lengths,
                             Budget& budget) {
    Builder builder(budget);
    for (const auto word : sorted(letters, lengths)) builder.add(word);
    return builder.finish();
}

}  // namespace pdacon
