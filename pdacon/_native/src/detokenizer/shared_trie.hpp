// The trie of a vocabulary, shared by all constraints that use the vocabulary, and made only when it is
// needed.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detokenizer/loops.hpp"
#include "detokenizer/mask_pool.hpp"
#include "detokenizer/trie.hpp"

namespace pdacon {

// A trie, with what its users have in common: what was computed for the loops of their lexers, their masks,
// and what they keep with it. Each is synchronised by itself.
class SharedTrie : public Trie {
  public:
    using Trie::Trie;
    LoopCache& loops() const { return loops_; }
    MaskPool& masks() const { return kept<MaskPool>(); }
    using Children = std::array<std::int32_t, 256>;  // by byte, -1: there is none
    // The children of a node that has many, such as the root; null: it has few.
    const Children* children(std::int32_t node) const {
        const auto& [bits, before] = of_many_.words[static_cast<std::size_t>(node) / 64];
        const auto bit = std::uint64_t{1} << (node % 64);
        if ((bits & bit) == 0) return nullptr;
        return &of_many_.children[static_cast<std::size_t>(before + std::popcount(bits & (bit - 1)))];
    }
    std::int32_t child(std::int32_t node, std::uint8_t byte) const {
        const auto* all = children(node);
        return all == nullptr ? Trie::child(node, byte) : (*all)[byte];
    }
    // What a room further down keeps for all who use the trie: one object of each type, which is made when it
    // is first asked for and synchronises itself. Safe from any thread.
    template <class Kept>
    Kept& kept() const {
        const std::lock_guard hold(lock_);
        auto& slot = kept_[std::type_index(typeid(Kept))];
        if (!slot) slot = std::make_shared<Kept>();
        return *static_cast<Kept*>(slot.get());
    }

  private:
    static constexpr std::int32_t kMany = 24;
    // The nodes that have many, as bits, with how many there are before each word of bits; and their
    // children.
    struct OfMany {
        struct Word {
            std::uint64_t bits = 0;
            std::int32_t before = 0;
        };
        std::vector<Word> words;
        std::vector<Children> children;
    };
    OfMany of_many() const;

    const OfMany of_many_ = of_many();
    mutable LoopCache loops_{*this};  // synchronised by itself
    mutable std::mutex lock_;
    mutable std::unordered_map<std::type_index, std::shared_ptr<void>> kept_;
};

// The vocabularies and tries that are in use: constraints with equal tokens share one of each.
class Tries {
  public:
    // What `Tokens::save` has written. Safe from any thread. Throws ArtifactDamage.
    std::shared_ptr<const Tokens> tokens(const ArtifactReader& artifact);
    // `order` returns the order of the tokens, where an artifact knows it. Safe from any thread; a caller
    // that comes while a trie is made waits for it. Throws ArtifactDamage.
    std::shared_ptr<const SharedTrie> of(std::shared_ptr<const Tokens> tokens,
                                         const std::function<Flat<std::int32_t>()>& order = {});

  private:
    std::mutex lock_;
    std::vector<std::weak_ptr<const Tokens>> known_tokens_;
    std::vector<std::weak_ptr<const SharedTrie>> known_;
};

// A trie that is made when it is first asked for. A loaded constraint whose masks are known never needs it.
class LazyTrie {
  public:
    explicit LazyTrie(std::shared_ptr<const SharedTrie> trie)
        : tokens_(trie->tokens()), trie_(std::move(trie)), ready_(trie_.get()) {}
    // Reads what `save` has written; `tries` makes the trie when it is needed. Throws ArtifactDamage.
    LazyTrie(std::shared_ptr<const ArtifactReader> artifact, std::shared_ptr<Tries> tries)
        : tokens_(tries->tokens(*artifact)), tries_(std::move(tries)), artifact_(std::move(artifact)) {}
    void save(ArtifactWriter& artifact) const;

    const Tokens& tokens() const { return *tokens_; }
    const std::shared_ptr<const Tokens>& shared_tokens() const { return tokens_; }
    // Safe from any thread. Cost: the first time, some ms for 131,072 tokens. Throws ArtifactDamage, each
    // time anew. Not std::call_once: the library has an unwinder of its own, which does not get through the
    // frames of the C library's that call back, so an exception would end the process.
    const SharedTrie& get() const;

  private:
    std::shared_ptr<const Tokens> tokens_;
    std::shared_ptr<Tries> tries_;
    mutable std::shared_ptr<const ArtifactReader> artifact_;  // until the trie is made
    mutable std::mutex lock_;
    mutable std::shared_ptr<const SharedTrie> trie_;
    mutable std::atomic<const SharedTrie*> ready_{nullptr};  // of trie_, for those who take no lock
};

}  // namespace pdacon
