#include "loops.hpp"

#include <utility>

#include "trie.hpp"
#include "utf8.hpp"

namespace pdacon {

namespace {

LoopTokens find_tokens(const Trie& trie, const LoopSet& loop) {
    std::vector<TokenRange> ranges;
    LoopTokens found;
    std::vector<int> path(static_cast<std::size_t>(trie.max_depth()) + 1,
                          kUtf8Boundary);  // UTF-8 state by depth
    const auto stay = [&](std::int32_t begin, std::int32_t end) {
        if (begin == end) return;
        if (!ranges.empty() && ranges.back().second == begin)
            ranges.back().second = end;
        else
            ranges.emplace_back(begin, end);
    };
    for (std::int32_t node = 1; node < trie.num_nodes();) {
        const auto byte = trie.byte(node);
        const auto end = trie.subtree_end(node);
        const auto depth = static_cast<std::size_t>(trie.depth(node));
        const auto before = path[depth - 1];
        const auto after = utf8_step(before, byte);
        const bool inside = before != kUtf8Boundary || byte < 128
                                ? before != kUtf8Boundary || loop.contains(byte)
                                : loop.other && after != kUtf8Error && trie.is_text_below(node, after);
        if (!inside) {
            found.exits[byte].push_back(node);
            node = end;
            continue;
        }
        const auto& below = trie.below(node);
        if (after == kUtf8Boundary && trie.is_text_below(node, after) && !(below.ascii[0] & ~loop.ascii[0]) &&
            !(below.ascii[1] & ~loop.ascii[1]) && (!below.other || loop.other)) {
            stay(trie.first_token(node), trie.first_token(end));
            node = end;
            continue;
        }
        stay(trie.first_token(node), trie.first_token(node + 1));
        path[depth] = after;
        ++node;
    }
    found.staying = TokenSet(trie, ranges);
    return found;
}

}  // namespace

std::shared_ptr<const LoopTokens> LoopCache::of(const LoopSet& loop) {
    const std::lock_guard hold(lock_);
    if (const auto known = known_.find(loop); known != known_.end()) return known->second;
    auto found = std::make_shared<const LoopTokens>(find_tokens(trie_, loop));
    if (known_.size() >= kMostKept) known_.clear();
    return known_.emplace(loop, std::move(found)).first->second;
}

}  // namespace pdacon
