#include "detokenizer/shared_trie.hpp"

#include <algorithm>

#include "base/memory.hpp"
#include "detokenizer/labels.hpp"

namespace pdacon {
namespace {

bool are_in(const Tokens& tokens, const ArtifactReader& artifact) {
    constexpr auto kShared = ArtifactReader::kShared;
    return tokens.num_labels() == Labels::count(artifact) &&
           std::ranges::equal(tokens.offsets(), artifact.array<std::int32_t>(Part::kTokenOffsets, kShared)) &&
           std::ranges::equal(tokens.end_tokens(), artifact.array<std::int32_t>(Part::kEndTokens, kShared)) &&
           std::ranges::equal(tokens.text(), artifact.array<char>(Part::kTokenText, kShared));
}

}  // namespace

SharedTrie::OfMany SharedTrie::of_many() const {
    OfMany found;
    found.words.resize(static_cast<std::size_t>(num_nodes()) / 64 + 1);
    for (std::int32_t node = 0; node < num_nodes(); ++node) {
        auto& [bits, before] = found.words[static_cast<std::size_t>(node) / 64];
        if (node % 64 == 0) before = static_cast<std::int32_t>(found.children.size());
        const auto end = subtree_end(node);
        if (node > 0 && end - node <= kMany) continue;
        std::int32_t count = 0;
        for (auto at = node + 1; at < end; at = subtree_end(at)) ++count;
        if (node > 0 && count <= kMany) continue;
        bits |= std::uint64_t{1} << (node % 64);
        auto& children = found.children.emplace_back();
        children.fill(-1);
        for (auto at = node + 1; at < end; at = subtree_end(at)) children[byte(at)] = at;
    }
    found.children.shrink_to_fit();
    return found;
}

std::shared_ptr<const Tokens> Tries::tokens(const ArtifactReader& artifact) {
    std::vector<std::shared_ptr<const Tokens>> others;  // outlive the lock: an owner may wait for Python's
    const std::lock_guard hold(lock_);
    std::erase_if(known_tokens_, [](const auto& tokens) { return tokens.expired(); });
    for (const auto& known : known_tokens_)
        if (const auto& tokens = others.emplace_back(known.lock()); tokens && are_in(*tokens, artifact))
            return tokens;
    const MemoryLimit::Pause pause;  // they are the vocabulary's, whoever needs them first
    auto made = std::make_shared<const Tokens>(artifact);
    known_tokens_.push_back(made);
    return made;
}

std::shared_ptr<const SharedTrie> Tries::of(std::shared_ptr<const Tokens> tokens,
                                            const std::function<Flat<std::int32_t>()>& order) {
    std::vector<std::shared_ptr<const SharedTrie>> others;  // as above
    const std::lock_guard hold(lock_);
    std::erase_if(known_, [](const auto& trie) { return trie.expired(); });
    for (const auto& known : known_) {
        const auto& trie = others.emplace_back(known.lock());
        if (trie && (trie->tokens() == tokens || *trie->tokens() == *tokens)) return trie;
    }
    auto trie = order ? std::make_shared<const SharedTrie>(std::move(tokens), order())
                      : std::make_shared<const SharedTrie>(std::move(tokens));
    trie->loops().characters();  // finds what all loops have in common, which is the vocabulary's, too
    known_.push_back(trie);
    return trie;
}

void LazyTrie::save(ArtifactWriter& artifact) const {
    tokens_->save(artifact);
    artifact.add(Part::kTokenOrder, ArtifactWriter::kShared, get().order().view());
}

const SharedTrie& LazyTrie::get() const {
    if (const auto* trie = ready_.load(std::memory_order_acquire)) return *trie;
    std::shared_ptr<const ArtifactReader> artifact;  // outlives the lock: its owner may wait for Python's
    const std::lock_guard hold(lock_);
    if (!trie_) {
        const MemoryLimit::Pause pause;  // the trie is the vocabulary's, whoever needs it first
        trie_ = artifact_->origin()->watch([this] {
            return tries_->of(tokens_, [this] {
                return artifact_->array<std::int32_t>(Part::kTokenOrder, ArtifactReader::kShared);
            });
        });
        artifact = std::move(artifact_);
    }
    ready_.store(trie_.get(), std::memory_order_release);
    return *trie_;
}

}  // namespace pdacon
