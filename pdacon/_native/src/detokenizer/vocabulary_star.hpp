// The vocabulary star: the automaton of all concatenations of tokens, that is, of what a vocabulary can
// spell.
//
// It has one state if every byte that occurs is a token by itself. Otherwise it is the subset construction
// over the nodes of the trie, where the last node of a token is also the root again; that can take
// exponentially many states, which the budget bounds. State 0 is the boundary between two tokens.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "detokenizer/trie.hpp"

namespace pdacon {

struct VocabularyStar {
    VocabularyStar() = default;
    VocabularyStar(const Trie& trie, Budget& budget);

    struct Edge {
        std::uint8_t byte;
        std::int32_t next;
    };
    std::vector<std::vector<Edge>> edges;  // of each state, by byte
    std::vector<std::uint8_t> boundary;    // of each state: whether a token can end here
};

}  // namespace pdacon
