#include "detokenizer/loops.hpp"

#include <utility>

#include "base/utf8.hpp"

namespace pdacon {

namespace {

// Whether the character that begins with a node's byte is in the loop. Of a character outside ASCII, the
// whole subtree has to be UTF-8 as well.
bool begins_inside(const Trie& trie, const CharacterSet& loop, std::int32_t node, int after) {
    const auto byte = trie.byte(node);
    if (byte < 128) return loop.contains(byte);
    return loop.contains(byte) && after != kUtf8Error && trie.is_utf8_below(node, after);
}

LoopTokens find_tokens(const Trie& trie, const CharacterSet& loop, std::uint8_t most) {
    struct PathEntry {
        int utf8 = kUtf8Boundary;
        std::size_t characters = 0;  // counted only if their number is bounded
    };
    std::vector<TokenRange> ranges;
    std::vector<std::vector<std::int32_t>> exits((std::size_t{most} + 1) * 256);
    std::vector<PathEntry> path(static_cast<std::size_t>(trie.max_depth()) + 1);  // by depth
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
            !begins || ((most == 0 || before.characters < most) && begins_inside(trie, loop, node, after));
        if (!inside) {
            exits[before.characters * 256 + byte].push_back(node);
            node = end;
            continue;
        }
        const auto& below = trie.below(node);
        if (most == 0 && after == kUtf8Boundary && trie.is_utf8_below(node, after) &&
            loop.contains(below.ascii, below.other)) {
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

// The cached value of a key; `make` computes it if there is none.
template <class Key, class Value>
std::shared_ptr<const Value> known_or(std::map<Key, std::shared_ptr<const Value>>& known, const Key& key,
                                      std::size_t most, const auto& make) {
    if (const auto at = known.find(key); at != known.end()) return at->second;
    auto made = std::make_shared<const Value>(make());
    if (known.size() >= most) known.clear();
    return known.emplace(key, std::move(made)).first->second;
}

}  // namespace

LoopExits::LoopExits(const Trie& trie, const CharacterSet& loop)
    : words_(static_cast<std::size_t>(trie.num_nodes()) / 64 + 1, 0) {
    std::vector<int> path(static_cast<std::size_t>(trie.max_depth()) + 1, kUtf8Boundary);  // by depth
    for (std::int32_t node = 1; node < trie.num_nodes();) {
        const auto byte = trie.byte(node);
        const auto depth = static_cast<std::size_t>(trie.depth(node));
        const auto before = path[depth - 1];
        const auto after = before == kUtf8Boundary && byte < 128 ? kUtf8Boundary : utf8_step(before, byte);
        const bool inside =
            before == kUtf8Boundary ? begins_inside(trie, loop, node, after) : after != kUtf8Error;
        if (!inside) words_[static_cast<std::size_t>(node) / 64] |= std::uint64_t{1} << (node % 64);
        // Below an error reading begins anew.
        path[depth] = after == kUtf8Error ? kUtf8Boundary : after;
        const auto& below = trie.below(node);
        const bool stays = trie.is_utf8_below(node, path[depth]) && loop.contains(below.ascii, below.other);
        node = stays ? trie.subtree_end(node) : node + 1;
    }
}

std::shared_ptr<const LoopTokens> LoopCache::tokens(const CharacterSet& loop, std::uint8_t most) {
    const std::lock_guard hold(lock_);
    return known_or(tokens_, std::pair(loop, most), kMostKept,
                    [&] { return find_tokens(trie_, loop, most); });
}

std::shared_ptr<const LoopExits> LoopCache::exits(const CharacterSet& loop) {
    const std::lock_guard hold(lock_);
    return known_or(exits_, loop, kMostKept, [&] { return LoopExits(trie_, loop); });
}

}  // namespace pdacon
