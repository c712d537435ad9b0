// What each room of the native core adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace pdacon {

void bind_errors(nanobind::module_& m);
void bind_regular(nanobind::module_& m);
void bind_frontends(nanobind::module_& m);
void bind_lalr(nanobind::module_& m);
void bind_lexer(nanobind::module_& m);
void bind_artifact(nanobind::module_& m);
void bind_filters(nanobind::module_& m);
void bind_composition(nanobind::module_& m);
void bind_nested(nanobind::module_& m);
void bind_matching(nanobind::module_& m);
void bind_arena(nanobind::module_& m);
void bind_engines(nanobind::module_& m);

}  // namespace pdacon
