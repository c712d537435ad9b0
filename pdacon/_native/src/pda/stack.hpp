// Two stacks of LR states: a persistent one, which matchers share, and an overlay, which reads another stack
// without changing it and records how deep it looked.
//
// The persistent stack is a linked list of nodes with counted references, so that forks and the rollback
// history share their common lower part, also between threads. Nodes that are shared never change; one that
// nobody else holds may be used again in its place. A push and a pop of one state are O(1). With an Indenter,
// the open blocks are a second such list.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/in_range.hpp"

namespace pdacon {

// A state on a persistent stack. The nodes below it may be shared.
struct StackNode {
    std::int32_t state;
    std::uint32_t depth;     // nodes below this one
    const StackNode* below;  // counted, if a PersistentStack made this node
    mutable std::atomic<std::uint32_t> references{1};
    mutable std::atomic<std::int32_t> cell{-1};  // a name for the states from here down: see StackCells
};

// An open block of a grammar with layout, on the blocks around it, which may be shared.
struct BlockNode {
    std::int32_t column;
    const BlockNode* around;  // counted likewise; none: the text itself, at column 0
    mutable std::atomic<std::uint32_t> references{1};
};

// A stack to be read. Valid until the one that it was taken from pops, closes a block, is assigned to or
// ends.
struct StackView {
    const StackNode* top;
    const BlockNode* block;
};

// An owning handle of a stack. Copies share all nodes. Releasing is iterative, because these stacks can be
// deeper than the call stack allows. One that was moved from can only be assigned to.
class PersistentStack {
  public:
    explicit PersistentStack(std::int32_t bottom) : node_(new StackNode{bottom, 0, nullptr}) {}
    PersistentStack(const PersistentStack& other) : node_(other.node_), block_(other.block_) {
        retain(node_);
        retain(block_);
    }
    PersistentStack(PersistentStack&& other) noexcept
        : node_(std::exchange(other.node_, nullptr)), block_(std::exchange(other.block_, nullptr)) {}
    PersistentStack& operator=(PersistentStack other) noexcept {
        std::swap(node_, other.node_);
        std::swap(block_, other.block_);
        return *this;
    }
    ~PersistentStack() {
        release(node_, &StackNode::below);
        release(block_, &BlockNode::around);
    }

    // A handle of a stack that another handle holds.
    static PersistentStack sharing(const StackView& view) {
        retain(view.top);
        retain(view.block);
        return {view.top, view.block};
    }

    std::int32_t top() const { return node_->state; }
    const StackNode* node() const { return node_; }
    std::uint32_t depth() const { return node_->depth; }
    StackView view() const { return {node_, block_}; }

    void push(std::int32_t state) { node_ = new StackNode{state, node_->depth + 1, node_}; }

    // Never pops the bottom: Pushdown's constructor has checked that no reduce does.
    void pop(std::int32_t count) {
        for (; count > 0; --count) {
            auto* below = node_->below;
            ensure(below != nullptr);
            if (is_own(node_)) {  // its reference to the node below becomes this handle's
                delete std::exchange(node_, below);
                continue;
            }
            retain(below);
            release(std::exchange(node_, below), &StackNode::below);
        }
    }

    // Pops so many states, and pushes others, the lowest first. Nodes that no other handle has a part in are
    // used again, so that most changes allocate nothing. Nothing has changed if it throws.
    void replace(std::int32_t count, std::span<const std::int32_t> states) {
        const auto* base = node_;
        bool alone = true;
        for (auto left = count; left > 0; --left, base = base->below) alone = alone && is_own(base);
        const auto again = alone ? std::min(static_cast<std::size_t>(count), states.size()) : 0;
        StackNode *lowest = nullptr, *highest = nullptr;
        try {
            for (auto at = again; at < states.size(); ++at) {
                highest =
                    new StackNode{states[at], base->depth + static_cast<std::uint32_t>(at) + 1, highest};
                if (lowest == nullptr) lowest = highest;
            }
        } catch (...) {
            release<StackNode>(highest, &StackNode::below);
            throw;
        }
        pop(count - static_cast<std::int32_t>(again));
        const auto* node = node_;
        for (auto at = again; at-- > 0; node = node->below) {
            const_cast<StackNode*>(node)->state = states[at];  // nobody else can see it
            node->cell.store(-1, std::memory_order_relaxed);
        }
        if (lowest == nullptr) return;
        lowest->below = node_;
        node_ = highest;
    }

    // The blocks of a grammar with layout.
    bool in_block() const { return block_ != nullptr; }
    std::int32_t column() const { return block_ == nullptr ? 0 : block_->column; }
    void open_block(std::int32_t column) { block_ = new BlockNode{column, block_}; }
    void close_block() {
        ensure(block_ != nullptr);
        auto* around = block_->around;
        retain(around);
        release(std::exchange(block_, around), &BlockNode::around);
    }

  private:
    PersistentStack(const StackNode* node, const BlockNode* block) : node_(node), block_(block) {}
    template <class Node>
    static void retain(const Node* node) {
        if (node != nullptr) node->references.fetch_add(1, std::memory_order_relaxed);
    }
    // Whether a node has no other owner than this handle, if none of those above it has.
    static bool is_own(const StackNode* node) {
        return node->references.load(std::memory_order_acquire) == 1;
    }
    template <class Node>
    static void release(const Node* node, const Node* Node::* next) {
        while (node != nullptr && node->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            auto* after = node->*next;
            delete node;
            node = after;
        }
    }

    const StackNode* node_;
    const BlockNode* block_ = nullptr;
};

// The read set of a computation: how many states of a stack it read, counted from the top, and whether it
// read columns of blocks. For one lexer configuration the answer is the same on every stack that has the same
// topmost `states` states and, if `columns`, the same columns of all open blocks.
struct ReadSet {
    std::uint32_t states = 0;
    bool columns = false;
};

// A stack that can be changed, on top of another that stays as it is: pushed states are its own. `top` and
// `column` record in the read set, which outlives all copies. A pop reads nothing by itself, because the
// state that it exposes is read next.
class Overlay {
  public:
    Overlay(const StackView& base, ReadSet& read_set)
        : base_(base.top), block_(base.block), read_set_(&read_set) {}

    std::int32_t top() const {
        if (!pushed_.empty()) return pushed_.back();
        read_set_->states = std::max(read_set_->states, popped_ + 1);
        return base_->state;
    }
    void push(std::int32_t state) { pushed_.push_back(state); }
    void pop(std::int32_t count) {
        const auto own = std::min(static_cast<std::size_t>(count), pushed_.size());
        pushed_.resize(pushed_.size() - own);
        for (auto rest = static_cast<std::size_t>(count) - own; rest > 0; --rest) {
            base_ = base_->below;
            ensure(base_ != nullptr);
            ++popped_;
        }
    }
    // To be asked once `top` was read here: only the start state has nothing below it, and its number tells
    // it from all others, so that the answer adds nothing to the read set.
    bool at_bottom() const { return pushed_.empty() && base_->below == nullptr; }

    bool in_block() {
        look_at_columns();
        return !opened_.empty() || block_ != nullptr;
    }
    std::int32_t column() {
        look_at_columns();
        if (!opened_.empty()) return opened_.back();
        return block_ == nullptr ? 0 : block_->column;
    }
    void open_block(std::int32_t column) { opened_.push_back(column); }
    void close_block() {
        if (!opened_.empty())
            opened_.pop_back();
        else {
            ensure(block_ != nullptr);
            block_ = block_->around;
        }
    }
    void look_at_columns() { read_set_->columns = true; }

    // How many states of the other stack have been popped, and how many were pushed on what is left of it.
    std::uint32_t popped() const { return popped_; }
    std::uint32_t pushed() const { return static_cast<std::uint32_t>(pushed_.size()); }

    // What was changed, in numbers: overlays on one stack are equal if and only if these are.
    std::vector<std::int32_t> change() const {
        const auto block = reinterpret_cast<std::uintptr_t>(block_);
        std::vector<std::int32_t> made{static_cast<std::int32_t>(popped_), static_cast<std::int32_t>(block),
                                       static_cast<std::int32_t>(std::uint64_t{block} >> 32),
                                       static_cast<std::int32_t>(pushed_.size())};
        made.insert(made.end(), pushed_.begin(), pushed_.end());
        made.insert(made.end(), opened_.begin(), opened_.end());
        return made;
    }

    void look_at_all() {
        read_set_->states = std::max(read_set_->states, popped_ + base_->depth + 1);
        if (block_ != nullptr) look_at_columns();
    }

    // This stack as a handle, if a handle holds the other stack. Nothing is recorded as read.
    PersistentStack persistent() const {
        auto made = PersistentStack::sharing({base_, block_});
        for (const auto state : pushed_) made.push(state);
        for (const auto column : opened_) made.open_block(column);
        return made;
    }

    // This stack as a view. Its own states are added to `nodes`, whose addresses stay; the view is valid as
    // long as these and the other stack.
    struct Nodes {
        std::deque<StackNode> states;
        std::deque<BlockNode> blocks;
        void clear() {
            states.clear();
            blocks.clear();
        }
    };
    StackView view(Nodes& nodes) const {
        StackView made{base_, block_};
        for (const auto state : pushed_) {
            auto& node = nodes.states.emplace_back();
            node.state = state;
            node.depth = made.top->depth + 1;
            node.below = made.top;
            made.top = &node;
        }
        for (const auto column : opened_) {
            auto& node = nodes.blocks.emplace_back();
            node.column = column;
            node.around = made.block;
            made.block = &node;
        }
        return made;
    }

  private:
    const StackNode* base_;
    std::uint32_t popped_ = 0;
    std::vector<std::int32_t> pushed_;
    const BlockNode* block_;
    std::vector<std::int32_t> opened_;  // columns of blocks
    ReadSet* read_set_;
};

}  // namespace pdacon
