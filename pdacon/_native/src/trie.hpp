// The detokenizing transducer: a prefix trie of the vocabulary's tokens in preorder.
//
// In: the bytes of each token. Out: nodes whose subtrees are contiguous, so that "every token that starts
// with this" is a range, with a summary of the bytes below each node. It knows no grammar.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "loops.hpp"

namespace pdacon {

class Trie {
  public:
    // `text` holds all tokens' bytes one after another, token t at offsets[t] .. offsets[t + 1]; a token
    // without bytes stands for no text and is in no node. `end_tokens` have no text either. Throws
    // std::invalid_argument.
    Trie(std::span<const std::uint8_t> text, std::span<const std::int64_t> offsets,
         std::span<const std::int32_t> end_tokens);

    std::size_t size() const { return offsets_.size() - 1; }  // of the vocabulary, in tokens
    std::size_t words() const { return (size() + 31) / 32; }  // of a mask, in int32
    const std::vector<std::int32_t>& end_tokens() const { return end_tokens_; }
    bool is_end(std::int32_t token) const { return is_end_[static_cast<std::size_t>(token)]; }
    std::string_view bytes_of(std::int32_t token) const {
        const auto at = static_cast<std::size_t>(token);
        return {text_.data() + offsets_[at], static_cast<std::size_t>(offsets_[at + 1] - offsets_[at])};
    }

    // Nodes in preorder; node 0 is the root. The subtree of node n is n .. subtree_end(n).
    std::int32_t num_nodes() const { return static_cast<std::int32_t>(below_.size()); }
    std::uint8_t byte(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].byte; }
    std::int32_t depth(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].depth; }
    std::int32_t subtree_end(std::int32_t node) const {
        return nodes_[static_cast<std::size_t>(node)].subtree_end;
    }
    std::int32_t max_depth() const { return max_depth_; }
    // The node that a byte leads to, or -1.
    std::int32_t child(std::int32_t node, std::uint8_t value) const {
        for (auto at = node + 1; at < subtree_end(node); at = subtree_end(at))
            if (byte(at) == value) return at;
        return -1;
    }

    // Tokens in the order of the nodes: those of node n are first_token(n) .. first_token(n + 1), those of
    // its subtree first_token(n) .. first_token(subtree_end(n)).
    std::int32_t first_token(std::int32_t node) const {
        return nodes_[static_cast<std::size_t>(node)].first_token;
    }
    std::int32_t token(std::int32_t position) const { return order_[static_cast<std::size_t>(position)]; }
    std::int32_t num_texts() const { return static_cast<std::int32_t>(order_.size()); }

    // The mask of all tokens that have a text.
    const std::vector<std::int32_t>& texts() const { return texts_; }

    // The bytes that are tokens by themselves, if every token is made of such bytes; else nothing.
    const std::vector<std::uint8_t>& alphabet() const { return alphabet_; }

    // Below a node: which ASCII bytes occur, whether others do, and whether every way down is UTF-8 or a
    // prefix of it.
    struct Below {
        std::array<std::uint64_t, 2> ascii{};
        bool other = false;
        std::uint8_t text = 0xFF;  // bit s: well-formed if UTF-8 state s holds at the node
    };
    const Below& below(std::int32_t node) const { return below_[static_cast<std::size_t>(node)]; }
    bool is_text_below(std::int32_t node, int utf8_state) const {
        return (below(node).text >> utf8_state & 1U) != 0;
    }

    // Tokens by the loops that they stay in; filled on demand, shared by all who use this trie.
    LoopCache& loops() const { return *loops_; }

  private:
    struct Node {
        std::int32_t subtree_end, first_token, depth;
        std::uint8_t byte;
    };
    void build_nodes();
    void summarise();
    void find_alphabet();

    std::vector<char> text_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> end_tokens_;
    std::vector<std::uint8_t> is_end_;
    std::vector<Node> nodes_;  // and one more, where the tokens end
    std::vector<std::int32_t> order_, texts_;
    std::vector<std::uint8_t> alphabet_;
    std::vector<Below> below_;
    std::unique_ptr<LoopCache> loops_;
    std::int32_t max_depth_ = 0;
};

}  // namespace pdacon
