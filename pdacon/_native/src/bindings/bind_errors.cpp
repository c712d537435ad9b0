// Native exceptions become the typed ones of pdacon.errors.
#include <nanobind/nanobind.h>

#include "artifact/artifact.hpp"
#include "base/budget.hpp"
#include "base/memory.hpp"
#include "bindings/module.hpp"
#include "matching/matcher.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

void raise(const char* name, nb::tuple arguments) {
    const nb::object type = nb::module_::import_("pdacon.errors").attr(name);
    PyErr_SetObject(type.ptr(), type(*arguments).ptr());
}

}  // namespace

void bind_errors(nb::module_&) {
    nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
        try {
            std::rethrow_exception(pointer);
        } catch (const LimitExceeded& error) {
            raise("LimitExceededError",
                  nb::make_tuple(error.what(), error.given, error.limit, error.detail.c_str()));
        } catch (const OutOfBytes& error) {
            raise("LimitExceededError", nb::make_tuple(error.what(), error.given, error.limit));
        } catch (const Cancelled& error) {
            raise("CancelledError", nb::make_tuple(error.what()));
        } catch (const ArtifactDamage& error) {
            raise("ArtifactError", nb::make_tuple(error.what()));
        } catch (const MatcherMisuse& error) {
            raise("MatcherError", nb::make_tuple(error.what()));
        }
    });
}

}  // namespace pdacon
