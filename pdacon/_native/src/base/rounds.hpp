// Fixpoints by rounds: items are evaluated again and again, each round in ascending order, until nothing
// changes.
//
// From the second round on only items are evaluated that read what has changed since, so that a chain of
// items in an unlucky order costs one visit of each, and not one of all for each. The result is that of whole
// rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "base/budget.hpp"

namespace pdacon {

// `evaluate(item, changed)` calls `changed(value)` for each value that an item has changed; `readers` are by
// value the items that read it.
template <class Evaluate>
void evaluate_in_rounds(std::size_t items, const std::vector<std::vector<std::int32_t>>& readers,
                        Budget& budget, Evaluate evaluate) {
    std::vector<std::int32_t> due(items), later;  // `due`: of this round, a heap with the first item on top
    std::iota(due.begin(), due.end(), 0);
    std::vector<std::uint8_t> waits(items, 1);
    while (!due.empty()) {
        budget.tick();
        std::ranges::pop_heap(due, std::greater{});
        const auto item = due.back();
        due.pop_back();
        waits[static_cast<std::size_t>(item)] = 0;
        evaluate(item, [&](std::int32_t value) {
            for (const auto reader : readers[static_cast<std::size_t>(value)]) {
                if (waits[static_cast<std::size_t>(reader)] != 0) continue;
                waits[static_cast<std::size_t>(reader)] = 1;
                (reader > item ? due : later).push_back(reader);
                if (reader > item) std::ranges::push_heap(due, std::greater{});
            }
        });
        if (!due.empty()) continue;
        due.swap(later);
        std::ranges::make_heap(due, std::greater{});
    }
}

}  // namespace pdacon
