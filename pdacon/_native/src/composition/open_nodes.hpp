// The nodes of a tree of token classes (token_classes.hpp) that a configuration opens: the root, and each
// node after an emitting edge of such a node if the parser takes the edge's label.
//
// For whoever has to know the stack at each node. MaskAssembly does not: it keeps what a node contributes for
// all stacks with the same states on top, and so it has a walk of its own.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "composition/token_classes.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

// Calls `visit(node, stack)` for each, depth first. `start`: the lexer configuration that `root` is read
// from. Cost: O(open nodes x their emitting edges) copies of what was pushed on the stack.
template <class Visit>
void for_each_open_node(const Pushdown& machine, TokenClasses& classes, const TokenClasses::Node& root,
                        const LexerConfiguration& start, const Overlay& stack, Budget& budget, Visit visit) {
    struct Frame {
        const TokenClasses::Node* node;
        Overlay stack;
        std::size_t next = 0;  // emitting edge
    };
    std::vector<Frame> path{{&root, stack}};
    visit(root, stack);
    while (!path.empty()) {
        budget.tick();
        auto& frame = path.back();
        if (frame.next == frame.node->emitting.size()) {
            path.pop_back();
            continue;
        }
        const auto& edge = frame.node->emitting[frame.next++];
        auto after = frame.stack;
        if (!feed_label(machine, after, edge.label, edge.column.from(start))) continue;
        const auto context = machine.tables.context[after.top()];
        const auto& node = classes.after(edge, context);
        visit(node, after);
        path.push_back({&node, std::move(after)});
    }
}

}  // namespace pdacon
