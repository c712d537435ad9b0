#include "loops.hpp"

#include <utility>

#include "trie.hpp"
#include "utf8.hpp"

namespace pdacon {

namespace {

LoopTokens find_tokens(const Trie& trie, const LoopSet& loop, std::uint8_t most) {
    struct Place {
        int utf8 = kUtf8Boundary;
        std::size_t characters = 0;  // not counted if any number is taken
    };
    std::vector<TokenRange> ranges;
    std::vector<std::vector<std::int32_t>> exits((std::size_t{most} + 1) * 256);
    std::vector<Place> path(static_cast<std::size_t>(trie.max_depth()) + 1);  // by depth
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
        const auto after = utf8_step(before.utf8, byte);
        const bool begins = before.utf8 == kUtf8Boundary;
        const bool inside =
            !begins || ((most == 0 || before.characters < most) &&
                        (byte < 128 ? loop.contains(byte)
                                    : loop.other && after != kUtf8Error && trie.is_text_below(node, after)));
        if (!inside) {
            exits[before.characters * 256 + byte].push_back(node);
            node = end;
            continue;
        }
        const auto& below = trie.below(node);
        if (most == 0 && after == kUtf8Boundary && trie.is_text_below(node, after) &&
            !(below.ascii[0] & ~loop.ascii[0]) && !(below.ascii[1] & ~loop.ascii[1]) &&
            (!below.other || loop.other)) {
            stay(trie.first_token(node), trie.first_token(end));
            node = end;
            continue;
        }
        stay(trie.first_token(node), trie.first_token(node + 1));
        path[depth] = {after, before.characters + (most > 0 && begins)};
        ++node;
    }
    LoopTokens found;
    found.staying = TokenSet(trie, std::move(ranges));
    for (std::size_t at = 0; at < exits.size(); ++at)
        if (!exits[at].empty())
            found.exits.push_back({static_cast<std::uint8_t>(at % 256), static_cast<std::uint8_t>(at / 256),
                                   std::move(exits[at])});
    return found;
}

}  // namespace

std::shared_ptr<const LoopTokens> LoopCache::of(const LoopSet& loop, std::uint8_t most) {
    const std::lock_guard hold(lock_);
    const std::pair key(loop, most);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    auto found = std::make_shared<const LoopTokens>(find_tokens(trie_, loop, most));
    if (known_.size() >= kMostKept) known_.clear();
    return known_.emplace(key, std::move(found)).first->second;
}

}  // namespace pdacon
