#include "completion/lexeme_lengths.hpp"

#include <algorithm>
#include <deque>

namespace pdacon {

LexemeLengths::LexemeLengths(const LexingAutomaton& lexer, const Layout& layout, Budget& budget)
    : lexer_(lexer), lengths_(static_cast<std::size_t>(lexer.end_label()), kNever) {
    for (const auto label : {layout.indent, layout.dedent})
        if (label >= 0) lengths_[label] = 0;
    const auto commit = [&](std::int32_t next, std::int32_t bytes) {
        const auto& [label, look_behind, word] = lexer.commit(next);
        if (static_cast<std::size_t>(label) >= lengths_.size()) return;
        auto& known = lengths_[label];
        known = std::min(known, std::max(0, bytes - of_word(lexer.pushback(word))));
    };
    const auto read = distances(budget);
    for (std::int32_t state = 0; state < lexer.num_states(); ++state) {
        const auto bytes = read[state];
        if (bytes == kNever) continue;
        for (std::int32_t cls = 0; cls < lexer.num_classes(); ++cls) {
            const auto next = lexer.next(state, cls);
            if (LexingAutomaton::is_commit(next)) commit(next, bytes + of_byte(cls));
        }
        const auto end = lexer.at_end(state);
        if (LexingAutomaton::is_commit(end)) commit(end, bytes);
    }
}

// By lexer state: the fewest bytes from the start of a lexeme.
std::vector<std::int32_t> LexemeLengths::distances(Budget& budget) const {
    std::vector<std::int32_t> found(static_cast<std::size_t>(lexer_.num_states()), kNever);
    std::deque<std::pair<std::int32_t, std::int32_t>> open;  // states, and bytes up to them
    for (std::int32_t context = 0; context < lexer_.num_contexts(); ++context)
        for (std::int32_t look_behind = 0; look_behind < lexer_.num_look_behind(); ++look_behind)
            if (const auto entry = lexer_.entry(context, look_behind); entry >= 0)
                open.emplace_back(entry, 0);
    while (!open.empty()) {
        budget.tick();
        const auto [state, bytes] = open.front();
        open.pop_front();
        if (found[state] <= bytes) continue;
        found[state] = bytes;
        for (std::int32_t cls = 0; cls < lexer_.num_classes(); ++cls) {
            const auto next = lexer_.next(state, cls);
            if (next < 0) continue;
            if (of_byte(cls) == 0)
                open.emplace_front(next, bytes);
            else if (found[next] == kNever)
                open.emplace_back(next, bytes + 1);
        }
    }
    return found;
}

std::int32_t LexemeLengths::of_word(std::span<const std::int32_t> word) const {
    std::int32_t bytes = 0;
    for (const auto byte_class : word) bytes += of_byte(byte_class);
    return bytes;
}

}  // namespace pdacon
