// What the core asks Python about JSON Schemas.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "frontends/derivatives.hpp"
#include "frontends/questions.hpp"
#include "nested/schemas.hpp"

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

template <class T>
std::vector<T> array_of(nb::handle bytes) {
    const auto text = nb::cast<nb::bytes>(bytes);
    std::vector<T> numbers(text.size() / sizeof(T));
    std::memcpy(numbers.data(), text.c_str(), numbers.size() * sizeof(T));
    return numbers;
}

// A terminal by its number, as Python gives it.
inline CountedTerminal asked_terminal(nb::handle explorer, std::int32_t number) {
    const nb::object answer = explorer.attr("terminal")(number);
    if (answer.is_none()) throw NeedsWhole("a string is counted in parts");
    auto made = std::make_shared<NestedTerminal>();
    if (nb::isinstance<nb::bytes>(answer)) {
        const auto text = nb::cast<nb::bytes>(answer);
        made->text.assign(text.c_str(), text.size());
        return {std::move(made), {}};
    }
    const auto own = nb::cast<nb::tuple>(answer);
    made->kind = array_of<std::uint8_t>(own[0]);
    made->offset = array_of<std::int32_t>(own[1]);
    made->lo = array_of<std::uint8_t>(own[2]);
    made->hi = array_of<std::uint8_t>(own[3]);
    made->target = array_of<std::int32_t>(own[4]);
    if (own.size() == 5) return {std::move(made), {}};
    made->start = nb::cast<std::int32_t>(own[5]);
    made->inside = nb::cast<std::int32_t>(own[6]);
    return {std::move(made), {nb::cast<std::int32_t>(own[7]), nb::cast<std::int32_t>(own[8])}};
}

inline std::optional<std::int32_t> number_or_none(const nb::object& given) {
    if (given.is_none()) return std::nullopt;
    return nb::cast<std::int32_t>(given);
}

}  // namespace pdacon
