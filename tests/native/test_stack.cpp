// The parser's stacks beside vectors: the persistent one with its forks, and overlays on it, with their read
// sets.
#include <algorithm>
#include <utility>
#include <vector>

#include "check.hpp"
#include "pda/stack.hpp"

namespace {

using pdacon::Overlay, pdacon::PersistentStack, pdacon::ReadSet, pdacon::StackView;

struct Model {
    std::vector<std::int32_t> states, columns;
};

struct Pair {
    PersistentStack stack;
    Model model;
};

bool shows(StackView view, const Model& model) {
    auto states = model.states;
    for (auto* node = view.top; node != nullptr; node = node->below) {
        if (states.empty() || node->state != states.back() || node->depth + 1 != states.size()) return false;
        states.pop_back();
    }
    auto columns = model.columns;
    for (auto* node = view.block; node != nullptr; node = node->around) {
        if (columns.empty() || node->column != columns.back()) return false;
        columns.pop_back();
    }
    return states.empty() && columns.empty();
}

// One random operation on a stack of either kind and on its model. The bottom is never popped.
void operate(pdacon::test::Random& random, auto& stack, Model& model) {
    const auto depth = static_cast<int>(model.states.size()) - 1;
    switch (random.below(6)) {
        case 0: {
            const auto count = random.below(depth + 1);
            stack.pop(count);
            model.states.resize(model.states.size() - static_cast<std::size_t>(count));
            break;
        }
        case 1:
            stack.open_block(random.below(9));
            model.columns.push_back(stack.column());
            break;
        case 2:
            if (model.columns.empty()) break;
            stack.close_block();
            model.columns.pop_back();
            break;
        default:
            model.states.push_back(random.below(9));
            stack.push(model.states.back());
    }
    CHECK(stack.top() == model.states.back());
    CHECK(stack.in_block() == !model.columns.empty());
    CHECK(stack.column() == (model.columns.empty() ? 0 : model.columns.back()));
}

// Some states are popped and others pushed at once.
void replace(pdacon::test::Random& random, Pair& pair) {
    auto& states = pair.model.states;
    const auto count = random.below(std::min(4, static_cast<int>(states.size())));
    states.resize(states.size() - static_cast<std::size_t>(count));
    std::vector<std::int32_t> pushed;
    for (auto left = random.below(4); left > 0; --left) pushed.push_back(random.below(9));
    states.insert(states.end(), pushed.begin(), pushed.end());
    pair.stack.replace(count, pushed);
}

// The overlay goes its own way, leaves its base alone, and has recorded how deep it looked.
void check_overlay(pdacon::test::Random& random, const Pair& base) {
    ReadSet read_set;
    Overlay overlay(base.stack.view(), read_set);
    auto model = base.model;
    auto least = model.states.size();  // the least number of the base's states that were still there
    for (int step = random.below(12); step > 0; --step) {
        operate(random, overlay, model);
        least = std::min(least, model.states.size());
        CHECK(overlay.at_bottom() == (model.states.size() == 1));
    }
    CHECK(read_set.states <= base.model.states.size());
    CHECK(overlay.popped() <= read_set.states);
    CHECK(base.model.states.size() - overlay.popped() + overlay.pushed() == model.states.size());
    CHECK(overlay.popped() == base.model.states.size() - std::min(least, base.model.states.size()));
    Overlay::Nodes nodes;
    CHECK(shows(overlay.view(nodes), model));
    CHECK(shows(base.stack.view(), base.model));
}

void check_one(unsigned seed) {
    pdacon::test::Random random(seed);
    std::vector<Pair> forks{{PersistentStack(7), {{7}, {}}}};
    for (int step = 0; step < 1500; ++step) {
        const auto at = static_cast<std::size_t>(random.below(static_cast<int>(forks.size())));
        if (random.below(10) == 0 && forks.size() < 6)
            forks.push_back(forks[at]);
        else if (random.below(20) == 0)
            forks[at] = forks[static_cast<std::size_t>(random.below(static_cast<int>(forks.size())))];
        else if (random.below(3) == 0)
            replace(random, forks[at]);
        else
            operate(random, forks[at].stack, forks[at].model);
        check_overlay(random, forks[at < forks.size() ? at : 0]);
        for (const auto& fork : forks) CHECK(shows(fork.stack.view(), fork.model));
    }
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 20; ++seed) check_one(seed);
    // Releasing does not recurse: this is deeper than the machine's own stack.
    PersistentStack deep(0);
    for (int depth = 0; depth < 3'000'000; ++depth) deep.push(1);
    CHECK(deep.depth() == 3'000'000);
}
