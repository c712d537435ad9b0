// How usual schemas are read (usual_schemas.hpp): a look at the keywords of each.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "bindings/schema_keywords.hpp"
#include "bindings/usual_schemas.hpp"
#include "nested/pattern_terminal.hpp"

namespace pdacon {

using namespace schema_types;

namespace {

constexpr auto kFalse = Formulas::kFalse, kTrue = Formulas::kTrue;
constexpr int kDeepest = 16;               // references in a row
constexpr std::int32_t kMostCounted = 64;  // items
constexpr Py_ssize_t kMostOptions = 64;
// Of alternatives that are looked at for an empty value.
constexpr int kDeepestEmpty = 2;
constexpr std::size_t kMostEmpty = 16;

// The types that have values in common with some.
std::uint32_t wide(std::uint32_t types) { return (types & kNumbers) != 0 ? types | kNumbers : types; }

bool names_a_place(nb::handle node) { return get(node, "$id") || get(node, "$schema") || get(node, "id"); }

}  // namespace

bool UsualSchemas::asserts_beside(nb::handle node, std::initializer_list<const char*> keywords) const {
    PyObject *keyword = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(node.ptr(), &at, &keyword, &value) != 0) {
        if (PySet_Contains(assertions_.ptr(), keyword) != 1) continue;
        const auto name = text_of(keyword);
        if (std::ranges::any_of(keywords, [&](const auto* known) { return name == known; })) continue;
        if (name != "format") return true;
        const auto said = get(node, "type");  // formats are those of strings
        const bool is_about_strings = !said || (types_in(said) & bit(kString)) != 0 || types_in(said) == 0;
        if (is_about_strings && asserts_format(value)) return true;
    }
    return false;
}

bool UsualSchemas::asserts_format(nb::handle format) const {
    return format &&
           (!PyUnicode_CheckExact(format.ptr()) || PySet_Contains(formats_.ptr(), format.ptr()) != 0);
}

// The types of which the empty value, or 0, certainly satisfies a schema.
std::uint32_t UsualSchemas::types_with_empty(nb::handle node, int depth) const {
    if (node.ptr() == Py_True) return kAll;
    if (!PyDict_CheckExact(node.ptr()) || depth > kDeepestEmpty) return 0;
    const auto said = get(node, "type");
    auto types = said ? types_in(said) : kAll;
    PyObject *keyword = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (types != 0 && PyDict_Next(node.ptr(), &at, &keyword, &value) != 0) {
        if (PySet_Contains(assertions_.ptr(), keyword) != 1) continue;
        const auto* const read = keyword_of(*text_of(keyword));
        if (read != nullptr && read->holds_if_empty) continue;
        if (read == nullptr) return 0;
        if (read->about != 0) {
            if (read->name != "format" || asserts_format(value)) types &= ~read->about;
            continue;
        }
        const bool is_any = read->name == "anyOf";
        if ((!is_any && read->name != "allOf") || !PyList_CheckExact(value)) return 0;
        const auto options = nb::borrow<nb::list>(value);
        if (options.size() > kMostEmpty) return 0;
        std::uint32_t some = 0;
        for (const auto option : options) {
            const auto own = types_with_empty(option, depth + 1);
            // An integer is a number, and a number may be none.
            const auto wide = (own & bit(kNumber)) != 0 ? own | bit(kInteger) : own;
            if (!is_any) types &= wide;
            some |= wide;
        }
        if (is_any) types &= some;
    }
    return types;
}

// Whether a schema says nothing of values of some types but what is read here.
bool UsualSchemas::asks_only_what_is_read(nb::handle node, std::uint32_t types) const {
    PyObject *keyword = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(node.ptr(), &at, &keyword, &value) != 0) {
        if (PySet_Contains(assertions_.ptr(), keyword) != 1) continue;
        const auto* const asked = keyword_of(*text_of(keyword));
        if (asked == nullptr) return false;
        constexpr std::string_view kRead[] = {
            "type",     "enum",  "const",           "properties", "patternProperties", "additionalProperties",
            "required", "items", "additionalItems", "minItems",   "maxItems"};
        const bool says_nothing = (asked->about != 0 && (asked->about & types) == 0) ||
                                  (asked->name == "uniqueItems" && value == Py_False);
        if (!says_nothing && !is_about_scalars(*asked) &&
            std::ranges::find(kRead, asked->name) == std::end(kRead))
            return false;
    }
    return true;
}

bool UsualSchemas::read(std::int32_t question, const Schema& own, Reading& reading) {
    const auto node = own.node;
    if (const auto reference = get(node, "$ref")) {  // of the explorer's, or to something unusual
        if (own.context.draft > 7 && asserts_beside(node, {"$ref"})) return false;
        const auto [target, may_differ] = referred(own.context, reference);
        const auto found = target && target.ptr() != node.ptr() && !get(target, "$ref")
                               ? below(question, own.context, target, {"$ref", nb::handle()}, may_differ)
                               : std::nullopt;
        if (!found || *found <= kTrue || *found == question) return false;
        auto* const other = schema_of(*found);
        if (other == nullptr || !is_usual(*found, *other)) return false;
        reading.target = *found;
        return true;
    }
    const auto said = get(node, "type");
    reading.types = said ? types_in(said) : kAll;
    if (reading.types == 0) return false;
    for (const auto* keyword : {"anyOf", "oneOf", "allOf"})
        if (get(node, keyword)) return read_options(question, own, reading, keyword);
    if (!asks_only_what_is_read(node, reading.types) || !read_scalars(own, reading)) return false;
    if (lists_values(node, own.context.draft)) return true;
    const bool has_object = (reading.types & bit(kObject)) != 0,
               has_array = (reading.types & bit(kArray)) != 0;
    if (has_object && !read_object(question, own, reading, get(node, "properties"), get(node, "required"),
                                   get(node, "additionalProperties")))
        return false;
    return !has_array || read_array(question, own, reading, get(node, "items"), get(node, "minItems"),
                                    get(node, "maxItems"));
}

// Lists of values, and what else is asked of scalars.
bool UsualSchemas::read_scalars(const Schema& own, Reading& reading) {
    const auto node = own.node;
    const auto draft = own.context.draft;
    const auto values = get(node, "enum"), value = draft > 4 ? get(node, "const") : nb::handle();
    auto key = key_of_scalars(node, reading.types, draft, asserts_format(get(node, "format")));
    if (!values && !value) {
        if (key) reading.scalars = std::move(*key);
        return key.has_value();
    }
    if (values && !PyList_CheckExact(values.ptr())) return false;
    const bool asks_more = (values && value) || asserts_beside(node, {"type", "enum", "const"});
    if (!asks_more && read_listed(reading, value ? nb::make_tuple(value) : nb::tuple(nb::borrow(values))))
        return true;
    if (!key) return false;
    std::uint32_t types = value ? type_of(value) : 0;
    if (values)
        for (const auto listed : nb::borrow<nb::list>(values)) types |= type_of(listed);
    reading.types &= wide(types);
    reading.scalars = std::move(*key);
    return true;
}

// Alternatives of which all list values, or each has types of its own. Of `allOf` only one may say something.
bool UsualSchemas::read_options(std::int32_t question, const Schema& own, Reading& reading,
                                const char* keyword) {
    const auto options = get(own.node, keyword);
    if (own.context.is_closed || !PyList_CheckExact(options.ptr())) return false;
    if (asserts_beside(own.node, {"type", keyword})) return false;
    const auto count = PyList_Size(options.ptr());
    const std::string_view name(keyword);
    const bool is_all = name == "allOf";
    if (count == 0 || count > kMostOptions) return false;
    auto allowed = std::exchange(reading.types, 0);
    if ((allowed & bit(kNumber)) != 0) allowed |= bit(kInteger);
    bool are_apart = true;
    std::size_t listed = 0;
    const auto list = nb::borrow<nb::list>(options);
    for (std::int32_t k = 0; k < count; ++k) {
        const nb::object given = list[static_cast<std::size_t>(k)];  // the list keeps it
        if (is_all && PyDict_CheckExact(given.ptr()) && !asserts_beside(given, {})) continue;
        if (is_all && !reading.options.empty()) return false;
        const auto option = below(question, own.context, given, {keyword, {}, k});
        if (option == kFalse && !is_all) continue;
        if (!option || *option <= kTrue || *option == question) return false;
        const auto* const other = reading_of(*option);
        const auto types = other != nullptr ? other->types : types_said(*option);
        are_apart = are_apart && types != 0 && (wide(types) & wide(reading.types)) == 0;
        reading.types |= types;
        reading.options.push_back(*option);
        listed += other != nullptr && other->is_listed ? 1 : 0;
    }
    if (reading.options.empty() || (reading.types & ~allowed) != 0) return false;
    if (listed < reading.options.size()) return are_apart;
    std::set<std::string> texts;
    for (const auto option : std::exchange(reading.options, {}))
        for (const auto& text : reading_of(option)->texts)
            if (!texts.insert(text).second && name == "oneOf") return false;
    reading.is_listed = true;
    reading.texts.assign(texts.begin(), texts.end());
    return true;
}

// What a usual schema says, or what it refers to; null: it is not usual.
const UsualSchemas::Reading* UsualSchemas::reading_of(std::int32_t question) {
    auto* const own = schema_of(question);
    if (own == nullptr || !is_usual(question, *own)) return nullptr;
    return own->reading->target < 0 ? own->reading.get() : reading_of(own->reading->target);
}

// The types that a schema names; 0: it names none, or refers to another one.
std::uint32_t UsualSchemas::types_said(std::int32_t question) {
    const auto* const own = schema_of(question);
    if (own == nullptr || get(own->node, "$ref")) return 0;
    const auto said = get(own->node, "type");
    return said ? types_in(said) : 0;
}

bool UsualSchemas::read_listed(Reading& reading, nb::handle values) {
    std::set<std::string> texts;
    std::uint32_t types = 0;
    for (const auto value : nb::borrow<nb::tuple>(values)) {
        types |= type_of(value);
        if (value.is_none()) {
            if ((reading.types & bit(kNull)) != 0) texts.insert("null");
        } else if (PyBool_Check(value.ptr())) {
            if ((reading.types & bit(kBoolean)) != 0) texts.insert(value.ptr() == Py_True ? "true" : "false");
        } else if (PyLong_CheckExact(value.ptr())) {
            const auto number = has_one_integer_ ? integer_of(value) : std::nullopt;
            if (!number) return false;
            if ((reading.types & kNumbers) != 0) texts.insert(std::to_string(*number));
        } else {
            const auto text = unescaped(value, is_ascii_);
            if (!text) return false;
            if ((reading.types & bit(kString)) != 0) texts.insert('"' + std::string(*text) + '"');
        }
    }
    if (texts.empty()) return false;
    reading.is_listed = true;
    reading.types &= wide(types);
    reading.texts.assign(texts.begin(), texts.end());
    return true;
}

UsualSchemas::Target UsualSchemas::referred(const Context& context, nb::handle reference) const {
    const auto text = text_of(reference);
    if (!text || text->empty() || text->front() != '#') return {};
    Target found{context.resource};
    auto& [node, may_differ] = found;
    auto rest = text->substr(1);
    constexpr std::string_view kEscapes("%~\0", 3);  // and what would end the text of a name
    if (rest.find_first_of(kEscapes) != rest.npos || (!rest.empty() && rest.front() != '/')) return {};
    while (!rest.empty()) {
        const auto end = std::min(rest.find('/', 1), rest.size());
        const std::string token(rest.substr(1, end - 1));
        rest.remove_prefix(end);
        if (!PyDict_CheckExact(node.ptr())) return {};
        node = get(node, token.c_str());
        if (!node || !PyDict_CheckExact(node.ptr())) return {};
        may_differ = may_differ || names_a_place(node);
    }
    return found;
}

std::optional<std::int32_t> UsualSchemas::below(std::int32_t parent, const Context& context, nb::handle node,
                                                const Place& place, bool may_differ) {
    if (node.ptr() == Py_True) return kTrue;
    if (node.ptr() == Py_False) return kFalse;
    if (const auto known = questions_.find(node.ptr()); known != questions_.end()) return known->second;
    if (!PyDict_CheckExact(node.ptr())) return std::nullopt;
    if (PyDict_Size(node.ptr()) == 0) return kTrue;
    const auto made = [&] {
        const auto question = formulas_.variable(reserved(1));
        schemas_[question] = {node, context, -1, parent, place.keyword, place.name, place.index};
        return question;
    };
    if (may_differ || names_a_place(node)) {
        const auto own = made();
        schemas_[own].has_own_context = true;
        return questions_[node.ptr()] = own;
    }
    const auto reference = get(node, "$ref");
    if (reference && (context.draft <= 7 || !asserts_beside(node, {"$ref"}))) {
        // A reference says what it leads to says; the first of some in a row may be in another place.
        const auto own = made();
        questions_.emplace(node.ptr(), own);
        const auto [target, differs] = referred(context, reference);
        if (target && PyDict_Size(target.ptr()) > 0) {
            int hops = 0;
            for (auto at = target; at && get(at, "$ref"); at = referred(context, get(at, "$ref")).node)
                if (++hops > kDeepest) return own;
            if (const auto found = below(own, context, target, {"$ref", nb::handle()}, differs)) {
                questions_[node.ptr()] = *found;
                return found;
            }
        }
        return own;
    }
    const auto said = get(node, "type");
    const auto types = said ? types_in(said) : 0;
    if (types != 0 && (types & kContainers) == 0 && !reference && !asserts_beside(node, {"type"})) {
        const std::pair key{types, context.has_plain_integers};
        const auto known = of_types_.find(key);
        const auto question = known != of_types_.end() ? known->second : made();
        of_types_.emplace(key, question);
        return questions_[node.ptr()] = question;
    }
    return questions_[node.ptr()] = made();
}

bool UsualSchemas::read_object(std::int32_t question, const Schema& own, Reading& reading,
                               nb::handle properties, nb::handle required, nb::handle others) {
    Object made{{}, {}, kTrue, kTrue};
    if (properties) {
        if (!PyDict_CheckExact(properties.ptr())) return false;
        made.members.reserve(static_cast<std::size_t>(PyDict_Size(properties.ptr())));
        PyObject *name = nullptr, *member = nullptr;
        Py_ssize_t at = 0;
        while (PyDict_Next(properties.ptr(), &at, &name, &member) != 0) {
            if (!unescaped(name, is_ascii_)) return false;
            const auto asked = below(question, own.context, member, {"properties", nb::handle(name)});
            if (!asked) return false;
            made.members.push_back({nb::handle(name), *asked});
        }
    }
    if (others) {
        const auto asked = below(question, own.context, others, {"additionalProperties", nb::handle()});
        if (!asked) return false;
        made.others = *asked;
    } else if (own.context.is_closed && properties) {
        made.others = kFalse;
    }
    made.listed = made.members.size();
    if (required) {
        if (!PyList_CheckExact(required.ptr())) return false;
        std::unordered_map<std::string_view, std::int32_t> places;
        for (const auto& member : made.members)
            places.emplace(*text_of(member.name), static_cast<std::int32_t>(places.size()));
        for (const auto name : nb::borrow<nb::list>(required)) {
            const auto text = text_of(name);
            if (!text) return false;
            const auto next = static_cast<std::int32_t>(places.size());
            const auto [place, is_new] = places.emplace(*text, next);
            if (is_new) {
                if (own.context.is_closed || !unescaped(name, is_ascii_)) return false;
                made.members.push_back({nb::handle(name), made.others});
            }
            made.required.push_back(place->second);
        }
        std::ranges::sort(made.required);
        made.required.erase(std::unique(made.required.begin(), made.required.end()), made.required.end());
    }
    if (!read_pattern(question, own, made)) return false;
    const bool says = made.listed > 0 || made.others != kTrue || made.by_pattern;
    const auto count = static_cast<std::int32_t>(made.required.size());
    const auto first = says ? reserved(1 + count) : 0;
    for (auto k = count; k-- > 0;)
        made.formula = formulas_.choice(formulas_.variable(first + 1 + k), made.formula, kFalse);
    if (says) made.formula = formulas_.choice(formulas_.variable(first), made.formula, kFalse);
    if (made.formula != kTrue) objects_[made.formula] = question;
    reading.object = std::move(made);
    return true;
}

// What is asked of the members whose names match a pattern, if there is one pattern at most.
bool UsualSchemas::read_pattern(std::int32_t question, const Schema& own, Object& made) {
    const auto patterns = get(own.node, "patternProperties");
    if (!patterns) return true;
    if (!PyDict_CheckExact(patterns.ptr()) || PyDict_Size(patterns.ptr()) > 1) return false;
    PyObject *pattern = nullptr, *member = nullptr;
    Py_ssize_t at = 0;
    if (PyDict_Next(patterns.ptr(), &at, &pattern, &member) == 0) return true;
    const auto text = text_of(pattern);
    const auto asked = below(question, own.context, member, {"patternProperties", nb::handle(pattern)});
    if (own.context.is_closed || !text || !asked) return false;
    made.by_pattern = names_by_pattern(*text);
    made.matching = *asked;
    if (made.by_pattern->parts.empty()) return false;
    if (made.by_pattern->parts[0] == 0) return true;
    const auto& matching = *made.by_pattern->terminals[0]->terminal;
    for (std::size_t k = 0; k < made.members.size(); ++k) {
        auto& [name, own_question] = made.members[k];
        if (!reads(matching, '"' + std::string(*text_of(name)) + end_of_name_)) continue;
        if (k >= made.listed || own_question == kTrue || *asked == kFalse)
            own_question = *asked;
        else if (own_question != kFalse && *asked != kTrue && *asked != own_question)
            return false;
    }
    return true;
}

bool UsualSchemas::read_array(std::int32_t question, const Schema& own, Reading& reading, nb::handle items,
                              nb::handle least, nb::handle most) {
    Array made{kTrue, 0, -1, kTrue};
    if (items) {
        const auto asked = below(question, own.context, items, {"items", nb::handle()});
        if (!asked) return false;
        made.items = *asked;
    }
    if (least && (made.least = count_of(least, kMostCounted)) < 0) return false;
    if (most && (made.most = count_of(most, kMostCounted)) < 0) return false;
    if (made.items != kTrue) made.formula = formulas_.variable(reserved(1));
    const auto conjoin = [&](std::int32_t other) {
        made.formula = formulas_.choice(made.formula, other, kFalse);
    };
    if (made.least > 0) conjoin(count_formula(made.least - 1));
    if (made.most >= 0) conjoin(formulas_.choice(count_formula(made.most), kFalse, kTrue));
    if (made.formula == kFalse) return false;
    if (made.formula != kTrue) arrays_[made.formula] = question;
    reading.array = made;
    return true;
}

std::int32_t UsualSchemas::count_formula(std::int32_t count) {
    if (counts_.empty()) {
        const auto first = reserved(kMostCounted + 1);
        for (std::int32_t k = 0; k <= kMostCounted; ++k) counts_.push_back(first + k);
    }
    return formulas_.variable(counts_[static_cast<std::size_t>(count)]);
}

}  // namespace pdacon
