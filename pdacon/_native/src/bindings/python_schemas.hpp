// What the core asks Python about JSON Schemas.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/memory.hpp"
#include "frontends/derivatives.hpp"
#include "frontends/questions.hpp"

namespace pdacon {

namespace nb = nanobind;
using Numbers = std::vector<std::int32_t>;

inline std::optional<Numbers> numbers_or_none(const nb::object& answer) {
    if (answer.is_none()) return std::nullopt;
    return nb::cast<Numbers>(answer);
}

// Asks Python, and converts, which must not fail for want of memory.
template <class Ask>
auto asked(Ask ask) {
    const MemoryLimit::Lenient converted;
    return ask();
}

// Asks Python, with the GIL held all the time. It lives for one call, so that nothing of the core holds what
// holds it.
class PythonSchemas final : public AboutSchemas {
  public:
    explicit PythonSchemas(nb::handle about) : about_(about) {}

    Numbers types(std::int32_t variable) override {
        return asked([&] { return nb::cast<Numbers>(about_.attr("types_of")(variable)); });
    }
    std::int32_t meaning(std::int32_t variable, std::int32_t type) override {
        return asked([&] { return nb::cast<std::int32_t>(about_.attr("meaning_of")(variable, type)); });
    }
    std::optional<Numbers> values(std::int32_t variable) override {
        return asked([&] { return numbers_or_none(about_.attr("values_of")(variable)); });
    }
    std::optional<Numbers> listed(std::int32_t variable) override {
        return asked([&] { return numbers_or_none(about_.attr("listed_by")(variable)); });
    }
    bool holds_for_any(std::int32_t formula, std::int32_t type) override {
        return asked([&] { return nb::cast<bool>(about_.attr("holds_for_any")(formula, type)); });
    }

  private:
    nb::handle about_;
};

// A step as Python gives it, as a tuple.
inline Step step_of(const nb::object& given) {
    const auto answer = nb::cast<nb::tuple>(given);
    return {nb::cast<std::int32_t>(answer[0]), nb::cast<std::int32_t>(answer[1]),
            nb::cast<std::int32_t>(answer[2]), nb::cast<std::int32_t>(answer[3])};
}

inline std::optional<std::int32_t> number_or_none(const nb::object& given) {
    if (given.is_none()) return std::nullopt;
    return nb::cast<std::int32_t>(given);
}

}  // namespace pdacon
