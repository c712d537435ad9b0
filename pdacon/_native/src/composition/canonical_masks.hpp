// Masks under a filter: of what the grammar allows, what the tokenizer itself produces.
//
// Such a mask is put together of two rows of tokens, those that may follow within the last pretoken and those
// that may follow across a mark, by the last token. CanonicalSearch finds the rows for a configuration and a
// situation of the filter. They are known by the situation and what the search read of the stack (MaskTrie);
// masks themselves are not kept, so that they have no ids.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "composition/canonical_search.hpp"
#include "composition/free_characters.hpp"
#include "composition/mask_resources.hpp"
#include "composition/mask_set.hpp"
#include "composition/mask_trie.hpp"
#include "filters/canonical_filter.hpp"
#include "liveness/coaccessibility.hpp"
#include "liveness/liveness_table.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class CanonicalMasks final : public MaskCache {
  public:
    CanonicalMasks(MaskResources& resources, std::shared_ptr<CanonicalFilter> filter);

    CanonicalFilter& filter() const { return *filter_; }
    // Writes the mask of a configuration and a state of the filter into `mask`. `leading`: one leading space
    // of the first token is not part of the text. Throws LimitExceeded("states") if the search was cut before
    // it found a token.
    void write(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state, bool leading,
               std::span<std::int32_t> mask);
    // The same if the mask is known, and no other thread has the lock; else the result is false.
    bool write_known(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                     bool leading, std::span<std::int32_t> mask) const;
    // Whether the mask allows a token, which has text.
    bool allows(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state, bool leading,
                std::int32_t token);

    // Within guarded work: the live tokens, whatever the last token was, and what a new search asks.
    CanonicalSearch::Found live(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                                bool leading);
    CanonicalSearch search();

    std::size_t num_rows() const { return rows_.size(); }
    std::size_t num_cut() const { return num_cut_; }

    std::size_t bytes() const override;
    void make_room() override;
    void forget() override;

  private:
    // What CanonicalSearch has found for a configuration, as ids of masks_, and the read set of the search.
    struct Rows {
        std::int32_t within, across;
        ReadSet read_set;
        bool cut;
    };
    const Rows& rows(std::int32_t id) const { return rows_[id]; }
    // By its id; -1: not known.
    std::int32_t find(const LexerConfiguration& lexing, const StackView& stack,
                      const CanonicalFilter::Situation& situation) const;
    std::int32_t make(const LexerConfiguration& lexing, const StackView& stack,
                      const CanonicalFilter::Situation& situation);
    // The same by the filter's state or, if `leading`, at the start of a text.
    std::int32_t make(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                      bool leading);
    std::int32_t keep(CanonicalSearch::Found found, const ReadSet& read_set);
    // Keeps what a long search knows beside its answer, in so many bytes at most.
    static constexpr std::size_t kMostAnswerBytes = std::size_t{16} << 20;
    void keep_answers(CanonicalSearch& search, const ReadSet& read_set);
    CanonicalSearch::Found found(std::int32_t id) const;
    MaskTrie& trie_of(const CanonicalFilter::Situation& situation);
    // Liveness if only texts may follow that the filter's tokenizer leaves as they are.
    Coaccessibility& settled();
    // False: the mask is empty, perhaps only because the search was cut.
    bool combine(std::int32_t id, std::int32_t state, std::span<std::int32_t> mask) const;
    void forget_rows();

    std::shared_ptr<CanonicalFilter> filter_;
    CanonicalSearch::Proven proven_;
    MaskSet masks_;
    std::vector<Rows> rows_;
    std::map<std::array<std::int32_t, 5>, std::int32_t> ids_;
    std::map<CanonicalFilter::Situation, std::unique_ptr<MaskTrie>> tries_;
    std::optional<LivenessTable> settled_table_;  // made when it is needed, as the next
    std::unique_ptr<Coaccessibility> settled_;
    std::optional<FreeCharacters> free_characters_;  // likewise
    std::int32_t leading_ = -1;
    std::size_t num_cut_ = 0;
};

}  // namespace pdacon
