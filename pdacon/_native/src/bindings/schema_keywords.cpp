#include "bindings/schema_keywords.hpp"

#include <algorithm>
#include <cmath>

#include "regular/plain_patterns.hpp"

namespace pdacon {

using namespace schema_types;

namespace {

constexpr std::uint32_t kNoType = 0;
constexpr auto kString_ = bit(kString), kArray_ = bit(kArray), kObject_ = bit(kObject);
// By name; as pdacon/frontends/json_schema/looks.py has them.
constexpr Keyword kKeywords[] = {
    {"additionalItems", kArray_, true},
    {"additionalProperties", kObject_, true},
    {"allOf", kNoType, false},
    {"anyOf", kNoType, false},
    {"const", kNoType, false},
    {"contains", kArray_, false},
    {"dependencies", kObject_, false},
    {"dependentRequired", kObject_, true},
    {"dependentSchemas", kObject_, false},
    {"enum", kNoType, false},
    {"exclusiveMaximum", kNumbers, false},
    {"exclusiveMinimum", kNumbers, false},
    {"format", kString_, false},
    {"items", kArray_, true},
    {"maxItems", kArray_, true},
    {"maxLength", kString_, true},
    {"maxProperties", kObject_, true},
    {"maximum", kNumbers, false},
    {"minItems", kArray_, false},
    {"minLength", kString_, false},
    {"minProperties", kObject_, false},
    {"minimum", kNumbers, false},
    {"multipleOf", kNumbers, true},
    {"oneOf", kNoType, false},
    {"pattern", kString_, false},
    {"patternProperties", kObject_, true},
    {"prefixItems", kArray_, true},
    {"properties", kObject_, true},
    {"propertyNames", kObject_, true},
    {"required", kObject_, false},
    {"type", kNoType, true},
    {"unevaluatedItems", kArray_, true},
    {"unevaluatedProperties", kObject_, true},
    {"uniqueItems", kArray_, true},
};
static_assert(std::ranges::is_sorted(kKeywords, {}, &Keyword::name));
constexpr const char* kOfStrings[] = {"minLength", "maxLength", "pattern", "format"};
constexpr const char* kOfNumbers[] = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
                                      "multipleOf"};
constexpr Py_ssize_t kMostListed = 1'000;  // values whose texts are a key

// A value of a keyword, so that values of which Python's texts are the same are the same. False: it is none
// that is read here.
bool add_value(nb::handle value, std::string& key) {
    auto* const own = value.ptr();
    const auto add = [&](char kind, std::string_view text) {
        key += kind;
        key += std::to_string(text.size());
        key += ':';
        key += text;
        return true;
    };
    if (own == Py_None || PyBool_Check(own))
        return add('c', own == Py_None ? "n" : own == Py_True ? "t" : "f");
    if (PyUnicode_CheckExact(own)) return add('s', *text_of(value));
    if (PyLong_CheckExact(own)) {
        int overflows = 0;
        const auto number = PyLong_AsLongLongAndOverflow(own, &overflows);
        if (overflows == 0) return add('i', std::to_string(number));
    } else if (!PyFloat_Check(own)) {  // with its text, where that is not Python's
        return false;
    }
    const auto text = nb::steal<nb::object>(PyObject_Repr(own));
    if (!text.is_valid()) throw nb::python_error();
    return add('r', *text_of(text));
}

bool add_values(nb::handle values, std::string& key) {
    if (!PyList_CheckExact(values.ptr()) || PyList_Size(values.ptr()) > kMostListed) return false;
    const auto own = nb::borrow<nb::list>(values);
    return std::ranges::all_of(own, [&](nb::handle value) { return add_value(value, key); });
}

// A number that a double is equal to.
std::optional<double> number_of(nb::handle value) {
    if (PyFloat_Check(value.ptr())) return PyFloat_AsDouble(value.ptr());
    if (!PyLong_CheckExact(value.ptr())) return std::nullopt;
    int overflows = 0;
    const auto number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflows);
    constexpr auto kLargest = std::int64_t{1} << 52;
    if (overflows != 0 || number > kLargest || number < -kLargest) return std::nullopt;
    return static_cast<double>(number);
}

// A number as it is written; nothing: it is none that is read here.
std::optional<Decimal> decimal_of(nb::handle value) {
    if (!PyFloat_Check(value.ptr()) && !PyLong_CheckExact(value.ptr())) return std::nullopt;
    constexpr double kLargest = 1e40;  // beyond which there are many digits
    const auto number = PyFloat_AsDouble(value.ptr());
    const bool is_beyond = PyErr_Occurred() != nullptr;
    if (is_beyond) PyErr_Clear();
    if (is_beyond || !(std::abs(number) < kLargest)) return std::nullopt;
    const auto text = nb::steal<nb::object>(PyObject_Repr(value.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    return Decimal::read(*text_of(text));
}

}  // namespace

std::optional<std::string_view> text_of(nb::handle text) {
    if (!text || !PyUnicode_CheckExact(text.ptr())) return std::nullopt;
    Py_ssize_t size = 0;
    const auto* begin = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (begin == nullptr) throw nb::python_error();
    return std::string_view(begin, static_cast<std::size_t>(size));
}

std::optional<std::string_view> unescaped(nb::handle text, bool is_ascii) {
    const auto found = text_of(text);
    if (found && std::ranges::any_of(*found, [&](char sign) {
            const auto byte = static_cast<unsigned char>(sign);
            return byte < 0x20 || byte == 0x7F || byte == '"' || byte == '\\' || (is_ascii && byte > 0x7F);
        }))
        return std::nullopt;
    return found;
}

std::uint32_t types_in(nb::handle said) {
    const auto of = [](nb::handle name) -> std::uint32_t {
        const auto text = text_of(name);
        const auto at = text ? std::ranges::find(kNames, *text) : kNames.end();
        return at == kNames.end() ? 0 : bit(static_cast<std::size_t>(at - kNames.begin()));
    };
    if (!PyList_CheckExact(said.ptr())) return of(said);
    std::uint32_t types = 0;
    for (const auto name : nb::borrow<nb::list>(said)) {
        const auto type = of(name);
        if (type == 0) return 0;
        types |= type;
    }
    return (types & bit(kNumber)) != 0 ? types & ~bit(kInteger) : types;
}

std::uint32_t type_of(nb::handle value) {
    auto* const own = value.ptr();
    if (own == Py_None) return bit(kNull);
    if (PyBool_Check(own)) return bit(kBoolean);
    if (PyUnicode_Check(own)) return bit(kString);
    if (PyList_Check(own)) return bit(kArray);
    return PyDict_Check(own) ? bit(kObject) : bit(kNumber);
}

std::optional<std::int64_t> integer_of(nb::handle number) {
    if (!PyLong_CheckExact(number.ptr())) return std::nullopt;
    constexpr std::int64_t kLargest = 10'000'000'000'000'000;
    int overflows = 0;
    const auto value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflows);
    if (overflows != 0 || value >= kLargest || value <= -kLargest) return std::nullopt;
    return value;
}

std::int32_t count_of(nb::handle number, std::int32_t most) {
    if (!PyLong_CheckExact(number.ptr())) return -1;
    int overflows = 0;
    const auto value = PyLong_AsLongAndOverflow(number.ptr(), &overflows);
    return overflows != 0 || value < 0 || value > most ? -1 : static_cast<std::int32_t>(value);
}

const Keyword* keyword_of(std::string_view name) {
    const auto* const at = std::ranges::lower_bound(kKeywords, name, {}, &Keyword::name);
    return at != std::end(kKeywords) && at->name == name ? at : nullptr;
}

bool is_about_scalars(const Keyword& keyword) {
    return keyword.about != 0 && (keyword.about & ~(kNumbers | kString_)) == 0;
}

std::optional<std::string> key_of_scalars(nb::handle node, std::uint32_t types, int draft, bool has_formats) {
    std::string key;
    const auto add = [&](char sign, const char* keyword) {
        const auto value = get(node, keyword);
        if (!value) return true;
        key += sign;
        return PyList_Check(value.ptr()) ? add_values(value, key) : add_value(value, key);
    };
    char sign = 'A';
    for (const auto* keyword : kOfStrings) {
        const bool is_read =
            (types & kString_) != 0 && (has_formats || std::string_view(keyword) != "format");
        if (++sign; is_read && !add(sign, keyword)) return std::nullopt;
    }
    for (const auto* keyword : kOfNumbers)
        if (++sign; (types & kNumbers) != 0 && !add(sign, keyword)) return std::nullopt;
    if (!add('a', "enum")) return std::nullopt;
    if (draft > 4 && get(node, "const")) {
        key += 'b';
        if (!add_value(get(node, "const"), key)) return std::nullopt;
    }
    if (!key.empty()) key += draft <= 4 ? "4" : "6";
    return key;
}

bool lists_values(nb::handle node, int draft) {
    return get(node, "enum") || (draft > 4 && get(node, "const"));
}

bool asks_of_strings(nb::handle node, bool has_formats) {
    return get(node, "pattern") || get(node, "minLength") || get(node, "maxLength") ||
           (has_formats && get(node, "format"));
}

bool asks_only_a_pattern(nb::handle node, bool has_formats) {
    const bool asks_more =
        get(node, "minLength") || get(node, "maxLength") || (has_formats && get(node, "format"));
    return text_of(get(node, "pattern")) && !asks_more;
}

bool asks_only_a_format(nb::handle node, bool has_formats) {
    const bool asks_more = get(node, "minLength") || get(node, "maxLength") || get(node, "pattern");
    return has_formats && text_of(get(node, "format")) && !asks_more;
}

bool asks_of_numbers(nb::handle node) {
    return std::ranges::any_of(kOfNumbers, [&](const auto* keyword) { return bool(get(node, keyword)); });
}

std::optional<Counts> length_counts(nb::handle node, bool has_formats) {
    if (get(node, "pattern") || (has_formats && get(node, "format"))) return std::nullopt;
    constexpr std::int32_t kMost = 1'000'000;
    Counts counts;
    const auto least = get(node, "minLength"), most = get(node, "maxLength");
    if (least && (counts.least = count_of(least, kMost)) < 0) return std::nullopt;
    if (most && (counts.most = count_of(most, kMost)) < 0) return std::nullopt;
    return counts;
}

bool has_plain_string(nb::handle node, bool has_formats) {
    if (asks_only_a_pattern(node, has_formats)) {
        const auto pattern = PlainPattern::read(*text_of(get(node, "pattern")));
        return pattern && pattern->certainly_matches();
    }
    const auto counts = length_counts(node, has_formats);
    return counts && counts->least <= counts->most;
}

bool has_plain_number(nb::handle node, std::uint32_t types, int draft) {
    const bool is_strict = get(node, "exclusiveMinimum") || get(node, "exclusiveMaximum");
    if (get(node, "multipleOf") || (is_strict && draft <= 4)) return false;
    double least = -HUGE_VAL, most = HUGE_VAL;
    for (const auto* keyword : {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}) {
        const auto bound = get(node, keyword);
        if (!bound) continue;
        const auto number = number_of(bound);
        if (!number) return false;
        if (std::string_view(keyword).ends_with("inimum"))
            least = std::max(least, *number);
        else
            most = std::min(most, *number);
    }
    return most - least >= (is_strict ? 2 : (types & bit(kNumber)) == 0 ? 1 : 0);
}

std::optional<NumberBounds> number_bounds(nb::handle node, int draft) {
    if (get(node, "multipleOf") || lists_values(node, draft)) return std::nullopt;
    NumberBounds bounds;
    const auto narrow = [&](const char* name, bool is_strict, bool is_most) {
        const auto value = get(node, name);
        if (!value) return true;
        const auto number = decimal_of(value);
        if (!number) return false;
        auto& own = is_most ? bounds.most : bounds.least;
        const bool is_narrower = !own ||
                                 (is_most ? number->is_less(own->number) : own->number.is_less(*number)) ||
                                 (is_strict && *number == own->number);
        if (is_narrower) own = {*number, !is_strict};
        return true;
    };
    const auto are_read = [&](const char* keyword, const char* strict, bool is_most) {
        const auto given = get(node, strict);
        if (draft <= 4) return narrow(keyword, given && given.ptr() == Py_True, is_most);
        return narrow(keyword, false, is_most) && narrow(strict, true, is_most);
    };
    if (!are_read("minimum", "exclusiveMinimum", false) || !are_read("maximum", "exclusiveMaximum", true))
        return std::nullopt;
    return bounds;
}

}  // namespace pdacon
