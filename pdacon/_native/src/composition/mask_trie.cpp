#include "composition/mask_trie.hpp"

#include <algorithm>
#include <numeric>

namespace pdacon {

namespace {

// The lexer configuration with its columns, then the columns of the open blocks from the innermost out.
std::vector<std::int32_t> columns_key(const LexerConfiguration& lexing, const StackView& stack) {
    std::vector<std::int32_t> key{lexing.state, lexing.now.value, lexing.matched.value};
    for (const auto* block = stack.block; block != nullptr; block = block->around)
        key.push_back(block->column);
    return key;
}

// Where the branch of an LR state is, or would be inserted.
auto branch_at(auto&& branches, std::int32_t state) {
    return std::lower_bound(branches.begin(), branches.end(), state,
                            [](const auto& branch, std::int32_t wanted) { return branch.state < wanted; });
}

template <class AnyTrie>
std::int32_t find_from(const AnyTrie& trie, std::int32_t node, const StackNode* stack, ReadSet* read_set) {
    const auto* const top = stack;
    for (; trie.mask_of(node) < 0; stack = stack->below) {
        if (stack == nullptr) return -1;
        const auto below = trie.branches(node);
        if (below.empty()) return -1;
        // A binary search whose steps are moves and no jumps: these could not be foreseen.
        const auto* branch = below.data();
        for (auto count = below.size(); count > 1;) {
            const auto half = count / 2;
            branch = branch[half].state <= stack->state ? branch + half : branch;
            count -= half;
        }
        if (branch->state != stack->state) return -1;
        node = branch->next;
    }
    if (read_set != nullptr) read_set->states = stack == nullptr ? top->depth + 1 : top->depth - stack->depth;
    return trie.mask_of(node);
}

}  // namespace

template <class AnyTrie>
std::int32_t MaskTrie::find_in(const AnyTrie& trie, const LexerConfiguration& lexing, const StackView& stack,
                               ReadSet* read_set) const {
    auto root = trie.root(lexing.state);
    const auto mask = root < 0 ? -1 : find_from(trie, root, stack.top, read_set);
    if (mask >= 0 || !columns_) return mask;
    root = trie.columns_root(columns_key(lexing, stack));
    if (root < 0) return -1;
    if (read_set != nullptr) read_set->columns = true;
    return find_from(trie, root, stack.top, read_set);
}

std::int32_t MaskTrie::find(const LexerConfiguration& lexing, const StackView& stack,
                            ReadSet* read_set) const {
    const auto mask = stored_.masks.empty() ? -1 : find_in(stored_, lexing, stack, read_set);
    return mask >= 0 || added_.nodes.empty() ? mask : find_in(added_, lexing, stack, read_set);
}

std::int32_t MaskTrie::Stored::columns_root(std::span<const std::int32_t> key) const {
    const auto known = Interner::find(column_keys, column_slots, key);
    return known < 0 ? -1 : column_roots[known];
}

std::int32_t MaskTrie::Added::make_root(std::int32_t lexer_state, std::size_t lexer_states) {
    if (roots.empty()) roots.resize(lexer_states, -1);
    auto& root = roots[in_range(lexer_state, roots.size())];
    if (root < 0) {
        nodes.emplace_back();
        root = static_cast<std::int32_t>(nodes.size()) - 1;
    }
    return root;
}

std::int32_t MaskTrie::Added::columns_root(std::span<const std::int32_t> key) const {
    const auto known = column_keys.find(key);
    return known < 0 ? -1 : column_roots[known];
}

std::int32_t MaskTrie::Added::make_columns_root(std::span<const std::int32_t> key) {
    const auto id = static_cast<std::size_t>(column_keys.intern(key));
    if (id == column_roots.size()) {
        column_roots.push_back(static_cast<std::int32_t>(nodes.size()));
        nodes.emplace_back();
    }
    return column_roots[id];
}

std::int32_t MaskTrie::Added::make_branch(std::int32_t node, std::int32_t state) {
    auto& below = nodes[node].branches;
    const auto known = branch_at(below, state);
    if (known != below.end() && known->state == state) return known->next;
    const auto next = static_cast<std::int32_t>(nodes.size());
    below.insert(known, {state, next});
    nodes.emplace_back();
    return next;
}

void MaskTrie::add(const LexerConfiguration& lexing, const StackView& stack, const ReadSet& read_set,
                   std::int32_t mask) {
    // A grammar whose tokens can end any number of rules, and whose texts all nest differently, never asks
    // for the same path twice.
    if (read_set.states > kMostNodes) return;  // so long a path is not kept
    if (!has_room(read_set)) forget();
    try {
        add_path(lexing, stack, read_set, mask);
    } catch (...) {  // out of memory: a part of a path would have no mask
        forget();
        throw;
    }
}

void MaskTrie::add_path(const LexerConfiguration& lexing, const StackView& stack, const ReadSet& read_set,
                        std::int32_t mask) {
    auto at = read_set.columns ? added_.make_columns_root(columns_key(lexing, stack))
                               : added_.make_root(lexing.state, lexer_states_);
    const auto* node = stack.top;
    for (auto left = read_set.states; left > 0; --left, node = node->below)
        at = added_.make_branch(at, node->state);
    added_.nodes[at].mask = mask;
}

// Allocates nothing: it is called where memory has run out.
void MaskTrie::forget() {
    // An assignment of {} would keep the storage.
    std::vector<Node>().swap(added_.nodes);
    std::vector<std::int32_t>().swap(added_.roots);
    std::vector<std::int32_t>().swap(added_.column_roots);
    added_.column_keys.clear();
}

// The trie of the artifact with all that was added. Nodes of an artifact are shared by several parents, so
// the nodes on an added path are copied first.
MaskTrie::Added MaskTrie::merged() const {
    Added trie;
    for (std::size_t at = 0; at < stored_.masks.size(); ++at) {
        const auto below = stored_.branches(static_cast<std::int32_t>(at));
        trie.nodes.push_back({stored_.masks[at], {below.begin(), below.end()}});
    }
    trie.roots.assign(lexer_states_, -1);
    if (!trie.nodes.empty()) std::iota(trie.roots.begin(), trie.roots.end(), 0);
    for (std::size_t at = 0; at < stored_.column_keys.size(); ++at)
        if (static_cast<std::size_t>(trie.column_keys.intern(
                stored_.column_keys[static_cast<std::int32_t>(at)])) == trie.column_roots.size())
            trie.column_roots.push_back(stored_.column_roots[at]);
    std::vector<std::pair<std::int32_t, std::int32_t>> open;  // an added node, and its copy
    for (std::size_t state = 0; state < added_.roots.size(); ++state)
        if (added_.roots[state] >= 0)
            open.emplace_back(added_.roots[state],
                              trie.make_root(static_cast<std::int32_t>(state), lexer_states_));
    for (std::size_t at = 0; at < added_.column_roots.size(); ++at)
        open.emplace_back(added_.column_roots[at],
                          trie.own_columns_root(added_.column_keys[static_cast<std::int32_t>(at)]));
    while (!open.empty()) {
        const auto [from, to] = open.back();
        open.pop_back();
        if (const auto mask = added_.mask_of(from); mask >= 0) trie.nodes[to].mask = mask;
        for (const auto& branch : added_.branches(from))
            open.emplace_back(branch.next, trie.own_branch(to, branch.state));
    }
    return trie;
}

std::int32_t MaskTrie::Added::copied(std::int32_t node) {
    auto copy = nodes[node];
    nodes.push_back(std::move(copy));
    return static_cast<std::int32_t>(nodes.size() - 1);
}

std::int32_t MaskTrie::Added::own_branch(std::int32_t node, std::int32_t state) {
    const auto known = nodes.size();
    auto next = make_branch(node, state);
    if (nodes.size() > known) return next;
    next = copied(next);
    branch_at(nodes[node].branches, state)->next = next;
    return next;
}

std::int32_t MaskTrie::Added::own_columns_root(std::span<const std::int32_t> key) {
    const auto known = column_keys.size();
    const auto root = make_columns_root(key);
    return column_keys.size() > known ? root : column_roots[column_keys.find(key)] = copied(root);
}

// Tells subtrees apart: the mask, then for each branch its state and the number of its subtree.
std::vector<std::int32_t> MaskTrie::key_of(const Node& node, std::span<const std::int32_t> subtree_of) {
    std::vector<std::int32_t> key{node.mask};
    for (const auto& [state, next] : node.branches) key.insert(key.end(), {state, subtree_of[next]});
    return key;
}

// Hash-consing bottom-up: the number of the subtree below each node other than the roots. Equal subtrees get
// the same number, and a subtree comes after those that it contains.
std::vector<std::int32_t> MaskTrie::number_subtrees(const Added& trie, Interner& subtrees) const {
    constexpr std::int32_t kUnseen = -1;
    std::vector<std::int32_t> subtree_of(trie.nodes.size(), kUnseen), open;
    for (const auto root : trie.roots)
        if (root >= 0)
            for (const auto& branch : trie.nodes[root].branches) open.push_back(branch.next);
    open.insert(open.end(), trie.column_roots.begin(), trie.column_roots.end());
    while (!open.empty()) {
        const auto node = open.back();
        if (subtree_of[node] != kUnseen) {
            open.pop_back();
            continue;
        }
        const auto before = open.size();
        for (const auto& branch : trie.branches(node))
            if (subtree_of[branch.next] == kUnseen) open.push_back(branch.next);
        if (open.size() > before) continue;
        open.pop_back();
        subtree_of[node] = subtrees.intern(key_of(trie.nodes[node], subtree_of));
    }
    return subtree_of;
}

MaskTrie::MaskTrie(std::size_t lexer_states, bool columns, std::size_t masks, const ArtifactReader& artifact,
                   std::int32_t start)
    : lexer_states_(lexer_states), columns_(columns) {
    stored_.masks = artifact.array<std::int32_t>(Part::kMaskTrieMasks, start);
    auto offsets = artifact.array<std::int32_t>(Part::kMaskTrieOffsets, start);
    auto branches = artifact.array<Branch>(Part::kMaskTrieBranches, start);
    auto key_offsets = artifact.array<std::int32_t>(Part::kMaskTrieColumnOffsets, start);
    auto keys = artifact.array<std::int32_t>(Part::kMaskTrieColumns, start);
    stored_.column_slots = artifact.array<std::int32_t>(Part::kMaskTrieSlots, start);
    stored_.column_roots = artifact.array<std::int32_t>(Part::kMaskTrieRoots, start);
    const auto nodes = static_cast<std::int64_t>(stored_.masks.size());
    require_artifact(stored_.masks.size() >= lexer_states_ && lexer_states_ > 0 &&
                         offsets.size() == stored_.masks.size() + 1 && are_rows(offsets, branches.size()),
                     "a mask trie of another lexer");
    require_artifact(all_within(stored_.masks.view(), -1, static_cast<std::int64_t>(masks)),
                     "a node of the mask trie");
    bool inside = true;  // branches lead forwards, so there is no cycle
    for (std::int64_t node = 0; node < nodes; ++node)
        for (auto at = offsets[node]; at < offsets[node + 1]; ++at)
            inside &= branches[at].next > node && branches[at].next < nodes;
    require_artifact(inside, "a branch of the mask trie");
    const auto keyed = stored_.column_roots.size();
    require_artifact(key_offsets.size() == keyed + 1 && are_rows(key_offsets, keys.size()) &&
                         all_within(stored_.column_roots.view(), 0, nodes) &&
                         Interner::are_slots(stored_.column_slots, keyed),
                     "columns of the mask trie");
    stored_.all_branches = {std::move(offsets), std::move(branches)};
    stored_.column_keys = {std::move(key_offsets), std::move(keys)};
}

// Most subtrees that texts, or an eager compilation, have filled the trie with are equal, and are stored
// once. A node is stored before those that it leads to: first the roots, then the subtrees by descending
// number.
void MaskTrie::save(ArtifactWriter& artifact, std::int32_t start) const {
    auto trie = merged();
    Interner subtrees;
    const auto subtree_of = number_subtrees(trie, subtrees);
    const auto last = static_cast<std::int32_t>(lexer_states_ + subtrees.size()) - 1;
    const auto position = [&](std::int32_t subtree) { return last - subtree; };
    std::vector<std::int32_t> masks, offsets{0};
    std::vector<Branch> branches;
    const auto add = [&](std::span<const std::int32_t> key) {
        masks.push_back(key[0]);
        for (std::size_t at = 1; at < key.size(); at += 2)
            branches.push_back({key[at], position(key[at + 1])});
        offsets.push_back(static_cast<std::int32_t>(branches.size()));
    };
    for (const auto root : trie.roots) add(key_of(root < 0 ? Node{} : trie.nodes[root], subtree_of));
    for (auto at = static_cast<std::int32_t>(subtrees.size()); at-- > 0;) add(subtrees[at]);
    for (auto& root : trie.column_roots) root = position(subtree_of[root]);
    const auto keys = Rows<std::int32_t>::of(trie.column_keys);
    artifact.add(Part::kMaskTrieMasks, start, std::span<const std::int32_t>(masks));
    artifact.add(Part::kMaskTrieOffsets, start, std::span<const std::int32_t>(offsets));
    artifact.add(Part::kMaskTrieBranches, start, std::span<const Branch>(branches));
    artifact.add(Part::kMaskTrieColumnOffsets, start, keys.offsets().view());
    artifact.add(Part::kMaskTrieColumns, start, keys.values().view());
    artifact.add(Part::kMaskTrieSlots, start, trie.column_keys.slots());
    artifact.add(Part::kMaskTrieRoots, start, std::span<const std::int32_t>(trie.column_roots));
}

}  // namespace pdacon
