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
    const auto count = successors.size();
    std::vector<std::int32_t> component(count, -1), index(count, -1), low(count, 0), stack;
    std::vector<std::pair<std::size_t, std::size_t>> path;  // node, its next successor
    std::int32_t next_index = 0, next_component = 0;
    const auto visit = [&](std::size_t node) {
        index[node] = low[node] = next_index++;
        stack.push_back(static_cast<std::int32_t>(node));
        path.emplace_back(node, 0);
    };
    for (std::size_t root = 0; root < count; ++root) {
        if (index[root] < 0) visit(root);
        while (!path.empty()) {
            const auto node = path.back().first;
            if (path.back().second < successors[node].size()) {
                const auto next = static_cast<std::size_t>(successors[node][path.back().second++]);
                if (index[next] < 0)
                    visit(next);
                else if (component[next] < 0)
                    low[node] = std::min(low[node], index[next]);
                continue;
            }
            path.pop_back();
            if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[node]);
            if (low[node] != index[node]) continue;
            for (bool more = true; more; stack.pop_back()) {
                component[static_cast<std::size_t>(stack.back())] = next_component;
                more = static_cast<std::size_t>(stack.back()) != node;
            }
            ++next_component;
        }
    }
    return component;
}

}  // namespace pdacon
