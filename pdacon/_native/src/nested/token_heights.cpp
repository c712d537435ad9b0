#include "nested/token_heights.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pdacon {

const std::vector<std::uint16_t>& TokenHeights::of(const Trie& trie) {
    const std::lock_guard hold(lock_);
    const auto nodes = static_cast<std::size_t>(trie.subtree_end(0));
    if (heights_.size() == nodes) return heights_;
    std::vector<std::uint16_t> heights(nodes);
    std::vector<std::int32_t> open;
    const auto close = [&](std::int32_t next) {
        while (!open.empty() && trie.subtree_end(open.back()) <= next) {
            const auto height = heights[static_cast<std::size_t>(open.back())];
            open.pop_back();
            if (open.empty()) return;
            auto& above = heights[static_cast<std::size_t>(open.back())];
            above = std::max<std::uint16_t>(above, static_cast<std::uint16_t>(std::min(height + 1, 0xFFFF)));
        }
    };
    for (std::int32_t node = 0; node < trie.subtree_end(0); ++node) {
        close(node);
        open.push_back(node);
    }
    close(trie.subtree_end(0));
    heights_ = std::move(heights);
    return heights_;
}

}  // namespace pdacon
