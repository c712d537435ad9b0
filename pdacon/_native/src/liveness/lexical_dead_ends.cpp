#include "liveness/lexical_dead_ends.hpp"

#include <algorithm>
#include <utility>

namespace pdacon {

namespace {

void make_unique(std::vector<std::int32_t>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

LexicalDeadEnds::LexicalDeadEnds(const Pushdown& machine, QuotientControls& controls, Budget& budget)
    : machine_(machine),
      controls_(controls),
      budget_(budget),
      contexts_{machine.tables.context[static_cast<std::size_t>(machine.start.start_state)]},
      labels_(static_cast<std::size_t>(machine.lexer.num_contexts())),
      targets_(static_cast<std::size_t>(machine.tables.num_terminals) + 1) {
    const auto& tables = machine.tables;
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        if (state != machine.start.start_state &&
            machine.predecessors[static_cast<std::size_t>(state)].empty())
            continue;
        auto& labels = labels_[static_cast<std::size_t>(tables.context[static_cast<std::size_t>(state)])];
        const auto before = labels.size();
        for (std::int32_t label = 0; label <= tables.num_terminals; ++label) {
            const auto action = tables.action_of(state, label);
            if (action != 0) labels.push_back(label);
            if (action > 0)
                targets_[static_cast<std::size_t>(label)].push_back(
                    tables.context[static_cast<std::size_t>(action - 1)]);
        }
        if (before > 0) make_unique(labels);
    }
    for (auto& targets : targets_) {
        make_unique(targets);
        contexts_.insert(contexts_.end(), targets.begin(), targets.end());
    }
    make_unique(contexts_);
}

std::int32_t LexicalDeadEnds::node(std::span<const std::int32_t> key) {
    const auto id = ids_.intern(key);
    if (static_cast<std::size_t>(id) == nodes_.size()) nodes_.emplace_back();
    return id;
}

std::int32_t LexicalDeadEnds::choice(std::int32_t context, std::span<const std::int32_t> controls) {
    std::vector<std::int32_t> key{context};
    key.insert(key.end(), controls.begin(), controls.end());
    std::sort(key.begin() + 1, key.end());
    if (controls.empty()) key.push_back(-1);  // a key of one number is a control's
    return node(key);
}

void LexicalDeadEnds::add_group(std::int32_t at, std::span<const std::int32_t> nodes) {
    auto& groups = nodes_[static_cast<std::size_t>(at)].groups;
    groups.push_back(static_cast<std::int32_t>(nodes.size()));
    groups.insert(groups.end(), nodes.begin(), nodes.end());
    for (const auto id : nodes) nodes_[static_cast<std::size_t>(id)].users.push_back(at);
}

void LexicalDeadEnds::expand_choice(std::int32_t at, std::int32_t context,
                                    std::vector<std::int32_t> controls) {
    std::erase(controls, -1);
    for (std::size_t i = 0; i < controls.size(); ++i) {
        if (controls_.label(controls[i]) != machine_.lexer.ignored_label()) continue;
        for (const auto& next : controls_.successors(controls_.after(context, 0, controls[i], true)))
            if (std::ranges::find(controls, next.control) == controls.end()) controls.push_back(next.control);
    }
    std::ranges::stable_sort(controls, {}, [&](std::int32_t control) { return controls_.label(control); });
    auto begin = controls.begin();
    std::vector<std::int32_t> group;
    for (const auto label : labels_[static_cast<std::size_t>(context)]) {
        while (begin != controls.end() && controls_.label(*begin) < label) ++begin;
        group.clear();
        for (; begin != controls.end() && controls_.label(*begin) == label; ++begin)
            group.push_back(node(std::span(&*begin, 1)));
        add_group(at, group);
    }
}

void LexicalDeadEnds::expand(std::int32_t at) {
    budget_.tick();
    const auto key = ids_[at];
    if (key.size() > 1) return expand_choice(at, key[0], {key.begin() + 1, key.end()});
    const auto control = key[0];
    if (controls_.label(control) == machine_.lexer.end_label()) return;
    std::vector<std::int32_t> next;
    for (const auto context : targets_[static_cast<std::size_t>(controls_.label(control))]) {
        next.clear();
        for (const auto& successor : controls_.successors(controls_.after(context, 0, control, false)))
            next.push_back(successor.control);
        const auto id = choice(context, next);
        add_group(at, std::span(&id, 1));
    }
}

bool LexicalDeadEnds::is_refutable(const Node& node) const {
    for (std::size_t begin = 0; begin < node.groups.size();) {
        const auto size = static_cast<std::size_t>(node.groups[begin]);
        const auto group = std::span(node.groups).subspan(begin + 1, size);
        if (std::ranges::all_of(
                group, [&](std::int32_t id) { return nodes_[static_cast<std::size_t>(id)].is_refuted; }))
            return true;
        begin += size + 1;
    }
    return false;
}

void LexicalDeadEnds::refute(std::vector<std::int32_t> refutable) {
    while (!refutable.empty()) {
        budget_.tick();
        auto& node = nodes_[static_cast<std::size_t>(refutable.back())];
        refutable.pop_back();
        if (node.is_refuted || !is_refutable(node)) continue;
        node.is_refuted = true;
        refutable.insert(refutable.end(), node.users.begin(), node.users.end());
    }
}

bool LexicalDeadEnds::may_follow(std::int32_t context, std::span<const std::int32_t> controls) {
    const auto root = choice(context, controls);
    std::vector<std::int32_t> added;
    for (; expanded_ < nodes_.size(); ++expanded_) {
        if (budget_.states() > 0 && std::cmp_greater(nodes_.size(), budget_.states())) return true;
        expand(static_cast<std::int32_t>(expanded_));
        added.push_back(static_cast<std::int32_t>(expanded_));
    }
    refute(std::move(added));
    return nodes_[static_cast<std::size_t>(root)].is_refuted;
}

}  // namespace pdacon
