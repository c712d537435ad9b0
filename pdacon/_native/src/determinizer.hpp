// The ordered subset construction behind a LexingAutomaton.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "budget.hpp"
#include "interner.hpp"
#include "lexing.hpp"
#include "nfa.hpp"
#include "relexing.hpp"
#include "waiting_loops.hpp"

namespace pdacon {

class Determinizer {
  public:
    Determinizer(const LexerSpec& spec, LexingAutomaton& out, Budget& budget);

    // Most grammars need one pass. Where residuals grow, a survey first finds the loops in which they have no
    // bound: it takes every residual for one that can be lexed and tells none apart, so it ends.
    void run();

  private:
    // A match, and the bytes read since.
    struct Match {
        static constexpr std::int32_t kNone = -1;
        // It cannot lead on to anything; if it is certain, nothing after it counts either.
        static constexpr std::int32_t kFailed = -2;
        std::int32_t label = kNone;
        std::int32_t behind = 0;             // what lies behind its end
        std::vector<std::int32_t> residual;  // byte classes; in a survey only whether there are any
        std::int32_t relexing = -1;          // what can follow the residual, where there is one
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
        bool fresh = false;       // at the start of a lexeme: nothing has been read of it
        std::int32_t behind = 0;  // what lies behind the next byte
        std::vector<Thread> threads;
        std::vector<Shadow> shadows;
        Match fallback;            // the last match that is certain if no thread gets to another one
        std::int32_t parent = -1;  // the state it was first reached from
        std::int32_t via = -1;     // and the byte class
    };
    enum class Pass { kPlain, kSurvey, kCut };
    // Where a state keeps a match that waits: the index of a thread, or kFallback.
    using Slot = std::int32_t;
    static constexpr Slot kFallback = -1;

    bool explore(Pass pass);
    void survey_step(std::int32_t from, std::int32_t cls, std::int32_t next);
    void enter(std::int32_t context, std::int32_t behind);
    void step_all(std::int32_t from);
    std::int32_t step(std::int32_t from, std::int32_t cls);
    void move(const State& from, std::int32_t cls, State& to);
    std::vector<std::pair<std::int32_t, std::int32_t>> step_shadows(const State& from, std::uint8_t byte,
                                                                    State& to);
    std::int32_t finish(State&& state);
    Match read_on(const Match& match, std::int32_t cls);
    void cut_loops(State& state);
    bool is_outrun(const State& state) const;
    std::int32_t at_end(const State& state);
    std::uint8_t columns_kept(const State& state) const;
    void describe_states();
    void note_match(std::int32_t position) {
        out_.matched_[static_cast<std::size_t>(spec_.nfa.owner[static_cast<std::size_t>(position)])] = 1;
    }
    std::string path_to(const State& state) const;
    std::int32_t commit(const Match& match);
    std::int32_t intern(State&& state);
    std::vector<std::int32_t> key_of(const State& state) const;
    static std::vector<std::int32_t> line_of(const State& state, Slot slot);
    static std::vector<Slot> waiting_slots(const State& state);
    static const Match& match_in(const State& state, Slot slot) {
        return slot == kFallback ? state.fallback : state.threads[static_cast<std::size_t>(slot)].match;
    }
    std::uint8_t representative(std::int32_t cls) const {
        return representative_[static_cast<std::size_t>(cls)];
    }

    const LexerSpec& spec_;
    LexingAutomaton& out_;
    Budget& budget_;
    Closure closure_;
    Relexing relexing_;
    Pass pass_ = Pass::kPlain;
    Interner state_ids_, commit_ids_;
    std::vector<State> states_;
    bool has_read_on_ = false;                    // in the step at hand: some match has read the byte
    std::vector<std::pair<Slot, Slot>> carried_;  // in the step at hand: where a match was, and is
    std::vector<std::uint8_t> representative_;    // of each byte class
    WaitingLoops loops_;
};

}  // namespace pdacon
