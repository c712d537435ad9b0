// Room `liveness`: which configurations of the pushdown automaton are coaccessible.
//
// In: the pushdown automaton, and which bytes a vocabulary can spell. Out: whether some sentence goes on from
// a configuration, for the stack at hand; which terminals can come next. It does not know masks. Only
// grammars with an Indenter need column_classes and newline_liveness: leave them aside at first.
//
// Source: pre* of pushdown systems by summaries (Bouajjani, Esparza and Maler 1997; Reps, Horwitz and Sagiv
// 1995), on the quotient of the lexer by reachable next outputs (futures.hpp).
//
// Coaccessibility: which configurations can reach acceptance. The answer is for the stack at hand, and exact
// in a grammar without layout. With layout, columns count by their classes: what is called dead is dead, and
// NewlineLiveness looks further at what is called live within a newline.
//
// LR tables promise that some sentence of terminals follows a shift. They do not promise that its text can be
// lexed, nor anything where a conflict was settled by shift. So four steps answer, each only where those
// before it cannot:
//
// 1. The liveness table has a cell for each future of the lexer and each LR state on top: unknown (not asked
//    for yet), live on all stacks, dead on all, or undecided. Undecided says only that nothing was proved and
//    is never revised: the stacks may all be live.
// 2. An unknown cell is filled when it is first asked for. It becomes live if completion hints lead to
//    acceptance without a look below the LR state, dead if the parser has no action there on any label of the
//    future and skips none of them, else undecided. Only the cells of the starts of lexemes are filled by
//    proofs that look below, when the table is made: all at once where lexing meets no dead end
//    (lexical_dead_ends.hpp), else each by coinduction; a start that is not proved stays unknown.
// 3. Where a cell is undecided, the stack at hand is fed each label that can come next, a few labels ahead.
// 4. What that leaves open is decided by summaries (pre*): the set of pop controls is taken down the stack,
//    symbol by symbol, until one accepts, a coinductive proof answers, none is left, or the stack ends.
//
// Cost: a table is made with one visit of the tables, or with one proof for each LR state and start of a
// lexeme that can follow it. After that
// step 1 is a look-up, and step 2 a tabulation of what the hints need. Step 3 takes at most kMostFeeds reduce
// chains, and fills cells on the way. Step 4 is a look-up for each symbol of the stack once its summaries
// are tabulated, in O(links x pops of their sources).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "liveness/coinductive_proofs.hpp"
#include "liveness/completion_hints.hpp"
#include "liveness/future_rows.hpp"
#include "liveness/futures.hpp"
#include "liveness/liveness_table.hpp"
#include "liveness/prefix_cache.hpp"
#include "liveness/quotient_controls.hpp"
#include "liveness/summaries.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class Coaccessibility {
  public:
    // Computes the futures of the lexer at once, everything else on demand. An empty table gets its rows, and
    // the starts of lexemes are proved live where the hints suffice, which is nearly everywhere. Throws
    // ArtifactDamage if the table has other rows. `known`: futures to begin with; `hints`: those of the
    // machine, if they have been computed.
    Coaccessibility(const Pushdown& machine, const VocabularyStar& speller, LivenessTable& liveness_table,
                    Budget& budget, const Futures* known = nullptr,
                    std::shared_ptr<const CompletionHints> hints = nullptr);

    // The future of a lexer configuration between two tokens. Configurations with equal futures are live on
    // the same stacks if they are independent of their columns.
    std::int32_t future(const LexerConfiguration& lexing) const { return rows_.future(lexing); }
    // -1: it depends on the columns.
    std::int32_t future(std::int32_t lexer_state) const { return rows_.future(lexer_state); }
    bool is_column_independent(std::int32_t lexer_state) const {
        return liveness_table_.is_column_independent(lexer_state);
    }
    bool is_column_independent(const LexerConfiguration& lexing) const {
        return liveness_table_.is_column_independent(lexing);
    }

    // Whether a configuration can reach acceptance, by steps 1 to 4. The caller holds the lock that guards
    // this object.
    bool is_live(std::int32_t future, Overlay& stack);
    // The same. An answer that depends on few states is remembered under them; `read_set` grows to include
    // them.
    bool is_live(std::int32_t future, const StackView& stack, ReadSet& read_set);
    // The same for the id of any set of emissions of `futures()`, by step 4 alone, with nothing remembered.
    bool reaches_end(std::int32_t emissions, Overlay stack);

    // Whether the future of a lexer configuration is live, from within a token too. Columns count by their
    // classes: see NewlineLiveness for what that leaves open.
    bool is_future_live(const LexerConfiguration& lexing, std::int32_t speller_state, Overlay& stack) {
        if (speller_state == 0) return is_live(future(lexing), stack);
        return reaches_end(futures_.of(lexing, speller_state), stack);
    }

    // What is proved of a future on every stack with this top. What is undecided may yet be live on all of
    // these, or dead on all. The caller holds the lock.
    Liveness liveness(std::int32_t future, std::int32_t top);

    Futures& futures() { return futures_; }
    const std::shared_ptr<const CompletionHints>& hints() const { return hints_; }

    // The memory of remembered answers, which can be forgotten and found again.
    std::size_t bytes() const { return answers_.bytes(); }
    void forget() { answers_.forget(); }

  private:
    // For proofs: what the table says is live on all stacks is known to be live. With hints, only the hinted
    // labels count.
    class KnownLive final : public Shortcuts {
      public:
        KnownLive(Coaccessibility& owner, const CompletionHints* hints) : owner_(owner), hints_(hints) {}
        bool counts(std::int32_t label, std::int32_t state) const override {
            return hints_ == nullptr || hints_->has(state, label);
        }
        bool is_known_live(std::int32_t control, std::int32_t top, bool skipped) override {
            return owner_.is_known_live(control, top, skipped, [&](std::int32_t future) {
                return owner_.liveness_table_.at(owner_.rows_.row(future), top);
            });
        }

      private:
        Coaccessibility& owner_;
        const CompletionHints* hints_;
    };

    // Cells of the table, and proofs.
    Liveness find_liveness(std::int32_t future, std::int32_t top);
    std::int32_t below_hinted(std::int32_t future, std::int32_t top);
    bool is_proved(std::int32_t future, std::int32_t top);
    // The futures at the starts of lexemes in a context, and those after one blank that is ignored.
    struct LexemeStarts {
        struct Start {
            std::int32_t future;
            std::int32_t blank;  // the future after a blank whose emissions the start has, too; -1: none
        };
        std::vector<Start> starts;
        std::vector<std::int32_t> blanks;
    };
    LexemeStarts starts_in(std::int32_t context);
    bool is_blank(std::int32_t future) const;
    bool prove_all_starts(Budget& budget);
    void prove_starts();

    // Search on the stack at hand.
    static constexpr std::size_t kMostBytes = std::size_t{16} << 20;
    // How many labels one after another, and how many in all, are fed to the parser before summaries are
    // asked.
    static constexpr int kMostLabels = 3, kMostFeeds = 512;
    bool search(std::int32_t future, Overlay stack);
    std::optional<bool> try_labels(std::vector<std::int32_t> controls, const Overlay& stack, int depth,
                                   int& feeds);
    void hinted_first(std::vector<std::int32_t>& controls, std::int32_t top) const;
    // Whether, once a control's label has been taken or skipped, lexing goes on in a future that is live on
    // every stack with this top. `liveness_of` looks the liveness of a future up, or finds it.
    template <class LivenessOf>
    bool is_known_live(std::int32_t control, std::int32_t top, bool skipped, LivenessOf liveness_of);

    const Pushdown& machine_;
    Futures futures_;
    QuotientControls controls_;
    std::shared_ptr<const CompletionHints> hints_;
    KnownLive hinted_shortcuts_, shortcuts_;
    CoinductiveProofs hinted_proofs_, proofs_;
    LivenessTable& liveness_table_;
    FutureRows rows_;
    PrefixCache answers_;  // by future and topmost states: whether the stack is live
};

template <class LivenessOf>
bool Coaccessibility::is_known_live(std::int32_t control, std::int32_t top, bool skipped,
                                    LivenessOf liveness_of) {
    if (!skipped && !controls_.keeps_block(control, machine_.block(top))) return false;
    const auto context = machine_.tables.context[top];
    return std::ranges::any_of(controls_.futures_after(context, control), [&](std::int32_t future) {
        return rows_.has_row(future) && liveness_of(future) == Liveness::kLiveOnAll;
    });
}

}  // namespace pdacon
