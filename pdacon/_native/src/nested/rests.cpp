#include "nested/rests.hpp"

#include <algorithm>
#include <utility>

namespace pdacon {

namespace {

using Grouped = std::vector<std::pair<std::uint8_t, std::int32_t>>;  // nodes by their bytes

}  // namespace

Rests::Rests(const Trie& trie, std::vector<std::int32_t> first) : first_(std::move(first)) {
    // The nodes that a node of this trie stands for, and which of its children, which are grouped, is next.
    struct Open {
        std::size_t number;
        Grouped children;
        std::size_t next;
    };
    const auto opened = [&](std::uint8_t byte, std::size_t number, Grouped children) {
        nodes_.push_back({0, static_cast<std::int32_t>(tokens_.size()), byte});
        std::ranges::stable_sort(children, {}, &std::pair<std::uint8_t, std::int32_t>::first);
        return Open{number, std::move(children), 0};
    };
    Grouped roots;
    for (const auto node : first_) roots.emplace_back(trie.byte(node), node);
    std::vector<Open> open;
    open.push_back(opened(0, 0, std::move(roots)));
    while (!open.empty()) {
        auto& top = open.back();
        if (top.next == top.children.size()) {
            nodes_[top.number].subtree_end = static_cast<std::int32_t>(nodes_.size());
            open.pop_back();
            continue;
        }
        const auto byte = top.children[top.next].first;
        const auto number = nodes_.size(), before = tokens_.size();
        Grouped below;
        for (; top.next < top.children.size() && top.children[top.next].first == byte; ++top.next) {
            const auto node = top.children[top.next].second;
            for (auto at = trie.first_token(node); at < trie.first_token(node + 1); ++at)
                tokens_.push_back(trie.token(at));
            for (auto at = node + 1; at < trie.subtree_end(node); at = trie.subtree_end(at))
                below.emplace_back(trie.byte(at), at);
        }
        auto child = opened(byte, number, std::move(below));
        nodes_[number].first_token = static_cast<std::int32_t>(before);
        open.push_back(std::move(child));
    }
    nodes_.push_back({0, static_cast<std::int32_t>(tokens_.size()), 0});
}

}  // namespace pdacon
