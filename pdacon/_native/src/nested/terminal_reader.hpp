// A terminal as a deterministic automaton over bytes whose states are made as they are read.
//
// A state of an automaton is a set of its positions, by the subset construction; a text's state is how many
// of its bytes have been read. Source: M. Rabin and D. Scott, "Finite Automata and Their Decision Problems",
// IBM Journal 3(2), 1959.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/interner.hpp"
#include "detokenizer/loops.hpp"
#include "nested/schemas.hpp"

namespace pdacon {

class TerminalReader {
  public:
    static constexpr std::int32_t kDead = -1;
    // Characters that a state reads one after another, each in the same way: in a loop, or in a chain of
    // states that count them.
    struct Run {
        CharacterSet characters;
        std::int32_t next = kDead;  // the state after one of them; kDead: it reads no characters alike
        std::int32_t length = 0;  // for how many characters at least it goes on so; kEndless: for any number
        bool is_loop = false;     // whether `next` is the state itself
        static constexpr std::int32_t kEndless = 1 << 20;
    };

    explicit TerminalReader(NestedTerminal terminal) : own_(std::move(terminal)) {}

    const NestedTerminal& terminal() const { return own_; }
    bool is_text() const { return own_.is_text(); }
    std::int32_t start() { return is_text() ? 0 : state_of({0}); }
    // kDead: no text of the terminal goes on so.
    std::int32_t next(std::int32_t state, std::uint8_t byte);
    bool matches(std::int32_t state) const;
    bool can_go_on(std::int32_t state) const;
    // Only of an automaton.
    const Run& run(std::int32_t state);

  private:
    using Row = std::array<std::int32_t, 256>;
    struct State {
        bool matches, goes_on;
        std::unique_ptr<const Row> next;  // null: not made yet
    };
    std::int32_t state_of(std::vector<std::int32_t> positions);
    const Row& row(std::int32_t state);
    std::int32_t only_target(std::int32_t state, int first, int last);
    bool reads_others(std::int32_t from, std::int32_t to);
    Run found_run(std::int32_t state);

    NestedTerminal own_;
    Interner sets_;
    std::deque<State> states_;
    std::unordered_map<std::int32_t, Run> runs_;
};

}  // namespace pdacon
