#include "bindings/usual_schemas.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>

#include "base/memory.hpp"
#include "bindings/python_schemas.hpp"
#include "bindings/schema_keywords.hpp"
#include "bindings/usual_members.hpp"
#include "nested/number_range.hpp"
#include "nested/pattern_terminal.hpp"

namespace pdacon {

using namespace schema_types;

namespace {

constexpr auto kFalse = Formulas::kFalse, kTrue = Formulas::kTrue;
constexpr int kDeepest = 16;            // members within one another
constexpr std::int32_t kReserved = 32;  // variables at a time

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
    is_ascii_ = nb::cast<bool>(own[3]);
    owner_ = own[4];
    kept_ = &nb::cast<KeptScalars&>(owner_);
    has_one_integer_ = nb::cast<bool>(own[6]);
    has_python_numbers_ = nb::cast<bool>(own[7]);
    const auto prefix = nb::cast<nb::bytes>(own[5]);
    prefix_.assign(prefix.c_str(), prefix.size());
}

UsualSchemas::Context UsualSchemas::context_of(const nb::tuple& told) {
    return {nb::handle(told[1].ptr()), nb::cast<int>(told[2]), nb::cast<bool>(told[3]),
            nb::cast<bool>(told[4])};
}

UsualSchemas::Schema* UsualSchemas::schema_of(std::int32_t question) {
    if (!is_on_) return nullptr;
    if (const auto known = schemas_.find(question); known != schemas_.end()) {
        auto& own = known->second;
        if (std::exchange(own.has_own_context, false)) ask_for_context(question, own);
        return own.node && !own.is_foreign ? &own : nullptr;
    }
    auto& made = schemas_[question];
    const nb::object given =
        question == kTrue ? nb::none() : nb::object(explorer_.attr("schema_of")(question));
    if (given.is_none()) return nullptr;
    const auto own = nb::cast<nb::tuple>(given);
    if (!PyDict_CheckExact(own[0].ptr())) return nullptr;
    const auto context = context_of(own);
    made.node = nb::handle(own[0].ptr());
    made.context = context;
    made.explorers = question;
    questions_.emplace(made.node.ptr(), question);
    return &made;
}

// Of a schema that says by what it is named, or in which draft it is written.
void UsualSchemas::ask_for_context(std::int32_t question, Schema& own) {
    own.is_foreign = true;
    const nb::object given = explorer_.attr("schema_of")(adopted(question));
    if (given.is_none()) return;
    const auto told = nb::cast<nb::tuple>(given);
    if (!PyDict_CheckExact(told[0].ptr())) return;
    own.node = nb::handle(told[0].ptr());
    own.context = context_of(told);
    own.is_foreign = false;
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
        own.explorers = nb::cast<std::int32_t>(own.name         ? ask(above, own.keyword, own.name)
                                               : own.index >= 0 ? ask(above, own.keyword, own.index)
                                                                : ask(above, own.keyword));
    }
    return chain.front()->explorers;
}

bool UsualSchemas::is_usual(std::int32_t question, Schema& own) {
    if (!own.is_read && reading_ < kDeepest) {
        struct Counted {
            explicit Counted(int& count) : own(count) { ++own; }
            ~Counted() { --own; }
            int& own;
        };
        const Counted counted(reading_);
        own.is_read = true;  // what leads back here meets something unusual
        auto reading = std::make_unique<Reading>();
        if (read(question, own, *reading)) own.reading = std::move(reading);
    }
    return own.reading != nullptr;
}

// Many at a time, since each call of Python takes as long as reading a small schema.
std::int32_t UsualSchemas::reserved(std::int32_t count) {
    if (count > end_reserved_ - next_reserved_) {
        const auto asked = std::max(count, kReserved);
        next_reserved_ = nb::cast<std::int32_t>(explorer_.attr("reserve")(asked));
        end_reserved_ = next_reserved_ + asked;
    }
    next_reserved_ += count;
    return next_reserved_ - count;
}

std::int32_t UsualSchemas::number_of(const std::shared_ptr<const CountedTerminal>& terminal) {
    const auto next = NestedSchemas::kFirstKept - static_cast<std::int32_t>(numbered_.size());
    const auto [known, is_new] = numbers_.emplace(terminal.get(), next);
    if (is_new) numbered_.push_back(terminal);
    return known->second;
}

Vector UsualSchemas::numbers_of(const KeptScalars::Kept& kept) {
    Vector numbers;
    for (const auto& terminal : kept.terminals) numbers.push_back(number_of(terminal));
    return numbers;
}

template <class Ask>
UsualSchemas::KeptTerminals UsualSchemas::kept(const std::string& key, Ask ask) {
    const auto whole = prefix_ + key;
    if (auto known = kept_->find(whole)) return known;
    KeptScalars::Kept made;
    const Vector numbers = ask(made);
    const MemoryLimit::Pause everybodys;  // but what is made to answer counts
    for (const auto number : numbers)
        made.terminals.push_back(std::make_shared<const CountedTerminal>(asked_terminal(explorer_, number)));
    return kept_->keep(whole, std::move(made));
}

const Vector& UsualSchemas::terminals(std::size_t type, bool has_plain_integers) {
    const std::pair key{type, type == kInteger && has_plain_integers};
    if (const auto known = terminals_.find(key); known != terminals_.end()) return known->second;
    const auto own = kept(std::string(kNames[type]) + (key.second ? "!" : ""), [&](auto&) {
        const auto name = nb::str(kNames[type].data(), kNames[type].size());
        return nb::cast<Vector>(explorer_.attr("terminals_of")(name, key.second));
    });
    return terminals_[key] = numbers_of(*own);
}

std::string UsualSchemas::key_of(const Schema& own, char what) {
    const auto types = static_cast<char>('@' + (own.reading->types & ~kContainers));
    return {what, types, own.context.has_plain_integers ? '!' : '?'};
}

// The terminals of scalars of a schema that asks something of them.
UsualSchemas::KeptTerminals UsualSchemas::scalars(std::int32_t question, const Schema& own) {
    return kept(key_of(own, '=') + own.reading->scalars, [&](auto& made) {
        Vector numbers;
        if (auto own_terminals = scalars_told(own)) {
            made.terminals = std::move(*own_terminals);
            return numbers;
        }
        for (const auto& edge : asked_family({adopted(question)}).scalars) {
            if (edge.from != 0 || edge.to >= 0) throw NeedsWhole("a scalar is read in parts");
            numbers.push_back(edge.terminal);
        }
        return numbers;
    });
}

// The same if nothing is asked but lengths of strings, or a plain pattern or a format, and bounds of numbers.
std::optional<UsualSchemas::Terminals> UsualSchemas::scalars_told(const Schema& own) {
    const MemoryLimit::Pause everybodys;
    const auto types = own.reading->types & ~kContainers;
    const auto draft = own.context.draft;
    if (lists_values(own.node, draft)) return std::nullopt;
    const bool has_formats = asserts_format(get(own.node, "format"));
    Terminals made;
    for (std::size_t type = 0; type < kArray; ++type) {
        if ((types & bit(type)) == 0) continue;
        const auto add_made = [&](NestedTerminal terminal) {
            made.push_back(std::make_shared<const CountedTerminal>(
                std::make_shared<const NestedTerminal>(std::move(terminal)), Counts{}));
        };
        const auto add = [&](Counts counts) {
            for (const auto number : terminals(type, own.context.has_plain_integers)) {
                const auto& plain = numbered_[index_of(number)];
                made.push_back(counts.are_free()
                                   ? plain
                                   : std::make_shared<const CountedTerminal>(plain->terminal, counts));
            }
        };
        const bool asks_a_format = type == kString && asks_only_a_format(own.node, has_formats);
        if (asks_a_format || (type == kString && asks_only_a_pattern(own.node, has_formats))) {
            auto strings = asks_a_format ? terminals_of_format(get(own.node, "format"))
                                         : pattern_terminals(*text_of(get(own.node, "pattern")), is_ascii_);
            if (!strings) return std::nullopt;
            for (auto& terminal : *strings) add_made(std::move(terminal));
        } else if (type == kString && asks_of_strings(own.node, has_formats)) {
            const auto counts = length_counts(own.node, has_formats);
            if (!counts || kept_terminal(terminals(kString, false)[0]).terminal->inside == 0)
                return std::nullopt;
            if (counts->least <= counts->most) add(*counts);
        } else if ((bit(type) & kNumbers) != 0 && asks_of_numbers(own.node)) {
            const bool is_integer = type == kInteger;
            const auto bounds = (is_integer ? has_one_integer_ : has_python_numbers_)
                                    ? number_bounds(own.node, draft)
                                    : std::nullopt;
            if (!bounds) return std::nullopt;
            const std::span range(&*bounds, 1);
            auto between = is_integer ? integers_between(range) : numbers_between(range);
            if (between) add_made(std::move(*between));
        } else {
            add({});
        }
    }
    return made;
}

std::optional<std::vector<NestedTerminal>> UsualSchemas::terminals_of_format(nb::handle format) const {
    const nb::object strings = explorer_.attr("strings_of_format")(format);
    if (strings.is_none()) return std::nullopt;
    return string_terminals(nb::cast<const CharacterDfa&>(strings), is_ascii_);
}

bool UsualSchemas::has_plain_scalar(std::int32_t question, const Schema& own) {
    const auto& reading = *own.reading;
    if (reading.is_listed) return true;
    const auto types = reading.types & ~kContainers;
    if (reading.scalars.empty()) return types != 0;
    const auto node = own.node;
    if (!lists_values(node, own.context.draft)) {
        if ((types & (bit(kNull) | bit(kBoolean))) != 0) return true;
        if ((types & bit(kString)) != 0 && has_plain_string(node, asserts_format(get(node, "format"))))
            return true;
        // Where digits are counted, no number may be written between two bounds, and no integer has one text.
        if ((types & kNumbers) != 0 && has_one_integer_ && has_plain_number(node, types, own.context.draft))
            return true;
    }
    if ((reading.types & kContainers) != 0) return false;  // a value may be plain that is no scalar
    return kept(key_of(own, '*') + reading.scalars,
                [&](auto& made) {
                    const auto ask = explorer_.attr("plainly_possible");
                    made.is_plainly_possible = nb::cast<bool>(ask(adopted(question)));
                    return Vector();
                })
        ->is_plainly_possible;
}

ValueFamily UsualSchemas::asked_family(const Vector& questions) const {
    const auto answer = nb::cast<nb::tuple>(explorer_.attr("family")(questions));
    ValueFamily found;
    for (const auto edge : nb::cast<nb::list>(answer[0])) {
        const auto own = nb::cast<nb::tuple>(edge);
        found.scalars.push_back({nb::cast<std::int32_t>(own[0]), nb::cast<std::int32_t>(own[1]),
                                 nb::cast<std::int32_t>(own[2]), nb::cast<std::int32_t>(own[3])});
    }
    for (const auto machine : nb::cast<nb::list>(answer[1])) {
        const auto own = nb::cast<nb::tuple>(machine);
        found.machines.push_back(
            {nb::cast<bool>(own[0]), nb::cast<Vector>(own[1]), nb::cast<Vector>(own[2])});
    }
    return found;
}

// The values of alternatives, as those of one question.
ValueFamily UsualSchemas::family_of_options(std::int32_t question, const Vector& options) {
    ValueFamily made;
    for (const auto option : options) {
        auto own = family(option);
        auto some = own ? std::move(*own) : asked_family({adopted(option)});
        for (auto& edge : some.scalars) {
            if (edge.from != 0 || edge.to >= 0) throw NeedsWhole("a scalar is read in parts");
            made.scalars.push_back({0, edge.terminal, -1, question});
        }
        for (auto& value : some.listed) made.listed.push_back({std::move(value.text), question});
        for (auto& machine : some.machines)
            made.machines.push_back({machine.is_array, std::move(machine.formulas), {question}});
    }
    return made;
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
    if (!reading->options.empty()) return family_of_options(question, reading->options);
    if (reading->is_listed) {
        for (const auto& text : reading->texts) made.listed.push_back({text, question});
        return made;
    }
    if (!reading->scalars.empty())
        for (const auto terminal : numbers_of(*scalars(question, *schema_of(question))))
            made.scalars.push_back({0, terminal, -1, question});
    for (std::size_t type = 0; type < kArray && reading->scalars.empty(); ++type) {
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

// The names that match a pattern, and all others; without parts: they are not told apart here.
UsualSchemas::KeptTerminals UsualSchemas::names_by_pattern(std::string_view pattern) {
    return kept("names " + std::string(pattern), [&](auto& made) {
        const MemoryLimit::Pause everybodys;
        auto names = pdacon::names_by_pattern(pattern, is_ascii_, end_of_name_);
        if (!names) return Vector();
        for (auto* const part : {&names->matching, &names->others}) {
            made.parts.push_back(part->size());
            for (auto& terminal : *part)
                made.terminals.push_back(std::make_shared<const CountedTerminal>(
                    std::make_shared<const NestedTerminal>(std::move(terminal)), Counts{}));
        }
        return Vector();
    });
}

const Container& UsualSchemas::signs(bool is_array) {
    auto& known = signs_[is_array ? 1 : 0];
    if (known) return *known;
    const auto own = kept(is_array ? "[" : "{", [&](auto& made) {
        const auto given = nb::cast<Container>(explorer_.attr("signs")(is_array)).signs;
        made.parts = {given.empty.size(), given.between.size()};
        Vector numbers(given.empty);
        numbers.insert(numbers.end(), given.between.begin(), given.between.end());
        numbers.insert(numbers.end(), {given.opening, given.closing, given.comma});
        return numbers;
    });
    const auto numbers = numbers_of(*own);
    const auto between = numbers.begin() + static_cast<std::ptrdiff_t>(own->parts[0]);
    const auto opening = between + static_cast<std::ptrdiff_t>(own->parts[1]);
    const Signs signs{{numbers.begin(), between}, {between, opening}, opening[0], opening[1], opening[2]};
    known = Container{{}, 0, 0, false, signs};
    return *known;
}

std::optional<std::int32_t> UsualSchemas::free_names() {
    if (!free_names_) {
        const auto own = kept("names", [&](auto&) {
            const auto number = number_or_none(explorer_.attr("free_names")());
            return number ? Vector{*number} : Vector();
        });
        free_names_.emplace();
        if (!own->terminals.empty()) *free_names_ = number_of(own->terminals[0]);
    }
    return *free_names_;
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
    auto about = std::make_unique<UsualMembers>(formulas_, possible);
    made.others_are_free = true;
    if (reading != nullptr) {
        const auto& object = *reading->object;
        made.order.names = static_cast<std::int32_t>(object.members.size());
        made.order.comes_once.assign(object.members.size(), true);
        made.order.is_total = about->is_in_order = object.listed == object.members.size();
        if (!made.order.is_total) {
            made.order.closed_by.resize(object.members.size());
            for (std::size_t k = 1; k < object.listed; ++k) {
                auto& before = made.order.closed_by[k];
                before.resize(k);
                std::iota(before.begin(), before.end(), 0);
            }
        }
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
    const auto add_class = [&](std::int32_t question, std::optional<std::int32_t> terminal) {
        about->questions.push_back(question);
        about->terminals.push_back(terminal);
        ++made.order.classes;
    };
    if (reading == nullptr || !reading->object->by_pattern) {
        add_class(reading == nullptr ? kTrue : reading->object->others, free_names());
    } else {
        const auto& [terminals, parts, _] = *reading->object->by_pattern;
        for (std::size_t k = 0; k < terminals.size(); ++k)
            add_class(k < parts[0] ? reading->object->matching : reading->object->others,
                      number_of(terminals[k]));
    }
    made.about = std::move(about);
    return made;
}

std::optional<bool> UsualSchemas::plainly_possible(std::int32_t question, int depth) {
    if (question <= kTrue) return question == kTrue;
    // What a schema says itself may be enough; its context, which Python may have to tell, is asked for
    // after.
    const auto known = schemas_.find(question);
    const bool is_unread = known != schemas_.end() && known->second.node && !known->second.reading;
    if (is_unread && depth <= kDeepest && types_with_empty(known->second.node, 0) != 0) return true;
    auto* own = schema_of(question);
    if (own == nullptr || depth > kDeepest) return std::nullopt;
    if (!is_unread && own->reading == nullptr && types_with_empty(own->node, 0) != 0) return true;
    if (!is_usual(question, *own)) return std::nullopt;
    auto& reading = *own->reading;
    if (reading.target >= 0) return plainly_possible(reading.target, depth + 1);
    if (reading.is_plainly_possible || depth >= reading.not_plain_from) return reading.is_plainly_possible;
    const auto is_possible = [&](std::int32_t asked) {
        return plainly_possible(asked, depth + 1).value_or(false);
    };
    const auto remembered = [&](bool is_plain) {
        if (is_plain)
            reading.is_plainly_possible = true;
        else  // within less room it is not plain, either
            reading.not_plain_from = depth;
        return reading.is_plainly_possible;
    };
    if (!reading.options.empty()) return remembered(std::ranges::any_of(reading.options, is_possible));
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
    return remembered(has_plain_scalar(question, *own) ||
                      ((reading.types & bit(kArray)) != 0 && has_array()) ||
                      ((reading.types & bit(kObject)) != 0 && has_object()));
}

}  // namespace pdacon
