// Two stacks of LR states: a persistent one that matchers share, and an overlay that reads it and counts how
// deep.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace pdacon {

// A node of a persistent stack; the nodes below are shared by forks and by the rollback history.
struct StackNode {
    std::int32_t state;
    std::uint32_t depth;  // nodes below this one
    StackNode* below;     // owned
    std::atomic<std::uint32_t> references{1};
};

// An owning handle. Copies share; releasing is iterative, so that deep stacks do not overflow the machine's
// own.
class PersistentStack {
  public:
    explicit PersistentStack(std::int32_t bottom) : node_(new StackNode{bottom, 0, nullptr}) {}
    PersistentStack(const PersistentStack& other) : node_(other.node_) { retain(node_); }
    PersistentStack(PersistentStack&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    PersistentStack& operator=(PersistentStack other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~PersistentStack() { release(node_); }

    std::int32_t top() const { return node_->state; }
    const StackNode* node() const { return node_; }
    std::uint32_t depth() const { return node_->depth; }

    void push(std::int32_t state) { node_ = new StackNode{state, node_->depth + 1, node_}; }

    // The caller never pops the bottom: Pushdown's constructor has checked that no reduce does.
    void pop(std::int32_t count) {
        for (; count > 0; --count) {
            auto* below = node_->below;
            retain(below);
            release(std::exchange(node_, below));
        }
    }

  private:
    static void retain(StackNode* node) {
        if (node != nullptr) node->references.fetch_add(1, std::memory_order_relaxed);
    }
    static void release(StackNode* node) {
        while (node != nullptr && node->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            auto* below = node->below;
            delete node;
            node = below;
        }
    }

    StackNode* node_;
};

// A stack that starts as another's content and leaves that untouched. `looked` becomes the number of the
// other's states, counted from its top, that any answer has depended on.
class Overlay {
  public:
    Overlay(const StackNode* base, std::uint32_t& looked) : base_(base), looked_(&looked) {}

    std::int32_t top() {
        if (!pushed_.empty()) return pushed_.back();
        *looked_ = std::max(*looked_, popped_ + 1);
        return base_->state;
    }
    void push(std::int32_t state) { pushed_.push_back(state); }
    void pop(std::int32_t count) {
        const auto own = std::min(static_cast<std::size_t>(count), pushed_.size());
        pushed_.resize(pushed_.size() - own);
        for (auto rest = static_cast<std::size_t>(count) - own; rest > 0; --rest) {
            base_ = base_->below;
            ++popped_;
        }
    }
    // Only the start state has nothing below it, and it is told from all others by its number: no look is
    // needed.
    bool at_bottom() const { return pushed_.empty() && base_->below == nullptr; }

  private:
    const StackNode* base_;
    std::uint32_t popped_ = 0;
    std::vector<std::int32_t> pushed_;
    std::uint32_t* looked_;
};

}  // namespace pdacon
