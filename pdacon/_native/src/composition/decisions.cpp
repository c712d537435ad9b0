#include "composition/decisions.hpp"

#include <algorithm>

namespace pdacon {

namespace {

// What tells lines apart: the columns of the reading and of the open blocks.
std::vector<std::int32_t> line_of(const Reading& reading, const StackView& stack) {
    std::vector<std::int32_t> key{reading.state, reading.now.value, reading.matched.value};
    for (const auto* block = stack.block; block != nullptr; block = block->around)
        key.push_back(block->column);
    return key;
}

// Where the branch of an LR state is, or would be.
auto place_of(auto&& branches, std::int32_t state) {
    return std::lower_bound(branches.begin(), branches.end(), state,
                            [](const auto& branch, std::int32_t wanted) { return branch.state < wanted; });
}

template <class AnyTree>
std::int32_t find_from(const AnyTree& tree, std::int32_t node, const StackNode* stack) {
    for (; tree.answer(node) < 0; stack = stack->below) {
        if (stack == nullptr) return -1;
        const auto below = tree.branches(node);
        const auto next = place_of(below, stack->state);
        if (next == below.end() || next->state != stack->state) return -1;
        node = next->next;
    }
    return tree.answer(node);
}

}  // namespace

template <class AnyTree>
std::int32_t Decisions::find_in(const AnyTree& tree, const Reading& reading, const StackView& stack) const {
    const auto mask = find_from(tree, reading.state, stack.top);
    if (mask >= 0 || !columns_) return mask;
    const auto root = tree.line_root(line_of(reading, stack));
    return root < 0 ? -1 : find_from(tree, root, stack.top);
}

std::int32_t Decisions::find(const Reading& reading, const StackView& stack) const {
    const auto mask = stored_.masks.empty() ? -1 : find_in(stored_, reading, stack);
    return mask >= 0 || added_.nodes.empty() ? mask : find_in(added_, reading, stack);
}

std::int32_t Decisions::Stored::line_root(std::span<const std::int32_t> line) const {
    const auto known = Interner::find(line_keys, line_slots, line);
    return known < 0 ? -1 : roots_of_lines[static_cast<std::size_t>(known)];
}

std::int32_t Decisions::Tree::line_root(std::span<const std::int32_t> line) const {
    const auto known = lines.find(line);
    return known < 0 ? -1 : line_roots[static_cast<std::size_t>(known)];
}

std::int32_t Decisions::Tree::make_line_root(std::span<const std::int32_t> line) {
    const auto id = static_cast<std::size_t>(lines.intern(line));
    if (id == line_roots.size()) {
        line_roots.push_back(static_cast<std::int32_t>(nodes.size()));
        nodes.emplace_back();
    }
    return line_roots[id];
}

std::int32_t Decisions::Tree::make_branch(std::int32_t node, std::int32_t state) {
    auto& below = nodes[static_cast<std::size_t>(node)].branches;
    const auto known = place_of(below, state);
    if (known != below.end() && known->state == state) return known->next;
    const auto next = static_cast<std::int32_t>(nodes.size());
    below.insert(known, {state, next});
    nodes.emplace_back();
    return next;
}

void Decisions::add(const Reading& reading, const StackView& stack, const ReadSet& looked,
                    std::int32_t mask) {
    // Where each text nests differently, and a token can end any number of rules, no answer comes twice.
    if (!has_room(looked)) forget();
    if (looked.states > kMost) return;
    try {
        add_path(reading, stack, looked, mask);
    } catch (...) {  // out of memory: part of a path is no answer
        forget();
        throw;
    }
}

void Decisions::add_path(const Reading& reading, const StackView& stack, const ReadSet& looked,
                         std::int32_t mask) {
    if (added_.nodes.empty()) added_.nodes.resize(roots_);
    auto at = looked.columns ? added_.make_line_root(line_of(reading, stack)) : reading.state;
    const auto* node = stack.top;
    for (auto left = looked.states; left > 0; --left, node = node->below)
        at = added_.make_branch(at, node->state);
    added_.nodes[static_cast<std::size_t>(at)].mask = mask;
}

// Takes no memory, of which there may be none.
void Decisions::forget() {
    added_.nodes = {};
    added_.line_roots = {};
    added_.lines.clear();
}

// What an artifact has, and what was added to it, as one. Nodes of an artifact are shared, so those on the
// way to what was added are copied.
Decisions::Tree Decisions::all() const {
    Tree tree;
    for (std::size_t at = 0; at < stored_.masks.size(); ++at) {
        const auto below = stored_.branches(static_cast<std::int32_t>(at));
        tree.nodes.push_back({stored_.masks[at], {below.begin(), below.end()}});
    }
    if (tree.nodes.empty()) tree.nodes.resize(roots_);
    for (std::size_t at = 0; at < stored_.line_keys.size(); ++at)
        if (static_cast<std::size_t>(tree.lines.intern(stored_.line_keys[static_cast<std::int32_t>(at)])) ==
            tree.line_roots.size())
            tree.line_roots.push_back(stored_.roots_of_lines[at]);
    std::vector<std::pair<std::int32_t, std::int32_t>> open;  // nodes that were added, and where
    if (!added_.nodes.empty())
        for (std::int32_t root = 0; static_cast<std::size_t>(root) < roots_; ++root)
            open.emplace_back(root, root);
    for (std::size_t at = 0; at < added_.line_roots.size(); ++at)
        open.emplace_back(added_.line_roots[at],
                          tree.own_line_root(added_.lines[static_cast<std::int32_t>(at)]));
    while (!open.empty()) {
        const auto [from, to] = open.back();
        open.pop_back();
        if (const auto mask = added_.answer(from); mask >= 0)
            tree.nodes[static_cast<std::size_t>(to)].mask = mask;
        for (const auto& branch : added_.branches(from))
            open.emplace_back(branch.next, tree.own_branch(to, branch.state));
    }
    return tree;
}

std::int32_t Decisions::Tree::copied(std::int32_t node) {
    auto copy = nodes[static_cast<std::size_t>(node)];
    nodes.push_back(std::move(copy));
    return static_cast<std::int32_t>(nodes.size() - 1);
}

std::int32_t Decisions::Tree::own_branch(std::int32_t node, std::int32_t state) {
    const auto known = nodes.size();
    auto next = make_branch(node, state);
    if (nodes.size() > known) return next;
    next = copied(next);
    place_of(nodes[static_cast<std::size_t>(node)].branches, state)->next = next;
    return next;
}

std::int32_t Decisions::Tree::own_line_root(std::span<const std::int32_t> line) {
    const auto known = lines.size();
    const auto root = make_line_root(line);
    return lines.size() > known ? root
                                : line_roots[static_cast<std::size_t>(lines.find(line))] = copied(root);
}

// A mask, then of each branch the state and the number of what it leads to.
std::vector<std::int32_t> Decisions::key_of(const Node& node, std::span<const std::int32_t> kind) {
    std::vector<std::int32_t> key{node.mask};
    for (const auto& [state, next] : node.branches)
        key.insert(key.end(), {state, kind[static_cast<std::size_t>(next)]});
    return key;
}

// Of each node below the roots: the number of what it says, with all below it. Equal ones have the same, and
// those below come first.
std::vector<std::int32_t> Decisions::number_nodes(const Tree& tree, Interner& kinds) const {
    constexpr std::int32_t kUnseen = -1;
    std::vector<std::int32_t> kind(tree.nodes.size(), kUnseen), open;
    for (std::size_t root = 0; root < roots_; ++root)
        for (const auto& branch : tree.nodes[root].branches) open.push_back(branch.next);
    open.insert(open.end(), tree.line_roots.begin(), tree.line_roots.end());
    while (!open.empty()) {
        const auto node = open.back();
        if (kind[static_cast<std::size_t>(node)] != kUnseen) {
            open.pop_back();
            continue;
        }
        const auto before = open.size();
        for (const auto& branch : tree.branches(node))
            if (kind[static_cast<std::size_t>(branch.next)] == kUnseen) open.push_back(branch.next);
        if (open.size() > before) continue;
        open.pop_back();
        kind[static_cast<std::size_t>(node)] =
            kinds.intern(key_of(tree.nodes[static_cast<std::size_t>(node)], kind));
    }
    return kind;
}

Decisions::Decisions(std::size_t lexer_states, bool columns, std::size_t masks,
                     const ArtifactReader& artifact, std::int32_t start)
    : roots_(lexer_states), columns_(columns) {
    stored_.masks = artifact.array<std::int32_t>(Part::kDecisionMasks, start);
    auto offsets = artifact.array<std::int32_t>(Part::kDecisionOffsets, start);
    auto branches = artifact.array<Branch>(Part::kBranches, start);
    auto key_offsets = artifact.array<std::int32_t>(Part::kLineKeyOffsets, start);
    auto keys = artifact.array<std::int32_t>(Part::kLineKeys, start);
    stored_.line_slots = artifact.array<std::int32_t>(Part::kLineSlots, start);
    stored_.roots_of_lines = artifact.array<std::int32_t>(Part::kLineRoots, start);
    const auto nodes = static_cast<std::int64_t>(stored_.masks.size());
    require_artifact(stored_.masks.size() >= roots_ && roots_ > 0 &&
                         offsets.size() == stored_.masks.size() + 1 && are_rows(offsets, branches.size()),
                     "decisions of other tables");
    require_artifact(all_within(stored_.masks.view(), -1, static_cast<std::int64_t>(masks)),
                     "a decision for a mask");
    bool inside = true;  // and forwards, so that no way goes round
    for (std::int64_t node = 0; node < nodes; ++node)
        for (auto at = offsets[static_cast<std::size_t>(node)];
             at < offsets[static_cast<std::size_t>(node) + 1]; ++at)
            inside &= branches[static_cast<std::size_t>(at)].next > node &&
                      branches[static_cast<std::size_t>(at)].next < nodes;
    require_artifact(inside, "a branch of a decision");
    const auto lines = stored_.roots_of_lines.size();
    require_artifact(key_offsets.size() == lines + 1 && are_rows(key_offsets, keys.size()) &&
                         all_within(stored_.roots_of_lines.view(), 0, nodes) &&
                         Interner::are_slots(stored_.line_slots, lines),
                     "lines of decisions");
    stored_.all_branches = {std::move(offsets), std::move(branches)};
    stored_.line_keys = {std::move(key_offsets), std::move(keys)};
}

// Most of what texts, or an eager compilation, fill the tree with is alike below many nodes, and is stored
// once. A node comes before those that it leads to: the roots, then the rest.
void Decisions::save(ArtifactWriter& artifact, std::int32_t start) const {
    auto tree = all();
    Interner kinds;
    const auto kind = number_nodes(tree, kinds);
    const auto last = static_cast<std::int32_t>(roots_ + kinds.size()) - 1;
    const auto place = [&](std::int32_t of) { return last - of; };
    std::vector<std::int32_t> masks, offsets{0};
    std::vector<Branch> branches;
    const auto add = [&](std::span<const std::int32_t> key) {
        masks.push_back(key[0]);
        for (std::size_t at = 1; at < key.size(); at += 2) branches.push_back({key[at], place(key[at + 1])});
        offsets.push_back(static_cast<std::int32_t>(branches.size()));
    };
    for (std::size_t root = 0; root < roots_; ++root) add(key_of(tree.nodes[root], kind));
    for (auto at = static_cast<std::int32_t>(kinds.size()); at-- > 0;) add(kinds[at]);
    for (auto& root : tree.line_roots) root = place(kind[static_cast<std::size_t>(root)]);
    const auto keys = Rows<std::int32_t>::of(tree.lines);
    artifact.add(Part::kDecisionMasks, start, std::span<const std::int32_t>(masks));
    artifact.add(Part::kDecisionOffsets, start, std::span<const std::int32_t>(offsets));
    artifact.add(Part::kBranches, start, std::span<const Branch>(branches));
    artifact.add(Part::kLineKeyOffsets, start, keys.offsets().view());
    artifact.add(Part::kLineKeys, start, keys.values().view());
    artifact.add(Part::kLineSlots, start, tree.lines.slots());
    artifact.add(Part::kLineRoots, start, std::span<const std::int32_t>(tree.line_roots));
}

}  // namespace pdacon
