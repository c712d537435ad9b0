// Room `detokenizer`: a vocabulary to the transducer that spells its tokens, and sets of tokens. It knows no
// grammar.
//
// The detokenizing transducer as a prefix trie of the tokens' bytes, with nodes in preorder.
//
// In: a vocabulary. Out: nodes whose subtrees are ranges of nodes, so that "all tokens with this prefix" is a
// range of the tokens in the order of their bytes. Each node summarises the bytes below it. Building takes
// O(bytes of the vocabulary) beside sorting the tokens.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "detokenizer/tokens.hpp"

namespace pdacon {

class Trie {
  public:
    explicit Trie(std::shared_ptr<const Tokens> tokens);
    // With the order that an artifact has stored. Throws ArtifactDamage if it is not the order of the tokens.
    Trie(std::shared_ptr<const Tokens> tokens, Flat<std::int32_t> order);

    const std::shared_ptr<const Tokens>& tokens() const { return tokens_; }
    std::size_t size() const { return tokens_->num_texts(); }  // labels included
    std::size_t words() const { return (size() + 31) / 32; }   // of a mask that has them

    // Nodes in preorder; node 0 is the root. The subtree of node n is n .. subtree_end(n).
    std::int32_t num_nodes() const { return static_cast<std::int32_t>(below_.size()); }
    std::uint8_t byte(std::int32_t node) const { return nodes_[node].byte; }
    std::int32_t depth(std::int32_t node) const { return nodes_[node].depth; }
    std::int32_t subtree_end(std::int32_t node) const { return nodes_[node].subtree_end; }
    std::int32_t max_depth() const { return max_depth_; }
    // The node that a byte leads to, or -1.
    std::int32_t child(std::int32_t node, std::uint8_t value) const {
        for (auto at = node + 1; at < subtree_end(node); at = subtree_end(at))
            if (byte(at) == value) return at;
        return -1;
    }

    // Tokens are numbered by their position in the order of the nodes. Those that end in node n are at
    // first_token(n) .. first_token(n + 1), those of its subtree at first_token(n) ..
    // first_token(subtree_end(n)).
    std::int32_t first_token(std::int32_t node) const { return nodes_[node].first_token; }
    std::int32_t token(std::int32_t position) const { return order_[position]; }
    const Flat<std::int32_t>& order() const { return order_; }
    std::int32_t num_texts() const { return static_cast<std::int32_t>(order_.size()); }

    // Positions are grouped into blocks of kBlock. `before`: the mask of the tokens in all blocks before one.
    static constexpr std::int32_t kBlock = 4096;
    std::int32_t num_blocks() const { return (num_texts() + kBlock - 1) / kBlock; }
    std::span<const std::int32_t> before(std::int32_t block) const {
        return std::span(before_).subspan(static_cast<std::size_t>(block) * words(), words());
    }

    // The bytes that are tokens by themselves, if every token is made of such bytes; otherwise empty. With
    // those of labels: a grammar has them in whole spellings only, each of which is one of these labels.
    const std::vector<std::uint8_t>& alphabet() const { return alphabet_; }

    // Summary of the bytes below a node: which ASCII bytes occur, whether other bytes do, and from which
    // states of the UTF-8 automaton every path down is UTF-8 or a prefix of it.
    struct SubtreeBytes {
        std::array<std::uint64_t, 2> ascii{};
        bool other = false;
        std::uint8_t utf8 = 0xFF;  // bit s: every path is UTF-8 if the automaton is in state s at the node
        // Adds a child: the byte that leads to it, and its own summary.
        void add(std::uint8_t byte, const SubtreeBytes& child);
    };
    const SubtreeBytes& below(std::int32_t node) const { return below_[node]; }
    bool is_utf8_below(std::int32_t node, int utf8_state) const {
        return (below(node).utf8 >> utf8_state & 1U) != 0;
    }

  private:
    struct Node {
        std::int32_t subtree_end, first_token, depth;
        std::uint8_t byte;
    };
    void build();
    std::vector<std::int32_t> common_prefixes() const;
    void build_nodes(std::span<const std::int32_t> common_prefixes);
    void build_blocks();
    void find_alphabet();

    std::shared_ptr<const Tokens> tokens_;
    std::vector<Node> nodes_;           // and a sentinel, where the tokens end
    Flat<std::int32_t> order_;          // of the tokens that have a text: by their bytes, then by their ids
    std::vector<std::int32_t> before_;  // row b: the mask of blocks 0 .. b - 1; the last row has all tokens
    std::vector<std::uint8_t> alphabet_;
    std::vector<SubtreeBytes> below_;
    std::int32_t max_depth_ = 0;
};

}  // namespace pdacon
