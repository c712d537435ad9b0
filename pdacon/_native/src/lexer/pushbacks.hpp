// What has been read behind a match, told apart by what it does.
//
// A pushback is lexed again once its match is committed. How that ends in each context that can follow is its
// outcome: dead, a lexer state, or another commit whose own pushback has an outcome. Texts of one length with
// the same outcome are one pushback, and the first of them stands for all: whatever is read behind them leads
// to the same places.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "lexer/columns.hpp"

namespace pdacon {

class Pushbacks {
  public:
    static constexpr std::int32_t kNone = -1;  // nothing has been read

    // A match that was committed in a step, and the column of a layout's newline.
    struct Committed {
        std::int32_t label, look_behind, pushback;
        Column column;
    };
    // What is asked of the automaton that is being built. Its states and commits have ids of their own there.
    class Lexer {
      public:
        // The distinct states in which lexing can go on after a label, with that behind it.
        virtual std::vector<std::int32_t> entries_after(std::int32_t label, std::int32_t look_behind) = 0;
        // LexingAutomaton::kDead, a state, or a commit.
        virtual std::int32_t next(std::int32_t state, std::int32_t byte_class) = 0;
        // The pushbacks that a state carries.
        virtual std::vector<std::int32_t> carried(std::int32_t state) const = 0;
        // The columns behind a byte class that leads to lexing.state.
        virtual void move(LexerConfiguration& lexing, std::int32_t next, std::int32_t byte_class) const = 0;
        virtual Committed committed(std::int32_t commit, const LexerConfiguration& lexing,
                                    std::int32_t byte_class) = 0;

      protected:
        ~Lexer() = default;
    };

    Pushbacks(Lexer& lexer, std::int32_t num_classes, Budget& budget)
        : lexer_(lexer), num_classes_(num_classes), budget_(budget) {}

    // The pushback after one more byte; kNone where it cannot be lexed in any context.
    std::int32_t after_match(std::int32_t label, std::int32_t look_behind, std::int32_t byte_class);
    std::int32_t after(std::int32_t pushback, std::int32_t byte_class);
    std::int32_t length(std::int32_t pushback) const { return at(pushback).length; }
    // The text that stands for the pushback, as byte classes.
    std::vector<std::int32_t> text(std::int32_t pushback) const;

  private:
    struct Pushback {
        std::int32_t outcome, length;
        std::int32_t parent, via;  // the pushback that it was first reached from, and the byte class
    };
    // What becomes of a pushback in one context.
    struct Landing {
        enum Kind : std::int32_t { kDead, kInside, kCommitted };
        Kind kind = kDead;
        std::int32_t place = 0;  // a lexer state, or the outcome of what is left
        Column now, matched;     // of a lexing; of a commit the newline's column is `matched`
        bool operator==(const Landing&) const = default;
    };
    struct Outcome {
        std::int32_t share;                // which of the states that the label leads to have which landing
        std::vector<Landing> landings;     // the distinct ones but kDead
        std::vector<std::int32_t> needed;  // the outcomes that one more byte must be known for first
        std::vector<std::int32_t> after;   // by byte class: an outcome, kNone if all are dead, or kUnknown
    };
    static constexpr std::int32_t kUnknown = -2;

    const Pushback& at(std::int32_t pushback) const { return pushbacks_[static_cast<std::size_t>(pushback)]; }
    std::int32_t start(std::int32_t label, std::int32_t look_behind);
    std::int32_t outcome_after(std::int32_t outcome, std::int32_t byte_class);
    void compute(std::int32_t outcome, std::int32_t byte_class);
    Landing land(const Landing& from, std::int32_t byte_class);
    bool known(std::int32_t outcome, std::int32_t byte_class) const;
    std::int32_t intern(std::int32_t share, std::vector<Landing> landings);
    std::int32_t add(std::int32_t outcome, std::int32_t parent, std::int32_t byte_class);

    Lexer& lexer_;
    std::int32_t num_classes_;
    Budget& budget_;
    Interner pushback_ids_;  // outcome and length
    std::vector<Pushback> pushbacks_;
    Interner start_ids_;                // label and what lies behind
    std::vector<std::int32_t> starts_;  // of each: the outcome of no text
    Interner shares_;                   // the start, then the landing of each entry, or -1
    Interner outcome_ids_;              // the share, then landings
    std::deque<Outcome> outcomes_;
};

}  // namespace pdacon
