#include "module.hpp"

namespace pdacon {

void bind_lalr(nanobind::module_& m) { (void)m; }

}  // namespace pdacon
