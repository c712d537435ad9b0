// Arrays in, arrays out: the binding of the LALR(1) construction.
#include <nanobind/ndarray.h>

#include "bindings/arrays.hpp"
#include "bindings/cancelling.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "lalr/tables.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

using Input = Array<int32_t>;
using Vector = nb::ndarray<nb::numpy, const int32_t, nb::ndim<1>>;
using Matrix = nb::ndarray<nb::numpy, const int32_t, nb::ndim<2>>;
using Self = nb::pointer_and_handle<lalr::Tables>;

lalr::Tables lalr_tables(int32_t num_terminals, int32_t num_nonterminals, Input lhs, Input rhs_offset,
                         Input rhs, Input priority, Input starts, int64_t max_states, int64_t max_bytes) {
    const lalr::Productions productions{num_terminals, num_nonterminals, copy(lhs),   copy(rhs_offset),
                                        copy(rhs),     copy(priority),   copy(starts)};
    PythonCanceller canceller;
    const WithoutGil release;
    return lalr::build_tables(productions, {max_states, max_bytes, &canceller});
}

// Views share memory with the tables and keep them alive.
template <std::vector<int32_t> lalr::Tables::* member>
Vector vector_view(Self self) {
    const auto& values = self.p->*member;
    return {values.data(), {values.size()}, self.h};
}

Matrix matrix_view(Self self, const std::vector<int32_t>& values, int32_t columns) {
    return {values.data(), {static_cast<size_t>(self.p->num_states), static_cast<size_t>(columns)}, self.h};
}

Matrix conflict_view(Self self) {
    static_assert(sizeof(lalr::Conflict) == 8 * sizeof(int32_t));
    return {
        reinterpret_cast<const int32_t*>(self.p->conflicts.data()), {self.p->conflicts.size(), 8}, self.h};
}

}  // namespace

void bind_lalr(nb::module_& m) {
    using lalr::Tables;
    nb::class_<Tables>(m, "LalrTables")
        .def_prop_ro("action", [](Self s) { return matrix_view(s, s.p->action, s.p->num_terminals + 1); })
        .def_prop_ro("goto_offset", &vector_view<&Tables::goto_offset>)
        .def_prop_ro("goto_nonterminal", &vector_view<&Tables::goto_nonterminal>)
        .def_prop_ro("goto_target", &vector_view<&Tables::goto_target>)
        .def_prop_ro("start_states", &vector_view<&Tables::start_states>)
        .def_prop_ro("end_states", &vector_view<&Tables::end_states>)
        .def_prop_ro("accessing", &vector_view<&Tables::accessing>)
        .def_prop_ro("kernel_offset", &vector_view<&Tables::kernel_offset>)
        .def_prop_ro("kernel_production", &vector_view<&Tables::kernel_production>)
        .def_prop_ro("kernel_dot", &vector_view<&Tables::kernel_dot>)
        .def_prop_ro("conflicts", &conflict_view)
        .def_prop_ro("conflict_productions", &vector_view<&Tables::conflict_productions>);
    m.def("lalr_tables", &lalr_tables, nb::kw_only(), nb::arg("num_terminals"), nb::arg("num_nonterminals"),
          nb::arg("lhs"), nb::arg("rhs_offset"), nb::arg("rhs"), nb::arg("priority"), nb::arg("starts"),
          nb::arg("max_states"), nb::arg("max_bytes"));
}

}  // namespace pdacon
