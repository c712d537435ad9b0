// What can become of a lexeme: for each lexer state, the commits that some spellable text leads to.
//
// This is the quotient by which coaccessibility looks at the lexer: states with the same future are alive on
// the same stacks. It knows no parser beyond the contexts that a commit may lead to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interner.hpp"
#include "lexing.hpp"
#include "speller.hpp"

namespace pdacon {

// A commit seen from before: the label, and the residue: what lies behind its end, what has been read since
// and must be lexed again, where the speller stands, and whether the input ended there.
struct Event {
    std::int32_t label, residue;
};

class Futures {
  public:
    Futures(const LexingAutomaton& lexer, const Speller& speller, Budget& budget);

    // The set of events that can follow in a lexer state, as the id of a sorted sequence of event ids.
    // Computes what is missing: amortised one visit of each (lexer state, speller state) and its edges.
    std::int32_t of(std::int32_t lexer_state, std::int32_t speller_state);

    std::span<const std::int32_t> events(std::int32_t set) const { return sets_[set]; }
    const Event& event(std::int32_t id) const { return events_[static_cast<std::size_t>(id)]; }
    std::int32_t intern_set(std::span<const std::int32_t> sorted_events) {
        return sets_.intern(sorted_events);
    }
    // The residue at the start of a text: nothing has been read.
    std::int32_t beginning() { return residue(0, false, 0, {}); }
    // What can be committed first in a context, after a residue.
    std::vector<Event> after(std::int32_t context, std::int32_t residue);
    // -1: the residue cannot be lexed in any context after the label.
    std::int32_t intern_event(std::int32_t label, std::int32_t residue);

    // Where a residue leads when it is lexed from the start of a context: to at most one event that is
    // certain, or to a lexer and speller state.
    struct Landing {
        std::int32_t event = -1;
        std::int32_t lexer_state = -1, speller_state = 0;
        bool dead() const { return event < 0 && lexer_state < 0; }
    };
    Landing land(std::int32_t context, std::int32_t residue);

    // The distinct moves of a speller state: a byte class of the lexer, and the speller state after it.
    struct Move {
        std::int32_t byte_class, speller_state;
    };
    std::span<const Move> moves(std::int32_t speller_state) const {
        return moves_[static_cast<std::size_t>(speller_state)];
    }
    // The event at the end of input, or -1.
    std::int32_t end_event(std::int32_t lexer_state);
    // The event of a commit that a move from here makes, or -1.
    std::int32_t commit_event(const Commit& commit, std::int32_t speller_state);
    bool may_end(std::int32_t speller_state) const {
        return boundary_[static_cast<std::size_t>(speller_state)];
    }

    const LexingAutomaton& lexer() const { return lexer_; }

  private:
    struct Node {
        std::int32_t lexer_state, speller_state;
        std::int32_t set = -1;  // the answer
        std::vector<std::int32_t> successors;
        std::vector<std::int32_t> own;  // events of its own edges
    };
    std::int32_t node(std::int32_t lexer_state, std::int32_t speller_state);
    void expand(std::int32_t at);
    void close_over(std::int32_t start);
    std::int32_t residue(std::int32_t speller_state, bool ended, std::int32_t behind,
                         std::span<const std::int32_t> word);

    const LexingAutomaton& lexer_;
    Budget& budget_;
    std::vector<std::vector<Move>> moves_;
    std::vector<std::uint8_t> boundary_;
    Interner node_ids_, residues_, event_ids_, landings_, sets_;
    std::vector<Node> nodes_;
    std::vector<Event> events_;           // by their landings
    std::vector<std::int32_t> event_of_;  // of each (label, residue)
};

}  // namespace pdacon
