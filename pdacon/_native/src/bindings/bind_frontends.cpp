// The binding of productions, and of what objects and arrays are written as.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "frontends/containers.hpp"
#include "frontends/productions.hpp"
#include "regular/formulas.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

// Asks Python, with the GIL held all the time: nearly every answer is Python's.
class PythonMembers final : public AboutMembers {
  public:
    explicit PythonMembers(nb::handle about)
        : step_(about.attr("step")),
          at_end_(about.attr("at_end")),
          possible_(about.attr("possible")),
          terminal_(about.attr("terminal")),
          look_(about.attr("look")) {}

    Step step(std::int32_t variable, std::int32_t read) override {
        const auto answer = nb::cast<nb::tuple>(step_(variable, read));
        return {nb::cast<std::int32_t>(answer[0]), nb::cast<std::int32_t>(answer[1]),
                nb::cast<std::int32_t>(answer[2]), nb::cast<bool>(answer[3])};
    }
    bool at_end(std::int32_t variable) override { return nb::cast<bool>(at_end_(variable)); }
    bool possible(std::int32_t question) override { return nb::cast<bool>(possible_(question)); }
    std::optional<std::int32_t> terminal(std::int32_t read) override {
        const nb::object answer = terminal_(read);
        if (answer.is_none()) return std::nullopt;
        return nb::cast<std::int32_t>(answer);
    }
    void look() override { look_(); }

  private:
    nb::object step_, at_end_, possible_, terminal_, look_;
};

nb::object lowered(const Productions& productions, std::int32_t start) {
    auto made = productions.lowered(start);
    if (made.nonterminals.empty()) return nb::none();
    return nb::make_tuple(nb::cast(made.terminals), nb::cast(made.nonterminals), owned(std::move(made.lhs)),
                          owned(std::move(made.rhs_offset)), owned(std::move(made.rhs)),
                          owned(std::move(made.order)));
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
            nb::arg("machine"), nb::arg("depth"), nb::arg("depth_within"), nb::arg("is_deepest"),
            nb::arg("empty"), nb::arg("between"), nb::arg("opening"), nb::arg("closing"), nb::arg("comma"));
    m.def("write_object", [](Productions& out, Formulas& formulas, nb::handle about, const Container& object,
                             std::int32_t names, std::int32_t classes, bool unordered) {
        PythonMembers members(about);
        return write_object(out, formulas, members, object, names, classes, unordered);
    });
    m.def("write_array", [](Productions& out, Formulas& formulas, nb::handle about, const Container& array,
                            const Vector& start) {
        PythonMembers items(about);
        return write_array(out, formulas, items, array, start);
    });
}

}  // namespace pdacon
