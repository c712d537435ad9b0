// The binding of the lexing automaton and of the search for overlaps.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "lexing.hpp"
#include "module.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

using Renames = std::vector<std::pair<std::int32_t, std::vector<std::int32_t>>>;

Nfa make_nfa(const Array<std::uint8_t>& kind, const Array<std::int32_t>& offset,
             const Array<std::uint8_t>& low, const Array<std::uint8_t>& high,
             const Array<std::int32_t>& target, const Array<std::int32_t>& owner,
             const Array<std::int32_t>& entry, const Array<std::int32_t>& behind) {
    return {copy(kind),   copy(offset), copy(low),   copy(high),
            copy(target), copy(owner),  copy(entry), copy(behind)};
}

std::shared_ptr<LexingAutomaton> make_automaton(const Nfa& nfa, const Array<std::uint8_t>& ignored,
                                                const std::vector<std::vector<std::int32_t>>& alternations,
                                                const std::vector<Renames>& renames,
                                                const std::vector<std::vector<std::int32_t>>& follow,
                                                const std::vector<std::int32_t>& starts, std::int32_t newline,
                                                std::int32_t tab_width, std::int64_t max_states,
                                                double max_seconds) {
    if (alternations.size() != renames.size()) throw std::invalid_argument("lexer: lengths differ");
    LexerSpec spec{nfa, copy(ignored), {}, follow, starts, newline, tab_width};
    for (std::size_t at = 0; at < alternations.size(); ++at) {
        spec.contexts.push_back({alternations[at], {}});
        for (const auto& [regex, keywords] : renames[at])
            spec.contexts.back().renames.push_back({regex, keywords});
    }
    const nb::gil_scoped_release release;
    Budget budget(max_states, max_seconds);
    return std::make_shared<LexingAutomaton>(spec, budget);
}

// Reading step by step, for what wants to see lexemes: an index is checked before it is used.
std::int32_t checked(std::int32_t index, std::int32_t size, const char* what) {
    if (index < 0 || index >= size) throw std::out_of_range(what);
    return index;
}

std::int32_t entry(const LexingAutomaton& automaton, std::int32_t context, std::int32_t behind) {
    return automaton.entry(checked(context, automaton.num_contexts(), "no such context"),
                           checked(behind, automaton.num_behind(), "nothing like that lies behind"));
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
    const auto number = checked(LexingAutomaton::kDead - 1 - next, automaton.num_commits(), "no commit");
    const auto& found = automaton.commit(LexingAutomaton::kDead - 1 - number);
    const auto word = automaton.word(found.word);
    return {found.label, found.behind, {word.begin(), word.end()}};
}

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

nb::list unbounded(const LexingAutomaton& automaton) {
    nb::list found;
    for (const auto& finding : automaton.unbounded())
        found.append(nb::make_tuple(finding.label, bytes_of(finding.prefix), bytes_of(finding.loop)));
    return found;
}

nb::list collisions(const Nfa& nfa, const Array<std::int32_t>& pairs, std::int64_t max_states,
                    double max_seconds) {
    std::vector<Collision> found;
    {
        const auto flat = copy(pairs);
        const nb::gil_scoped_release release;
        Budget budget(max_states, max_seconds);
        found = find_collisions(nfa, flat, budget);
    }
    nb::list out;
    for (const auto& collision : found)
        out.append(nb::make_tuple(collision.first, collision.second, bytes_of(collision.witness)));
    return out;
}

}  // namespace

void bind_lexer(nb::module_& m) {
    nb::class_<Nfa>(m, "Nfa").def_static("make", &make_nfa, nb::arg("kind"), nb::arg("offset"),
                                         nb::arg("low"), nb::arg("high"), nb::arg("target"), nb::arg("owner"),
                                         nb::arg("entry"), nb::arg("behind"));
    nb::class_<LexingAutomaton>(m, "LexingAutomaton")
        .def_static("make", &make_automaton, nb::arg("nfa"), nb::arg("ignored"), nb::arg("alternations"),
                    nb::arg("renames"), nb::arg("follow"), nb::arg("starts"), nb::arg("newline"),
                    nb::arg("tab_width"), nb::arg("max_states"), nb::arg("max_seconds"))
        .def_prop_ro("num_states", &LexingAutomaton::num_states)
        .def_prop_ro("num_classes", &LexingAutomaton::num_classes)
        .def_prop_ro("lookahead", &LexingAutomaton::lookahead)
        .def_prop_ro("unbounded", &unbounded)
        .def("entry", &entry, nb::arg("context"), nb::arg("behind"))
        .def("byte_class", &LexingAutomaton::byte_class, nb::arg("byte"))
        .def("next", &next, nb::arg("state"), nb::arg("byte_class"))
        .def("at_end", &at_end, nb::arg("state"))
        .def("commit", &commit, nb::arg("next"));
    m.def("find_collisions", &collisions, nb::arg("nfa"), nb::arg("pairs"), nb::arg("max_states"),
          nb::arg("max_seconds"));
}

}  // namespace pdacon
