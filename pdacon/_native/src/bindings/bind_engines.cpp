// The binding of matchers in an engine's own shape. Addresses are numbers here, as ctypes has them.
#include <nanobind/nanobind.h>

#include <cstdint>

#include "bindings/module.hpp"
#include "engines/llama_sampler.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

std::uintptr_t llama_sampler(Matcher& matcher, std::uintptr_t init, std::size_t sampler,
                             std::size_t interface, std::size_t candidate, std::size_t candidates) {
    const Matcher::Use use(matcher);
    if (matcher.is_nested()) matcher.complete();
    auto* const made = llama::make_sampler(
        matcher, {sampler, interface, candidate, candidates, reinterpret_cast<llama::Init>(init)});
    return reinterpret_cast<std::uintptr_t>(made);
}

void check_llama_sampler(std::uintptr_t sampler) {
    llama::check(reinterpret_cast<const llama::Sampler*>(sampler));
}

}  // namespace

void bind_engines(nb::module_& m) {
    m.def("llama_sampler", &llama_sampler, nb::arg("matcher"), nb::arg("init"), nb::arg("sampler"),
          nb::arg("interface"), nb::arg("candidate"), nb::arg("candidates"));
    m.def("check_llama_sampler", &check_llama_sampler, nb::arg("sampler"));
}

}  // namespace pdacon
