// What the keywords of a schema are about, and what is read of their values without Python's code.
//
// In: schemas as Python's dictionaries, and values in them. Out: types as bits, texts, and the keys of what a
// schema asks of scalars. It knows no questions. Python's lock is held.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nested/number_range.hpp"
#include "nested/schemas.hpp"

namespace pdacon {

namespace nb = nanobind;

namespace schema_types {

// In the order in which families have them.
enum Type : std::uint8_t { kNull, kBoolean, kNumber, kInteger, kString, kArray, kObject, kTypes };
constexpr std::array<std::string_view, kTypes> kNames = {"null",   "boolean", "number", "integer",
                                                         "string", "array",   "object"};
constexpr std::uint32_t bit(std::size_t type) { return std::uint32_t{1} << type; }
constexpr std::uint32_t kNumbers = bit(kNumber) | bit(kInteger);
constexpr std::uint32_t kAll = bit(kTypes) - 1 - bit(kInteger);
constexpr std::uint32_t kContainers = bit(kArray) | bit(kObject);

}  // namespace schema_types

inline nb::handle get(nb::handle node, const char* keyword) {
    return PyDict_GetItemString(node.ptr(), keyword);
}
std::optional<std::string_view> text_of(nb::handle text);
// A text that stands for itself within quotes; `is_ascii`: where other characters are escaped.
std::optional<std::string_view> unescaped(nb::handle text, bool is_ascii);
// As bits; 0: they are not right.
std::uint32_t types_in(nb::handle said);
// The type of a value, but for a number `number` is said.
std::uint32_t type_of(nb::handle value);
// An integer that Python writes without an exponent as a float, too; nothing: it is none, or larger.
std::optional<std::int64_t> integer_of(nb::handle number);
// A whole number from 0 on, up to a limit; -1: it is none, or larger.
std::int32_t count_of(nb::handle number, std::int32_t most);

// Of a keyword that asserts something.
struct Keyword {
    std::string_view name;
    std::uint32_t about;  // types, as bits; 0: all, or not known here
    bool holds_if_empty;  // whether the empty value of each type, or 0, satisfies it, whatever its value is
};
const Keyword* keyword_of(std::string_view name);
// Whether it is about scalars alone, and its own value says all of what it means.
bool is_about_scalars(const Keyword& keyword);

// What a schema says of scalars of some types beside the types, as a text that is the same for all schemas
// that say the same; empty: nothing. Nothing at all: values in it are of a kind that is not read here.
std::optional<std::string> key_of_scalars(nb::handle node, std::uint32_t types, int draft, bool has_formats);
// Whether a schema lists values, by `enum` or, where the draft has it, `const`.
bool lists_values(nb::handle node, int draft);
// Whether a schema says anything of strings, or of numbers, beside the type.
bool asks_of_strings(nb::handle node, bool has_formats);
bool asks_of_numbers(nb::handle node);
// Whether a schema asks of strings that they match a pattern, and nothing else.
bool asks_only_a_pattern(nb::handle node, bool has_formats);
// The same of a format.
bool asks_only_a_format(nb::handle node, bool has_formats);
// How many characters strings have, if nothing else is asked of them; nothing: more is, or very many.
std::optional<Counts> length_counts(nb::handle node, bool has_formats);
// Whether it is plain that some string, or number, satisfies what a schema says beside the type.
bool has_plain_string(nb::handle node, bool has_formats);
bool has_plain_number(nb::handle node, std::uint32_t types, int draft);
// The bounds of the numbers that a schema takes, if it asks nothing else of them; nothing: that is not so, or
// a bound has many digits.
std::optional<NumberBounds> number_bounds(nb::handle node, int draft);

}  // namespace pdacon
