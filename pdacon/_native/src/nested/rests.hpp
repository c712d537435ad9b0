// What is left of tokens behind a place within them, as a trie: tokens with the same rest are in one node.
//
// In: nodes of a vocabulary's trie, each the first byte of a rest. Out: a trie with nodes in preorder, that
// is read as that of the vocabulary is. What follows a terminal is the same after all its texts, so that one
// walk along their rests finds it for all tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "detokenizer/trie.hpp"

namespace pdacon {

class Rests {
  public:
    Rests() : nodes_{{1, 0, 0}, {0, 0, 0}} {}
    Rests(const Trie& trie, std::vector<std::int32_t> first);

    // The nodes of the vocabulary's trie where they begin.
    const std::vector<std::int32_t>& first() const { return first_; }
    bool empty() const { return nodes_[0].subtree_end == 1; }
    std::size_t bytes() const { return nodes_.size() * sizeof(Node) + (tokens_.size() + first_.size()) * 4; }
    std::uint8_t byte(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].byte; }
    std::int32_t subtree_end(std::int32_t node) const {
        return nodes_[static_cast<std::size_t>(node)].subtree_end;
    }
    std::int32_t first_token(std::int32_t node) const {
        return nodes_[static_cast<std::size_t>(node)].first_token;
    }
    std::int32_t token(std::int32_t position) const { return tokens_[static_cast<std::size_t>(position)]; }

  private:
    struct Node {
        std::int32_t subtree_end, first_token;
        std::uint8_t byte;
    };
    std::vector<std::int32_t> first_;
    std::vector<Node> nodes_;  // and a sentinel
    std::vector<std::int32_t> tokens_;
};

}  // namespace pdacon
