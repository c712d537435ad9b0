// What a vocabulary can spell: the automaton of all concatenations of its tokens.
//
// With a token for every byte it has one state; otherwise it is the subset construction over the trie's
// nodes, where a token's last node is also the root again. State 0 is the boundary between two tokens.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "detokenizer/trie.hpp"

namespace pdacon {

struct VocabularyStar {
    VocabularyStar(const Trie& trie, Budget& budget);

    struct Edge {
        std::uint8_t byte;
        std::int32_t next;
    };
    std::vector<std::vector<Edge>> edges;  // of each state, by byte
    std::vector<std::uint8_t> boundary;    // of each state: may a token end here?
};

}  // namespace pdacon
