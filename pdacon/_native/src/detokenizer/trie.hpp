// Room `detokenizer`: a vocabulary to the transducer that spells its tokens, and sets of tokens. It knows no
// grammar.
//
// The detokenizing transducer: a prefix trie of the vocabulary's tokens in preorder.
//
// In: a vocabulary. Out: nodes whose subtrees are contiguous, so that "every token that starts
// with this" is a range, with a summary of the bytes below each node. It knows no grammar.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "detokenizer/loops.hpp"
#include "detokenizer/tokens.hpp"

namespace pdacon {

class Trie {
  public:
    explicit Trie(std::shared_ptr<const Tokens> tokens);
    // With what `order` gave before. Throws ArtifactDamage if that is not the order.
    Trie(std::shared_ptr<const Tokens> tokens, Flat<std::int32_t> order);

    const std::shared_ptr<const Tokens>& tokens() const { return tokens_; }
    std::size_t size() const { return tokens_->size(); }
    std::size_t words() const { return tokens_->words(); }
    std::span<const std::int32_t> end_tokens() const { return tokens_->end_tokens(); }

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
    const Flat<std::int32_t>& order() const { return order_; }
    std::int32_t num_texts() const { return static_cast<std::int32_t>(order_.size()); }

    // Positions are counted in blocks of so many. The mask of the tokens in all blocks before one.
    static constexpr std::int32_t kBlock = 4096;
    std::int32_t num_blocks() const { return (num_texts() + kBlock - 1) / kBlock; }
    std::span<const std::int32_t> before(std::int32_t block) const {
        return std::span(before_).subspan(static_cast<std::size_t>(block) * words(), words());
    }

    // The bytes that are tokens by themselves, if every token is made of such bytes; else nothing.
    const std::vector<std::uint8_t>& alphabet() const { return alphabet_; }

    // Below a node: which ASCII bytes occur, whether others do, and whether every way down is UTF-8 or a
    // prefix of it.
    struct Below {
        std::array<std::uint64_t, 2> ascii{};
        bool other = false;
        std::uint8_t text = 0xFF;  // bit s: well-formed if UTF-8 state s holds at the node
        // A child that a byte leads to, by what is below it.
        void add(std::uint8_t byte, const Below& child);
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
    void build();
    std::vector<std::int32_t> common_prefixes() const;
    void build_nodes(std::span<const std::int32_t> common_prefixes);
    void build_blocks();
    void find_alphabet();

    std::shared_ptr<const Tokens> tokens_;
    std::vector<Node> nodes_;           // and one more, where the tokens end
    Flat<std::int32_t> order_;          // of the tokens that have a text: by their bytes, then by their ids
    std::vector<std::int32_t> before_;  // the masks of the blocks, and of all
    std::vector<std::uint8_t> alphabet_;
    std::vector<Below> below_;
    std::unique_ptr<LoopCache> loops_;
    std::int32_t max_depth_ = 0;
};

// The tries that are in use: one for all constraints of the same tokens.
class Tries {
  public:
    // `order`: what gives that of the tokens if it is known. Safe from any thread; whoever comes while a trie
    // is made waits for it. Throws ArtifactDamage.
    std::shared_ptr<const Trie> of(std::shared_ptr<const Tokens> tokens,
                                   const std::function<Flat<std::int32_t>()>& order = {});

  private:
    std::mutex lock_;
    std::vector<std::weak_ptr<const Trie>> known_;
};

// A trie that is made when it is first asked for: what masks are known can do without.
class LazyTrie {
  public:
    explicit LazyTrie(std::shared_ptr<const Trie> trie) : tokens_(trie->tokens()), trie_(std::move(trie)) {}
    // What `save` has written. Throws ArtifactDamage.
    LazyTrie(std::shared_ptr<const ArtifactReader> artifact, std::shared_ptr<Tries> tries)
        : tokens_(std::make_shared<const Tokens>(*artifact)),
          tries_(std::move(tries)),
          artifact_(std::move(artifact)) {}
    void save(ArtifactWriter& artifact) const;

    const Tokens& tokens() const { return *tokens_; }
    // Safe from any thread. Cost: the first time, some ms for 131,072 tokens. Throws ArtifactDamage.
    const Trie& get() const;

  private:
    std::shared_ptr<const Tokens> tokens_;
    std::shared_ptr<Tries> tries_;
    mutable std::shared_ptr<const ArtifactReader> artifact_;  // until the trie is made
    mutable std::shared_ptr<const Trie> trie_;
    mutable std::once_flag once_;
};

}  // namespace pdacon
