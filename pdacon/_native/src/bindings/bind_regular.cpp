// The binding of automata over code points, and of the bytes that front ends write strings in.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/limited.hpp"
#include "bindings/module.hpp"
#include "frontends/all_but.hpp"
#include "frontends/json_strings.hpp"
#include "frontends/multiples.hpp"
#include "nested/number_range.hpp"
#include "regular/character_dfa.hpp"
#include "regular/characters.hpp"
#include "regular/determinize.hpp"
#include "regular/factor_automaton.hpp"
#include "regular/formulas.hpp"
#include "regular/longest_match.hpp"
#include "regular/plain_patterns.hpp"
#include "regular/signatures.hpp"
#include "regular/string_lengths.hpp"
#include "regular/word_automaton.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

using Shared = std::shared_ptr<CharacterDfa>;

// `is_least`: it is the least automaton already, which is not looked at.
Shared dfa_of(const Array<std::int32_t>& firsts, const Array<std::int32_t>& numbers,
              const Array<std::int32_t>& table, const Array<std::uint8_t>& accepting, std::int64_t max_bytes,
              bool is_least) {
    CharacterDfa given{{copy(firsts), copy(numbers), 0}, copy(table), copy(accepting)};
    auto& classes = given.classes;
    const auto states = static_cast<std::int64_t>(given.size());
    bool right = !classes.firsts.empty() && classes.firsts.front() == 0 &&
                 classes.firsts.back() < kCodePoints && classes.firsts.size() == classes.numbers.size();
    for (std::size_t k = 1; right && k < classes.firsts.size(); ++k)
        right = classes.firsts[k] > classes.firsts[k - 1];
    if (right && states != 0) classes.count = static_cast<std::int32_t>(given.table.size() / given.size());
    right = right && given.table.size() == given.size() * static_cast<std::size_t>(classes.count);
    for (const auto number : classes.numbers) right = right && number >= -1 && number < classes.count;
    for (const auto to : given.table) right = right && to >= -1 && to < states;
    if (!right) throw std::invalid_argument("automata over code points: no automaton");
    if (is_least) return std::make_shared<CharacterDfa>(std::move(given));
    return limited(0, max_bytes,
                   [&](Budget& budget) { return std::make_shared<CharacterDfa>(minimized(given, budget)); });
}

// One array for each set: first, last, first, last, ...
std::vector<CharacterRanges> sets_of(const std::vector<Array<std::int32_t>>& sets) {
    std::vector<CharacterRanges> views;
    for (const auto& set : sets) views.push_back(view(set));
    return views;
}

auto character_classes(const std::vector<Array<std::int32_t>>& sets) {
    const auto views = sets_of(sets);
    for (const auto set : views)
        if (!is_character_set(set)) throw std::invalid_argument("character classes: no set of characters");
    std::vector<std::vector<std::int32_t>> members;
    auto classes = classes_of(views, members);
    return std::tuple(owned(std::move(classes.firsts)), owned(std::move(classes.numbers)),
                      std::move(members));
}

Shared determinize(const std::vector<Array<std::int32_t>>& sets, const Array<std::int32_t>& edge_offsets,
                   const Array<std::int32_t>& edge_sets, const Array<std::int32_t>& edge_lists,
                   const Array<std::int32_t>& list_offsets, const Array<std::int32_t>& lists,
                   const Array<std::uint8_t>& accepting, std::int32_t everything, std::int32_t start_list,
                   std::int64_t max_states, std::int64_t max_bytes) {
    const Positions positions{sets_of(sets),      copy(edge_offsets), copy(edge_sets), copy(edge_lists),
                              copy(list_offsets), copy(lists),        copy(accepting), everything};
    return limited(max_states, max_bytes, [&](Budget& budget) {
        return std::make_shared<CharacterDfa>(determinized(positions, start_list, budget));
    });
}

Shared combine(const std::vector<Shared>& automata, const Array<std::int32_t>& asked,
               const Array<std::int32_t>& then, const Array<std::int32_t>& otherwise, std::int64_t max_states,
               std::int64_t max_bytes) {
    std::vector<const CharacterDfa*> some;
    for (const auto& automaton : automata) {
        if (automaton == nullptr) throw std::invalid_argument("combined: no automaton");
        some.push_back(automaton.get());
    }
    const Diagram diagram{copy(asked), copy(then), copy(otherwise)};
    return limited(max_states, max_bytes, [&](Budget& budget) {
        return std::make_shared<CharacterDfa>(combined(some, diagram, budget));
    });
}

std::vector<std::vector<std::int32_t>> signatures(const std::vector<Shared>& automata,
                                                  std::int64_t max_states, std::int64_t max_bytes) {
    std::vector<const CharacterDfa*> some;
    for (const auto& automaton : automata) {
        if (automaton == nullptr) throw std::invalid_argument("signatures: no automaton");
        some.push_back(automaton.get());
    }
    return limited(max_states, max_bytes, [&](Budget& budget) { return signatures_of(some, budget); });
}

// Nothing: the pattern is not plain.
std::optional<Shared> plain_pattern(const std::string& pattern, std::int64_t max_states,
                                    std::int64_t max_bytes) {
    const auto own = PlainPattern::read(pattern);
    if (!own) return std::nullopt;
    return limited(max_states, max_bytes, [&](Budget& budget) -> std::optional<Shared> {
        auto made = own->strings(budget);
        if (!made) return std::nullopt;
        return std::make_shared<CharacterDfa>(std::move(*made));
    });
}

Shared multiples_of(std::int32_t scaled, std::int32_t places, int spelled, std::int64_t max_states,
                    std::int64_t max_bytes) {
    constexpr std::int32_t kMost = 1 << 20;
    if (scaled <= 0 || scaled > kMost || places < 0 || places > kMost || spelled < 0 ||
        spelled > static_cast<int>(Spelled::kSmall))
        throw std::invalid_argument("multiples: no divisor, or no spelling");
    return limited(max_states, max_bytes, [&](Budget& budget) {
        return std::make_shared<CharacterDfa>(
            multiples({scaled, places}, static_cast<Spelled>(spelled), budget));
    });
}

// A terminal of ASCII as an automaton over characters; no terminal is the empty set.
Shared characters_in(const std::optional<NestedTerminal>& terminal) {
    static_assert(NestedTerminal::kBytes == 0 && NestedTerminal::kMatch == 2);
    static_assert(static_cast<int>(ByteState::kBytes) == 0 && static_cast<int>(ByteState::kEnd) == 2);
    if (!terminal) return std::make_shared<CharacterDfa>();
    const ByteNfa bytes{terminal->kind, terminal->offset, terminal->lo, terminal->hi, terminal->target};
    return limited(0, 0, [&](Budget& budget) {
        return std::make_shared<CharacterDfa>(characters_of(bytes, terminal->start, budget));
    });
}

// Bounds as texts, each with whether it is in the range; nothing: a bound has many digits.
using TextBound = std::optional<std::pair<std::string, bool>>;
template <class Between>
std::optional<Shared> between(const std::vector<std::pair<TextBound, TextBound>>& ranges, Between terminal) {
    std::vector<NumberBounds> bounds;
    for (const auto& [least, most] : ranges) {
        auto& own = bounds.emplace_back();
        for (const auto& [given, bound] : {std::pair{&least, &own.least}, std::pair{&most, &own.most}}) {
            if (!*given) continue;
            auto number = Decimal::read((*given)->first);
            if (!number) return std::nullopt;
            *bound = NumberBound{std::move(*number), (*given)->second};
        }
    }
    return characters_in(terminal(bounds));
}

Shared characters(const Array<std::uint8_t>& kind, const Array<std::int32_t>& offset,
                  const Array<std::uint8_t>& low, const Array<std::uint8_t>& high,
                  const Array<std::int32_t>& target, std::int32_t start, std::int64_t max_states,
                  std::int64_t max_bytes) {
    const ByteNfa bytes{view(kind), view(offset), view(low), view(high), view(target)};
    return limited(max_states, max_bytes, [&](Budget& budget) {
        return std::make_shared<CharacterDfa>(characters_of(bytes, start, budget));
    });
}

// Offsets, bytes, targets, and whether each state accepts.
auto arrays_of(WordAutomaton made) {
    return std::tuple(owned(std::move(made.offset)), owned(std::move(made.byte)),
                      owned(std::move(made.target)), owned(std::move(made.accepting)));
}

auto words(const Array<std::uint8_t>& letters, const Array<std::int32_t>& lengths, std::int64_t max_states,
           std::int64_t max_bytes) {
    return arrays_of(limited(max_states, max_bytes, [&](Budget& budget) {
        return word_automaton(view(letters), view(lengths), budget);
    }));
}

auto factors(const Array<std::int32_t>& points, std::int64_t max_states, std::int64_t max_bytes) {
    return arrays_of(limited(max_states, max_bytes,
                             [&](Budget& budget) { return factor_automaton(view(points), budget); }));
}

// Kinds, offsets, bytes from and to, targets.
auto longest(const Array<std::int32_t>& offset, const Array<std::uint8_t>& low,
             const Array<std::uint8_t>& high, const Array<std::int32_t>& target,
             const Array<std::uint8_t>& accepting) {
    OrderedAutomaton made;
    {
        const WithoutGil release;
        made = longest_match(view(offset), view(low), view(high), view(target), view(accepting));
    }
    return std::tuple(owned(std::move(made.kind)), owned(std::move(made.offset)), owned(std::move(made.low)),
                      owned(std::move(made.high)), owned(std::move(made.target)));
}

// Offsets, bytes from and to, targets.
auto arrays_of(ByteAutomaton made) {
    return std::tuple(owned(std::move(made.offset)), owned(std::move(made.low)), owned(std::move(made.high)),
                      owned(std::move(made.target)));
}

std::span<const std::uint8_t> seen(const nb::bytes& bytes) {
    return {static_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

auto strings(const CharacterDfa& contents, int escapes, const nb::bytes& before, const nb::bytes& after,
             std::int64_t max_states, std::int64_t max_bytes) {
    if (escapes < 0 || escapes > static_cast<int>(Escapes::kYaml))
        throw std::invalid_argument("json strings: unknown escapes");
    const auto opening = seen(before), closing = seen(after);
    return arrays_of(limited(max_states, max_bytes, [&](Budget& budget) {
        return json_strings(contents, static_cast<Escapes>(escapes), opening, closing, budget);
    }));
}

auto all_but(const Array<std::int32_t>& offset, const Array<std::uint8_t>& low,
             const Array<std::uint8_t>& high, const Array<std::int32_t>& target,
             const Array<std::uint8_t>& letters, const Array<std::int32_t>& lengths,
             std::int64_t max_states) {
    const ByteAutomaton automaton{copy(offset), copy(low), copy(high), copy(target)};
    return arrays_of(limited(max_states, 0, [&](Budget& budget) {
        return all_but_words(automaton, view(letters), view(lengths), budget);
    }));
}

using Numbers = nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<1>>;
using Self = nb::pointer_and_handle<CharacterDfa>;

// Views share memory with the automaton and keep it alive.
Numbers view_of(const std::vector<std::int32_t>& values, const Self& self) {
    return {values.data(), {values.size()}, self.h};
}

}  // namespace

void bind_regular(nb::module_& m) {
    using Many = std::vector<std::int32_t>;
    nb::class_<Formulas>(m, "Formulas")
        .def(
            "__init__",
            [](Formulas* own, std::int64_t max_nodes) { new (own) Formulas(max_nodes, look_once); },
            nb::arg("max_nodes"))
        .def("node",
             [](const Formulas& formulas, std::int32_t formula) {
                 const auto [variable, then, otherwise] = formulas.node(formula);
                 return std::tuple(variable, then, otherwise);
             })
        .def("variable", &Formulas::variable)
        .def("choice", &Formulas::choice)
        .def("support", [](const Formulas& formulas, const Many& some) { return formulas.support(some); })
        .def("alternatives", &Formulas::alternatives)
        .def("replaced", [](Formulas& formulas, const Many& some, const Many& variables, std::int32_t by) {
            return formulas.replaced(some, variables, by);
        });
    nb::class_<Substitution>(m, "Substitution")
        .def(nb::init<Formulas&>(), nb::keep_alive<1, 2>(), nb::arg("formulas"))
        .def("give", &Substitution::give)
        .def("missing", [](const Substitution& given, const Many& some) { return given.missing(some); })
        .def("apply", &Substitution::apply);
    nb::class_<CharacterDfa>(m, "CharacterDfa")
        .def_static("make", &dfa_of, nb::arg("firsts"), nb::arg("numbers"), nb::arg("table"),
                    nb::arg("accepting"), nb::arg("max_bytes") = 0, nb::arg("is_least") = false)
        .def_prop_ro("num_states", &CharacterDfa::size)
        .def_prop_ro("num_classes", [](const CharacterDfa& dfa) { return dfa.classes.count; })
        .def_prop_ro("firsts", [](Self self) { return view_of(self.p->classes.firsts, self); })
        .def_prop_ro("numbers", [](Self self) { return view_of(self.p->classes.numbers, self); })
        .def_prop_ro("table", [](Self self) { return view_of(self.p->table, self); })
        .def_prop_ro("accepting",
                     [](Self self) {
                         return nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>>(
                             self.p->accepting.data(), {self.p->accepting.size()}, self.h);
                     })
        .def(
            "accepts",
            [](const CharacterDfa& dfa, const Array<std::int32_t>& points) {
                return dfa.accepts(view(points));
            },
            nb::arg("points"))
        .def(
            "lengths",
            [](const CharacterDfa& dfa, std::int32_t least,
               std::optional<std::int32_t> most) -> std::optional<std::pair<bool, bool>> {
                if (dfa.size() == 0) return std::pair{false, true};
                const auto lengths = StringLengths::of(dfa);
                if (!lengths) return std::nullopt;
                constexpr auto kEndless = StringLengths::kEndless;
                const auto last = most.value_or(kEndless);
                const bool are_others =
                    lengths->meet(0, 0, least - 1) || (most && lengths->meet(0, last + 1, kEndless));
                return std::pair{lengths->meet(0, least, last), !are_others};
            },
            "Whether some string, and whether every one, has at least and at most so many characters; None: "
            "it "
            "would take too long to say.",
            nb::arg("least"), nb::arg("most").none());
    m.def("character_classes", &character_classes, nb::arg("sets"));
    m.def("determinized", &determinize, nb::kw_only(), nb::arg("sets"), nb::arg("edge_offsets"),
          nb::arg("edge_sets"), nb::arg("edge_lists"), nb::arg("list_offsets"), nb::arg("lists"),
          nb::arg("accepting"), nb::arg("everything"), nb::arg("start_list"), nb::arg("max_states"),
          nb::arg("max_bytes"));
    m.def("combined", &combine, nb::arg("automata"), nb::arg("asked"), nb::arg("then"), nb::arg("otherwise"),
          nb::arg("max_states"), nb::arg("max_bytes"));
    m.def("signatures", &signatures, nb::arg("automata"), nb::arg("max_states"), nb::arg("max_bytes"));
    m.def("plain_pattern", &plain_pattern, nb::arg("pattern"), nb::arg("max_states"), nb::arg("max_bytes"));
    m.def("multiples", &multiples_of, nb::arg("scaled"), nb::arg("places"), nb::arg("spelled"),
          nb::arg("max_states"), nb::arg("max_bytes"));
    using TextRanges = std::vector<std::pair<TextBound, TextBound>>;
    m.def(
        "numbers_between", [](const TextRanges& ranges) { return between(ranges, numbers_between); },
        nb::arg("ranges"));
    m.def(
        "integers_between", [](const TextRanges& ranges) { return between(ranges, integers_between); },
        nb::arg("ranges"));
    m.def("characters_of", &characters, nb::arg("kind"), nb::arg("offset"), nb::arg("low"), nb::arg("high"),
          nb::arg("target"), nb::arg("start"), nb::arg("max_states"), nb::arg("max_bytes"));
    m.def("word_automaton", &words, nb::arg("letters"), nb::arg("lengths"), nb::arg("max_states"),
          nb::arg("max_bytes"));
    m.def("longest_match", &longest, nb::arg("offset"), nb::arg("low"), nb::arg("high"), nb::arg("target"),
          nb::arg("accepting"));
    m.def("factor_automaton", &factors, nb::arg("points"), nb::arg("max_states"), nb::arg("max_bytes"));
    m.def("json_strings", &strings, nb::arg("contents"), nb::arg("escapes"), nb::arg("before"),
          nb::arg("after"), nb::arg("max_states"), nb::arg("max_bytes"));
    m.def("all_but_words", &all_but, nb::arg("offset"), nb::arg("low"), nb::arg("high"), nb::arg("target"),
          nb::arg("letters"), nb::arg("lengths"), nb::arg("max_states"));
}

}  // namespace pdacon
