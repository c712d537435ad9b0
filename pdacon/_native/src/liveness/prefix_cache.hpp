// A cache for answers about stacks, keyed by what was read of them: a number, and a prefix of the stack from
// its top as long as the answer depended on.
//
// A trie over these prefixes; `find` walks down the stack until a node has an answer. It costs as many
// lookups as the answer depended on states.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interner.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class PrefixCache {
  public:
    struct Entry {
        std::int32_t answer = -1;  // -1: none
        std::uint32_t states = 0;  // how many from the top it depended on
    };
    Entry find(std::int32_t key, const StackNode* top) const {
        Entry entry;
        std::int32_t node[] = {kKey, key};
        for (const auto* at = top;; at = at->below, ++entry.states) {
            const auto id = nodes_.find(node);
            if (id < 0) return {};
            entry.answer = answers_[id];
            if (entry.answer >= 0) return entry;
            if (at == nullptr) return {};
            node[0] = id;
            node[1] = at->state;
        }
    }
    // Adds an answer where `find` finds none.
    void add(std::int32_t key, const StackNode* top, const Entry& entry) {
        std::int32_t node[] = {kKey, key};
        auto id = nodes_.intern(node);
        for (auto left = entry.states; left > 0; --left, top = top->below) {
            node[0] = id;
            node[1] = top->state;
            id = nodes_.intern(node);
        }
        answers_.resize(nodes_.size(), -1);
        answers_[id] = entry.answer;
    }
    void forget() {
        nodes_ = Interner();
        answers_.clear();
    }
    std::size_t bytes() const { return answers_.size() * kNodeBytes; }

  private:
    static constexpr std::int32_t kKey = -1;  // in place of a parent
    static constexpr std::size_t kNodeBytes = 32;

    // A node is (parent, LR state); the root of a key is (kKey, key).
    Interner nodes_;
    std::vector<std::int32_t> answers_;  // by node, or -1
};

}  // namespace pdacon
