// All arrays of a constraint in: lexer, tables, layout and vocabulary. Then a matcher's calls, and the same
// behind an artifact.
#include <algorithm>
#include <exception>
#include <optional>

#include "artifact/artifact.hpp"
#include "automata.hpp"
#include "base/memory.hpp"
#include "calls.hpp"
#include "detokenizer/labels.hpp"
#include "liveness/column_classes.hpp"
#include "productions.hpp"

namespace {

using namespace pdacon;
using fuzzing::Input;

constexpr std::int64_t kStates = 800, kBytes = 64 << 20;

std::shared_ptr<const Tokens> tokens(Input& input) {
    std::string text;
    std::vector<std::int32_t> offsets{0}, ends;
    const auto add = [&](std::string_view token) {
        text += token;
        offsets.push_back(static_cast<std::int32_t>(text.size()));
    };
    if (input.byte() % 4 != 0)
        for (const char* letter : {"a", "b", " ", "\n", "\t", "c", "("}) add(letter);
    for (auto left = input.count(0, 6); left > 0; --left) add(input.text(4));
    add("");
    ends.push_back(static_cast<std::int32_t>(offsets.size()) - 2);
    if (input.wild() && input.byte() > 250) offsets[input.byte() % offsets.size()] = input.below(99);
    if (input.wild() && input.byte() > 250) ends[0] = input.below(99);
    // A lexer at random has spellings of labels in parts, which no grammar has, and then masks and steps may
    // differ; they are not compared for a wild input.
    std::size_t labels = 0;
    if (input.wild() && input.byte() >= 128)
        for (; labels < 2; ++labels) add(std::string{char(Labels::kFirstByte), char(0x80 + labels)});
    return std::make_shared<const Tokens>(std::vector<char>(text.begin(), text.end()), std::move(offsets),
                                          std::move(ends), labels);
}

std::shared_ptr<const Labels> labels(const Tokens& tokens, Input& input) {
    std::vector<std::int32_t> masks(tokens.num_labels() * tokens.words());
    for (auto& word : masks) word = input.below(1 << std::min<std::size_t>(tokens.size(), 8));
    return std::make_shared<const Labels>(tokens.size(), std::move(masks));
}

// Tables of a grammar, or any.
ParseTables tables(Input& input, std::int32_t terminals, std::int32_t contexts, StartSymbol& start) {
    const auto nonterminals = input.count(1, 4);
    ParseTables made;
    made.num_terminals = terminals;
    made.num_nonterminals = nonterminals;
    std::vector<std::int32_t> lhs, length, context;
    if (!input.wild()) {
        const auto grammar = fuzzing::productions(input, terminals, nonterminals, 8);
        const auto built = lalr::build_tables(grammar, {200, 32 << 20});
        made.num_states = built.num_states;
        made.action = built.action;
        made.gotos = {built.goto_offset, built.goto_nonterminal, built.goto_target};
        start = {built.start_states[0], built.end_states[0]};
        for (std::size_t at = 0; at < grammar.lhs.size(); ++at) {
            lhs.push_back(grammar.nonterminal(grammar.lhs[at]));
            length.push_back(grammar.rhs_offset[at + 1] - grammar.rhs_offset[at]);
        }
    } else {
        const auto productions = input.count(0, 4);
        made.num_states = input.count(1, 6);
        start = {input.below(made.num_states), input.below(made.num_states)};
        std::vector<std::int32_t> action, offset{0}, nonterminal, target;
        for (std::int32_t at = 0; at < made.num_states * (terminals + 1); ++at)
            action.push_back(input.between(-productions, made.num_states));
        for (std::int32_t state = 0; state < made.num_states; ++state) {
            for (std::int32_t at = 0; at < nonterminals; ++at) {
                const auto next = input.between(-1, made.num_states - 1);
                if (next < 0) continue;
                nonterminal.push_back(at);
                target.push_back(next);
            }
            offset.push_back(static_cast<std::int32_t>(target.size()));
        }
        // What comes in is checked: rows that overlap, or are not ascending, or end beyond the others.
        if (input.byte() > 250) offset[input.byte() % offset.size()] = input.below(99);
        if (!target.empty() && input.byte() > 250)
            nonterminal[input.byte() % nonterminal.size()] = input.below(99);
        if (!target.empty() && input.byte() > 250) target[input.byte() % target.size()] = input.below(99);
        made.action = std::move(action);
        made.gotos = {std::move(offset), std::move(nonterminal), std::move(target)};
        for (std::int32_t at = 0; at < productions; ++at) {
            lhs.push_back(input.below(nonterminals));
            length.push_back(input.below(3));
        }
    }
    for (std::int32_t state = 0; state < made.num_states; ++state) context.push_back(input.below(contexts));
    made.lhs = std::move(lhs);
    made.length = std::move(length);
    made.context = std::move(context);
    return made;
}

Layout layout(Input& input, const ParseTables& tables, std::int32_t newline, ColumnClasses classes) {
    const auto terminals = tables.num_terminals;
    Layout made;
    made.newline = newline;
    made.indent = input.below(terminals);
    made.dedent = input.below(terminals);
    made.indent_len = input.byte() % 4 == 0 ? input.below(4) : 0;
    made.classes = classes;
    if (input.wild()) made.classes = {input.below(3), input.below(3)};
    // Of so many classes that the sum does not fit, or of many, only the check is of interest.
    const auto count =
        std::clamp<std::int64_t>(std::int64_t{made.classes.single} + made.classes.period, 1, 8);
    std::vector<std::uint8_t> in_parens;
    std::vector<std::int32_t> block, opened;
    for (std::int32_t state = 0; state < tables.num_states; ++state) {
        in_parens.push_back(input.byte() % 4 == 3);
        const auto outer =
            static_cast<std::int32_t>(state == 0 ? 0 : input.below(static_cast<std::int32_t>(count)));
        block.push_back(outer);
        const auto action = tables.action_of(state, std::clamp(made.indent, 0, terminals - 1));
        for (std::int32_t column = 0; column < count; ++column)
            opened.push_back(action <= 0 || (!input.wild() && !made.may_open(outer, column)) ? -1
                                                                                             : action - 1);
    }
    made.in_parens = std::move(in_parens);
    made.block = std::move(block);
    made.opened = std::move(opened);
    std::vector<std::uint8_t> closes;
    for (std::int32_t label = 0; label <= tables.num_terminals; ++label)
        closes.push_back(label == tables.num_terminals || (input.wild() && label != made.newline));
    made.closes = std::move(closes);
    return made;
}

// What was saved answers as what it was saved from.
void compare_loaded(TokenPda& pda, const std::shared_ptr<const LexingAutomaton>& lexer, Input& input) {
    ArtifactWriter writer;
    pda.save(writer, 0);
    const auto file = std::make_shared<std::string>(writer.finish());
    std::vector<std::uint64_t> words(file->size() / 8 + 1);
    auto memory = std::make_shared<std::vector<std::uint64_t>>(std::move(words));
    std::memcpy(memory->data(), file->data(), file->size());
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(memory->data()), file->size());
    const auto reader = std::make_shared<const ArtifactReader>(
        bytes, memory, std::make_shared<const Origin>(Origin{"fuzzed", "no way out"}), true);
    const auto again = std::make_shared<const LexingAutomaton>(*reader);
    const auto trie = std::make_shared<const LazyTrie>(reader, std::make_shared<Tries>());
    const auto sets = std::make_shared<const Labels>(*reader, trie->tokens().size());
    const auto loaded = std::make_shared<TokenPda>(again, trie, sets, *reader, 0);
    fuzzing::call(loaded, input, false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    const auto terminals = input.count(1, 5), contexts = input.count(1, 3);
    fuzzing::attempt([&] {
        const MemoryLimit memory(kBytes);
        Budget budget(kStates, 0);
        const auto programs = fuzzing::nfa(input, terminals);
        const auto spec = fuzzing::spec(input, programs, terminals, contexts);
        const auto lexer = std::make_shared<const LexingAutomaton>(spec, budget);
        const auto trie = std::make_shared<const SharedTrie>(tokens(input));
        StartSymbol start{};
        auto parser = tables(input, terminals, contexts, start);
        Layout blocks;
        std::optional<Columns> columns;
        if (spec.newline >= 0) {
            columns.emplace(lexer, trie, spec.newline, Budget(kStates, 0));
            blocks = layout(input, parser, spec.newline, columns->classes());
        }
        const auto* futures = columns && blocks.classes.single == 0 && blocks.classes.period == 1
                                  ? columns->futures(*lexer, *trie, blocks.newline)
                                  : nullptr;
        const auto pda = std::make_shared<TokenPda>(
            Pushdown(lexer, std::move(parser), start, std::move(blocks)), trie,
            labels(*trie->tokens(), input), Budget(kStates, 0), 200, kBytes, futures);
        fuzzing::call(pda, input, !input.wild());
        fuzzing::ask(*pda, input);
        compare_loaded(*pda, lexer, input);
    });
    return 0;
}
