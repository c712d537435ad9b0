// Where names and values first stand in schemas, as Python's values (pdacon/frontends/json_schema/ranks.py).
#pragma once

#include <nanobind/nanobind.h>

namespace pdacon {

// Adds to `names` those of members that some schemas list or require, and to `values` the strings of their
// `enum` and `const`, each with how many came before it. Linear in the size of the schemas.
void add_ranks(nanobind::list schemas, nanobind::dict names, nanobind::dict values);

}  // namespace pdacon
