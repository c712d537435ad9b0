#include "lexer/automaton.hpp"

#include <algorithm>
#include <stdexcept>

#include "lexer/determinizer.hpp"

namespace pdacon {

namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

bool valid(std::int32_t value, std::size_t size) {
    return value >= 0 && static_cast<std::size_t>(value) < size;
}

void validate(const LexerSpec& spec) {
    validate(spec.nfa);
    const auto terminals = static_cast<std::size_t>(spec.num_terminals());
    require(spec.ignored.size() == terminals && spec.follow.size() == terminals, "lexer: lengths differ");
    for (const auto& context : spec.contexts) {
        for (const auto terminal : context.alternation)
            require(valid(terminal, terminals), "context: bad terminal");
        for (const auto& rename : context.renames) {
            require(valid(rename.regex, terminals), "context: bad terminal");
            for (const auto keyword : rename.keywords)
                require(valid(keyword, terminals), "context: bad terminal");
        }
    }
    for (const auto context : spec.starts)
        require(valid(context, spec.contexts.size()), "starts: bad context");
    for (const auto& contexts : spec.follow)
        for (const auto context : contexts)
            require(valid(context, spec.contexts.size()), "follow: bad context");
}

}  // namespace

LexingAutomaton::LexingAutomaton(const LexerSpec& spec, Budget& budget) {
    validate(spec);
    require(spec.newline >= -1 && spec.newline < spec.num_terminals() && spec.tab_width >= 0,
            "lexer: bad newline");
    follow_ = Rows<std::int32_t>::of(spec.follow);
    for (std::size_t context = 0; context < spec.contexts.size(); ++context)
        contexts_.push_back(static_cast<std::int32_t>(context));
    auto tables = determinize(spec, budget);
    num_terminals_ = spec.num_terminals();
    num_look_behind_ = spec.nfa.num_look_behind();
    num_classes_ = tables.num_classes;
    byte_class_ = tables.byte_class;
    columns_ = column_rules(byte_class_, spec.lines(), spec.tab_width);
    delta_ = std::move(tables.delta);
    end_ = std::move(tables.end);
    keeps_ = std::move(tables.keeps);
    entries_ = std::move(tables.entries);
    commits_ = std::move(tables.commits);
    pushbacks_ = Rows<std::int32_t>::of(tables.pushbacks);
    lookahead_ = tables.lookahead;
    unbounded_ = std::move(tables.unbounded);
    waiting_labels_ = std::move(tables.waiting_labels);
    waiting_lengths_ = std::move(tables.waiting_lengths);
    matched_ = std::move(tables.matched);
    states_by_terminal_ = std::move(tables.states_by_terminal);
}

std::vector<LexerConfiguration> LexingAutomaton::first_columns() const {
    std::vector<LexerConfiguration> found;
    if (!has_columns()) return found;
    Interner seen;
    const auto add = [&](const LexerConfiguration& lexing) {
        const std::int32_t key[] = {lexing.state, lexing.now.value, lexing.matched.value};
        if (keeps_columns(lexing.state) && static_cast<std::size_t>(seen.intern(key)) == found.size())
            found.push_back(lexing);
    };
    for (const auto entry : entries_)
        if (entry >= 0) add({entry, {}, {}});
    for (std::int32_t state = 0; state < num_states(); ++state) {
        if (keeps_columns(state)) continue;
        for (std::int32_t byte_class = 0; byte_class < num_classes_; ++byte_class) {
            const auto to = next(state, byte_class);
            if (to < 0 || !keeps_columns(to)) continue;
            LexerConfiguration lexing{state, {}, {}};
            move(lexing, to, byte_class);
            add(lexing);
        }
    }
    return found;
}

}  // namespace pdacon
