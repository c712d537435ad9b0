// TokenTree: texts of tokens as a tree over bytes, with several roots.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pdacon {

class TokenTree {
  public:
    explicit TokenTree(std::int32_t roots) : nodes_(static_cast<std::size_t>(roots)) {}

    // `token`: what ends there.
    void add(std::int32_t root, std::string_view text, std::int32_t token) {
        auto node = root;
        for (const char byte : text) {
            auto next = child(node, byte);
            if (next < 0) {
                next = static_cast<std::int32_t>(nodes_.size());
                children_.emplace(key(node, byte), next);
                nodes_[node].has_children = true;
                nodes_.emplace_back();
            }
            node = next;
        }
        nodes_[node].token = token;
    }
    // The node after a byte, or -1.
    std::int32_t child(std::int32_t node, char byte) const {
        const auto found = children_.find(key(node, byte));
        return found == children_.end() ? -1 : found->second;
    }
    // The token that ends in a node, or -1.
    std::int32_t token(std::int32_t node) const { return nodes_[node].token; }
    bool has_children(std::int32_t node) const { return nodes_[node].has_children; }

  private:
    struct Node {
        std::int32_t token = -1;
        bool has_children = false;
    };
    static std::uint64_t key(std::int32_t node, char byte) {
        return static_cast<std::uint64_t>(node) << 8 | static_cast<std::uint8_t>(byte);
    }
    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::int32_t> children_;
};

}  // namespace pdacon
