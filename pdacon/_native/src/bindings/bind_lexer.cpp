// The binding of the lexing automaton and of the search for overlaps.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/memory.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cancelling.hpp"
#include "bindings/gil.hpp"
#include "bindings/limited.hpp"
#include "bindings/module.hpp"
#include "detokenizer/shared_trie.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "lexer/automaton.hpp"
#include "lexer/checks/early_ends.hpp"
#include "lexer/checks/overlaps.hpp"
#include "lexer/contexts.hpp"
#include "lexer/word_lists.hpp"
#include "liveness/column_classes.hpp"
#include "liveness/futures.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

using Renames = std::vector<std::pair<std::int32_t, std::vector<std::int32_t>>>;

Nfa make_nfa(const Array<std::uint8_t>& kind, const Array<std::int32_t>& offset,
             const Array<std::uint8_t>& low, const Array<std::uint8_t>& high,
             const Array<std::int32_t>& target, const Array<std::int32_t>& owner,
             const Array<std::int32_t>& entry, const Array<std::int32_t>& behind,
             const Array<std::uint8_t>& wanted, const Array<std::int32_t>& leaves) {
    return {copy(kind),  copy(offset), copy(low),    copy(high),   copy(target),
            copy(owner), copy(entry),  copy(behind), copy(wanted), copy(leaves)};
}

// Of each terminal that has a pattern its number and a text, or the five arrays of its program, as bytes.
Nfa joined(std::int32_t num_terminals, const nb::list& programs) {
    const auto seen = [](nb::handle given) -> std::span<const std::uint8_t> {
        const auto bytes = nb::cast<nb::bytes>(given);
        return {static_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
    };
    const auto release = [](const nb::list* given) {
        const nb::gil_scoped_acquire hold;
        delete given;
    };
    NfaBuilder builder(num_terminals, std::shared_ptr<const nb::list>(new nb::list(programs), release));
    for (const nb::handle program : programs) {
        const auto parts = nb::cast<nb::tuple>(program);
        const auto terminal = nb::cast<std::int32_t>(parts[0]);
        if (parts.size() == 2)
            builder.add(terminal, seen(parts[1]));
        else if (parts.size() == 6)
            builder.add(terminal, seen(parts[1]), seen(parts[2]), seen(parts[3]), seen(parts[4]),
                        seen(parts[5]));
        else
            throw std::invalid_argument("lexer: no program");
    }
    return std::move(builder).take();
}

auto contexts(const nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& action,
              const Array<std::int32_t>& order, const Array<std::uint8_t>& always) {
    auto found = limited(0, 0, [&](Budget& budget) {
        return lexical_contexts({action.data(), action.size()}, view(order), view(always), budget);
    });
    return std::tuple(std::move(found.terminals), owned(std::move(found.of_state)), std::move(found.after));
}

std::shared_ptr<LexingAutomaton> make_automaton(const Nfa& nfa, const Array<std::uint8_t>& ignored,
                                                const std::vector<std::vector<std::int32_t>>& alternations,
                                                const std::vector<Renames>& renames,
                                                const std::vector<std::vector<std::int32_t>>& follow,
                                                const std::vector<std::int32_t>& starts, std::int32_t newline,
                                                std::int32_t tab_width, std::int64_t max_states,
                                                std::int64_t max_bytes, bool escaped_lines) {
    if (alternations.size() != renames.size()) throw std::invalid_argument("lexer: lengths differ");
    LexerSpec spec{nfa, copy(ignored), {}, follow, starts, newline, tab_width, escaped_lines};
    for (std::size_t at = 0; at < alternations.size(); ++at) {
        spec.contexts.push_back({alternations[at], {}});
        for (const auto& [regex, keywords] : renames[at])
            spec.contexts.back().renames.push_back({regex, keywords});
    }
    PythonCanceller canceller;
    const WithoutGil release;
    std::int64_t held = 0;
    const MemoryLimit memory(max_bytes, held);
    Budget budget(max_states, 0, &canceller);
    auto made = std::make_shared<LexingAutomaton>(spec, budget);
    made->set_held(held);
    return made;
}

// LexerConfiguration step by step, for what wants to see lexemes: an index is checked before it is used.
std::int32_t checked(std::int32_t index, std::int32_t size, const char* what) {
    if (index < 0 || index >= size) throw std::out_of_range(what);
    return index;
}

std::int32_t entry(const LexingAutomaton& automaton, std::int32_t context, std::int32_t behind) {
    return automaton.entry(checked(context, automaton.num_contexts(), "no such context"),
                           checked(behind, automaton.num_look_behind(), "nothing like that lies behind"));
}

std::int32_t next(const LexingAutomaton& automaton, std::int32_t state, std::int32_t byte_class) {
    return automaton.next(checked(state, automaton.num_states(), "no such state"),
                          checked(byte_class, automaton.num_classes(), "no such byte class"));
}

std::int32_t at_end(const LexingAutomaton& automaton, std::int32_t state) {
    return automaton.at_end(checked(state, automaton.num_states(), "no such state"));
}

std::tuple<std::int32_t, std::int32_t, std::vector<std::int32_t>> commit(const LexingAutomaton& automaton,
                                                                         std::int32_t next) {
    const auto number = checked(LexingAutomaton::commit_number(next), automaton.num_commits(), "no commit");
    const auto& found = automaton.commit(LexingAutomaton::commit_with(number));
    const auto word = automaton.pushback(found.pushback);
    return {found.label, found.look_behind, {word.begin(), word.end()}};
}

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// Label, prefix, loop.
auto unbounded(const LexingAutomaton& automaton) {
    std::vector<std::tuple<std::int32_t, nb::bytes, nb::bytes>> found;
    for (const auto& finding : automaton.unbounded())
        found.emplace_back(finding.label, bytes_of(finding.prefix), bytes_of(finding.loop));
    return found;
}

// First, second, witness, what has to follow it.
auto collisions(const Nfa& nfa, const Array<std::int32_t>& pairs,
                const std::vector<std::vector<std::int32_t>>& following, std::int64_t max_states,
                std::int64_t max_bytes) {
    const auto flat = copy(pairs);
    const auto found = limited(max_states, max_bytes,
                               [&](Budget& budget) { return find_collisions(nfa, flat, following, budget); });
    std::vector<std::tuple<std::int32_t, std::int32_t, nb::bytes, nb::bytes>> out;
    for (const auto& collision : found)
        out.emplace_back(collision.first, collision.second, bytes_of(collision.witness),
                         bytes_of(collision.following));
    return out;
}

// The states as arrays: kinds, offsets, bytes, targets; and the entry.
std::optional<std::tuple<Owned<std::uint8_t>, Owned<std::int32_t>, Owned<std::uint8_t>, Owned<std::int32_t>,
                         std::int32_t>>
words(const Array<std::uint8_t>& letters, const Array<std::int32_t>& lengths,
      const Array<std::int32_t>& after, const Array<std::int32_t>& num_words, std::int64_t max_states,
      std::int64_t max_bytes) {
    auto states = limited(max_states, max_bytes, [&](Budget& budget) {
        return read_words({view(letters), view(lengths), view(after), view(num_words)}, budget);
    });
    if (!states) return std::nullopt;
    return std::tuple(owned(std::move(states->kind)), owned(std::move(states->offset)),
                      owned(std::move(states->bytes)), owned(std::move(states->target)), states->entry);
}

std::optional<std::pair<nb::bytes, std::int64_t>> early_end(const Nfa& nfa, std::int32_t terminal,
                                                            std::int64_t max_states, std::int64_t max_bytes) {
    const auto found =
        limited(max_states, max_bytes, [&](Budget& budget) { return find_early_end(nfa, terminal, budget); });
    if (!found) return std::nullopt;
    return std::pair(bytes_of(found->text), static_cast<std::int64_t>(found->matched));
}

using Numbers = nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>;
using Rows = nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<2>>;
using Self = nb::pointer_and_handle<LexingAutomaton>;

// Views share memory with the automaton and keep it alive.
template <std::span<const std::int32_t> (LexingAutomaton::*values)() const>
Numbers numbers_of(Self self) {
    const auto data = (self.p->*values)();
    return {data.data(), {data.size()}, self.h};
}

template <std::span<const std::int32_t> (LexingAutomaton::*values)() const>
Rows rows_of(Self self, std::int32_t columns) {
    const auto data = (self.p->*values)();
    return {data.data(),
            {data.size() / static_cast<std::size_t>(columns), static_cast<std::size_t>(columns)},
            self.h};
}

// The matrix, or a new one.
Rows transitions_of(Self self) {
    const auto columns = static_cast<std::size_t>(self.p->num_classes());
    const auto rows = static_cast<std::size_t>(self.p->num_states());
    if (const auto* matrix = self.p->transitions().stored_matrix())
        return {matrix->built().data(), {matrix->built().size() / columns, columns}, self.h};
    auto made = std::make_unique<Packed>(self.p->transitions().matrix());
    nb::capsule owner(made.get(), [](void* matrix) noexcept { delete static_cast<Packed*>(matrix); });
    return {made.release()->built().data(), {rows, columns}, owner};
}

// Of each state: the label of the match with the longest pushback, or kDead, and the length of that.
Rows waiting_of(Self self) {
    const auto& labels = self.p->waiting_labels();
    const auto lengths = self.p->waiting_lengths();
    auto made = std::make_unique<std::vector<std::int32_t>>(2 * labels.size());
    for (std::size_t state = 0; state < labels.size(); ++state) {
        (*made)[2 * state] = labels[state];
        if (!lengths.empty()) (*made)[2 * state + 1] = lengths[state];
    }
    nb::capsule owner(made.get(),
                      [](void* of) noexcept { delete static_cast<std::vector<std::int32_t>*>(of); });
    return {made.release()->data(), {labels.size(), 2}, owner};
}

Rows commits_of(Self self) {
    static_assert(sizeof(Commit) == 3 * sizeof(std::int32_t));
    const auto commits = self.p->commits();
    return {reinterpret_cast<const std::int32_t*>(commits.data()), {commits.size(), 3}, self.h};
}

// Follows texts lexeme by lexeme: what can be committed next, in a context, after what is left to be read
// again.
class NextLexemes {
  public:
    NextLexemes(std::shared_ptr<LexingAutomaton> lexer, const SharedTrie& trie, std::int64_t max_states,
                std::int64_t max_bytes)
        : lexer_(std::move(lexer)),
          max_bytes_(max_bytes),
          budget_(max_states, 0, &canceller_),
          futures_(*lexer_, VocabularyStar(trie, budget_), -1, {}, budget_) {}

    std::int32_t beginning() { return futures_.beginning(); }
    std::vector<std::pair<std::int32_t, std::int32_t>> after(std::int32_t context, std::int32_t residue) {
        canceller_ = PythonCanceller();  // the watch of this call, not that of an earlier one
        const MemoryLimit memory(max_bytes_, bytes_);
        std::vector<std::pair<std::int32_t, std::int32_t>> found;
        for (const auto& emission : futures_.after(context, residue))
            found.emplace_back(emission.label, emission.residue);
        return found;
    }

  private:
    std::shared_ptr<LexingAutomaton> lexer_;
    std::int64_t max_bytes_, bytes_ = 0;  // held by steps
    PythonCanceller canceller_;
    Budget budget_;
    Futures futures_;
};

std::shared_ptr<Columns> make_columns(std::shared_ptr<LexingAutomaton> lexer,
                                      std::shared_ptr<SharedTrie> trie, std::int32_t newline,
                                      std::int64_t max_states, std::int64_t max_bytes) {
    if (!lexer || !trie) throw std::invalid_argument("columns: lexer and trie are needed");
    PythonCanceller canceller;
    const WithoutGil release;
    const MemoryLimit memory(max_bytes);
    return std::make_shared<Columns>(std::move(lexer), std::move(trie), newline,
                                     Budget(max_states, 0, &canceller));
}

std::shared_ptr<NextLexemes> make_next_lexemes(std::shared_ptr<LexingAutomaton> lexer,
                                               std::shared_ptr<SharedTrie> trie, std::int64_t max_states,
                                               std::int64_t max_bytes) {
    if (!lexer || !trie) throw std::invalid_argument("next lexemes: lexer and trie are needed");
    const MemoryLimit memory(max_bytes);
    return std::make_shared<NextLexemes>(std::move(lexer), *trie, max_states, max_bytes);
}

}  // namespace

void bind_lexer(nb::module_& m) {
    nb::class_<Nfa>(m, "Nfa")
        .def_static("make", &make_nfa, nb::kw_only(), nb::arg("kind"), nb::arg("offset"), nb::arg("low"),
                    nb::arg("high"), nb::arg("target"), nb::arg("owner"), nb::arg("entry"), nb::arg("behind"),
                    nb::arg("wanted"), nb::arg("leaves"))
        .def_static(
            "joined", &joined, nb::arg("num_terminals"), nb::arg("programs"),
            nb::sig("def joined(num_terminals: int, programs: list[tuple[int, bytes] | tuple[int, bytes, "
                    "bytes, bytes, bytes, bytes] | None]) -> Nfa"));
    m.def("lexical_contexts", &contexts, nb::arg("action"), nb::arg("order"), nb::arg("always"));
    nb::class_<LexingAutomaton>(m, "LexingAutomaton")
        .def_static("make", &make_automaton, nb::arg("nfa"), nb::kw_only(), nb::arg("ignored"),
                    nb::arg("alternations"), nb::arg("renames"), nb::arg("follow"), nb::arg("starts"),
                    nb::arg("newline"), nb::arg("tab_width"), nb::arg("max_states"), nb::arg("max_bytes") = 0,
                    nb::arg("escaped_lines") = false)
        .def_prop_ro("num_states", &LexingAutomaton::num_states)
        .def_prop_ro("num_classes", &LexingAutomaton::num_classes)
        .def_prop_ro("lookahead", &LexingAutomaton::lookahead)
        .def_prop_ro("unbounded", &unbounded)
        .def("entry", &entry, nb::arg("context"), nb::arg("behind"))
        .def("byte_class", &LexingAutomaton::byte_class, nb::arg("byte"))
        .def("next", &next, nb::arg("state"), nb::arg("byte_class"))
        .def("at_end", &at_end, nb::arg("state"))
        .def("commit", &commit, nb::arg("next"))
        // Not the policy of a property: a matrix that is made belongs to the array, not to the automaton.
        .def_prop_ro("transitions", &transitions_of, nb::rv_policy::automatic)
        .def_prop_ro("ends", &numbers_of<&LexingAutomaton::ends>)
        .def_prop_ro("entries",
                     [](Self s) { return rows_of<&LexingAutomaton::entries>(s, s.p->num_look_behind()); })
        .def_prop_ro("commits", &commits_of)
        .def_prop_ro("waiting", &waiting_of, nb::rv_policy::automatic)
        .def_prop_ro("matched", &numbers_of<&LexingAutomaton::matched>)
        .def_prop_ro("states_by_terminal", &numbers_of<&LexingAutomaton::states_by_terminal>);
    nb::class_<NextLexemes>(m, "NextLexemes")
        .def_static("make", &make_next_lexemes, nb::arg("lexer"), nb::arg("trie"), nb::arg("max_states"),
                    nb::arg("max_bytes") = 0)
        .def("beginning", &NextLexemes::beginning)
        .def("after", &NextLexemes::after, nb::arg("context"), nb::arg("residue"));
    m.def("read_words", &words, nb::arg("letters"), nb::arg("lengths"), nb::arg("after"),
          nb::arg("num_words"), nb::arg("max_states"), nb::arg("max_bytes") = 0);
    nb::class_<Columns>(m, "Columns")
        .def_static("make", &make_columns, nb::arg("lexer"), nb::arg("trie"), nb::arg("newline"),
                    nb::arg("max_states"), nb::arg("max_bytes") = 0)
        .def_prop_ro("single", [](const Columns& columns) { return columns.classes().single; })
        .def_prop_ro("period", [](const Columns& columns) { return columns.classes().period; });
    m.def("find_early_end", &early_end, nb::arg("nfa"), nb::arg("terminal"), nb::arg("max_states"),
          nb::arg("max_bytes") = 0);
    m.def("find_collisions", &collisions, nb::arg("nfa"), nb::arg("pairs"), nb::arg("following"),
          nb::arg("max_states"), nb::arg("max_bytes") = 0);
}

}  // namespace pdacon
