#include "detokenizer/merging.hpp"

#include <functional>
#include <queue>
#include <tuple>

#include "base/utf8.hpp"

namespace pdacon {

namespace {

std::int32_t node_of(const Trie& trie, std::string_view text) {
    std::int32_t node = 0;
    for (const char byte : text) {
        node = trie.child(node, static_cast<std::uint8_t>(byte));
        if (node < 0) return -1;
    }
    return node;
}

// The first id of a text. Of a single byte the last one: before it comes the token for a byte that has no
// character of its own, where there is one.
std::int32_t id_of(const Trie& trie, std::string_view text) {
    const auto node = node_of(trie, text);
    if (node < 0 || trie.first_token(node) == trie.first_token(node + 1)) return -1;
    return trie.token(text.size() == 1 ? trie.first_token(node + 1) - 1 : trie.first_token(node));
}

// How long the character at the beginning of a text is; 1 where none begins.
std::size_t character(std::string_view text) {
    int state = kUtf8Boundary;
    for (std::size_t at = 0; at < text.size(); ++at) {
        state = utf8_step(state, static_cast<std::uint8_t>(text[at]));
        if (state == kUtf8Error) return 1;
        if (state == kUtf8Boundary) return at + 1;
    }
    return 1;
}

}  // namespace

std::vector<std::int64_t> merge_pairs(const Trie& trie, std::string_view text) {
    constexpr auto kNone = static_cast<std::size_t>(-1);
    struct Piece {
        std::size_t begin, size, previous, next;  // of size 0: merged into the one before
    };
    std::vector<Piece> pieces;
    for (std::size_t at = 0; at < text.size();) {
        auto size = character(text.substr(at));
        if (size > 1 && id_of(trie, text.substr(at, size)) < 0) size = 1;
        pieces.push_back({at, size, pieces.size() - 1, pieces.size() + 1});
        at += size;
    }
    if (pieces.empty()) return {};
    pieces.back().next = kNone;
    using Merge = std::tuple<std::int32_t, std::size_t, std::size_t>;  // id, left piece, size of both
    std::priority_queue<Merge, std::vector<Merge>, std::greater<>> merges;
    const auto propose = [&](std::size_t left) {
        if (left == kNone || pieces[left].next == kNone) return;
        const auto size = pieces[left].size + pieces[pieces[left].next].size;
        const auto id = id_of(trie, text.substr(pieces[left].begin, size));
        if (id >= 0) merges.emplace(id, left, size);
    };
    for (std::size_t left = 0; left < pieces.size(); ++left) propose(left);
    while (!merges.empty()) {
        const auto [id, left, size] = merges.top();
        merges.pop();
        auto& piece = pieces[left];
        if (piece.size == 0 || piece.next == kNone || piece.size + pieces[piece.next].size != size) continue;
        auto& gone = pieces[piece.next];
        piece.size = size;
        piece.next = gone.next;
        gone.size = 0;
        if (piece.next != kNone) pieces[piece.next].previous = left;
        propose(left);
        propose(piece.previous);
    }
    std::vector<std::int64_t> tokens;
    for (std::size_t at = 0; at != kNone; at = pieces[at].next)
        tokens.push_back(id_of(trie, text.substr(pieces[at].begin, pieces[at].size)));
    return tokens;
}

}  // namespace pdacon
