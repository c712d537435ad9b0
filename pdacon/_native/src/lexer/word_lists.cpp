#include "lexer/word_lists.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/interner.hpp"
#include "lexer/nfa.hpp"

namespace pdacon {

namespace {

class WordReader {
  public:
    explicit WordReader(Budget& budget) : budget_(budget) {}

    // Adds the next word of a list. `after`: kMatch, kTail or a state.
    void add(std::span<const std::uint8_t> word, std::int32_t after) {
        const auto [old, now] = std::ranges::mismatch(last_, word);
        if (now != word.end() && old != last_.end() && *now < *old)
            throw std::invalid_argument("words: they do not ascend");
        if (now == word.end()) order_is_free_ = false;  // the same word twice
        const auto common = static_cast<std::size_t>(now - word.begin());
        settle(common);
        if (path_.size() <= word.size()) path_.resize(word.size() + 1);
        for (auto depth = common + 1; depth <= word.size(); ++depth) path_[depth].clear();
        path_[word.size()].after = after;
        last_.assign(word.begin(), word.end());
    }

    // Completes the list. Returns the state in which its words begin.
    std::int32_t finish() {
        settle(0);
        last_.clear();
        const auto entry = state_of(path_[0]);
        path_[0].clear();
        return entry;
    }

    std::optional<WordStates> states(std::int32_t entry) && {
        if (!order_is_free_) return std::nullopt;
        made_.entry = entry;
        return std::move(made_);
    }

  private:
    using Edges = std::vector<std::pair<std::uint8_t, std::int32_t>>;
    // A prefix of the last word, to which more words may still be added.
    struct Prefix {
        static constexpr std::int32_t kNoWord = -3;
        Edges edges;
        std::int32_t after = kNoWord;  // after the word that ends here
        bool certain = false;          // some word that goes on ends by itself
        void clear() {
            edges.clear();
            after = kNoWord;
            certain = false;
        }
    };

    // Makes states of the prefixes longer than `depth`: all further words have at most so many letters in
    // common with the last one.
    void settle(std::size_t depth) {
        for (auto at = last_.size(); at > depth; --at) {
            auto& before = path_[at - 1];
            const auto& prefix = path_[at];
            before.edges.emplace_back(last_[at - 1], state_of(prefix));
            before.certain |=
                prefix.certain || (prefix.after != Prefix::kNoWord && prefix.after != WordLists::kTail);
        }
    }

    // The state of a prefix; prefixes with the same suffixes share one. Where a word waits for its tail
    // beside longer words, there is a second state, which tries these first.
    std::int32_t state_of(const Prefix& prefix) {
        const bool is_word = prefix.after != Prefix::kNoWord;
        if (is_word && prefix.edges.empty()) return prefix.after;
        if (is_word && (prefix.certain || prefix.after != WordLists::kTail)) order_is_free_ = false;
        key_.assign(1, is_word);
        for (const auto& [byte, target] : prefix.edges) key_.insert(key_.end(), {byte, target});
        const auto id = static_cast<std::size_t>(ids_.intern(key_));
        if (id < state_of_.size()) return state_of_[id];
        edges_ = prefix.edges;
        for (const auto& [byte, target] : prefix.edges)
            if (byte >= 'a' && byte <= 'z') edges_.emplace_back(byte - 'a' + 'A', target);
        std::ranges::sort(edges_);
        const auto state = static_cast<std::int32_t>(made_.kind.size());
        make(NfaKind::kBytes);
        if (is_word) {
            edges_ = {{0, state}, {0, WordLists::kTail}};
            make(NfaKind::kSplit);
        }
        state_of_.push_back(state + is_word);
        return state_of_.back();
    }

    // A state with the edges that are noted.
    void make(NfaKind kind) {
        made_.kind.push_back(static_cast<std::uint8_t>(kind));
        for (const auto& [byte, target] : edges_) {
            made_.bytes.push_back(byte);
            made_.target.push_back(target);
        }
        made_.offset.push_back(static_cast<std::int32_t>(made_.target.size()));
        budget_.check_states(made_.kind.size());
    }

    Budget& budget_;
    WordStates made_;
    Interner ids_;                        // whether a word ends with a prefix, then its edges
    std::vector<std::int32_t> state_of_;  // by id
    std::vector<Prefix> path_{1};         // of the last word, from the start on
    std::vector<std::uint8_t> last_;
    std::vector<std::int32_t> key_;  // scratch space, as the next
    Edges edges_;
    bool order_is_free_ = true;
};

}  // namespace

std::optional<WordStates> read_words(const WordLists& lists, Budget& budget) {
    if (std::ranges::any_of(lists.letters, [](auto letter) { return letter >= 'A' && letter <= 'Z'; }))
        throw std::invalid_argument("words: a capital letter");
    WordReader reader(budget);
    std::vector<std::int32_t> entries;
    auto letters = lists.letters;
    std::size_t word = 0;
    for (const auto words : lists.num_words) {
        for (std::int32_t at = 0; at < words; ++at, ++word) {
            budget.tick();
            if (word >= lists.lengths.size() || word >= lists.after.size())
                throw std::invalid_argument("words: lengths differ");
            const auto length = lists.lengths[word], after = lists.after[word];
            if (length <= 0 || static_cast<std::size_t>(length) > letters.size() ||
                after < WordLists::kTail || after >= static_cast<std::int32_t>(entries.size()))
                throw std::invalid_argument("words: bad word");
            reader.add(letters.first(static_cast<std::size_t>(length)), after < 0 ? after : entries[after]);
            letters = letters.subspan(static_cast<std::size_t>(length));
        }
        if (words <= 0) throw std::invalid_argument("words: an empty list");
        entries.push_back(reader.finish());
    }
    if (entries.empty() || word != lists.lengths.size()) throw std::invalid_argument("words: lengths differ");
    return std::move(reader).states(entries.back());
}

}  // namespace pdacon
