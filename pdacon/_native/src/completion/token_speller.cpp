#include "completion/token_speller.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/interner.hpp"

namespace pdacon {

TokenSpeller::TokenSpeller(const Trie& trie, const LexingAutomaton& lexer) {
    std::array<std::uint8_t, 256> byte_of{};  // by byte class: one of its bytes
    for (int byte = 255; byte >= 0; --byte)
        byte_of[lexer.byte_class(static_cast<std::uint8_t>(byte))] = static_cast<std::uint8_t>(byte);
    Interner states;  // by edges; numbered from 1
    std::vector<std::int32_t> state_of(static_cast<std::size_t>(trie.num_nodes()), kBoundary);
    using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;  // byte classes, states
    const auto add_below = [&](std::int32_t node, bool spaces, Edges& edges) {
        for (auto child = node + 1; child < trie.subtree_end(node); child = trie.subtree_end(child)) {
            if (!spaces && trie.byte(child) == ' ') continue;
            const auto byte_class = lexer.byte_class(trie.byte(child));
            if (child + 1 < trie.subtree_end(child)) edges.emplace_back(byte_class, state_of[child]);
            if (trie.first_token(child) < trie.first_token(child + 1))
                edges.emplace_back(byte_class, kBoundary);
        }
    };
    const auto make_distinct = [](Edges& edges) {
        std::ranges::sort(edges);
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    };
    const auto add_state = [&](const Edges& edges) {
        star_.edges.emplace_back();
        for (const auto& [byte_class, next] : edges)
            star_.edges.back().push_back({byte_of[byte_class], next});
        star_.boundary.push_back(0);
    };
    add_state({});  // the boundary, whose edges are known in the end
    for (auto node = trie.num_nodes(); --node > 0;) {
        if (node + 1 == trie.subtree_end(node)) continue;
        Edges edges;
        add_below(node, true, edges);
        make_distinct(edges);
        std::vector<std::int32_t> key;
        for (const auto& [byte_class, next] : edges) key.insert(key.end(), {byte_class, next});
        const auto id = states.intern(key) + 1;
        state_of[node] = id;
        if (static_cast<std::size_t>(id) == star_.edges.size()) add_state(edges);
    }
    Edges first, leading;
    add_below(0, true, first);
    make_distinct(first);
    add_state(first);
    star_.edges[0] = std::move(star_.edges.back());
    star_.edges.pop_back();
    star_.boundary.pop_back();
    star_.boundary[0] = 1;
    add_below(0, false, leading);
    if (const auto space = trie.child(0, ' '); space >= 0) add_below(space, true, leading);
    make_distinct(leading);
    add_state(leading);
}

bool TokenSpeller::covers(std::int32_t state, std::int32_t other, int depth) {
    if (state == other) return true;
    if (depth == kDeepest) return false;
    const auto key =
        std::uint64_t(static_cast<std::uint32_t>(state)) << 32 | static_cast<std::uint32_t>(other);
    if (const auto known = covers_.find(key); known != covers_.end()) return known->second;
    const auto& own = star_.edges[state];
    const auto& others = star_.edges[other];
    // Both are sorted by classes of bytes, one byte for each class.
    std::size_t from = 0;
    bool all = true;
    for (std::size_t at = 0; all && at < others.size(); ++at) {
        const auto& wanted = others[at];
        while (from < own.size() && own[from].byte != wanted.byte) ++from;
        all = false;
        for (auto same = from; !all && same < own.size() && own[same].byte == wanted.byte; ++same)
            all = (own[same].next == kBoundary) == (wanted.next == kBoundary) &&
                  (wanted.next == kBoundary || covers(own[same].next, wanted.next, depth + 1));
    }
    covers_.emplace(key, all);
    return all;
}

}  // namespace pdacon
