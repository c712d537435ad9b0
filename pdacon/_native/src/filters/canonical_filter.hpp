// CanonicalFilter: the automaton over tokens of all sequences that a tokenizer itself produces.
//
// A state is the last token and the places of the pretokens' automaton in which the text may be: several,
// while it depends on what follows whether a border of tokens is one of pretokens. A token may follow if from
// one of the places either it goes on within the pretoken, and does not merge with the last token; or a
// pretoken ends between the two, and it does not matter what they are. State 0 is a border with nothing
// before it.
//
// Shared by all constraints of a vocabulary; safe from any thread. What it finds it keeps: states, sets of
// places, and rows of tokens that may follow another one, at most so many of these.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/interner.hpp"
#include "filters/merge_table.hpp"
#include "filters/pretokens.hpp"

namespace pdacon {

class CanonicalFilter {
  public:
    CanonicalFilter(MergeTable merges, Pretokens pretokens)
        : merges_(std::move(merges)), pretokens_(std::move(pretokens)) {
        const std::int32_t start = Pretokens::kStart;
        state_of(-1, {&start, 1});
    }

    static constexpr std::int32_t kStart = 0;
    const Tokens& tokens() const { return merges_.tokens(); }
    const MergeTable& merges() const { return merges_; }

    // The state behind a token, whether the grammar allows it or not; -1: no text's own tokenization goes on
    // so.
    std::int32_t step(std::int32_t state, std::int32_t token);
    bool ends(std::int32_t state);
    // The id of the set of places of a state, and the places of a set.
    std::int32_t set_of(std::int32_t state);
    std::vector<std::int32_t> places_of(std::int32_t set);
    // Writes a mask: of `within`, the tokens that may go on within the pretoken, those that may follow the
    // last one; and `across`.
    void combine(std::int32_t state, const std::int32_t* within, const std::int32_t* across,
                 std::span<std::int32_t> mask);
    // Whether a token may follow the last one of a state within a pretoken.
    bool may_follow(std::int32_t state, std::int32_t token);

    // For a search that asks much: the automaton of the pretokens, held against other threads.
    class Use {
      public:
        explicit Use(CanonicalFilter& filter) : hold_(filter.lock_), pretokens(filter.pretokens_) {}

      private:
        std::lock_guard<std::recursive_mutex> hold_;

      public:
        Pretokens& pretokens;
    };

    struct Statistics {
        std::size_t states, sets, places, rows, bytes, unreachable;
    };
    Statistics statistics();

  private:
    static constexpr std::size_t kMostRowBytes = std::size_t{128} << 20;
    static constexpr std::size_t kMostSteps = std::size_t{1} << 20;
    struct State {
        std::int32_t last, set;
    };
    std::int32_t state_of(std::int32_t last, std::span<const std::int32_t> places);
    const std::vector<std::int32_t>& row(std::int32_t token);

    std::recursive_mutex lock_;
    MergeTable merges_;
    Pretokens pretokens_;
    Interner sets_;
    Interner state_ids_;
    std::vector<State> states_;
    std::unordered_map<std::uint64_t, std::int32_t> steps_;
    std::unordered_map<std::int32_t, std::vector<std::int32_t>> rows_;
};

}  // namespace pdacon
