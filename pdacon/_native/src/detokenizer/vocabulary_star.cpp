#include "detokenizer/vocabulary_star.hpp"

#include <algorithm>
#include <map>

#include "base/interner.hpp"

namespace pdacon {

VocabularyStar::VocabularyStar(const Trie& trie, Budget& budget) {
    if (!trie.alphabet().empty() || trie.num_nodes() == 1) {
        edges.emplace_back();
        for (const auto byte : trie.alphabet()) edges[0].push_back({byte, 0});
        boundary.push_back(1);
        return;
    }
    Interner sets;  // of trie nodes, ascending; a set with the root is a boundary
    const std::int32_t root[] = {0};
    sets.intern(root);
    for (std::size_t state = 0; state < sets.size(); ++state) {
        const auto known = sets[static_cast<std::int32_t>(state)];
        const std::vector<std::int32_t> nodes(known.begin(), known.end());
        std::map<std::uint8_t, std::vector<std::int32_t>> steps;
        for (const auto node : nodes) {
            for (auto child = node + 1; child < trie.subtree_end(node); child = trie.subtree_end(child)) {
                budget.tick();
                auto& next = steps[trie.byte(child)];
                if (child + 1 < trie.subtree_end(child)) next.push_back(child);
                if (trie.first_token(child) < trie.first_token(child + 1)) next.push_back(0);
            }
        }
        edges.emplace_back();
        for (auto& [byte, next] : steps) {
            std::sort(next.begin(), next.end());
            next.erase(std::unique(next.begin(), next.end()), next.end());
            edges.back().push_back({byte, sets.intern(next)});
        }
        boundary.push_back(nodes.front() == 0);
        budget.check_states(sets.size());
    }
}

}  // namespace pdacon
