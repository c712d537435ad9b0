// Which configurations can reach acceptance: exactly, for the stack at hand.
//
// LR tables promise that after a shift some sentence of terminals follows, but not that its text can be
// lexed, and not where a conflict was settled by shift. So: quotient the lexer by its futures, tabulate the
// pops (summaries), and answer per (future, top of stack) once: alive on every stack, on none, or on those
// that a look further down tells.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "exits.hpp"
#include "futures.hpp"
#include "proofs.hpp"
#include "pushdown.hpp"
#include "stack.hpp"
#include "summaries.hpp"

namespace pdacon {

enum class Verdict : std::uint8_t { kUnknown = 0, kAlways, kNever, kDepends };

// Pending controls of the quotient: a label with the set of all residues it may leave.
class QuotientControls final : public PendingControls {
  public:
    using PendingControls::PendingControls;

    // The controls of a set of events: one per label.
    const std::vector<std::int32_t>& of_set(std::int32_t set);

  private:
    std::vector<Successor> lexed(std::int32_t context, std::span<const std::int32_t> residues) override;

    std::unordered_map<std::int32_t, std::vector<std::int32_t>> of_set_;
};

class Coaccessibility {
  public:
    // Lexer futures are computed at once, and what is alive on every stack at the start of a lexeme is mostly
    // found; everything else on demand.
    Coaccessibility(const Pushdown& machine, const Speller& speller, Budget& budget);

    // The future of a reading between two tokens; readings with equal futures are alive on the same stacks,
    // if they are free.
    std::int32_t future(const Reading& reading) const {
        const auto known = future_[static_cast<std::size_t>(reading.state)];
        return known >= 0 ? known : line(reading).future;
    }

    // What is known about a future on a top of stack; safe from any thread.
    Verdict known(std::int32_t future, std::int32_t top) const {
        return verdicts_[index(future, top)].load(std::memory_order_acquire);
    }

    // Whether a lexer state is alive on the same stacks whatever its columns are, because it keeps none, or
    // another line of the same newline can begin. Its future is that of the state then.
    bool column_free(std::int32_t lexer_state) const {
        return future_[static_cast<std::size_t>(lexer_state)] >= 0;
    }
    std::int32_t future(std::int32_t lexer_state) const {
        return future_[static_cast<std::size_t>(lexer_state)];
    }
    // Whether a reading has all of its future, whatever its columns are beyond their classes. If not, its
    // future has what it has, and perhaps more.
    bool is_free(const Reading& reading) const {
        return column_free(reading.state) || any_column(machine_.lexer, reading) || line(reading).free;
    }

    // Whether the configuration can reach acceptance. The caller holds the lock that guards this object.
    // Cost: where the verdict depends, a reduce chain for each label that can come next, until one is taken.
    bool alive(std::int32_t future, Overlay& stack);
    // The same for any set of events of `futures()`, with nothing remembered for it.
    bool reaches_end(std::int32_t events, Overlay stack);

    // What holds for a future on every stack with this top, as far as a look at the top shows: kDepends may
    // be said of what is alive on all or on none. The caller holds the lock.
    Verdict verdict(std::int32_t future, std::int32_t top);

    Futures& futures() { return futures_; }

  private:
    // Leaves out what is known to be alive and, if exits are given, all labels but those.
    class Known final : public Shortcuts {
      public:
        Known(Coaccessibility& owner, const Exits* exits) : owner_(owner), exits_(exits) {}
        bool counts(std::int32_t label, std::int32_t state) const override {
            return exits_ == nullptr || exits_->has(state, label);
        }
        bool is_settled(std::int32_t control, std::int32_t top, bool dropped) override;

      private:
        Coaccessibility& owner_;
        const Exits* exits_;
    };

    bool has_verdicts(std::int32_t future) const {
        return static_cast<std::size_t>(future) < dense_.size() &&
               dense_[static_cast<std::size_t>(future)] >= 0;
    }
    std::size_t index(std::int32_t future, std::int32_t top) const {
        return static_cast<std::size_t>(dense_[static_cast<std::size_t>(future)]) *
                   static_cast<std::size_t>(machine_.tables.num_states) +
               static_cast<std::size_t>(top);
    }
    // What can be read of a newline in a lexer state, with the least columns of their classes.
    struct Line {
        Reading reading;
        std::int32_t future;
        std::int32_t further;  // another one in the same state, or -1
        bool free;
    };
    std::int32_t find_line(const Reading& reading) const;
    const Line& line(const Reading& reading) const;
    Verdict find_verdict(std::int32_t future, std::int32_t top);
    bool proved(std::int32_t future, std::int32_t top);
    bool is_settled(std::int32_t control, std::int32_t top, bool dropped);
    // How many labels ahead, and how often in all, the parser is tried before the tabulation is asked.
    static constexpr int kMostLabels = 2, kMostFeeds = 512;
    std::optional<bool> alive_after(std::span<const std::int32_t> controls, const Overlay& stack, int depth,
                                    int& feeds);
    void prove_entries();
    void find_lines();
    void find_column_free();

    const Pushdown& machine_;
    Futures futures_;
    QuotientControls controls_;
    Exits exits_;
    Known few_, all_;
    Proofs few_proofs_, proofs_;
    std::vector<std::int32_t> future_;  // of each lexer state: id of its set of events; -1: columns decide
    std::vector<Line> lines_;           // of the states that keep columns
    std::vector<std::int32_t> first_line_;
    std::vector<std::int32_t> dense_;  // of each future: its row in verdicts_
    std::unique_ptr<std::atomic<Verdict>[]> verdicts_;
};

}  // namespace pdacon
