#include "liveness/lexical_dead_ends.hpp"

#include <algorithm>
#include <utility>

#include "base/rounds.hpp"
#include "pda/productions.hpp"

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
      contexts_{machine.tables.context[machine.start.start_state]},
      labels_(static_cast<std::size_t>(machine.lexer.num_contexts())),
      left_out_(static_cast<std::size_t>(machine.tables.num_terminals) + 1, 0),
      targets_(static_cast<std::size_t>(machine.tables.num_terminals) + 1) {
    const auto& tables = machine.tables;
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        if (state != machine.start.start_state && machine.predecessors[state].empty()) continue;
        auto& labels = labels_[tables.context[state]];
        const auto before = labels.size();
        for (std::int32_t label = 0; label <= tables.num_terminals; ++label) {
            const auto action = tables.action_of(state, label);
            if (action != 0) labels.push_back(label);
            if (action > 0) targets_[label].push_back(tables.context[action - 1]);
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
    auto& groups = nodes_[at].groups;
    groups.push_back(static_cast<std::int32_t>(nodes.size()));
    groups.insert(groups.end(), nodes.begin(), nodes.end());
    for (const auto id : nodes) nodes_[id].users.push_back(at);
}

// The controls with all that can come after ignored lexemes.
std::vector<std::int32_t> LexicalDeadEnds::reached(std::int32_t context, std::vector<std::int32_t> controls) {
    for (std::size_t i = 0; i < controls.size(); ++i) {
        if (controls_.label(controls[i]) != machine_.lexer.ignored_label()) continue;
        for (const auto& next : controls_.successors(controls_.after(context, 0, controls[i], true)))
            if (std::ranges::find(controls, next.control) == controls.end()) controls.push_back(next.control);
    }
    return controls;
}

bool LexicalDeadEnds::leave_out(std::int32_t context, std::span<const std::int32_t> controls) {
    std::vector<std::uint8_t> comes(left_out_.size() + 1, 0);
    for (const auto control : reached(context, {controls.begin(), controls.end()}))
        comes[controls_.label(control)] = 1;
    for (const auto label : labels_[context])
        if (comes[label] == 0) left_out_[label] = 1;
    return left_out_[machine_.lexer.end_label()] == 0;
}

// Each item on a stack has its dot behind a symbol, but that of the start symbol: so what is still to come of
// a rule are its symbols behind the first one. That of the start symbol, and those of rules that begin, are
// nonterminals with a transition.
bool LexicalDeadEnds::can_do_without() {
    const auto terminals = static_cast<std::size_t>(machine_.tables.num_terminals);
    std::vector<std::uint8_t> derives(terminals + static_cast<std::size_t>(machine_.tables.num_nonterminals));
    for (std::size_t label = 0; label < terminals; ++label) derives[label] = left_out_[label] == 0 ? 1 : 0;
    const auto is_derived = [&](std::int32_t symbol) { return derives[symbol] != 0; };
    const auto rules = reduced_productions(machine_, accessing_symbols(machine_));
    std::vector<std::vector<std::int32_t>> readers(derives.size());  // by symbol, the rules that have it
    for (std::size_t at = 0; at < rules.size(); ++at)
        for (const auto symbol : rules[at].symbols) readers[symbol].push_back(static_cast<std::int32_t>(at));
    evaluate_in_rounds(rules.size(), readers, budget_, [&](std::int32_t at, const auto& changed) {
        const auto& rule = rules[at];
        const auto lhs = machine_.tables.num_terminals + rule.lhs;
        if (derives[lhs] != 0 || !std::ranges::all_of(rule.symbols, is_derived)) return;
        derives[lhs] = 1;
        changed(lhs);
    });
    for (std::int32_t state = 0; state < machine_.tables.num_states; ++state) {
        if (state != machine_.start.start_state && machine_.predecessors[state].empty()) continue;
        for (const auto nonterminal : machine_.tables.gotos.of(state).nonterminals)
            if (derives[terminals + static_cast<std::size_t>(nonterminal)] == 0) return false;
    }
    return std::ranges::all_of(rules, [&](const Production& rule) {
        return rule.symbols.empty() || std::all_of(rule.symbols.begin() + 1, rule.symbols.end(), is_derived);
    });
}

void LexicalDeadEnds::expand_choice(std::int32_t at, std::int32_t context,
                                    std::vector<std::int32_t> controls) {
    std::erase(controls, -1);
    controls = reached(context, std::move(controls));
    std::ranges::stable_sort(controls, {}, [&](std::int32_t control) { return controls_.label(control); });
    auto begin = controls.begin();
    std::vector<std::int32_t> group;
    for (const auto label : labels_[context]) {
        if (left_out_[label] != 0) continue;
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
    residues_ += controls_.num_residues(control);
    std::vector<std::int32_t> next;
    for (const auto context : targets_[controls_.label(control)]) {
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
        if (std::ranges::all_of(group, [&](std::int32_t id) { return nodes_[id].is_refuted; })) return true;
        begin += size + 1;
    }
    return false;
}

void LexicalDeadEnds::refute(std::vector<std::int32_t> refutable) {
    while (!refutable.empty()) {
        budget_.tick();
        auto& node = nodes_[refutable.back()];
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
        if (budget_.states() > 0 && std::cmp_greater(nodes_.size() + residues_, budget_.states()))
            return true;
        expand(static_cast<std::int32_t>(expanded_));
        added.push_back(static_cast<std::int32_t>(expanded_));
    }
    refute(std::move(added));
    return nodes_[root].is_refuted;
}

}  // namespace pdacon
