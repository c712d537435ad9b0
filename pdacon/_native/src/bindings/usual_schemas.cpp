#include "bindings/usual_schemas.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/memory.hpp"
#include "bindings/python_schemas.hpp"

namespace pdacon {

namespace {

constexpr auto kFalse = Formulas::kFalse, kTrue = Formulas::kTrue;

// In the order in which families have them.
enum Type : std::uint8_t { kNull, kBoolean, kNumber, kInteger, kString, kArray, kObject, kTypes };
constexpr std::array<std::string_view, kTypes> kNames = {"null",   "boolean", "number", "integer",
                                                         "string", "array",   "object"};
constexpr std::uint32_t bit(std::size_t type) { return std::uint32_t{1} << type; }
constexpr std::uint32_t kAll = bit(kTypes) - 1 - bit(kInteger);
constexpr std::uint32_t kContainers = bit(kArray) | bit(kObject);
constexpr int kDeepest = 16;               // references in a row, and members within one another
constexpr std::int32_t kMostCounted = 64;  // items

nb::handle get(nb::handle node, const char* keyword) { return PyDict_GetItemString(node.ptr(), keyword); }

std::optional<std::string_view> text_of(nb::handle text) {
    if (!text || !PyUnicode_CheckExact(text.ptr())) return std::nullopt;
    Py_ssize_t size = 0;
    const auto* begin = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (begin == nullptr) throw nb::python_error();
    return std::string_view(begin, static_cast<std::size_t>(size));
}

// A text that stands for itself within quotes, whatever is escaped.
std::optional<std::string_view> unescaped(nb::handle text) {
    const auto found = text_of(text);
    if (found && std::ranges::any_of(*found, [](char sign) {
            return sign < 0x20 || sign > 0x7E || sign == '"' || sign == '\\';
        }))
        return std::nullopt;
    return found;
}

// As bits; 0: they are not right.
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

// A whole number from 0 on; -1: it is none, or large.
std::int32_t count_of(nb::handle number) {
    if (!PyLong_CheckExact(number.ptr())) return -1;
    int overflows = 0;
    const auto value = PyLong_AsLongAndOverflow(number.ptr(), &overflows);
    return overflows != 0 || value < 0 || value > kMostCounted ? -1 : static_cast<std::int32_t>(value);
}

bool names_a_place(nb::handle node) { return get(node, "$id") || get(node, "$schema") || get(node, "id"); }

// What the members of an object are asked of which the facts are those of a usual schema: that members of
// some names satisfy questions, and that some names are there.
class UsualMembers final : public AboutMembers {
  public:
    UsualMembers(Formulas& formulas, UsualSchemas::Possible possible)
        : formulas_(formulas), possible_(std::move(possible)) {}

    std::int32_t listing = -1;  // the variable of the members; -1: nothing is said of them
    Vector questions;           // of the listed names
    std::int32_t others = kTrue;
    std::unordered_map<std::int32_t, std::int32_t> required;  // by variable, the name
    std::optional<std::int32_t> free_names;

    Step step(std::int32_t variable, std::int32_t read) override {
        if (variable != listing) return {kTrue, kTrue, kTrue, kFalse};
        const auto names = static_cast<std::int32_t>(questions.size());
        const bool is_last = others == kTrue && names > 0 && read == names - 1;
        const auto same = is_last ? kTrue : formulas_.variable(variable);
        return {read < names ? questions[static_cast<std::size_t>(read)] : others, same, kFalse, same};
    }
    std::optional<Vector> concerns(std::int32_t variable) override {
        if (variable != listing) return Vector{required.at(variable)};
        if (others != kTrue || questions.empty()) return std::nullopt;
        Vector all(questions.size());
        for (std::size_t name = 0; name < all.size(); ++name) all[name] = static_cast<std::int32_t>(name);
        return all;
    }
    std::optional<Vector> changes_without(std::int32_t variable) override {
        if (variable != listing) return Vector{required.at(variable)};
        if (others != kTrue || questions.empty()) return Vector{};
        return Vector{static_cast<std::int32_t>(questions.size()) - 1};
    }
    bool at_end(std::int32_t variable) override { return variable == listing; }
    std::optional<std::int32_t> terminal(std::int32_t) override { return free_names; }
    bool possible(std::int32_t question) override { return possible_(question); }
    std::optional<Vector> listed(std::int32_t) override { return std::nullopt; }
    void look() override {}

  private:
    Formulas& formulas_;
    UsualSchemas::Possible possible_;
};

// The same of an array's items.
class UsualItems final : public AboutMembers {
  public:
    UsualItems(Formulas& formulas, UsualSchemas::Possible possible)
        : formulas_(formulas), possible_(std::move(possible)) {}

    std::int32_t rest = -1, question = kTrue;  // the variable of the items
    Vector counts;                             // variables: that there are more than so many

    Step step(std::int32_t variable, std::int32_t) override {
        const auto same = formulas_.variable(variable);
        if (variable == rest) return {question, same, kFalse, same};
        const auto count = std::ranges::find(counts, variable);
        const auto less = count == counts.begin() ? kTrue : formulas_.variable(*(count - 1));
        return {kTrue, less, same, same};
    }
    std::optional<Vector> concerns(std::int32_t) override { return std::nullopt; }
    bool at_end(std::int32_t variable) override { return variable == rest; }
    std::optional<std::int32_t> terminal(std::int32_t) override { return std::nullopt; }
    bool possible(std::int32_t asked) override { return possible_(asked); }
    std::optional<Vector> listed(std::int32_t) override { return std::nullopt; }
    void look() override {}

  private:
    Formulas& formulas_;
    UsualSchemas::Possible possible_;
};

}  // namespace

UsualSchemas::UsualSchemas(nb::handle explorer, Formulas& formulas)
    : explorer_(explorer), formulas_(formulas) {
    const nb::object given = explorer.attr("usual")();
    if (given.is_none()) return;
    const auto own = nb::cast<nb::tuple>(given);
    is_on_ = true;
    assertions_ = own[0];
    formats_ = own[1];
    end_of_name_ = nb::cast<std::string>(own[2]);
}

UsualSchemas::Schema* UsualSchemas::schema_of(std::int32_t question) {
    if (!is_on_) return nullptr;
    if (const auto known = schemas_.find(question); known != schemas_.end())
        return known->second.node ? &known->second : nullptr;
    auto& made = schemas_[question];
    const nb::object given =
        question == kTrue ? nb::none() : nb::object(explorer_.attr("schema_of")(question));
    if (given.is_none()) return nullptr;
    const auto own = nb::cast<nb::tuple>(given);
    if (!PyDict_CheckExact(own[0].ptr())) return nullptr;
    const Context context{nb::handle(own[1].ptr()), nb::cast<int>(own[2]), nb::cast<bool>(own[3]),
                          nb::cast<bool>(own[4])};
    made.node = nb::handle(own[0].ptr());
    made.context = context;
    made.explorers = question;
    questions_.emplace(made.node.ptr(), question);
    return &made;
}

std::int32_t UsualSchemas::adopted(std::int32_t question) {
    std::vector<Schema*> chain;
    for (auto at = question; at >= 0;) {
        const auto known = schemas_.find(at);
        if (known == schemas_.end() || !known->second.node) break;
        chain.push_back(&known->second);
        if (chain.back()->explorers >= 0) break;
        at = chain.back()->parent;
    }
    if (chain.empty()) return question;
    for (auto at = chain.rbegin() + 1; at < chain.rend(); ++at) {
        const auto above = (*(at - 1))->explorers;
        const auto ask = explorer_.attr("question_below");
        auto& own = **at;
        own.explorers =
            nb::cast<std::int32_t>(own.name ? ask(above, own.keyword, own.name) : ask(above, own.keyword));
    }
    return chain.front()->explorers;
}

bool UsualSchemas::is_usual(std::int32_t question, Schema& own) {
    if (!own.is_read) {
        auto reading = std::make_unique<Reading>();
        if (read(question, own, *reading)) own.reading = std::move(reading);
        own.is_read = true;
    }
    return own.reading != nullptr;
}

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
        if (is_about_strings && (!PyUnicode_CheckExact(value) || PySet_Contains(formats_.ptr(), value) != 0))
            return true;
    }
    return false;
}

bool UsualSchemas::asks_for_nothing_within(const Schema& own) const {
    const auto said = get(own.node, "type");
    return (!said || types_in(said) != 0) &&
           !asserts_beside(own.node, {"type", "properties", "additionalProperties", "items", "maxItems"});
}

bool UsualSchemas::read(std::int32_t question, const Schema& own, Reading& reading) {
    const auto node = own.node;
    if (const auto reference = get(node, "$ref")) {  // of the explorer's, or to something unusual
        if (own.context.draft > 7 && asserts_beside(node, {"$ref"})) return false;
        const auto target = referred(own.context, reference);
        const auto found = target && target.ptr() != node.ptr() && !get(target, "$ref")
                               ? below(question, own.context, target, {"$ref", nb::handle()})
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
    const bool may_be_const = own.context.draft > 4 && get(node, "const");
    if (may_be_const || get(node, "enum")) {
        const auto values = get(node, "enum");
        if (may_be_const && values) return false;
        if (asserts_beside(node, {"type", "enum", "const"})) return false;
        if (may_be_const) return read_listed(reading, nb::make_tuple(get(node, "const")));
        return PyList_CheckExact(values.ptr()) && read_listed(reading, nb::tuple(nb::borrow(values)));
    }
    if (asserts_beside(node, {"type", "properties", "required", "additionalProperties", "items", "minItems",
                              "maxItems"}))
        return false;
    const bool has_object = (reading.types & bit(kObject)) != 0,
               has_array = (reading.types & bit(kArray)) != 0;
    if (has_object && !read_object(question, own, reading, get(node, "properties"), get(node, "required"),
                                   get(node, "additionalProperties")))
        return false;
    return !has_array || read_array(question, own, reading, get(node, "items"), get(node, "minItems"),
                                    get(node, "maxItems"));
}

bool UsualSchemas::read_listed(Reading& reading, nb::handle values) {
    std::set<std::string> texts;
    for (const auto value : nb::borrow<nb::tuple>(values)) {
        if (value.is_none()) {
            if ((reading.types & bit(kNull)) != 0) texts.insert("null");
        } else if (PyBool_Check(value.ptr())) {
            if ((reading.types & bit(kBoolean)) != 0) texts.insert(value.ptr() == Py_True ? "true" : "false");
        } else {
            const auto text = unescaped(value);
            if (!text) return false;
            if ((reading.types & bit(kString)) != 0) texts.insert('"' + std::string(*text) + '"');
        }
    }
    reading.is_listed = true;
    reading.texts.assign(texts.begin(), texts.end());
    return !reading.texts.empty();
}

nb::handle UsualSchemas::referred(const Context& context, nb::handle reference) const {
    const auto text = text_of(reference);
    if (!text || text->empty() || text->front() != '#') return {};
    auto node = context.resource;
    auto rest = text->substr(1);
    constexpr std::string_view kEscapes("%~\0", 3);  // and what would end the text of a name
    if (rest.find_first_of(kEscapes) != rest.npos || (!rest.empty() && rest.front() != '/')) return {};
    while (!rest.empty()) {
        const auto end = std::min(rest.find('/', 1), rest.size());
        const std::string token(rest.substr(1, end - 1));
        rest.remove_prefix(end);
        if (!PyDict_CheckExact(node.ptr())) return {};
        node = get(node, token.c_str());
        if (!node || !PyDict_CheckExact(node.ptr()) || names_a_place(node)) return {};
    }
    return node;
}

std::optional<std::int32_t> UsualSchemas::below(std::int32_t parent, const Context& context, nb::handle node,
                                                const Place& place) {
    if (node.ptr() == Py_True) return kTrue;
    if (node.ptr() == Py_False) return kFalse;
    if (const auto known = questions_.find(node.ptr()); known != questions_.end()) return known->second;
    if (!PyDict_CheckExact(node.ptr()) || names_a_place(node)) return std::nullopt;
    if (PyDict_Size(node.ptr()) == 0) return kTrue;
    const auto made = [&] {
        const auto question = formulas_.variable(reserved(1));
        schemas_[question] = {node, context, -1, parent, place.first, place.second};
        return question;
    };
    const auto reference = get(node, "$ref");
    if (reference && (context.draft <= 7 || !asserts_beside(node, {"$ref"}))) {
        // A reference says what it leads to says; the first of some in a row may be in another place.
        const auto own = made();
        questions_.emplace(node.ptr(), own);
        const auto target = referred(context, reference);
        if (target && PyDict_Size(target.ptr()) > 0) {
            int hops = 0;
            for (auto at = target; at && get(at, "$ref"); at = referred(context, get(at, "$ref")))
                if (++hops > kDeepest) return own;
            if (const auto found = below(own, context, target, {"$ref", nb::handle()})) {
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
            if (!unescaped(name)) return false;
            const auto asked = below(question, own.context, member, {"properties", nb::handle(name)});
            if (!asked) return false;
            made.members.push_back({nb::handle(name), *asked});
        }
    }
    if (required) {
        if (!PyList_CheckExact(required.ptr())) return false;
        std::unordered_map<std::string_view, std::int32_t> places;
        for (const auto& member : made.members)
            places.emplace(*text_of(member.name), static_cast<std::int32_t>(places.size()));
        for (const auto name : nb::borrow<nb::list>(required)) {
            const auto text = text_of(name);
            const auto place = text ? places.find(*text) : places.end();
            if (place == places.end()) return false;
            made.required.push_back(place->second);
        }
        std::ranges::sort(made.required);
        made.required.erase(std::unique(made.required.begin(), made.required.end()), made.required.end());
    }
    if (others) {
        const auto asked = below(question, own.context, others, {"additionalProperties", nb::handle()});
        if (!asked) return false;
        made.others = *asked;
    } else if (own.context.is_closed && properties) {
        made.others = kFalse;
    }
    const bool says = !made.members.empty() || made.others != kTrue;
    const auto count = static_cast<std::int32_t>(made.required.size());
    const auto first = says ? reserved(1 + count) : 0;
    for (auto k = count; k-- > 0;)
        made.formula = formulas_.choice(formulas_.variable(first + 1 + k), made.formula, kFalse);
    if (says) made.formula = formulas_.choice(formulas_.variable(first), made.formula, kFalse);
    if (made.formula != kTrue) objects_[made.formula] = question;
    reading.object = std::move(made);
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
    if (least && (made.least = count_of(least)) < 0) return false;
    if (most && (made.most = count_of(most)) < 0) return false;
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

std::int32_t UsualSchemas::reserved(std::int32_t count) {
    return nb::cast<std::int32_t>(explorer_.attr("reserve")(count));
}

const Vector& UsualSchemas::terminals(std::size_t type, bool has_plain_integers) {
    const std::pair key{type, type == kInteger && has_plain_integers};
    if (const auto known = terminals_.find(key); known != terminals_.end()) return known->second;
    const auto name = nb::str(kNames[type].data(), kNames[type].size());
    return terminals_[key] = nb::cast<Vector>(explorer_.attr("terminals_of")(name, key.second));
}

std::optional<ValueFamily> UsualSchemas::family(std::int32_t question) {
    if (!is_on_) return std::nullopt;
    const Reading anything{.types = kAll};
    const auto* reading = &anything;
    bool has_plain_integers = false;
    if (question != kTrue) {
        auto* const own = schema_of(question);
        if (own == nullptr || !is_usual(question, *own)) return std::nullopt;
        reading = own->reading.get();
        has_plain_integers = own->context.has_plain_integers;
    }
    ValueFamily made;
    if (reading->target >= 0) {
        made = *family(reading->target);
        for (auto& edge : made.scalars) edge.question = question;
        for (auto& value : made.listed) value.question = question;
        for (auto& machine : made.machines) machine.questions = {question};
        return made;
    }
    if (reading->is_listed) {
        for (const auto& text : reading->texts) made.listed.push_back({text, question});
        return made;
    }
    for (std::size_t type = 0; type < kArray; ++type) {
        if ((reading->types & bit(type)) == 0) continue;
        for (const auto terminal : terminals(type, has_plain_integers))
            made.scalars.push_back({0, terminal, -1, question});
    }
    const auto add = [&](bool is_array, std::int32_t formula) {
        made.machines.push_back({is_array, {formula}, {question}});
    };
    if ((reading->types & bit(kArray)) != 0) add(true, reading->array ? reading->array->formula : kTrue);
    if ((reading->types & bit(kObject)) != 0) add(false, reading->object ? reading->object->formula : kTrue);
    return made;
}

const Container& UsualSchemas::signs(bool is_array) {
    auto& known = signs_[is_array ? 1 : 0];
    if (!known) known = nb::cast<Container>(explorer_.attr("signs")(is_array));
    return *known;
}

std::optional<NestedContainer> UsualSchemas::container(bool is_array, const Vector& machine,
                                                       const Possible& possible) {
    if (!is_on_ || machine.size() != 1) return std::nullopt;
    const auto formula = machine[0];
    const Reading* reading = nullptr;
    if (formula != kTrue) {
        const auto& known = is_array ? arrays_ : objects_;
        const auto question = known.find(formula);
        if (question == known.end()) return std::nullopt;
        reading = schemas_.at(question->second).reading.get();
    }
    NestedContainer made;
    made.container = signs(is_array);
    made.container.machine = machine;
    made.start = machine;
    if (is_array) {
        auto about = std::make_unique<UsualItems>(formulas_, possible);
        if (reading != nullptr && reading->array->items != kTrue) {
            about->question = reading->array->items;
            for (const auto variable : formulas_.support(machine))
                if (!std::ranges::binary_search(counts_, variable)) about->rest = variable;
        }
        about->counts = counts_;
        made.others_are_free = false;
        made.about = std::move(about);
        return made;
    }
    if (!free_names_) free_names_ = number_or_none(explorer_.attr("free_names")());
    auto about = std::make_unique<UsualMembers>(formulas_, possible);
    about->free_names = *free_names_;
    made.others_are_free = true;
    made.order.classes = 1;
    if (reading != nullptr) {
        const auto& object = *reading->object;
        made.order.names = static_cast<std::int32_t>(object.members.size());
        made.order.comes_once.assign(object.members.size(), true);
        about->others = object.others;
        for (const auto& [name, question] : object.members) {
            about->questions.push_back(question);
            made.texts.push_back('"' + std::string(*text_of(name)) + end_of_name_);
        }
        const auto variables = formulas_.support(machine);
        const auto says = variables.size() - object.required.size();
        if (says > 0) about->listing = variables[0];
        for (std::size_t k = 0; k < object.required.size(); ++k)
            about->required.emplace(variables[k + says], object.required[k]);
    }
    made.about = std::move(about);
    return made;
}

std::optional<bool> UsualSchemas::plainly_possible(std::int32_t question, int depth) {
    if (question <= kTrue) return question == kTrue;
    auto* own = schema_of(question);
    if (own == nullptr || depth > kDeepest) return std::nullopt;
    if (!own->is_read && asks_for_nothing_within(*own)) return true;
    if (!is_usual(question, *own)) return std::nullopt;
    auto& reading = *own->reading;
    if (reading.target >= 0) return plainly_possible(reading.target, depth + 1);
    if (reading.is_plainly_possible) return reading.is_plainly_possible;
    const auto is_possible = [&](std::int32_t asked) {
        return plainly_possible(asked, depth + 1).value_or(false);
    };
    const auto has_object = [&] {
        return !reading.object || std::ranges::all_of(reading.object->required, [&](auto name) {
            return is_possible(reading.object->members[static_cast<std::size_t>(name)].question);
        });
    };
    const auto has_array = [&] {
        if (!reading.array || reading.array->least == 0) return true;
        const auto [items, least, most, formula] = *reading.array;
        return (most < 0 || most >= least) && is_possible(items);
    };
    const bool is_scalar = reading.is_listed || (reading.types & ~kContainers) != 0;
    if (is_scalar || ((reading.types & bit(kArray)) != 0 && has_array()) ||
        ((reading.types & bit(kObject)) != 0 && has_object()))
        reading.is_plainly_possible = true;
    return reading.is_plainly_possible;
}

}  // namespace pdacon
