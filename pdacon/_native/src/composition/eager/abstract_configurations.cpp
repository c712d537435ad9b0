#include "composition/eager/abstract_configurations.hpp"

#include <algorithm>

#include "base/interner.hpp"

namespace pdacon {

AbstractConfigurations::AbstractConfigurations(const Pushdown& machine, const Trie& trie,
                                               std::int32_t most_columns, Budget& budget)
    : machine_(machine) {
    find_shortest_stacks();
    find_configurations(trie, most_columns, budget);
}

std::vector<std::int32_t> AbstractConfigurations::completed(std::span<const std::int32_t> topmost) const {
    std::vector<std::int32_t> stack(topmost.begin(), topmost.end());
    for (auto state = shortest_below_[stack.back()]; state >= 0; state = shortest_below_[state])
        stack.push_back(state);
    return stack;
}

std::vector<std::vector<std::int32_t>> AbstractConfigurations::tops_by_context() const {
    const auto& tables = machine_.tables;
    const auto start = machine_.start.start_state;
    std::vector<std::uint8_t> is_top(static_cast<std::size_t>(tables.num_states), 0);
    is_top[start] = 1;
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        if (state != start && below(state).empty()) continue;
        for (std::int32_t terminal = 0; terminal < tables.num_terminals; ++terminal)
            for (const auto next : machine_.shifted(state, terminal)) is_top[next] = 1;
    }
    std::vector<std::vector<std::int32_t>> found(static_cast<std::size_t>(machine_.lexer.num_contexts()));
    for (std::int32_t state = 0; state < tables.num_states; ++state)
        if (is_top[state] != 0) found[tables.context[state]].push_back(state);
    return found;
}

// Breadth-first search from the start state, upwards.
void AbstractConfigurations::find_shortest_stacks() {
    const auto states = static_cast<std::size_t>(machine_.tables.num_states);
    std::vector<std::vector<std::int32_t>> above(states);
    for (std::size_t state = 0; state < states; ++state)
        for (const auto lower : machine_.predecessors[state])
            above[lower].push_back(static_cast<std::int32_t>(state));
    shortest_below_.assign(states, -1);
    std::vector<std::uint8_t> seen(states, 0);
    std::vector<std::int32_t> open{machine_.start.start_state};
    seen[open[0]] = 1;
    for (std::size_t i = 0; i < open.size(); ++i)
        for (const auto state : above[open[i]]) {
            if (seen[state] != 0) continue;
            seen[state] = 1;
            shortest_below_[state] = open[i];
            open.push_back(state);
        }
}

void AbstractConfigurations::find_configurations(const Trie& trie, std::int32_t most_columns,
                                                 Budget& budget) {
    const auto& lexer = machine_.lexer;
    const auto by_context = tops_by_context();
    std::vector<std::int32_t> classes;
    for (std::int32_t node = 1; node < trie.num_nodes(); ++node)
        classes.push_back(lexer.byte_class(trie.byte(node)));
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    Interner known;
    std::vector<std::int32_t> last_context;  // of each configuration: the context it was last reached from
    for (std::int32_t context = 0; context < lexer.num_contexts(); ++context) {
        std::vector<std::size_t> open;
        const auto add = [&](const LexerConfiguration& lexing) {
            if (std::max(lexing.now.value, lexing.matched.value) > most_columns) return;
            const std::int32_t key[] = {lexing.state, lexing.now.value, lexing.matched.value};
            const auto number = static_cast<std::size_t>(known.intern(key));
            if (number == all_.size()) {
                all_.push_back({lexing, {}});
                last_context.push_back(-1);
            }
            if (last_context[number] == context) return;
            last_context[number] = context;
            open.push_back(number);
        };
        for (std::int32_t look_behind = 0; look_behind < lexer.num_look_behind(); ++look_behind)
            if (const auto entry = lexer.entry(context, look_behind); entry >= 0) add({entry, {}, {}});
        const auto& tops = by_context[context];
        for (std::size_t i = 0; i < open.size(); ++i) {
            budget.tick();
            auto& here = all_[open[i]];
            here.tops.insert(here.tops.end(), tops.begin(), tops.end());
            const auto from = here.lexing;
            for (const auto byte_class : classes) {
                const auto next = lexer.next(from.state, byte_class);
                if (next < 0) continue;
                auto to = from;
                lexer.move(to, next, byte_class);
                add(to);
            }
        }
    }
}

}  // namespace pdacon
