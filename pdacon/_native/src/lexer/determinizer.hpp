// The ordered subset construction behind a LexingAutomaton.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "lexer/automaton.hpp"
#include "lexer/legibility.hpp"
#include "lexer/lookahead_cycles.hpp"
#include "lexer/nfa.hpp"
#include "lexer/pushbacks.hpp"
#include "lexer/relexing.hpp"

namespace pdacon {

class Determinizer final : private Pushbacks::Lexer {
  public:
    Determinizer(const LexerSpec& spec, LexingAutomaton& out, Budget& budget);

    // Most grammars need one pass. Where pushbacks grow, a survey first finds the loops in which they have no
    // bound: it takes every pushback for one that can be lexed and tells none apart, so it ends.
    void run();

  private:
    // A match, and what has been read since.
    struct Match {
        static constexpr std::int32_t kNone = -1;
        // It cannot lead on to anything; if it is certain, nothing after it counts either.
        static constexpr std::int32_t kFailed = -2;
        std::int32_t label = kNone;
        std::int32_t look_behind = 0;              // what lies behind its end
        std::int32_t pushback = Pushbacks::kNone;  // in a survey only whether there is any
        std::int32_t relexing = -1;                // what can follow the pushback, where there is one
        bool waits() const { return pushback != Pushbacks::kNone; }
    };
    // A thread at a pending position has a match already.
    struct Thread {
        std::int32_t position;
        Match match;
    };
    // A keyword's position while the lexeme so far is a prefix of it and `regex` is still being matched.
    struct Shadow {
        std::int32_t regex, keyword, position;
        bool operator==(const Shadow&) const = default;
    };
    struct State {
        bool fresh = false;            // at the start of a lexeme: nothing has been read of it
        std::int32_t look_behind = 0;  // what lies behind the next byte
        std::vector<Thread> threads;
        std::vector<Shadow> shadows;
        Match fallback;            // the last match that is certain if no thread gets to another one
        std::uint8_t keeps = 0;    // columns: see LexingAutomaton::Keeps
        std::int32_t parent = -1;  // the state it was first reached from
        std::int32_t via = -1;     // and the byte class
    };
    // Where a byte class leads to, and the terminal that it made the first to match, or -1.
    struct Step {
        std::int32_t target = kUnknown, matched = -1;
        static constexpr std::int32_t kUnknown = std::numeric_limits<std::int32_t>::min();
    };
    // The byte classes, in parts that lead to the same places.
    struct Parts {
        static constexpr std::int32_t kNoThread = 0;  // no thread goes on
        std::array<std::int32_t, 256> of{};           // of each class
        std::int32_t last = kNoThread;
        std::array<std::uint8_t, 256> classes;  // those on which a thread goes on, ascending
        std::ptrdiff_t num_classes = 0;
        std::span<const std::uint8_t> leading() const {
            return {classes.data(), static_cast<std::size_t>(num_classes)};
        }
    };
    struct Split {
        std::int32_t part, target, into;
    };
    enum class Pass { kPlain, kSurvey, kCut };
    // Where a state keeps a match that waits: the index of a thread, or kFallback.
    using Slot = std::int32_t;
    static constexpr Slot kFallback = -1;

    bool explore(Pass pass);
    std::int32_t reach(std::int32_t target);
    void enter(std::int32_t context, std::int32_t look_behind);
    std::int32_t entry(std::int32_t context, std::int32_t look_behind);
    void step_all(std::int32_t from);
    void complete(std::int32_t from, std::vector<Step>& row);
    Parts parts_of(const State& state);
    std::int32_t without_threads(const Match& fallback, std::int32_t cls);
    Step step(std::int32_t from, std::int32_t cls);
    void survey_step(std::int32_t from, std::int32_t cls, std::int32_t next);
    bool move(const State& from, std::int32_t cls, const std::vector<Match>& pending, State& to,
              std::int32_t& matched);
    std::vector<std::pair<std::int32_t, std::int32_t>> step_shadows(const State& from, std::uint8_t byte,
                                                                    State& to);
    std::int32_t finish(State&& state);
    std::vector<Match> read_pending(std::int32_t from, std::int32_t cls);
    Match read_on(Match match, std::int32_t cls);
    Match read_first(Match match, std::int32_t cls);
    void cut_loops(State& state);
    bool is_outrun(const State& state) const;
    std::int32_t at_end(const State& state);
    std::uint8_t columns_kept(const State& state) const;
    void describe_states();
    void note_match(std::int32_t terminal) { out_.matched_[static_cast<std::size_t>(terminal)] = 1; }
    std::int32_t length_of(const Match& match) const {
        return match.waits() && pass_ != Pass::kSurvey ? pushbacks_->length(match.pushback) : match.waits();
    }
    std::string path_to(const State& state) const;
    std::int32_t commit(const Match& match);
    std::int32_t intern(State&& state);
    void note_key(const State& state);
    static std::vector<std::int32_t> line_of(const State& state, Slot slot);
    static std::vector<Slot> waiting_slots(const State& state);
    static const Match& match_in(const State& state, Slot slot) {
        return slot == kFallback ? state.fallback : state.threads[static_cast<std::size_t>(slot)].match;
    }
    std::uint8_t representative(std::int32_t cls) const {
        return representative_[static_cast<std::size_t>(cls)];
    }

    // Pushbacks asks on demand, also of states that have not been reached, and perhaps never are.
    std::vector<std::int32_t> entries_after(std::int32_t label, std::int32_t look_behind) override;
    std::int32_t next(std::int32_t state, std::int32_t cls) override;
    std::vector<std::int32_t> carried(std::int32_t state) const override;
    void move(LexerConfiguration& lexing, std::int32_t next, std::int32_t cls) const override;
    Pushbacks::Committed committed(std::int32_t commit, const LexerConfiguration& lexing,
                                   std::int32_t cls) override;

    const LexerSpec& spec_;
    LexingAutomaton& out_;
    Budget& budget_;
    Closure closure_;
    Relexing relexing_;
    Pass pass_ = Pass::kPlain;
    std::optional<Pushbacks> pushbacks_;  // but in a survey
    // What has been made, by ids of its own.
    Interner state_ids_, commit_ids_;
    std::vector<State> states_;
    std::vector<Match> commits_;
    std::vector<std::int32_t> entries_;     // [contexts, behind states]; kDead: not made
    std::vector<std::vector<Step>> steps_;  // of each state: what Pushbacks has asked for
    // By label and what lies behind, and by byte class: a match after the first byte of its pushback; kNone:
    // not asked.
    std::vector<std::vector<Match>> first_;
    std::vector<std::int32_t> key_, positions_;  // scratch space, as the next
    std::vector<Split> splits_;
    // The automaton's arrays: see LexingAutomaton.
    struct Made {
        std::vector<std::int32_t> delta, end, entries;
        std::vector<std::uint8_t> keeps;
        std::vector<Commit> commits;
        Interner pushbacks;
    };
    Made made_;
    // What some text leads to is numbered in the order in which it is reached: that is the automaton.
    std::vector<std::int32_t> reached_, reached_commits_;
    std::vector<std::int32_t> number_, commit_number_;  // of each state and commit; kDead: not reached
    bool has_read_on_ = false;                          // in the step at hand: some match has read the byte
    std::vector<std::pair<Slot, Slot>> carried_;        // in the step at hand: where a match was, and is
    std::vector<std::uint8_t> representative_;          // of each byte class
    LookaheadCycles loops_;
};

}  // namespace pdacon
