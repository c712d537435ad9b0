// Stacks, hash-consed: a cell is an LR state on another cell, and equal stacks are one cell.
//
// What is found about a cell holds for every stack with it. So a stack that differs from a known one by some
// states on top costs only what these do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/interned_map.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class StackCells {
  public:
    static constexpr std::int32_t kBottom = -1;  // below the lowest state

    struct Cell {
        std::int32_t state, below;
    };

    // `named`: how many names have been given and forgotten already.
    explicit StackCells(std::int64_t named = 0) : named_(named) {}

    // The cell of an LR state on another cell, or on kBottom.
    std::int32_t cell(std::int32_t state, std::int32_t below) {
        const std::int32_t key[] = {state, below};
        return cells_.find_or_make(key, [&] { return Cell{state, below}; });
    }
    // The cell of a whole stack, given by its topmost node. A node remembers its cell by a name that is not
    // given twice, so that only the nodes above the first known one are visited; therefore the nodes of a
    // stack may be given to one StackCells only. Once two thousand million names are given, nodes remember no
    // more: then all of them are visited.
    std::int32_t of(const StackNode* node) {
        std::vector<const StackNode*> missing;
        auto below = kBottom;
        for (; node != nullptr; node = node->below) {
            below = remembered(*node);
            if (below != kBottom) break;
            missing.push_back(node);
        }
        for (; !missing.empty(); missing.pop_back()) {
            below = cell(missing.back()->state, below);
            if (const auto name = named_ + below; name <= std::numeric_limits<std::int32_t>::max())
                missing.back()->cell.store(static_cast<std::int32_t>(name), std::memory_order_relaxed);
        }
        return below;
    }
    // The cell that a node remembers; kBottom: none, or one that is forgotten.
    std::int32_t remembered(const StackNode& node) const {
        const auto name = node.cell.load(std::memory_order_relaxed);
        return name >= named_ ? static_cast<std::int32_t>(name - named_) : kBottom;
    }
    // A name of a cell that no other one has, forgotten cells included.
    std::int64_t name(std::int32_t cell) const { return named_ + cell; }
    Cell operator[](std::int32_t cell) const { return cells_[cell]; }
    std::size_t size() const { return cells_.size(); }
    // Forgets all cells: the next ones have their numbers, but names of their own.
    void forget() {
        named_ += static_cast<std::int64_t>(cells_.size());
        cells_ = {};
    }

  private:
    InternedMap<Cell> cells_;  // by state and cell below
    std::int64_t named_;       // the name of cell 0
};

}  // namespace pdacon
