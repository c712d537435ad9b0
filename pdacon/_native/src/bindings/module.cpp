// The one extension module. Each room binds its own names; nothing is computed here.
#include "bindings/module.hpp"

#include <nanobind/nanobind.h>

NB_MODULE(_core, m) {
    // Where threads are at work when the interpreter exits, what they have stays: nothing to write about.
    nanobind::set_leak_warnings(false);
    m.doc() = "The native core of pdacon: integers and flat arrays in, integers and flat arrays out.";
    pdacon::bind_errors(m);
    pdacon::bind_regular(m);
    pdacon::bind_frontends(m);
    pdacon::bind_lalr(m);
    pdacon::bind_lexer(m);
    pdacon::bind_artifact(m);
    pdacon::bind_filters(m);
    pdacon::bind_composition(m);
    pdacon::bind_nested(m);
    pdacon::bind_matching(m);
    pdacon::bind_arena(m);
    pdacon::bind_engines(m);
}
