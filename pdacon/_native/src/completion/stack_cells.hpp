// Stacks, hash-consed: a cell is an LR state on another cell, and equal stacks are one cell.
//
// What is found about a cell holds for every stack with it. So a stack that differs from a known one by some
// states on top costs only what these do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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

    // The cell of an LR state on another cell, or on kBottom.
    std::int32_t cell(std::int32_t state, std::int32_t below) {
        const std::int32_t key[] = {state, below};
        return first_ + cells_.find_or_make(key, [&] { return Cell{state, below}; });
    }
    // The cell of a whole stack, given by its topmost node. A node remembers its cell, so that only the nodes
    // above the first known one are visited; therefore the nodes of a stack may be given to one StackCells
    // only.
    std::int32_t of(const StackNode* node) {
        std::vector<const StackNode*> missing;
        auto below = kBottom;
        for (; node != nullptr; node = node->below) {
            if (const auto known = node->cell.load(std::memory_order_relaxed); known >= first_) {
                below = known;
                break;
            }
            missing.push_back(node);
        }
        for (; !missing.empty(); missing.pop_back()) {
            below = cell(missing.back()->state, below);
            missing.back()->cell.store(below, std::memory_order_relaxed);
        }
        return below;
    }
    Cell operator[](std::int32_t cell) const { return cells_[cell - first_]; }
    std::size_t size() const { return cells_.size(); }
    // Forgets all cells. Their numbers are not used again, so a number that a node remembers is known to be
    // old.
    void forget() {
        first_ += static_cast<std::int32_t>(cells_.size());
        cells_ = {};
    }

  private:
    InternedMap<Cell> cells_;  // by state and cell below
    std::int32_t first_ = 0;
};

}  // namespace pdacon
