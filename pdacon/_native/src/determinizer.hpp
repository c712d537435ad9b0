// The ordered subset construction behind a LexingAutomaton.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "budget.hpp"
#include "interner.hpp"
#include "lexing.hpp"
#include "nfa.hpp"
#include "relexing.hpp"

namespace pdacon {

class Determinizer {
  public:
    Determinizer(const LexerSpec& spec, LexingAutomaton& out, Budget& budget);

    // Most grammars need one pass. Where residuals grow, a survey first finds the loops in which they have no
    // bound: there states are told apart by what can follow the residual, not by its text, so it ends.
    void run();

  private:
    // A keyword's position while the lexeme so far is a prefix of it and `regex` is still being matched.
    struct Shadow {
        std::int32_t regex, keyword, position;
        bool operator==(const Shadow&) const = default;
    };
    struct State {
        bool fresh = false;  // at the start of a lexeme: nothing has been read of it
        std::vector<std::int32_t> threads;
        std::vector<Shadow> shadows;
        std::int32_t label = -1;             // the fallback, -1: none
        std::vector<std::int32_t> residual;  // byte classes; in a survey any one class stands for all
        std::int32_t relexing = -1;          // what can follow the residual, where there is one
        std::int32_t parent = -1;            // the state it was first reached from
        std::int32_t via = -1;               // and the byte class
    };
    enum class Pass { kPlain, kSurvey, kCut };

    bool explore(Pass pass);
    void find_loops();
    std::string shortest_loop(std::size_t start, const std::vector<std::int32_t>& component) const;
    std::int32_t enter(const LexicalContext& context);
    std::int32_t step(std::int32_t from, std::int32_t cls);
    std::int32_t step_shadows(const State& from, std::uint8_t byte, std::int32_t matched, State& to);
    std::string path_to(std::int32_t at) const;
    std::int32_t commit(std::int32_t label, const std::vector<std::int32_t>& residual);
    std::int32_t intern(State&& state);
    std::vector<std::int32_t> key_of(const State& state, bool text) const;
    char representative(std::int32_t cls) const {
        return static_cast<char>(representative_[static_cast<std::size_t>(cls)]);
    }

    const LexerSpec& spec_;
    LexingAutomaton& out_;
    Budget& budget_;
    Closure closure_;
    Relexing relexing_;
    Pass pass_ = Pass::kPlain;
    Interner state_ids_, commit_ids_, looping_;
    std::vector<State> states_;
    std::vector<std::uint8_t> representative_;  // of each byte class
};

}  // namespace pdacon
