// Programs of terminals and lexical contexts in: the lexing automaton, and what the checker searches in them.
#include <exception>

#include "automata.hpp"
#include "base/memory.hpp"
#include "calls.hpp"
#include "lexer/checks/early_ends.hpp"
#include "lexer/checks/overlaps.hpp"
#include "lexer/word_lists.hpp"

namespace {

void walk(const pdacon::LexingAutomaton& lexer, fuzzing::Input& input) {
    auto state = lexer.entry(0, 0);
    while (state >= 0 && !input.empty()) {
        lexer.at_end(state);
        state = lexer.next(state, lexer.byte_class(static_cast<std::uint8_t>(input.letter())));
        if (!pdacon::LexingAutomaton::is_commit(state)) continue;
        const auto& commit = lexer.commit(state);
        lexer.pushback(commit.pushback);
        const auto contexts = lexer.contexts_after(commit.label);
        state = contexts.empty() ? -1 : lexer.entry(contexts.front(), commit.look_behind);
    }
    lexer.first_columns();
}

void read_words(fuzzing::Input& input) {
    std::vector<std::uint8_t> letters;
    std::vector<std::int32_t> lengths, after, num_words;
    for (auto lists = input.count(1, 4); lists > 0; --lists) {
        num_words.push_back(input.count(1, 4));
        for (auto words = num_words.back(); words > 0; --words) {
            lengths.push_back(input.between(0, 3));
            for (auto left = lengths.back() & 3; left > 0; --left) letters.push_back(input.byte() % 4);
            after.push_back(input.between(-2, static_cast<std::int32_t>(num_words.size()) - 1));
        }
    }
    pdacon::Budget budget(500, 0);
    pdacon::read_words({letters, lengths, after, num_words}, budget);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace pdacon;
    fuzzing::Input input(data, size);
    const auto terminals = input.count(1, 4);
    const MemoryLimit memory(64 << 20);
    const auto contexts = input.count(1, 3);
    const auto programs = fuzzing::nfa(input, terminals);
    const auto made = fuzzing::spec(input, programs, terminals, contexts);
    fuzzing::attempt([&] {
        Budget budget(500, 0);
        walk(LexingAutomaton(made, budget), input);
    });
    fuzzing::attempt([&] {
        Budget budget(500, 0);
        find_collisions(made.nfa, input.list(0, 4, terminals), made.follow, budget);
    });
    fuzzing::attempt([&] {
        Budget budget(500, 0);
        find_early_end(made.nfa, input.below(terminals), budget);
    });
    fuzzing::attempt([&] { read_words(input); });
    return 0;
}
