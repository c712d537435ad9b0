// Cycles of unbounded lookahead: where a match can wait for ever for the bytes that decide it.
//
// A match waits while threads of higher priority are alive and the bytes read since, its pushback, can still
// be lexed. A *wait* is the match with those threads, in order; it steps by itself, whatever the pushback is.
// For the pushback one NFA position at which the lexer can be is enough. So a match can wait for ever if and
// only if some pair of a wait and a position lies on a cycle of the product of the two. There are at most
// (waits x positions) pairs; waits with whole sets of positions, as Relexing has them, can be exponentially
// many.
//
// Method: breadth-first search over the pairs from all matches, then Tarjan's strongly connected components.
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

    // A wait, as integers: whether the match is the fallback (otherwise it is that of the last thread), its
    // label, the look-behind state, and the positions of the threads. Returns its id.
    std::int32_t add_wait(std::span<const std::int32_t> wait);
    // A match that has just been made, after a text; with the look-behind state there.
    void add_match(std::int32_t wait, std::int32_t look_behind, std::string text);
    // A match goes on waiting after a byte class.
    void add_step(std::int32_t wait, std::int32_t byte_class, std::int32_t next);

    // Finds all cycles. Returns one finding for each label, that of the shortest text.
    std::vector<UnboundedLookahead> find();

    // Whether a wait is on a cycle with one of the positions of a set of Relexing.
    bool contains(std::span<const std::int32_t> wait, std::int32_t set) const;

  private:
    using Classes = std::bitset<256>;
    struct Step {
        std::int32_t next;
        Classes classes;
    };
    // The byte classes of the edges from a position to a target.
    struct Move {
        std::int32_t position;
        Classes classes;
        std::int32_t target;
    };
    // The epsilon closure of a target.
    struct Closed {
        std::vector<std::int32_t> positions;
        bool matched;
    };
    // A wait, and a position at which the lexer can be in its pushback; between two lexemes `place` is -1 -
    // set, for a set of Relexing.
    struct Pair {
        std::int32_t wait, place;
        std::int32_t parent;      // the pair it was first reached from, or -1 - match
        std::int32_t byte_class;  // and the byte class
    };
    struct Edge {
        std::int32_t target, byte_class, position;
    };
    struct FreshMatch {
        std::size_t wait;
        std::int32_t look_behind;
        std::string text;
    };

    void explore();
    void expand(std::int32_t at);
    std::int32_t pair(std::int32_t wait, std::int32_t place, std::int32_t parent, std::int32_t byte_class);
    const std::vector<Move>& moves(std::int32_t place);
    void add_moves(std::int32_t position, std::vector<Move>& moves) const;
    const Closed& closed(std::int32_t target);
    bool is_ahead(std::int32_t wait, std::int32_t position) const;
    std::string text_to(std::int32_t at) const;
    std::string shortest_cycle(std::int32_t start, std::span<const std::int32_t> component) const;

    const LexerSpec& spec_;
    Relexing& relexing_;
    const std::vector<std::uint8_t>& representative_;  // of each byte class
    Budget& budget_;
    std::vector<bool> may_pend_;  // of each terminal: whether a match of it can depend on following text
    Interner waits_, pair_ids_;
    std::vector<std::vector<Step>> steps_;  // of each wait
    std::vector<FreshMatch> matches_;
    std::vector<Pair> pairs_;
    std::vector<std::vector<Edge>> edges_;  // of each pair
    std::map<std::int32_t, std::vector<Move>> moves_;
    std::map<std::int32_t, Closed> closed_;
    std::unordered_set<std::uint64_t> on_cycle_;  // wait and position
};

}  // namespace pdacon
