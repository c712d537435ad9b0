// What each room of the native core adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace pdacon {

void bind_lalr(nanobind::module_& m);

}  // namespace pdacon
