// The binding of the detokenizing trie and of the token-level pushdown automaton.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <map>
#include <optional>

#include "base/memory.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cancelling.hpp"
#include "bindings/gil.hpp"
#include "bindings/limited.hpp"
#include "bindings/module.hpp"
#include "composition/eager/eager_masks.hpp"
#include "composition/label_conflicts.hpp"
#include "composition/token_pda.hpp"
#include "liveness/column_classes.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

using Matrix = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::shared_ptr<const SharedTrie> find_trie(Tries& tries, nb::bytes text, const Array<std::int32_t>& offsets,
                                            const Array<std::int32_t>& end_tokens, std::size_t num_labels) {
    std::vector<char> bytes(text.c_str(), text.c_str() + text.size());
    auto bounds = copy(offsets);
    auto ends = copy(end_tokens);
    const WithoutGil release;
    return tries.of(
        std::make_shared<const Tokens>(std::move(bytes), std::move(bounds), std::move(ends), num_labels));
}

// LALR tables as Python has them. As all that PdaParts has they are looked at here and copied for each
// automaton, whose constructor checks that they fit together.
struct TableArrays {
    Matrix action;
    Array<std::int32_t> goto_offset, goto_nonterminal, goto_target;
    std::int32_t num_nonterminals;
    Array<std::int32_t> lhs, length, context;
    bool are_without_conflicts;

    ParseTables copied() const {
        ParseTables tables;
        tables.num_states = static_cast<std::int32_t>(action.shape(0));
        tables.num_terminals = static_cast<std::int32_t>(action.shape(1)) - 1;
        tables.num_nonterminals = num_nonterminals;
        tables.action = std::vector(action.data(), action.data() + action.size());
        tables.gotos = {copy(goto_offset), copy(goto_nonterminal), copy(goto_target)};
        tables.lhs = copy(lhs);
        tables.length = copy(length);
        tables.context = copy(context);
        tables.are_without_conflicts = are_without_conflicts;
        return tables;
    }
};

// An Indenter as Python has it. `columns` may be null.
struct LayoutArrays {
    std::int32_t newline, indent, dedent, indent_len;
    Array<std::uint8_t> in_parens;
    ColumnClasses classes;
    Array<std::int32_t> block, opened;
    Array<std::uint8_t> closes;
    std::shared_ptr<Columns> columns;

    Layout copied() const {
        return {newline, indent,      dedent,       indent_len,  copy(in_parens),
                classes, copy(block), copy(opened), copy(closes)};
    }
};

// What the automata of all start symbols of a grammar are made of.
struct PdaParts {
    std::shared_ptr<LexingAutomaton> lexer;
    TableArrays tables;
    std::optional<LayoutArrays> layout;
    std::shared_ptr<SharedTrie> trie;
    Array<std::int32_t> labels;  // a mask for each label, one after another
};

void set_tables(TableArrays* tables, Matrix action, Array<std::int32_t> goto_offset,
                Array<std::int32_t> goto_nonterminal, Array<std::int32_t> goto_target,
                std::int32_t num_nonterminals, Array<std::int32_t> lhs, Array<std::int32_t> length,
                Array<std::int32_t> context, bool are_without_conflicts) {
    new (tables) TableArrays{std::move(action),      std::move(goto_offset), std::move(goto_nonterminal),
                             std::move(goto_target), num_nonterminals,       std::move(lhs),
                             std::move(length),      std::move(context),     are_without_conflicts};
}

void set_layout(LayoutArrays* layout, std::int32_t newline, std::int32_t indent, std::int32_t dedent,
                std::int32_t indent_len, Array<std::uint8_t> in_parens,
                std::pair<std::int32_t, std::int32_t> classes, Array<std::int32_t> block,
                Array<std::int32_t> opened, Array<std::uint8_t> closes, std::shared_ptr<Columns> columns) {
    new (layout) LayoutArrays{newline,
                              indent,
                              dedent,
                              indent_len,
                              std::move(in_parens),
                              {classes.first, classes.second},
                              std::move(block),
                              std::move(opened),
                              std::move(closes),
                              std::move(columns)};
}

void set_parts(PdaParts* parts, std::shared_ptr<LexingAutomaton> lexer, const TableArrays& tables,
               const LayoutArrays* layout, std::shared_ptr<SharedTrie> trie, Array<std::int32_t> labels) {
    if (!lexer || !trie) throw std::invalid_argument("token pda: lexer and trie are needed");
    new (parts) PdaParts{std::move(lexer), tables, {}, std::move(trie), std::move(labels)};
    if (layout != nullptr) parts->layout = *layout;
}

std::shared_ptr<TokenPda> make_pda(const PdaParts& parts, std::int32_t start_state, std::int32_t end_state,
                                   std::int64_t max_states, std::int64_t max_depth, std::int64_t max_bytes,
                                   const std::optional<Array<std::int32_t>>& first_masks) {
    std::int64_t held = 0;
    const MemoryLimit memory(max_bytes, held);
    auto tables = parts.tables.copied();
    Layout layout;
    if (parts.layout)
        layout = parts.layout->copied();
    else
        layout.in_parens = std::vector<std::uint8_t>(static_cast<std::size_t>(tables.num_states));
    auto masks = copy(parts.labels);
    const auto first = first_masks ? copy(*first_masks) : std::vector<std::int32_t>();
    const auto columns = parts.layout ? parts.layout->columns : nullptr;
    PythonCanceller canceller;
    const WithoutGil release;
    auto labels = std::make_shared<const Labels>(parts.trie->tokens()->size(), std::move(masks));
    const auto* futures = columns ? columns->futures(*parts.lexer, *parts.trie, layout.newline) : nullptr;
    if (futures != nullptr && (layout.classes.single != 0 || layout.classes.period != 1))
        throw std::invalid_argument("token pda: other columns than those of the futures");
    auto pda = std::make_shared<TokenPda>(
        Pushdown(parts.lexer, std::move(tables), {start_state, end_state}, std::move(layout)), parts.trie,
        std::move(labels), Budget(max_states, 0, &canceller), max_depth, max_bytes, futures, first);
    pda->set_held(held);
    return pda;
}

// The same automaton for another vocabulary that spells the same texts; nothing: it does not.
std::optional<std::shared_ptr<TokenPda>> for_vocabulary(TokenPda& known, std::shared_ptr<SharedTrie> trie,
                                                        std::int64_t max_states, std::int64_t max_depth,
                                                        std::int64_t max_bytes) {
    if (!trie) throw std::invalid_argument("token pda: a trie is needed");
    if (!known.spells_as(*trie)) return std::nullopt;
    std::int64_t held = 0;
    PythonCanceller canceller;
    const WithoutGil release;
    const MemoryLimit memory(max_bytes, held);
    auto pda = std::make_shared<TokenPda>(known, std::move(trie), Budget(max_states, 0, &canceller),
                                          max_depth, max_bytes);
    pda->set_held(held);
    return pda;
}

OwnedRows<std::int32_t> pairs(const std::vector<std::array<std::int32_t, 2>>& values) {
    std::vector<std::int32_t> flat;
    for (const auto& pair : values) flat.insert(flat.end(), pair.begin(), pair.end());
    return owned(std::move(flat), values.size(), 2);
}

// The productions that are reduced; LR state and terminal of shifts; LR state and nonterminal of gotos; LR
// state and the label that comes next, of all texts and of those that are sentences.
auto reached(const TokenPda& pda, std::int64_t max_states, std::int64_t max_bytes) {
    const auto found =
        limited(max_states, max_bytes, [&](const Budget& budget) { return pda.reached(budget); });
    std::vector<std::size_t> productions;
    for (std::size_t k = 0; k < found.productions.size(); ++k)
        if (found.productions[k] != 0) productions.push_back(k);
    return std::tuple(std::move(productions), pairs(found.shifts), pairs(found.gotos), pairs(found.next),
                      pairs(found.next_in_sentences));
}

// Label, the other one or -1, a token of both, and a beginning of a lexeme behind which it is so.
auto label_conflicts(const TokenPda& pda, std::int64_t max_states) {
    const auto found = limited(max_states, 0, [&](Budget& budget) {
        return find_label_conflicts(pda.machine().lexer, pda.tokens(), pda.labels(), budget);
    });
    std::vector<std::tuple<std::int32_t, std::int32_t, std::int32_t, nb::bytes>> conflicts;
    for (const auto& [label, other, token, prefix] : found)
        conflicts.emplace_back(label, other, token, nb::bytes(prefix.data(), prefix.size()));
    return conflicts;
}

// The one call with a time of its own: it is how long masks are computed, and the work keeps those that it
// has.
void mask_all(TokenPda& pda, std::int32_t max_columns, std::int64_t max_states, std::int64_t max_bytes,
              double seconds) {
    PythonCanceller canceller;
    const WithoutGil release;
    const MemoryLimit memory(max_bytes);
    EagerMasks every(pda, max_columns, Budget(max_states, seconds, &canceller));
    pda.set_left(static_cast<std::int64_t>(every.run()));
}

void set_filter(TokenPda& pda, std::shared_ptr<CanonicalFilter> filter) {
    if (filter && !(filter->tokens() == pda.tokens()))
        throw std::invalid_argument("token pda: a filter of another vocabulary");
    pda.set_filter(std::move(filter));
}

std::map<std::string, std::int64_t> statistics(TokenPda& pda) {
    TokenPda::Statistics numbers;
    {
        const WithoutGil release;  // another thread may compute a mask now
        numbers = pda.statistics();
    }
    const auto whole = [](std::size_t number) { return static_cast<std::int64_t>(number); };
    std::map<std::string, std::int64_t> out{{"lexer_states", whole(numbers.lexer_states)},
                                            {"byte_classes", whole(numbers.byte_classes)},
                                            {"parser_states", whole(numbers.parser_states)},
                                            {"contexts", whole(numbers.contexts)},
                                            {"lookahead", whole(numbers.lookahead)},
                                            {"masks_computed", whole(numbers.masks_computed)},
                                            {"distinct_masks", whole(numbers.distinct_masks)},
                                            {"bytes", numbers.bytes},
                                            {"situations_left", numbers.left}};
    if (pda.filter() != nullptr) {
        out["canonical_sets"] = whole(numbers.filtered);
        out["canonical_searches_cut"] = whole(numbers.filtered_cuts);
    }
    return out;
}

OwnedRows<std::int32_t> mask_table(const TokenPda& pda, std::int64_t since) {
    const auto words = pda.tokens().words();
    std::vector<std::int32_t> rows;
    std::int64_t size = 0;
    {
        const WithoutGil release;  // another thread may compute a mask now
        const auto count = static_cast<std::int64_t>(pda.num_masks());
        if (since < 0 || since > count)
            throw std::out_of_range("mask_table: since=" + std::to_string(since) +
                                    ", but the masks so far are " + std::to_string(count) +
                                    ", with the ids from 0 on");
        size = count - since;
        rows.resize(static_cast<std::size_t>(size) * words);
        for (auto id = since; id < count; ++id)
            pda.mask(static_cast<std::int32_t>(id))
                .view.write(rows.data() + static_cast<std::size_t>(id - since) * words, words);
    }
    return owned(std::move(rows), static_cast<std::size_t>(size), words);
}

}  // namespace

void bind_composition(nb::module_& m) {
    nb::class_<SharedTrie>(m, "Trie").def_prop_ro("num_nodes", &SharedTrie::num_nodes);
    nb::class_<Tries>(m, "Tries")
        .def(nb::init<>())
        .def("of", &find_trie, nb::arg("text"), nb::arg("offsets"), nb::arg("end_tokens"),
             nb::arg("num_labels") = 0);
    nb::class_<TableArrays>(m, "ParseTables")
        .def("__init__", &set_tables, nb::kw_only(), nb::arg("action"), nb::arg("goto_offset"),
             nb::arg("goto_nonterminal"), nb::arg("goto_target"), nb::arg("num_nonterminals"), nb::arg("lhs"),
             nb::arg("length"), nb::arg("context"), nb::arg("are_without_conflicts"));
    nb::class_<LayoutArrays>(m, "Layout")
        .def("__init__", &set_layout, nb::kw_only(), nb::arg("newline"), nb::arg("indent"), nb::arg("dedent"),
             nb::arg("indent_len"), nb::arg("in_parens"), nb::arg("classes"), nb::arg("block"),
             nb::arg("opened"), nb::arg("closes"), nb::arg("columns").none() = nb::none());
    nb::class_<PdaParts>(m, "PdaParts")
        .def("__init__", &set_parts, nb::kw_only(), nb::arg("lexer"), nb::arg("tables"),
             nb::arg("layout").none(), nb::arg("trie"), nb::arg("labels"));
    nb::class_<TokenPda>(m, "TokenPda")
        .def_static("make", &make_pda, nb::arg("parts"), nb::arg("start_state"), nb::arg("end_state"),
                    nb::arg("max_states"), nb::arg("max_depth"), nb::arg("max_bytes") = 0,
                    nb::arg("first_masks") = nb::none())
        .def("for_vocabulary", &for_vocabulary, nb::arg("trie"), nb::arg("max_states"), nb::arg("max_depth"),
             nb::arg("max_bytes") = 0)
        .def("empty_language", &TokenPda::empty_language, nb::arg("leading_space") = false,
             nb::call_guard<WithoutGil>())
        .def("reached", &reached, nb::arg("max_states"), nb::arg("max_bytes") = 0)
        .def("label_conflicts", &label_conflicts, nb::arg("max_states"))
        .def("mask_all", &mask_all, nb::arg("max_columns"), nb::arg("max_states"), nb::arg("max_bytes") = 0,
             nb::arg("seconds") = 0.0)
        .def("statistics", &statistics)
        .def_prop_ro("held", &TokenPda::held)
        .def_prop_ro("lexer_held", [](const TokenPda& pda) { return pda.machine().lexer.held(); })
        .def("set_filter", &set_filter, nb::arg("filter"))
        .def("mask_table", &mask_table, nb::arg("since"));
}

}  // namespace pdacon
