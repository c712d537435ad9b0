// Room `liveness`: which configurations of the pushdown automaton are coaccessible.
//
// In: the pushdown automaton, and which bytes a vocabulary can spell. Out: whether some sentence goes on from
// a configuration, for the stack at hand; what can come next. It does not know masks. Only grammars with an
// Indenter need column_classes and newline_liveness: leave them aside at first.
//
// Source: pre* of pushdown systems by summaries (Bouajjani, Esparza and Maler 1997; Reps, Horwitz and Sagiv
// 1995), on the Myhill-Nerode quotient of the lexer by the commits to come.
//
// Which configurations can reach acceptance: exactly, for the stack at hand.
//
// LR tables promise that after a shift some sentence of terminals follows, but not that its text can be
// lexed, and not where a conflict was settled by shift. So: quotient the lexer by its futures, tabulate the
// pops (summaries), and answer per (future, top of stack) once: alive on every stack, on none, or on those
// that a look further down tells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "liveness/coinductive_proofs.hpp"
#include "liveness/completion_hints.hpp"
#include "liveness/futures.hpp"
#include "liveness/liveness_table.hpp"
#include "liveness/prefix_cache.hpp"
#include "liveness/summaries.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

// Pending controls of the quotient: a label with the set of all pushbacks it may leave.
class QuotientControls final : public PendingControls {
  public:
    using PendingControls::PendingControls;

    // The controls of a set of emissions: one per label.
    const std::vector<std::int32_t>& of_set(std::int32_t set);

  private:
    std::vector<Successor> lexed(std::int32_t context, std::span<const std::int32_t> pushbacks) override;

    std::unordered_map<std::int32_t, std::vector<std::int32_t>> of_set_;
};

class Coaccessibility {
  public:
    // Lexer futures are computed at once; everything else on demand. Where `liveness_table` is empty it gets
    // their rows, and what is alive on every stack at the start of a lexeme is mostly found. Throws
    // ArtifactDamage if they have the rows of other tables. `known`: futures to begin with.
    Coaccessibility(const Pushdown& machine, const Speller& speller, LivenessTable& liveness_table,
                    Budget& budget, const Futures* known = nullptr);

    // The future of a reading between two tokens; readings with equal futures are alive on the same stacks,
    // if they are free.
    std::int32_t future(const Reading& reading) const {
        const auto known = future_[static_cast<std::size_t>(reading.state)];
        return known >= 0 ? known : line_future_[static_cast<std::size_t>(liveness_table_.line_of(reading))];
    }
    std::int32_t future(std::int32_t lexer_state) const {
        return future_[static_cast<std::size_t>(lexer_state)];
    }
    bool column_free(std::int32_t lexer_state) const { return liveness_table_.column_free(lexer_state); }
    bool is_free(const Reading& reading) const { return liveness_table_.is_free(reading); }

    // Whether the configuration can reach acceptance. The caller holds the lock that guards this object.
    // Cost: where it depends on the stack, a reduce chain for each label that can come next, until one is
    // taken.
    bool alive(std::int32_t future, Overlay& stack);
    // The same, remembered under the states that it depended on.
    bool alive(std::int32_t future, const StackView& stack, ReadSet& read_set);
    // The same for any set of emissions of `futures()`, with nothing remembered for it.
    bool reaches_end(std::int32_t emissions, Overlay stack);

    // Whether what can follow a reading, with what is spelled of a token, leads on, if all of it can.
    bool has_future(const Reading& reading, std::int32_t speller_state, Overlay& stack) {
        if (speller_state == 0) return alive(future(reading), stack);
        return reaches_end(futures_.of(reading, speller_state), stack);
    }

    // What holds for a future on every stack with this top, as far as a look at the top shows: kMayLive may
    // be said of what is alive on all or on none. The caller holds the lock.
    Liveness liveness(std::int32_t future, std::int32_t top);

    Futures& futures() { return futures_; }

    // Of what is remembered of stacks; it can be forgotten, and found again.
    std::size_t bytes() const { return alive_.bytes(); }
    void forget() { alive_.forget(); }

  private:
    // Leaves out what is known to be alive and, if hints are given, all labels but those.
    class Known final : public Shortcuts {
      public:
        Known(Coaccessibility& owner, const CompletionHints* hints) : owner_(owner), hints_(hints) {}
        bool counts(std::int32_t label, std::int32_t state) const override {
            return hints_ == nullptr || hints_->has(state, label);
        }
        bool is_settled(std::int32_t control, std::int32_t top, bool skipped) override {
            return owner_.is_settled(control, top, skipped, [&](std::int32_t future) {
                return owner_.liveness_table_.at(owner_.row(future), top);
            });
        }

      private:
        Coaccessibility& owner_;
        const CompletionHints* hints_;
    };

    bool has_row(std::int32_t future) const {
        return static_cast<std::size_t>(future) < dense_.size() &&
               dense_[static_cast<std::size_t>(future)] >= 0;
    }
    std::int32_t row(std::int32_t future) const { return dense_[static_cast<std::size_t>(future)]; }
    Liveness find_liveness(std::int32_t future, std::int32_t top);
    void hinted_first(std::vector<std::int32_t>& controls, std::int32_t top) const;
    std::int32_t below_hinted(std::int32_t future, std::int32_t top);
    bool is_proved(std::int32_t future, std::int32_t top);
    // Whether a future in which lexing goes on, once a control's label has been taken or skipped, is alive on
    // every stack with this top, by a function that knows or finds how alive it is there.
    template <class LivenessOf>
    bool is_settled(std::int32_t control, std::int32_t top, bool skipped, LivenessOf liveness_of);
    static constexpr std::size_t kMostBytes = std::size_t{16} << 20;
    bool look_at(std::int32_t future, Overlay stack);
    // How many labels ahead, and how often in all, the parser is tried before the tabulation is asked.
    static constexpr int kMostLabels = 2, kMostFeeds = 512;
    std::optional<bool> alive_after(std::vector<std::int32_t> controls, const Overlay& stack, int depth,
                                    int& feeds);
    // What can be under way once a context is entered: the futures of its starts, with that of a blank that
    // is part of it, or -1; and those of blanks, of which nothing comes to the parser.
    struct Begun {
        struct Start {
            std::int32_t future, blank;
        };
        std::vector<Start> starts;
        std::vector<std::int32_t> blanks;
    };
    Begun begun_in(std::int32_t context);
    bool is_blank(std::int32_t future) const;
    void prove_entries();
    void find_lines(std::vector<std::int32_t>& first_line, std::vector<Line>& lines);
    void find_column_free(const std::vector<std::int32_t>& first_line, const std::vector<Line>& lines);
    void make_rows();

    const Pushdown& machine_;
    Futures futures_;
    QuotientControls controls_;
    CompletionHints hints_;
    Known hinted_, all_;
    CoinductiveProofs hinted_proofs_, proofs_;
    std::vector<std::int32_t> future_;  // of each lexer state: id of its set of emissions; -1: columns decide
    std::vector<std::int32_t> line_future_;  // the same of each line
    std::vector<std::int32_t> dense_;        // of each future: its row in liveness_table_, or -1
    LivenessTable& liveness_table_;
    PrefixCache alive_;  // of each future, whether stacks are
};

template <class LivenessOf>
bool Coaccessibility::is_settled(std::int32_t control, std::int32_t top, bool skipped,
                                 LivenessOf liveness_of) {
    if (!skipped && !controls_.keeps_block(control, machine_.block(top))) return false;
    const auto context = machine_.tables.context[static_cast<std::size_t>(top)];
    return std::ranges::any_of(controls_.futures_after(context, control), [&](std::int32_t future) {
        return has_row(future) && liveness_of(future) == Liveness::kMustLive;
    });
}

}  // namespace pdacon
