// Where a match can wait for ever for what follows it.
//
// A match waits while threads ahead of it are alive and the bytes read since can still be lexed. Those
// threads, in order, are its line, and move alone; for the bytes it takes one position that they can be at.
// So a match waits for ever if and only if a pair of line and position lies on a cycle. There are no more
// pairs than lines times positions; lines times sets of positions, as Relexing has them, can be exponentially
// many.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "lexer/automaton.hpp"
#include "lexer/relexing.hpp"

namespace pdacon {

class LookaheadCycles {
  public:
    LookaheadCycles(const LexerSpec& spec, Relexing& relexing,
                    const std::vector<std::uint8_t>& representative, Budget& budget);

    // A line: whether its match is the fallback (else it is that of the last thread), the match's label, what
    // lies behind the next byte, and the positions of the threads. Returns its id.
    std::int32_t add_line(std::span<const std::int32_t> line);
    // A match has just been made, after a text; `behind` lies behind it.
    void add_match(std::int32_t line, std::int32_t look_behind, std::string text);
    // A match goes on waiting after a byte class.
    void add_step(std::int32_t line, std::int32_t byte_class, std::int32_t next);

    // Finds all loops; one finding for each label, in order of length.
    std::vector<UnboundedLookahead> find();

    // Whether a match that waits in a line, its pushback in a set of Relexing, is in a loop.
    bool contains(std::span<const std::int32_t> line, std::int32_t set) const;
    bool empty() const { return looping_.empty(); }

  private:
    using Classes = std::bitset<256>;
    struct Step {
        std::int32_t next;
        Classes classes;
    };
    // From one position by one edge of the NFA.
    struct Move {
        std::int32_t position;
        Classes classes;
        std::int32_t target;
    };
    // Where an edge of the NFA leads to without a further byte.
    struct Arrival {
        std::vector<std::int32_t> positions;
        bool matched;
    };
    // A line, and where its pushback is: a position, or -1 - set at the start of a lexeme.
    struct Node {
        std::int32_t line, place;
        std::int32_t parent;      // the node it was first reached from, or -1 - match
        std::int32_t byte_class;  // and how
    };
    struct Edge {
        std::int32_t target, byte_class, position;
    };
    struct Found {
        std::size_t line;
        std::int32_t look_behind;
        std::string text;
    };

    void explore();
    void expand(std::int32_t at);
    std::int32_t node(std::int32_t line, std::int32_t place, std::int32_t parent, std::int32_t byte_class);
    const std::vector<Move>& moves(std::int32_t place);
    void add_moves(std::int32_t position, std::vector<Move>& moves) const;
    const Arrival& arrival(std::int32_t target);
    bool is_ahead(std::int32_t line, std::int32_t position) const;
    std::string text_to(std::int32_t at) const;
    std::string shortest_loop(std::int32_t start, std::span<const std::int32_t> component) const;

    const LexerSpec& spec_;
    Relexing& relexing_;
    const std::vector<std::uint8_t>& representative_;  // of each byte class
    Budget& budget_;
    std::vector<bool> pends_;  // of each terminal: whether a match of it can depend on what follows
    Interner lines_, node_ids_;
    std::vector<std::vector<Step>> steps_;  // of each line
    std::vector<Found> matches_;
    std::vector<Node> nodes_;
    std::vector<std::vector<Edge>> edges_;  // of each node
    std::map<std::int32_t, std::vector<Move>> moves_;
    std::map<std::int32_t, Arrival> arrivals_;
    std::unordered_set<std::uint64_t> looping_;  // line and position
};

}  // namespace pdacon
