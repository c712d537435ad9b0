// TextStates: what a filter knows of the text so far, beside its last token and its place in a pretoken: an
// automaton over tokens, whose states are found as they are reached.
//
// Most tokens lead to the same state from anywhere, as words do after a border; the others are the
// *delicate* tokens of a state.
//
// `settled` is the automaton of texts that may follow a certain border, and of which every concatenation is
// given back: what is live with it as the vocabulary's star is live with the filter, too. Without edges:
// every text is.
#pragma once

#include <cstdint>
#include <string_view>

#include "detokenizer/vocabulary_star.hpp"

namespace pdacon {

class TextStates {
  public:
    TextStates() = default;
    TextStates(const TextStates&) = delete;
    TextStates& operator=(const TextStates&) = delete;
    virtual ~TextStates() = default;

    static constexpr std::int32_t kStart = 0;
    // The state after a token with text that is no added word; -1: no text goes on so.
    virtual std::int32_t step(std::int32_t state, std::int32_t token) = 0;
    // The same after bytes, whatever tokens they were. Here as from the start of a text.
    virtual std::int32_t step_bytes(std::int32_t, std::string_view) { return kStart; }
    // The same after an added word. Here there are none.
    virtual std::int32_t step_added(std::int32_t, std::int32_t) { return -1; }
    virtual bool is_added(std::int32_t) const { return false; }
    // Whether what follows may complete an added word, so that nothing is settled.
    virtual bool is_pending(std::int32_t) const { return false; }
    // Whether the token may lead to another state than it does from the start of a text.
    virtual bool is_delicate(std::int32_t state, std::int32_t token) const = 0;
    virtual const VocabularyStar& settled() const = 0;
};

}  // namespace pdacon
