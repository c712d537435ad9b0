// Liveness within a newline, where the columns themselves decide.
//
// Futures know columns by their classes and take each column of a class for reachable. Once a line has begun,
// some no longer are: after four blanks no block opens at column 2. Here the columns are followed as they
// are, byte by byte from the lexer configuration on, until the newline is committed or a line break makes all
// columns possible again. Then its future decides.
//
// Columns further in than any open block are equivalent if they are in one class, so the search is finite.
// What it finds is kept for other lexer configurations on the same stack, because a vocabulary has many
// tokens of blanks.
//
// Cost: for each configuration that is reached its edges, and a reduce chain for each distinct (label,
// column).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "liveness/coaccessibility.hpp"

namespace pdacon {

class NewlineLiveness {
  public:
    // What answers depend on is recorded in the stack's read set.
    NewlineLiveness(const Pushdown& machine, Coaccessibility& coaccessibility, Budget& budget,
                    const Overlay& stack)
        : machine_(machine), coaccessibility_(coaccessibility), budget_(budget), stack_(stack) {}

    // Whether the configuration can reach acceptance.
    bool is_live(const LexerConfiguration& lexing, std::int32_t speller_state);

  private:
    struct SearchNode {
        LexerConfiguration lexing;
        std::int32_t speller_state;
        std::int32_t id;
        std::int32_t from;  // index of the node that led here, or -1
    };
    struct Taken {
        std::int32_t label;
        Column column;
        bool taken;
    };

    bool is_future_live(const LexerConfiguration& lexing, std::int32_t speller_state);
    bool search(const LexerConfiguration& lexing, std::int32_t speller_state);
    void add(const LexerConfiguration& lexing, std::int32_t speller_state, std::int32_t from);
    bool ends_here(const SearchNode& at);
    bool goes_on_after(std::int32_t at);
    bool takes(const Commit& commit, Column column);

    const Pushdown& machine_;
    Coaccessibility& coaccessibility_;
    Budget& budget_;
    Overlay stack_;
    std::vector<std::pair<std::int32_t, bool>> futures_;  // futures asked for, and whether they are live
    std::int32_t equivalent_from_ = -1;  // from this column on, classes are exact; -1: not known
    Interner configuration_ids_;         // lexer configuration and speller state
    std::vector<Liveness> known_;        // by configuration id
    Interner node_ids_;                  // configuration ids of this search
    std::vector<SearchNode> nodes_;
    std::vector<Taken> taken_;  // of the node at hand: which labels and columns the parser takes
};

}  // namespace pdacon
