// Cells of stacks beside the stacks' states: equal stacks have one cell, others have others, and what nodes
// remember is never taken for a cell that was made later, also where no more names are left.
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "check.hpp"
#include "completion/stack_cells.hpp"
#include "pda/stack.hpp"

namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int32_t>::max();

using pdacon::PersistentStack, pdacon::StackCells;
using States = std::vector<std::int32_t>;

States states_of(const PersistentStack& stack) {
    States states;
    for (const auto* node = stack.node(); node != nullptr; node = node->below) states.push_back(node->state);
    return states;
}

States states_of(const StackCells& cells, std::int32_t cell) {
    States states;
    for (; cell != StackCells::kBottom; cell = cells[cell].below) states.push_back(cells[cell].state);
    return states;
}

void compare(pdacon::test::Random& random, std::int64_t named) {
    StackCells cells(named);
    std::map<States, std::int32_t> known;
    std::vector<PersistentStack> stacks{PersistentStack(0)};
    for (int step = 0; step < 3'000; ++step) {
        auto stack = stacks[static_cast<std::size_t>(random.below(static_cast<int>(stacks.size())))];
        stack.pop(random.below(static_cast<int>(stack.depth()) + 1));
        for (auto pushes = random.below(4); pushes > 0; --pushes) stack.push(random.below(3));
        if (stacks.size() < 20)
            stacks.push_back(stack);
        else
            stacks[static_cast<std::size_t>(random.below(20))] = stack;
        if (random.below(40) == 0) {
            cells.forget();
            known.clear();
            CHECK(cells.size() == 0);
            for (const auto& old : stacks) CHECK(cells.remembered(*old.node()) == StackCells::kBottom);
        }
        const auto cell = cells.of(stack.node());
        CHECK(states_of(cells, cell) == states_of(stack));
        CHECK(known.emplace(states_of(stack), cell).first->second == cell);
        const auto remembered = cells.remembered(*stack.node());
        CHECK(remembered == cell || (remembered == StackCells::kBottom && named > kLast - 10'000));
    }
}

}  // namespace

int main() {
    pdacon::test::Random random(1);
    for (const auto named : {std::int64_t{0}, kLast - 500, kLast - 1, kLast, kLast + 1, 3 * kLast})
        compare(random, named);
}
