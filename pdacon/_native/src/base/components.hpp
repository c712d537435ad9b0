// Strongly connected components.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace pdacon {

// The component of each node, numbered in reverse topological order. Iterative. `successors`: for each node
// those that it leads to, a vector of vectors or anything like it. Source: Tarjan 1972, "Depth-first search
// and linear graph algorithms".
template <class Successors>
std::vector<std::int32_t> components(const Successors& successors) {
    struct Place {  // together: in a large graph each is far from the last one
        std::int32_t component = -1, index = -1, low = 0;
    };
    const auto count = successors.size();
    std::vector<Place> places(count);
    std::vector<std::int32_t> stack;
    std::vector<std::pair<std::size_t, std::size_t>> path;  // node, its next successor
    std::int32_t next_index = 0, next_component = 0;
    const auto visit = [&](std::size_t node) {
        places[node].index = places[node].low = next_index++;
        stack.push_back(static_cast<std::int32_t>(node));
        path.emplace_back(node, 0);
    };
    for (std::size_t root = 0; root < count; ++root) {
        if (places[root].index < 0) visit(root);
        while (!path.empty()) {
            const auto node = path.back().first;
            auto& here = places[node];
            if (path.back().second < successors[node].size()) {
                const auto next = static_cast<std::size_t>(successors[node][path.back().second++]);
                if (places[next].index < 0)
                    visit(next);
                else if (places[next].component < 0)
                    here.low = std::min(here.low, places[next].index);
                continue;
            }
            path.pop_back();
            if (!path.empty()) {
                auto& before = places[path.back().first];
                before.low = std::min(before.low, here.low);
            }
            if (here.low != here.index) continue;
            for (bool more = true; more; stack.pop_back()) {
                places[stack.back()].component = next_component;
                more = static_cast<std::size_t>(stack.back()) != node;
            }
            ++next_component;
        }
    }
    std::vector<std::int32_t> component(count);
    for (std::size_t node = 0; node < count; ++node) component[node] = places[node].component;
    return component;
}

}  // namespace pdacon
