// TextAutomaton: texts that are in a set, as a filter reads them, token by token.
//
// The set's automaton is one over characters in which a text may end anywhere. A state here is one of its
// states, or within a character also the bytes of it so far; where the same state follows whatever the
// character becomes, those bytes do not count.
//
// Nearly all tokens begin with a character that leads to the same state from anywhere, as letters do in a
// normal form of Unicode: what they lead to is found once. The others, such as accents, are the *delicate*
// tokens of a state.
//
// `settled` is the automaton of texts that may follow such a character, and of which every concatenation is
// in the set: what is live with it as the vocabulary's star is live in the set, too. Without edges: every
// text is in the set.
//
// Added words are tokens that the tokenizer reads before all else: from left to right, the longest where
// several begin. So no other tokens may spell one. A state also has the *pending* words: those that have
// begun within other tokens, or with an added word that is shorter; they must not be completed.
//
// Source: A. Aho and M. Corasick, "Efficient String Matching" (1975), for words in a tree, read at once.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "detokenizer/tokens.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "filters/text_states.hpp"

namespace pdacon {

class TextAutomaton final : public TextStates {
  public:
    // `classes`: of each code point; `next`: [states, num_classes], the state after a character, or -1.
    // `added`: tokens that are added words; `restarts`: after them the set begins anew.
    // Throws std::invalid_argument.
    TextAutomaton(std::shared_ptr<const Tokens> tokens, std::vector<std::int32_t> classes,
                  std::vector<std::int32_t> next, std::int32_t num_classes, VocabularyStar settled,
                  std::span<const std::int32_t> added, bool restarts);

    // The state after a token with text that is no added word; -1: no text of the set goes on so, or an
    // added word is spelled.
    std::int32_t step(std::int32_t state, std::int32_t token) override {
        return is_delicate(state, token) ? step(state, tokens_->bytes_of(token), Words::kBegin)
                                         : after_start_[token];
    }
    // The same after bytes, in which nothing counts as an added word.
    std::int32_t step_bytes(std::int32_t state, std::string_view bytes) override {
        return step(state, bytes, Words::kIgnored);
    }
    // The same after an added word.
    std::int32_t step_added(std::int32_t state, std::int32_t token) override;
    bool is_added(std::int32_t token) const override { return is_added_[token] != 0; }
    bool is_pending(std::int32_t state) const override {
        return state >= num_states_ && begun_[state - num_states_].place.pending != 0;
    }
    // Whether the token may lead to another state than it does from the start of a text.
    bool is_delicate(std::int32_t state, std::int32_t token) const override {
        if (state == kStart) return false;
        const auto first = first_class_[token];
        if (state >= num_states_) {
            const auto& [place, going_on] = begun_[state - num_states_];
            if (place.num_begun > 0 ||
                going_on.test(static_cast<std::uint8_t>(tokens_->bytes_of(token).front())))
                return true;
            state = place.state;
        }
        return first < 0 || at(state, first) != at(kStart, first);
    }
    const VocabularyStar& settled() const override { return settled_; }

  private:
    struct Place {
        std::int32_t state;
        std::uint32_t begun = 0;  // the bytes of the character that has been begun
        std::int32_t num_begun = 0;
        std::int32_t pending = 0;  // the words that have begun: the id of their nodes in the tree of words
    };
    enum class Words : std::uint8_t { kBegin, kGoOn, kIgnored };
    std::int32_t step(std::int32_t state, std::string_view bytes, Words words);
    Place place_of(std::int32_t state) const {
        return state < num_states_ ? Place{state} : begun_[state - num_states_].place;
    }
    bool read(Place& place, std::uint8_t byte) const;
    std::int32_t id_of(const Place& place);
    // The pending words after a byte, or -1 if one of them is complete.
    std::int32_t go_on(std::int32_t pending, std::uint8_t byte, bool begin);
    void add_word(std::string_view word);
    std::int32_t at(std::int32_t state, std::int32_t character) const {
        return next_[static_cast<std::size_t>(state) * static_cast<std::size_t>(num_classes_) +
                     static_cast<std::size_t>(character)];
    }
    const std::vector<std::int32_t>& classes_between(std::uint32_t first, std::uint32_t last);

    std::shared_ptr<const Tokens> tokens_;
    std::vector<std::int32_t> classes_, next_;
    std::int32_t num_classes_, num_states_;
    VocabularyStar settled_;
    std::vector<std::int32_t> first_class_;  // of each token; -1: it begins with no whole character
    std::vector<std::int32_t> after_start_;
    struct Node {
        std::map<std::uint8_t, std::int32_t> children;
        bool ends = false;
    };
    bool restarts_;
    std::vector<Node> words_{1};
    std::vector<std::uint8_t> is_added_;
    Interner pending_ids_;
    Interner begun_ids_;
    struct Begun {
        Place place;
        std::bitset<256> going_on;  // the bytes that some pending word goes on with
    };
    std::vector<Begun> begun_;  // the states from num_states_ on
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::int32_t>> between_;
};

}  // namespace pdacon
