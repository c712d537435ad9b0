#include "decisions.hpp"

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

}  // namespace

std::int32_t Decisions::find(const Reading& reading, const StackView& stack) const {
    const auto mask = find(reading.state, stack.top);
    if (mask >= 0 || !columns_) return mask;
    const auto root = line_root(reading, stack);
    return root < 0 ? -1 : find(root, stack.top);
}

std::int32_t Decisions::find(std::int32_t root, const StackNode* stack) const {
    auto node = root;
    for (; answer(node) < 0; stack = stack->below) {
        if (stack == nullptr) return -1;
        const auto below = branches(node);
        const auto next = place_of(below, stack->state);
        if (next == below.end() || next->state != stack->state) return -1;
        node = next->next;
    }
    return answer(node);
}

std::int32_t Decisions::line_root(const Reading& reading, const StackView& stack) const {
    const auto key = line_of(reading, stack);
    const auto line =
        is_stored() ? Interner::find(stored_.line_keys, stored_.line_slots, key) : lines_.find(key);
    if (line < 0) return -1;
    const auto at = static_cast<std::size_t>(line);
    return is_stored() ? stored_.line_roots[at] : line_roots_[at];
}

std::int32_t Decisions::make_line_root(const Reading& reading, const StackView& stack) {
    const auto line = static_cast<std::size_t>(lines_.intern(line_of(reading, stack)));
    if (line == line_roots_.size()) {
        line_roots_.push_back(static_cast<std::int32_t>(nodes_.size()));
        nodes_.emplace_back();
    }
    return line_roots_[line];
}

void Decisions::add(const Reading& reading, const StackView& stack, const Looked& looked, std::int32_t mask) {
    own();
    // Where each text nests differently, and a token can end any number of rules, no answer comes twice.
    if (!has_room(looked)) forget();
    if (looked.states > kMost) return;
    auto at = static_cast<std::size_t>(looked.columns ? make_line_root(reading, stack) : reading.state);
    const auto* node = stack.top;
    for (auto left = looked.states; left > 0; --left, node = node->below) {
        auto& below = nodes_[at].branches;
        const auto known = place_of(below, node->state);
        if (known != below.end() && known->state == node->state) {
            at = static_cast<std::size_t>(known->next);
            continue;
        }
        at = nodes_.size();
        below.insert(known, {node->state, static_cast<std::int32_t>(at)});
        nodes_.emplace_back();
    }
    nodes_[at].mask = mask;
}

void Decisions::forget() {
    nodes_.assign(roots_, {});
    lines_ = Interner();
    line_roots_.clear();
    stored_ = {};
}

// Makes an artifact's tree one that can grow.
void Decisions::own() {
    if (!is_stored()) return;
    std::vector<Node> nodes(stored_.masks.size());
    for (std::size_t at = 0; at < nodes.size(); ++at) {
        const auto below = stored_.branches[static_cast<std::int32_t>(at)];
        nodes[at] = {stored_.masks[at], {below.begin(), below.end()}};
    }
    lines_ = Interner();
    for (std::size_t at = 0; at < stored_.line_keys.size(); ++at)
        lines_.intern(stored_.line_keys[static_cast<std::int32_t>(at)]);
    line_roots_.assign(stored_.line_roots.begin(), stored_.line_roots.end());
    nodes_ = std::move(nodes);
    stored_ = {};
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
    stored_.line_roots = artifact.array<std::int32_t>(Part::kLineRoots, start);
    const auto nodes = static_cast<std::int64_t>(stored_.masks.size());
    require_artifact(stored_.masks.size() >= roots_ && roots_ > 0 &&
                         offsets.size() == stored_.masks.size() + 1 && are_rows(offsets, branches.size()),
                     "decisions of other tables");
    require_artifact(all_within(stored_.masks.view(), -1, static_cast<std::int64_t>(masks)),
                     "a decision for a mask");
    bool inside = true;
    for (const auto& branch : branches) inside &= branch.next >= 0 && branch.next < nodes;
    require_artifact(inside, "a branch of a decision");
    const auto lines = stored_.line_roots.size();
    require_artifact(key_offsets.size() == lines + 1 && are_rows(key_offsets, keys.size()) &&
                         all_within(stored_.line_roots.view(), 0, nodes) &&
                         Interner::are_slots(stored_.line_slots, lines),
                     "lines of decisions");
    stored_.branches = {std::move(offsets), std::move(branches)};
    stored_.line_keys = {std::move(key_offsets), std::move(keys)};
}

void Decisions::save(ArtifactWriter& artifact, std::int32_t start) const {
    std::vector<std::int32_t> masks, offsets{0};
    std::vector<Branch> all;
    for (std::size_t at = 0; at < size(); ++at) {
        masks.push_back(answer(static_cast<std::int32_t>(at)));
        const auto below = branches(static_cast<std::int32_t>(at));
        all.insert(all.end(), below.begin(), below.end());
        offsets.push_back(static_cast<std::int32_t>(all.size()));
    }
    const auto keys =
        is_stored() ? Rows<std::int32_t>::of(stored_.line_keys) : Rows<std::int32_t>::of(lines_);
    Interner lines;
    for (std::size_t at = 0; at < keys.size(); ++at) lines.intern(keys[static_cast<std::int32_t>(at)]);
    artifact.add(Part::kDecisionMasks, start, std::span<const std::int32_t>(masks));
    artifact.add(Part::kDecisionOffsets, start, std::span<const std::int32_t>(offsets));
    artifact.add(Part::kBranches, start, std::span<const Branch>(all));
    artifact.add(Part::kLineKeyOffsets, start, keys.offsets().view());
    artifact.add(Part::kLineKeys, start, keys.values().view());
    artifact.add(Part::kLineSlots, start, lines.slots());
    artifact.add(Part::kLineRoots, start,
                 is_stored() ? stored_.line_roots.view() : std::span<const std::int32_t>(line_roots_));
}

}  // namespace pdacon
