// SharedEngine: what computes masks, and the masks that it has computed, for all constraints that are made of
// the same automaton for the same vocabulary.
//
// Who compiles a grammar that was compiled before meets it warm: futures, token classes, answers of liveness
// and masks are those that other texts have come to. Each constraint has its own ids of masks and its own
// limits. It is kept with the trie of the vocabulary (SharedTrie), bounded by bytes.
//
// What meets a limit here is left to the constraint's own engine, whose limits may be higher.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/budget.hpp"
#include "base/kept_parts.hpp"
#include "base/memory.hpp"
#include "composition/guarded_work.hpp"
#include "composition/mask_engine.hpp"
#include "composition/mask_set.hpp"
#include "composition/mask_trie.hpp"
#include "detokenizer/labels.hpp"
#include "detokenizer/shared_trie.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "liveness/completion_hints.hpp"
#include "liveness/liveness_table.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class SharedEngine final : public KeptPart {
  public:
    // `machine`: with the predecessors of its states. `table`, `hints`: of the machine, for vocabularies that
    // spell the same texts. `trie` outlives this object.
    SharedEngine(std::shared_ptr<const Pushdown> machine, const SharedTrie& trie,
                 std::shared_ptr<LivenessTable> table, std::shared_ptr<const CompletionHints> hints,
                 std::int64_t max_states);

    // Makes the engine where there is none. `futures`: of the machine's lexer, if somebody has computed them.
    // `budget`: its time limit and its canceller hold for this call. Throws LimitExceeded, Cancelled.
    void prepare(const Budget& budget, const Futures* futures);

    // The mask of a configuration, or nothing: it takes more than there is. Records in `read_set` what it
    // depends on. The rest likewise.
    MaskSet::Row mask(const LexerConfiguration& lexing, const StackView& stack, ReadSet& read_set);
    MaskSet::Row leading_mask();
    // Whether a configuration is live, perhaps within a token.
    std::optional<bool> is_live(const LexerConfiguration& lexing, std::int32_t speller_state,
                                const StackView& stack);
    // Calls `use` with the futures, behind the lock, if they have been made.
    template <class Use>
    auto with_futures(Use use) {
        const std::lock_guard hold(guarded_.lock());
        return use(engine_ ? &engine_->coaccessibility().futures() : nullptr);
    }

    bool has_engine() const {
        const std::lock_guard hold(guarded_.lock());
        return engine_ != nullptr;
    }
    std::int64_t max_states() const { return budget_.states(); }
    std::int64_t held() const override { return guarded_.held() - masks_.shared_bytes(); }

  private:
    static constexpr std::size_t kMostBytes = std::size_t{1} << 26;

    template <class Work>
    auto attempt(Work work) -> decltype(work());
    MaskEngine& engine(const Futures* futures = nullptr);
    void make_room();
    void forget_masks();
    void forget();

    std::shared_ptr<const Pushdown> machine_;
    const SharedTrie& trie_;
    Labels labels_;
    std::shared_ptr<const CompletionHints> hints_;
    Budget budget_;
    GuardedWork guarded_;
    std::shared_ptr<LivenessTable> liveness_table_;
    std::shared_ptr<const VocabularyStar> star_;
    StackCells cells_;
    std::unique_ptr<MaskEngine> engine_;
    MaskTrie filed_;
    MaskSet masks_;
    std::int32_t leading_mask_ = -1;
};

}  // namespace pdacon
