#include "detokenizer/loops.hpp"

#include <array>
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

// What the byte of a trie node is: an ASCII character, by itself; or the first byte of another character,
// from kFirstOfLeads on, if all below is UTF-8; or it goes on in a character, or is no part of one.
constexpr std::uint8_t kGoesOn = 128, kLeaves = 129, kFirstOfLeads = 130;
static_assert(kFirstOfLeads + CharacterSet::kLastLead - CharacterSet::kFirstLead < 256);

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

// The same for any number of characters, from one exit to the next.
LoopTokens find_tokens(const Trie& trie, const LoopExits& all) {
    std::vector<TokenRange> ranges;
    std::array<std::vector<std::int32_t>, 256> exits;
    for (std::int32_t node = 1; node < trie.num_nodes();) {
        const auto exit = all.first(node, trie.num_nodes());
        const TokenRange range{trie.first_token(node), trie.first_token(exit)};
        if (!ranges.empty() && ranges.back().second == range.first)
            ranges.back().second = range.second;
        else if (range.first < range.second)
            ranges.push_back(range);
        if (exit == trie.num_nodes()) break;
        exits[trie.byte(exit)].push_back(exit);
        node = trie.subtree_end(exit);
    }
    LoopTokens found;
    found.staying = TokenSet(trie, std::move(ranges));
    for (std::size_t byte = 0; byte < exits.size(); ++byte)
        if (!exits[byte].empty())
            found.exits.push_back({static_cast<std::uint8_t>(byte), 0, std::move(exits[byte])});
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

std::vector<std::uint8_t> LoopExits::kinds_of_nodes(const Trie& trie) {
    std::vector<std::uint8_t> kinds(static_cast<std::size_t>(trie.num_nodes()), kGoesOn);
    std::vector<int> path(static_cast<std::size_t>(trie.max_depth()) + 1, kUtf8Boundary);  // by depth
    for (std::int32_t node = 1; node < trie.num_nodes(); ++node) {
        const auto byte = trie.byte(node);
        const auto depth = static_cast<std::size_t>(trie.depth(node));
        const auto before = path[depth - 1];
        const auto after = utf8_step(before, byte);
        auto& kind = kinds[static_cast<std::size_t>(node)];
        if (before != kUtf8Boundary)
            kind = after == kUtf8Error ? kLeaves : kGoesOn;
        else if (byte < 128)
            kind = byte;
        else
            kind = after != kUtf8Error && trie.is_utf8_below(node, after)
                       ? static_cast<std::uint8_t>(kFirstOfLeads + byte - CharacterSet::kFirstLead)
                       : kLeaves;
        // Below an error reading begins anew.
        path[depth] = after == kUtf8Error ? kUtf8Boundary : after;
    }
    return kinds;
}

LoopExits::LoopExits(std::span<const std::uint8_t> kinds, const CharacterSet& loop)
    : words_(kinds.size() / 64 + 1, 0) {
    std::array<std::uint64_t, 256> leaves{};  // of each kind: 1 or 0
    leaves[kLeaves] = 1;
    for (std::uint8_t byte = 0; byte < 128; ++byte) leaves[byte] = loop.contains(byte) ? 0 : 1;
    for (std::uint8_t byte = CharacterSet::kFirstLead; byte <= CharacterSet::kLastLead; ++byte)
        leaves[static_cast<std::size_t>(kFirstOfLeads + byte - CharacterSet::kFirstLead)] =
            loop.contains(byte) ? 0 : 1;
    for (std::size_t first = 0, at = 0; first < kinds.size(); first += 64, ++at) {
        // In registers, two bits beside each other: a word in memory would be waited for at each node.
        const auto some = kinds.subspan(first, std::min<std::size_t>(64, kinds.size() - first));
        std::uint64_t even = 0, odd = 0;
        std::size_t node = 0;
        for (; node + 1 < some.size(); node += 2) {
            even |= leaves[some[node]] << node;
            odd |= leaves[some[node + 1]] << node;
        }
        if (node < some.size()) even |= leaves[some[node]] << node;
        words_[at] = even | odd << 1;
    }
}

void LoopExits::leave_out(const TrieCharacters& characters, std::span<const std::uint64_t> others) {
    const auto is_inside = [&](const TrieCharacters::Place& place) {
        const auto at = static_cast<std::size_t>(place.character);
        return (others[at / 64] >> (at % 64) & 1U) != 0;
    };
    const auto all = words_;
    const auto for_each = [&](bool inside, auto change) {
        for (const auto& place : characters.places())
            if (is_inside(place) == inside)
                change(static_cast<std::size_t>(place.node) / 64, std::uint64_t{1} << (place.node % 64));
    };
    for_each(true, [&](std::size_t word, std::uint64_t bit) { words_[word] &= ~bit; });
    for_each(false, [&](std::size_t word, std::uint64_t bit) { words_[word] |= all[word] & bit; });
}

std::shared_ptr<const LoopTokens> LoopCache::tokens(const LoopCharacters& loop, std::uint8_t most) {
    constexpr int kFew = 24;  // characters, of which a walk reads less than a look at each node takes
    const bool is_walk = most > 0 || loop.set.size() <= kFew;
    const std::pair key(is_walk ? LoopCharacters{loop.set, {}} : loop, most);
    {
        const std::lock_guard hold(lock_);
        if (const auto at = tokens_.find(key); at != tokens_.end()) return at->second;
    }
    const auto all = is_walk ? nullptr : exits(loop);
    const std::lock_guard hold(lock_);
    return known_or(tokens_, key, kMostKept,
                    [&] { return is_walk ? find_tokens(trie_, loop.set, most) : find_tokens(trie_, *all); });
}

std::shared_ptr<const LoopExits> LoopCache::exits(const LoopCharacters& loop) {
    const std::lock_guard hold(lock_);
    return known_or(exits_, loop, kMostKept, [&] {
        LoopExits found(known_kinds(), loop.set);
        if (!loop.others.empty()) found.leave_out(known_characters(), loop.others);
        return found;
    });
}

const TrieCharacters& LoopCache::characters() {
    const std::lock_guard hold(lock_);
    return known_characters();
}

const std::vector<std::uint8_t>& LoopCache::known_kinds() {
    if (kinds_.empty()) kinds_ = LoopExits::kinds_of_nodes(trie_);
    return kinds_;
}

const TrieCharacters& LoopCache::known_characters() {
    if (characters_) return *characters_;
    const auto& kinds = known_kinds();
    std::vector<std::int32_t> firsts;
    for (std::size_t node = 0; node < kinds.size(); ++node)
        if (kinds[node] >= kFirstOfLeads) firsts.push_back(static_cast<std::int32_t>(node));
    characters_ = std::make_unique<const TrieCharacters>(trie_, firsts);
    return *characters_;
}

}  // namespace pdacon
