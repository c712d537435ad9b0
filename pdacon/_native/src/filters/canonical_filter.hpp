// CanonicalFilter: the automaton over tokens of all sequences that a tokenizer itself produces.
//
// A state is the last token and the places of the pretokens' automaton in which the text may be: several,
// while it depends on what follows whether a border of tokens is one of pretokens. A token may follow if from
// one of the places either it goes on within the pretoken, and does not merge with the last token; or a
// pretoken ends between the two, and it does not matter what they are. State 0 is a border with nothing
// before it.
//
// Where the tokenizer normalizes texts or has added words, a state also says where the text is in the
// automaton of those texts that it leaves as they are. After an added word a text begins anew.
//
// Shared by all constraints of a vocabulary; safe from any thread. What it finds it keeps: states, sets of
// places, and rows of tokens that may follow another one, at most so many of these.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "filters/merge_table.hpp"
#include "filters/pretokens.hpp"
#include "filters/text_states.hpp"

namespace pdacon {

class CanonicalFilter {
  public:
    // `texts`: those that the tokenizer leaves as they are; none: all.
    // `prefixed`: whether the tokenizer puts a space before a text; `spaced`: and writes it, so that a token
    // without one is never its first token. `definition`: the numbers of all that, for files.
    CanonicalFilter(MergeTable merges, Pretokens pretokens, std::unique_ptr<TextStates> texts, bool prefixed,
                    bool spaced, std::vector<std::int32_t> definition)
        : prefixed_(prefixed),
          spaced_(spaced),
          definition_(std::move(definition)),
          merges_(std::move(merges)),
          pretokens_(std::move(pretokens)),
          texts_(std::move(texts)) {
        state_of(kNothing, kStartPlaces, TextStates::kStart);
    }

    static constexpr std::int32_t kStart = 0;
    // In place of a last token: a border with nothing before it; a token that merges with all others.
    static constexpr std::int32_t kNothing = -1, kMergesWithAll = -2;
    const Tokens& tokens() const { return merges_.tokens(); }
    const MergeTable& merges() const { return merges_; }
    // Whether a text may begin with a token one leading space of which does not count.
    bool prefixed() const { return prefixed_; }
    bool spaced() const { return spaced_; }
    std::span<const std::int32_t> definition() const { return definition_; }

    // The state after a token, whether the grammar allows it or not; -1: no text's own tokenization goes on
    // so.
    std::int32_t step(std::int32_t state, std::int32_t token);
    bool ends(std::int32_t state);
    // The state at a border after bytes, whatever tokens they were; -1: the tokenizer changes such a text.
    std::int32_t step(std::int32_t state, std::string_view bytes);
    // What a state is, but for its last token: the id of its set of places, and where its text is.
    struct Situation {
        std::int32_t set, text;
        auto operator<=>(const Situation&) const = default;
    };
    Situation situation(std::int32_t state);
    std::vector<std::int32_t> places_of(std::int32_t set);
    // The set of one place alone.
    std::int32_t set_of(std::int32_t place);
    // The state with a last token, or with what stands in its place.
    std::int32_t state_with(std::int32_t last, Situation situation);
    // What is after a token that goes on within a pretoken or, `marked`, begins one; nothing: no text goes
    // on so. Whether it merges with the last token is not asked.
    std::optional<Situation> after(Situation situation, std::int32_t token, bool marked);
    // Whether a text begins anew after a token, so that it is no last token.
    bool begins_anew(std::int32_t token) const { return texts_ && texts_->is_added(token); }
    // Writes a mask: of `within`, the tokens that may go on within the pretoken, those that may follow the
    // last one; and `across`.
    void combine(std::int32_t state, const std::int32_t* within, const std::int32_t* across,
                 std::span<std::int32_t> mask);
    // The last token of a state, or what stands in its place.
    std::int32_t last(std::int32_t state);
    // Whether a token may follow the last one of a state within a pretoken.
    bool may_follow(std::int32_t state, std::int32_t token);

    // The automaton that says which texts are left as they are, as a star; nothing: all are.
    const VocabularyStar* settled() const {
        return texts_ && !texts_->settled().edges.empty() ? &texts_->settled() : nullptr;
    }

    // For a search that asks much: the automata, held against other threads.
    class Use {
      public:
        explicit Use(CanonicalFilter& filter)
            : hold_(filter.lock_), pretokens(filter.pretokens_), texts(filter.texts_.get()) {}

      private:
        std::lock_guard<std::recursive_mutex> hold_;

      public:
        Pretokens& pretokens;
        TextStates* texts;  // nothing: all
    };

    struct Statistics {
        std::size_t states, sets, places, rows, bytes, unreachable;
    };
    Statistics statistics();

  private:
    static constexpr std::size_t kMostRowBytes = std::size_t{128} << 20;
    static constexpr std::size_t kMostSteps = std::size_t{1} << 20;
    static constexpr std::array<std::int32_t, 1> kStartPlaces = {Pretokens::kStart};
    struct State {
        std::int32_t last;
        Situation situation;
    };
    std::int32_t state_of(std::int32_t last, std::span<const std::int32_t> places, std::int32_t text);
    std::int32_t state_in(std::int32_t last, Situation situation);
    const std::vector<std::int32_t>& row(std::int32_t token);

    std::recursive_mutex lock_;
    bool prefixed_, spaced_;
    std::vector<std::int32_t> definition_;
    MergeTable merges_;
    Pretokens pretokens_;
    std::unique_ptr<TextStates> texts_;
    Interner sets_;
    Interner state_ids_;
    std::vector<State> states_;
    std::unordered_map<std::uint64_t, std::int32_t> steps_;
    std::unordered_map<std::int32_t, std::vector<std::int32_t>> rows_;
    // By set and mark, for each group of tokens: the set after them; kUnknown: not known yet.
    static constexpr std::int32_t kUnknown = -2;
    std::map<std::pair<std::int32_t, bool>, std::vector<std::int32_t>> sets_after_;
};

}  // namespace pdacon
