// The binding of productions, and of what objects and arrays are written as.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "bindings/arrays.hpp"
#include "bindings/cancelling.hpp"
#include "bindings/module.hpp"
#include "bindings/python_schemas.hpp"
#include "bindings/schema_ranks.hpp"
#include "frontends/containers.hpp"
#include "frontends/productions.hpp"
#include "frontends/questions.hpp"
#include "regular/formulas.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

// Asks Python what the members of one object are about; whether there are values is asked of its questions.
class PythonMembers final : public AboutMembers {
  public:
    PythonMembers(nb::handle about, Questions& questions, nb::handle schemas)
        : step_(about.attr("step")),
          at_end_(about.attr("at_end")),
          concerns_(about.attr("concerns")),
          terminal_(about.attr("terminal")),
          questions_(questions),
          schemas_(schemas) {}

    Step step(std::int32_t variable, std::int32_t read) override {
        return asked([&] { return step_of(step_(variable, read)); });
    }
    bool at_end(std::int32_t variable) override {
        return asked([&] { return nb::cast<bool>(at_end_(variable)); });
    }
    std::optional<Vector> concerns(std::int32_t variable) override {
        return asked([&] { return numbers_or_none(concerns_(variable)); });
    }
    bool possible(std::int32_t question) override { return questions_.possible(schemas_, question); }
    std::optional<Vector> listed(std::int32_t question) override {
        return questions_.listed(schemas_, question);
    }
    std::optional<std::int32_t> terminal(std::int32_t read) override {
        return asked([&] { return number_or_none(terminal_(read)); });
    }
    void look() override { budget_.tick(); }

  private:
    nb::object step_, at_end_, concerns_, terminal_;
    Questions& questions_;
    PythonSchemas schemas_;
    PythonCanceller canceller_;
    Budget budget_{0, 0, &canceller_};
};

// What the states of all objects and arrays may take: without an order they are exponentially many.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

// Of some questions those that values of a type may satisfy, with what they say of them.
std::map<std::int32_t, std::int32_t> meanings(Questions& questions, nb::handle about, const Numbers& family,
                                              std::int32_t type) {
    PythonSchemas schemas(about);
    std::map<std::int32_t, std::int32_t> found;
    for (const auto one : family) {
        if (!std::ranges::binary_search(questions.types(schemas, one), type)) continue;
        const auto formula = questions.meaning(schemas, one, type);
        if (formula != Formulas::kFalse) found.emplace(one, formula);
    }
    return found;
}

void make_order(
    MemberOrder* own, std::int32_t names, std::int32_t classes, bool is_total, std::vector<Vector> closed_by,
    const Vector& come_once,
    const std::vector<std::pair<std::int32_t, std::vector<std::pair<std::int32_t, std::int32_t>>>>& lists) {
    const auto is_name = [&](auto name) { return name >= 0 && name < names; };
    bool right = names >= 0 && classes >= 0 && std::ranges::all_of(come_once, is_name);
    right &= is_total ? closed_by.empty() && lists.empty() : std::cmp_equal(closed_by.size(), names);
    for (const auto& others : closed_by) right &= std::ranges::all_of(others, is_name);
    MemberOrder made{names, classes, is_total, std::move(closed_by), {}, {}};
    for (const auto& [variable, ranks] : lists) {
        right &= std::ranges::all_of(ranks, [&](const auto& one) { return is_name(one.first); });
        made.lists.push_back({variable, ranks});
    }
    if (!right) throw std::invalid_argument("an order of names that are not there");
    made.comes_once.resize(static_cast<std::size_t>(names));
    for (const auto name : come_once) made.comes_once[static_cast<std::size_t>(name)] = true;
    new (own) MemberOrder(std::move(made));
}

// Terminals and nonterminals by their new numbers; of each production its left-hand side, offset and symbols.
std::optional<std::tuple<Numbers, Numbers, Owned<std::int32_t>, Owned<std::int32_t>, Owned<std::int32_t>>>
lowered(const Productions& productions, std::int32_t start) {
    auto made = productions.lowered(start);
    if (made.nonterminals.empty()) return std::nullopt;
    return std::tuple(std::move(made.terminals), std::move(made.nonterminals), owned(std::move(made.lhs)),
                      owned(std::move(made.rhs_offset)), owned(std::move(made.rhs)));
}

}  // namespace

void bind_frontends(nb::module_& m) {
    nb::class_<Productions>(m, "Productions")
        .def(nb::init<std::int64_t>(), nb::arg("most"))
        .def("nonterminal", [](Productions& out, const Vector& key) { return out.nonterminal(key); })
        .def("kind", &Productions::kind)
        .def("add", [](Productions& out, std::int32_t lhs, const Vector& rhs) { out.add(lhs, rhs); })
        .def("lowered", &lowered);
    nb::class_<Container>(m, "Container")
        .def(
            "__init__",
            [](Container* own, Vector machine, std::int32_t depth, std::int32_t depth_within, bool is_deepest,
               Vector empty, Vector between, std::int32_t opening, std::int32_t closing, std::int32_t comma) {
                new (own) Container{std::move(machine),
                                    depth,
                                    depth_within,
                                    is_deepest,
                                    {std::move(empty), std::move(between), opening, closing, comma}};
            },
            nb::kw_only(), nb::arg("machine"), nb::arg("depth"), nb::arg("depth_within"),
            nb::arg("is_deepest"), nb::arg("empty"), nb::arg("between"), nb::arg("opening"),
            nb::arg("closing"), nb::arg("comma"));
    nb::class_<MemberOrder>(m, "MemberOrder")
        .def("__init__", &make_order, nb::kw_only(), nb::arg("names"), nb::arg("classes"),
             nb::arg("is_total"), nb::arg("closed_by"), nb::arg("come_once"), nb::arg("lists"));
    nb::class_<Questions>(m, "Questions")
        .def(nb::init<Formulas&, std::vector<std::uint8_t>>(), nb::keep_alive<1, 2>(), nb::arg("formulas"),
             nb::arg("scalar"))
        .def("types",
             [](Questions& questions, nb::handle about, std::int32_t question) {
                 PythonSchemas schemas(about);
                 return questions.types(schemas, question);
             })
        .def("meaning",
             [](Questions& questions, nb::handle about, std::int32_t question, std::int32_t type) {
                 PythonSchemas schemas(about);
                 return questions.meaning(schemas, question, type);
             })
        .def("meanings", &meanings)
        .def("possible", [](Questions& questions, nb::handle about, std::int32_t question) {
            PythonSchemas schemas(about);
            return questions.possible(schemas, question);
        });
    m.def(
        "add_ranks", &add_ranks, nb::arg("schemas"), nb::arg("names"), nb::arg("values"),
        nb::sig("def add_ranks(schemas: list[typing.Any], names: dict[str, int], values: dict[str, int]) -> "
                "None"));
    m.def(
        "write_object",
        [](Productions& out, Formulas& formulas, Questions& questions, nb::handle schemas, nb::handle about,
           const Container& object, const Vector& start, const MemberOrder& order) {
            PythonMembers members(about, questions, schemas);
            const MemoryLimit memory(kMostBytes, out.held());
            return write_object(out, formulas, members, object, start, order);
        },
        nb::kw_only(), nb::arg("out"), nb::arg("formulas"), nb::arg("questions"), nb::arg("schemas"),
        nb::arg("about"), nb::arg("object"), nb::arg("start"), nb::arg("order"));
    m.def("write_array", [](Productions& out, Formulas& formulas, Questions& questions, nb::handle schemas,
                            nb::handle about, const Container& array, const Vector& start) {
        PythonMembers items(about, questions, schemas);
        const MemoryLimit memory(kMostBytes, out.held());
        return write_array(out, formulas, items, array, start);
    });
}

}  // namespace pdacon
