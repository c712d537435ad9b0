#include "nested/counted_loops.hpp"

#include <algorithm>

namespace pdacon {

std::int32_t characters_of(std::string_view text) {
    return static_cast<std::int32_t>(
        std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

CountedLoop::CountedLoop(const Trie& trie, const LoopTokens& loop) : all_(trie.words()) {
    loop.staying.add_to(all_);
    std::vector<std::vector<std::int32_t>> by_count(static_cast<std::size_t>(trie.max_depth()) + 1);
    for_each_bit(all_, [&](std::int32_t token) {
        by_count[static_cast<std::size_t>(characters_of(trie.tokens()->bytes_of(token)))].push_back(token);
        return true;
    });
    for (const auto& exit : loop.exits) {
        std::map<std::int32_t, std::vector<std::int32_t>> nodes;
        for (const auto node : exit.nodes) {
            const auto bytes = trie.tokens()->bytes_of(trie.token(trie.first_token(node)));
            nodes[characters_of(bytes.substr(0, static_cast<std::size_t>(trie.depth(node)) - 1))].push_back(
                node);
        }
        for (auto& [characters, some] : nodes) exits_.push_back({exit.byte, characters, std::move(some)});
    }
    for (const auto& some : by_count) {
        tokens_.insert(tokens_.end(), some.begin(), some.end());
        end_.push_back(static_cast<std::int32_t>(tokens_.size()));
    }
}

std::vector<std::int32_t> CountedLoop::mask(const Trie& trie, std::int32_t most) const {
    const auto end =
        most < 0 ? 0
                 : static_cast<std::size_t>(end_[std::min(static_cast<std::size_t>(most), end_.size() - 1)]);
    if (end * 2 < tokens_.size()) {
        std::vector<std::int32_t> words(trie.words());
        for (std::size_t at = 0; at < end; ++at) set_bit(words, tokens_[at]);
        return words;
    }
    auto words = all_;
    for (auto at = end; at < tokens_.size(); ++at) clear_bit(words, tokens_[at]);
    return words;
}

std::shared_ptr<const CountedLoop> CountedLoops::of(const Trie& trie, const CharacterSet& characters,
                                                    const LoopTokens& loop) {
    const std::lock_guard hold(lock_);
    if (const auto known = known_.find(characters); known != known_.end()) return known->second;
    if (known_.size() >= kMostKept) known_.clear();
    return known_.emplace(characters, std::make_shared<const CountedLoop>(trie, loop)).first->second;
}

}  // namespace pdacon
