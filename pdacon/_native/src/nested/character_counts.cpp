#include "nested/character_counts.hpp"

#include <algorithm>
#include <utility>

namespace pdacon {

CharacterCounts::CharacterCounts(const Trie& trie)
    : nodes_(static_cast<std::size_t>(trie.num_nodes())),
      tokens_(static_cast<std::size_t>(trie.num_texts())),
      behind_(kMost - kLeast + 1) {
    std::vector<std::int32_t> path(static_cast<std::size_t>(trie.max_depth()) + 1);  // by depth
    for (std::int32_t node = 0; node < trie.num_nodes(); ++node) {
        const auto depth = static_cast<std::size_t>(trie.depth(node));
        const bool is_first = node > 0 && begins(trie.byte(node));
        const auto before = node == 0 ? 0 : path[depth - 1];
        const auto own = before + is_first;
        path[depth] = nodes_[static_cast<std::size_t>(node)] = own;
        if (is_first && before >= kLeast && before <= kMost)
            behind_[static_cast<std::size_t>(before - kLeast)].push_back(node);
        std::fill(tokens_.begin() + trie.first_token(node), tokens_.begin() + trie.first_token(node + 1),
                  own);
    }
    end_.resize(tokens_.empty() ? 1 : static_cast<std::size_t>(*std::ranges::max_element(tokens_)) + 1);
    for (const auto count : tokens_) ++end_[static_cast<std::size_t>(count)];
    std::size_t all = 0;
    for (auto& end : end_) all += std::exchange(end, all);  // where tokens of so many begin, to begin with
    by_count_.resize(tokens_.size());
    for (std::int32_t number = 0; number < trie.num_texts(); ++number)
        by_count_[end_[static_cast<std::size_t>(tokens_[static_cast<std::size_t>(number)])]++] =
            trie.token(number);
    std::vector<std::int32_t> words(trie.words());
    for (std::size_t count = 0, at = 0; count <= kLeast; ++count) {
        const auto end = end_[std::min(count, end_.size() - 1)];
        for (; at < end; ++at) set_bit(words, by_count_[at]);
        few_.push_back(words);
    }
}

std::vector<std::int32_t> CharacterCounts::few(const Trie& trie, const TokenSet& tokens,
                                               std::int32_t most) const {
    std::vector<std::int32_t> words(trie.words());
    if (most < 0) return words;
    const auto end = end_[std::min(static_cast<std::size_t>(most), end_.size() - 1)];
    std::vector<std::int32_t> all(trie.words());
    tokens.add_to(all);
    if (most <= kLeast) {
        const auto& few = few_[static_cast<std::size_t>(most)];
        for (std::size_t at = 0; at < all.size(); ++at) all[at] &= few[at];
        return all;
    }
    if (end * 2 < by_count_.size()) {
        for (std::size_t at = 0; at < end; ++at)
            if (has_bit(all.data(), by_count_[at])) set_bit(words, by_count_[at]);
        return words;
    }
    for (auto at = end; at < by_count_.size(); ++at) clear_bit(all, by_count_[at]);
    return all;
}

const CharacterCounts& KeptCharacterCounts::of(const Trie& trie) {
    const std::lock_guard hold(lock_);
    if (!known_) known_ = std::make_unique<const CharacterCounts>(trie);
    return *known_;
}

}  // namespace pdacon
