// A nested-word automaton over bytes: the moves of a place as threads in its terminals, step by step.
//
// A node is a place with what has been read there: threads, each a move and a position in its terminal. A
// byte moves all threads. Where none goes on, the move whose terminal has ended is made, and the byte is read
// in the place behind it; where one has ended and none can go on, the move is made at once. The terminals of
// a place exclude one another, but that a listed name wins over the class of the others; whatever follows a
// terminal begins with a byte that no text of it goes on with. So there is one move at most.
//
// Nodes and steps are kept as they are made. Source: the lazy determinization of RE2 (R. Cox, "Regular
// Expression Matching in the Wild", 2010).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/interner.hpp"
#include "nested/automaton.hpp"
#include "nested/terminal_reader.hpp"

namespace pdacon {

class NestedReading {
  public:
    struct Thread {
        std::int32_t move;      // of the place
        std::int32_t position;  // a state of its terminal
        bool operator==(const Thread&) const = default;
    };
    // What a byte does: pushes a frame, if there is one, pops one with an ending, if there is one, and leads
    // to a node; behind a pop the node is that of the place where the frame goes on.
    struct Step {
        static constexpr std::int32_t kDead = -1, kPopped = -2;
        std::int32_t node = kDead, push = -1, ending = -1;
        bool is_dead() const { return node == kDead; }
    };
    NestedReading(NestedAutomaton& automaton, std::int64_t max_nodes)
        : automaton_(automaton), max_nodes_(max_nodes) {}

    // The node of a place where nothing of it has been read.
    std::int32_t begin(std::int32_t place);
    // Throws what NestedAutomaton::moves does; all is as it was then.
    Step step(std::int32_t node, std::uint8_t byte);
    // The node with one thread of another one in another position.
    std::int32_t moved(std::int32_t node, const Thread& thread, std::int32_t position);
    // What the end of the text makes of a node: the place it leads to, without pops; -1: the terminal has
    // not ended.
    std::int32_t place_at_end(std::int32_t node);

    std::int64_t num_nodes() const { return static_cast<std::int64_t>(nodes_.size()); }
    std::span<const Thread> threads(std::int32_t node) const {
        return nodes_[static_cast<std::size_t>(node)].threads;
    }
    TerminalReader& reader(std::int32_t node, const Thread& thread) {
        const auto place = nodes_[static_cast<std::size_t>(node)].place;
        return reader(automaton_.moves(place)[static_cast<std::size_t>(thread.move)].terminal);
    }

  private:
    struct Node {
        std::int32_t place;
        std::vector<Thread> threads;
        std::int32_t ended = -1;  // the move whose terminal has ended
        bool goes_on = false;     // whether some thread can read on
        bool is_blocked = false;  // whether a name has ended that must not come
    };
    std::int32_t node(std::int32_t place, std::vector<Thread> threads);
    Step made(std::int32_t node, std::uint8_t byte);
    Step made_move(const Node& node, std::optional<std::uint8_t> byte);
    TerminalReader& reader(std::int32_t terminal);

    NestedAutomaton& automaton_;
    std::int64_t max_nodes_;
    Interner keys_;
    std::deque<Node> nodes_;
    std::unordered_map<std::uint64_t, Step> steps_;        // by node and byte; dead ones are not kept
    std::deque<std::unique_ptr<TerminalReader>> readers_;  // by terminal
};

}  // namespace pdacon
