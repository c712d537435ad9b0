// The binding of nested-word automata, which ask Python about the schema while texts are read.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "bindings/python_schemas.hpp"
#include "bindings/usual_schemas.hpp"
#include "nested/nested_pda.hpp"

namespace nb = nanobind;

namespace pdacon {
namespace {

// Asks with Python's lock. What Python refuses, the constraint as a whole refuses, too, and says so.
template <class Ask>
auto answered(Ask ask) {
    const WithGil acquire;
    try {
        return asked(ask);
    } catch (nb::python_error& error) {
        const auto refusal = nb::module_::import_("pdacon.errors").attr("UnsupportedSchemaError");
        if (!error.matches(refusal) && !error.matches(PyExc_RecursionError)) throw;
    }
    throw NeedsWhole("a part of the schema is not supported");
}

// What is asked while an object or an array is read.
class LockedMembers final : public AboutMembers {
  public:
    // Of a fact that only lists members (pdacon/frontends/json_schema/steps.py, PlainSteps).
    struct Listing {
        std::int32_t others, last;
        Vector places, questions;
    };
    LockedMembers(nb::object about, nb::object explorer, Formulas& formulas, std::int32_t names,
                  const nb::list& listings)
        : formulas_(formulas),
          names_(names),
          about_(std::move(about)),
          explorer_(std::move(explorer)),
          questions_(explorer_.attr("questions")),
          native_(nb::cast<Questions&>(questions_.attr("native"))) {
        for (const auto listing : listings) {
            const auto own = nb::cast<nb::tuple>(listing);
            Listing made{nb::cast<std::int32_t>(own[1]), nb::cast<std::int32_t>(own[2]), {}, {}};
            for (const auto member : nb::cast<nb::list>(own[3])) {
                const auto pair = nb::cast<nb::tuple>(member);
                made.places.push_back(nb::cast<std::int32_t>(pair[0]));
                made.questions.push_back(nb::cast<std::int32_t>(pair[1]));
            }
            listings_.emplace(nb::cast<std::int32_t>(own[0]), std::move(made));
        }
    }
    ~LockedMembers() override {
        const WithGil acquire;
        const MemoryLimit::Lenient converted;
        about_.reset();
        questions_.reset();
        explorer_.reset();
    }

    Step step(std::int32_t variable, std::int32_t read) override {
        if (const auto listing = listings_.find(variable); listing != listings_.end()) {
            const auto& [others, last, places, questions] = listing->second;
            const auto at = std::ranges::lower_bound(places, read);
            const bool is_there = at != places.end() && *at == read;
            const auto question =
                is_there ? questions[static_cast<std::size_t>(at - places.begin())] : others;
            const bool is_settled = last >= 0 && read >= last && read < names_;
            const auto same = is_settled ? Formulas::kTrue : formulas_.variable(variable);
            return {question, same, Formulas::kFalse, same};
        }
        return answered([&] { return step_of(about_.attr("step")(variable, read)); });
    }
    std::optional<Vector> concerns(std::int32_t variable) override {
        if (const auto listing = listings_.find(variable); listing != listings_.end()) {
            const auto& own = listing->second;
            if (own.others == Formulas::kTrue && !own.places.empty()) return own.places;
            return std::nullopt;
        }
        return answered([&] { return numbers_or_none(about_.attr("concerns")(variable)); });
    }
    std::optional<Vector> changes_without(std::int32_t variable) override {
        const auto listing = listings_.find(variable);
        if (listing == listings_.end()) return std::nullopt;
        const auto last = listing->second.last;
        return last < 0 ? Vector{} : Vector{last};
    }
    bool at_end(std::int32_t variable) override {
        if (listings_.contains(variable)) return true;
        return answered([&] { return nb::cast<bool>(about_.attr("at_end")(variable)); });
    }
    std::optional<std::int32_t> terminal(std::int32_t read) override {
        return answered([&] { return number_or_none(about_.attr("terminal")(read)); });
    }
    bool possible(std::int32_t question) override {
        return answered([&] {  // what is plain is not read for this
            if (nb::cast<bool>(explorer_.attr("plainly_possible")(question))) return true;
            PythonSchemas schemas(questions_);
            return native_.possible(schemas, question);
        });
    }
    std::optional<Vector> listed(std::int32_t question) override {
        return answered([&] {
            PythonSchemas schemas(questions_);
            return native_.listed(schemas, question);
        });
    }
    void look() override {}

  private:
    Formulas& formulas_;
    std::int32_t names_;
    std::map<std::int32_t, Listing> listings_;  // by variable
    nb::object about_, explorer_, questions_;
    Questions& native_;
};

class LockedSchemas final : public NestedSchemas {
  public:
    explicit LockedSchemas(nb::object explorer)
        : explorer_(std::move(explorer)),
          formulas_(nb::cast<Formulas&>(explorer_.attr("formulas"))),
          questions_(explorer_.attr("questions")),
          native_(nb::cast<Questions&>(questions_.attr("native"))),
          usual_(std::make_unique<UsualSchemas>(explorer_, formulas_)) {}
    ~LockedSchemas() override {
        const WithGil acquire;
        const MemoryLimit::Lenient converted;
        usual_.reset();
        questions_.reset();
        explorer_.reset();
    }

    Formulas& formulas() override { return formulas_; }
    bool plainly_possible(std::int32_t question) override {
        return answered([&] {
            if (const auto usual = usual_->plainly_possible(question)) return *usual;
            return nb::cast<bool>(explorer_.attr("plainly_possible")(usual_->adopted(question)));
        });
    }
    ValueFamily family(const Vector& questions) override {
        return answered([&]() -> ValueFamily {
            if (questions.size() > 1) return usual_->asked_family(questions);
            if (auto usual = usual_->family(questions[0])) return std::move(*usual);
            auto found = usual_->asked_family({usual_->adopted(questions[0])});
            for (auto& edge : found.scalars)
                if (edge.to < 0) edge.question = questions[0];
            for (auto& machine : found.machines) machine.questions = questions;
            return found;
        });
    }

    OuterPlace outer(std::int32_t place) override {
        return answered([&]() -> OuterPlace {
            const auto own = nb::cast<nb::tuple>(explorer_.attr("outer")(place));
            OuterPlace found;
            for (const auto edge : nb::cast<nb::list>(own[0])) {
                const auto pair = nb::cast<nb::tuple>(edge);
                found.edges.push_back({nb::cast<std::int32_t>(pair[0]), nb::cast<std::int32_t>(pair[1])});
            }
            found.question = nb::cast<std::int32_t>(own[1]);
            found.behind = nb::cast<std::int32_t>(own[2]);
            found.may_end = nb::cast<bool>(own[3]);
            return found;
        });
    }
    NestedContainer container(bool is_array, const Vector& machine, std::int32_t depth) override {
        return answered([&]() -> NestedContainer {
            const auto is_possible = [this](auto asked) { return possible(asked); };
            if (auto usual = usual_->container(is_array, machine, is_possible)) return std::move(*usual);
            const auto own = nb::cast<nb::tuple>(explorer_.attr("container")(is_array, machine, depth));
            MemberOrder order;
            if (!own[2].is_none()) order = nb::cast<MemberOrder>(own[2]);
            const auto names = order.names;
            std::vector<std::string> texts;
            for (const auto name : nb::cast<nb::list>(own[5])) {
                const auto text = nb::cast<nb::bytes>(name);
                texts.emplace_back(text.c_str(), text.size());
            }
            return {nb::cast<Container>(own[0]),
                    nb::cast<Vector>(own[1]),
                    std::move(order),
                    nb::cast<bool>(own[3]),
                    std::make_unique<LockedMembers>(nb::borrow(own[4]), explorer_, formulas_, names,
                                                    nb::cast<nb::list>(own[6])),
                    std::move(texts)};
        });
    }
    CountedTerminal terminal(std::int32_t number) override {
        if (number <= kFirstKept) return usual_->kept_terminal(number);
        return answered([&] { return asked_terminal(explorer_, number); });
    }

  private:
    // Of a value within a usual container.
    bool possible(std::int32_t question) {
        return answered([&] {
            if (const auto usual = usual_->plainly_possible(question)) return *usual;
            const auto own = usual_->adopted(question);
            if (nb::cast<bool>(explorer_.attr("plainly_possible")(own))) return true;
            PythonSchemas schemas(questions_);
            return native_.possible(schemas, own);
        });
    }

    nb::object explorer_;
    Formulas& formulas_;
    nb::object questions_;
    Questions& native_;
    std::unique_ptr<UsualSchemas> usual_;
};

}  // namespace

void bind_nested(nb::module_& m) {
    nb::exception<NeedsWhole>(m, "NeedsWhole");
    nb::class_<KeptScalars>(m, "KeptScalars")
        .def(nb::init<std::int64_t>(), nb::arg("most_bytes"))
        .def("bytes", &KeptScalars::bytes);
    m.def(
        "have_values",
        [](nb::object explorer, const Vector& questions, std::int64_t max_places) {
            NestedAutomaton automaton(std::make_unique<LockedSchemas>(std::move(explorer)), Formulas::kFalse,
                                      max_places);
            return std::ranges::all_of(questions, [&](auto asked) { return automaton.possible(asked); });
        },
        "Whether for each question some value satisfies it. Raises NeedsWhole, LimitExceededError.",
        nb::arg("explorer"), nb::arg("questions"), nb::arg("max_places"));
    nb::class_<NestedPda>(m, "NestedPda")
        .def(
            "__init__",
            [](NestedPda* self, nb::object explorer, std::int32_t question,
               std::shared_ptr<const SharedTrie> trie, std::int64_t states, std::int64_t bytes,
               std::int64_t depth) {
                new (self) NestedPda(std::make_unique<LockedSchemas>(std::move(explorer)), question,
                                     std::move(trie), {states, bytes, depth});
            },
            nb::arg("explorer"), nb::arg("question"), nb::arg("trie"), nb::arg("states"), nb::arg("bytes"),
            nb::arg("depth"))
        .def_static(
            "can_read", [](const SharedTrie& trie) { return NestedPda::can_read(trie); }, nb::arg("trie"))
        .def("is_empty", &NestedPda::is_empty)
        .def("close",
             [](NestedPda& pda) {
                 pda.close();
                 std::vector<std::int32_t> masks;
                 {
                     const WithoutGil release;
                     masks = pda.masks();
                 }
                 return owned(std::move(masks));
             })
        .def("reopen", &NestedPda::reopen)
        .def(
            "mask_table",
            [](NestedPda& pda, std::int64_t since) {
                const auto words = pda.tokens().words();
                std::vector<std::int32_t> rows;
                {
                    const WithoutGil release;  // another thread may compute a mask now
                    rows = pda.masks(since);
                }
                const auto count = rows.size() / words;
                return owned(std::move(rows), count, words);
            },
            nb::arg("since"))
        .def("statistics",
             [](NestedPda& pda) {
                 NestedPda::Sizes sizes{};
                 {
                     const WithoutGil release;
                     sizes = pda.sizes();
                 }
                 return std::map<std::string, std::int64_t>{{"places", sizes.places},
                                                            {"nodes", sizes.nodes},
                                                            {"masks_computed", sizes.masks_computed},
                                                            {"distinct_masks", sizes.distinct_masks},
                                                            {"bytes", pda.held()},
                                                            {"situations_left", -1}};
             })
        .def("held", &NestedPda::held);
}

}  // namespace pdacon
