#include "completion/token_distances.hpp"

#include <vector>

namespace pdacon {

std::int32_t TokenDistances::cell(const StackNode* node) {
    std::vector<const StackNode*> missing;
    auto below = StackSearch::kBottom;
    for (; node != nullptr; node = node->below) {
        if (const auto known = node->cell.load(std::memory_order_relaxed); known >= first_cell_) {
            below = known - first_cell_;
            break;
        }
        missing.push_back(node);
    }
    for (; !missing.empty(); missing.pop_back()) {
        below = search_.cell(missing.back()->state, below);
        missing.back()->cell.store(below + first_cell_, std::memory_order_relaxed);
    }
    return below + first_cell_;
}

bool TokenDistances::make_room() {
    if (search_.size() < kMostKnown) return false;
    first_cell_ = next_first_cell();
    search_.forget();
    return true;
}

}  // namespace pdacon
