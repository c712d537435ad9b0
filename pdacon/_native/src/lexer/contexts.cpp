#include "lexer/contexts.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/interner.hpp"

namespace pdacon {

LexicalContexts lexical_contexts(std::span<const std::int32_t> action, std::span<const std::int32_t> order,
                                 std::span<const std::uint8_t> always, Budget& budget) {
    const auto columns = always.size() + 1;
    if (action.size() % columns != 0) throw std::invalid_argument("contexts: lengths differ");
    for (const auto terminal : order)
        if (terminal < 0 || static_cast<std::size_t>(terminal) >= always.size())
            throw std::out_of_range("contexts: no terminal");
    LexicalContexts found;
    Interner contexts;
    std::vector<std::int32_t> members;
    const auto states = action.size() / columns;
    for (std::size_t state = 0; state < states; ++state) {
        const auto row = action.subspan(state * columns, columns);
        budget.look();  // a row is as long as there are terminals
        members.clear();
        for (const auto terminal : order) {
            const auto at = static_cast<std::size_t>(terminal);
            if (row[at] != 0 || always[at] != 0) members.push_back(terminal);
        }
        found.of_state.push_back(contexts.intern(members));
        if (contexts.size() > found.terminals.size()) found.terminals.push_back(members);
    }
    found.after.resize(always.size());
    for (std::size_t state = 0; state < states; ++state) {
        budget.look();
        for (std::size_t terminal = 0; terminal < always.size(); ++terminal) {
            const auto shift = action[state * columns + terminal];
            if (shift <= 0) continue;
            if (static_cast<std::size_t>(shift) > states) throw std::out_of_range("contexts: no state");
            found.after[terminal].push_back(found.of_state[shift - 1]);
        }
    }
    for (auto& after : found.after) {
        budget.look();
        std::ranges::sort(after);
        after.erase(std::unique(after.begin(), after.end()), after.end());
    }
    return found;
}

}  // namespace pdacon
