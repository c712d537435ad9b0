// The detokenizing transducer: a prefix trie of the vocabulary's tokens in preorder.
//
// In: the bytes of each token. Out: nodes whose subtrees are contiguous, so that "every token that starts
// with this" is a range, with a summary of the bytes below each node. It knows no grammar.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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
    std::int32_t num_nodes() const { return static_cast<std::int32_t>(byte_.size()); }
    std::uint8_t byte(std::int32_t node) const { return byte_[static_cast<std::size_t>(node)]; }
    std::int32_t depth(std::int32_t node) const { return depth_[static_cast<std::size_t>(node)]; }
    std::int32_t subtree_end(std::int32_t node) const { return subtree_end_[static_cast<std::size_t>(node)]; }
    std::int32_t max_depth() const { return max_depth_; }

    // Tokens in the order of the nodes: those of node n are first_token(n) .. first_token(n + 1), those of
    // its subtree first_token(n) .. first_token(subtree_end(n)).
    std::int32_t first_token(std::int32_t node) const { return first_token_[static_cast<std::size_t>(node)]; }
    std::int32_t token(std::int32_t position) const { return order_[static_cast<std::size_t>(position)]; }

    // Below a node: which ASCII bytes occur, whether others do, and whether every way down is UTF-8 or a
    // prefix of it.
    struct Below {
        std::array<std::uint64_t, 2> ascii{};
        bool other = false, well_formed = true;
    };
    const Below& below(std::int32_t node) const { return below_[static_cast<std::size_t>(node)]; }

  private:
    void build_nodes();
    void summarise();

    std::vector<char> text_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> end_tokens_;
    std::vector<std::uint8_t> is_end_;
    std::vector<std::uint8_t> byte_;
    std::vector<std::int32_t> depth_, subtree_end_, first_token_, order_;
    std::vector<Below> below_;
    std::int32_t max_depth_ = 0;
};

}  // namespace pdacon
