// Usual schemas, read in the core: types, members, items, lists of values, what is asked of scalars,
// references to such schemas, and alternatives that are told apart by their types or lists.
//
// In: schemas as Python's dictionaries, which nobody changes, and an explorer
// (pdacon/frontends/json_schema/exploring.py) for all that is not usual. Out: what a nested-word automaton
// asks about them. A question about a schema below a usual one is a variable of its own here; where that
// schema is not usual, the explorer is asked, who has another question for it. What is asked of scalars is a
// key: the terminals of a key are kept for the process, and the explorer is asked for those of a new one.
// Python's lock is held whenever a method is called, but for those of what `container` returns.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/kept_scalars.hpp"
#include "frontends/containers.hpp"
#include "nested/schemas.hpp"

namespace pdacon {

namespace nb = nanobind;

class UsualSchemas {
  public:
    // Answers what the members and items of a container are asked: whether a question is possible.
    using Possible = std::function<bool(std::int32_t)>;

    UsualSchemas(nb::handle explorer, Formulas& formulas);

    // Nothing: it is not usual.
    std::optional<ValueFamily> family(std::int32_t question);
    // The same of machines of such families; `possible` is called without Python's lock.
    std::optional<NestedContainer> container(bool is_array, const Vector& machine, const Possible& possible);
    // Whether it is plain that some value satisfies a question; nothing: the explorer has to be asked.
    std::optional<bool> plainly_possible(std::int32_t question) { return plainly_possible(question, 0); }
    // A terminal that is kept for the process, by its number here.
    const CountedTerminal& kept_terminal(std::int32_t number) const { return *numbered_[index_of(number)]; }
    // The family of a question of the explorer's.
    ValueFamily asked_family(const Vector& questions) const;
    // The explorer's question about the same schema.
    std::int32_t adopted(std::int32_t question);

  private:
    // What a schema depends on besides itself.
    struct Context {
        nb::handle resource;  // where pointers of references start
        int draft;
        bool is_closed, has_plain_integers;
    };
    using Terminals = std::vector<std::shared_ptr<const CountedTerminal>>;
    using KeptTerminals = std::shared_ptr<const KeptScalars::Kept>;
    struct Member {
        nb::handle name;
        std::int32_t question;
    };
    struct Object {
        std::vector<Member> members;  // those that are listed, in order; then others that are required
        Vector required;              // by their places, ascending
        std::int32_t others;          // the question of those that are not listed
        std::int32_t formula;
        KeptTerminals by_pattern = nullptr;  // the names that match a pattern, and those that do not, if any
        std::int32_t matching = -1;          // the question of those that match
        std::size_t listed = 0;              // how many members are listed
    };
    struct Array {
        std::int32_t items, least, most;  // most -1: any number
        std::int32_t formula;
    };
    // What a usual schema says.
    struct Reading {
        std::int32_t target = -1;  // the question of what it refers to, if it says nothing else
        std::uint32_t types = 0;   // as bits
        bool is_listed = false;
        std::vector<std::string> texts;  // of the values, if they are listed
        std::string scalars;             // the key of what is asked of scalars beside their types
        Vector options;                  // the questions of alternatives, each of other types
        std::optional<Object> object;    // what is said of objects; none: nothing
        std::optional<Array> array;
        std::optional<bool> is_plainly_possible;
        int not_plain_from = std::numeric_limits<int>::max();  // the least depth at which it was not
    };
    // Small, since most schemas are never read.
    struct Schema {
        nb::handle node;  // null: it is not usual
        Context context;
        std::int32_t explorers = -1;       // question, once it has been asked for
        std::int32_t parent = -1;          // a question; -1: the explorer has asked
        const char* keyword = nullptr;     // that leads here from the parent
        nb::handle name;                   // the next token, or null
        std::int32_t index = -1;           // the next token, if it is a number
        std::unique_ptr<Reading> reading;  // null: it has not been read, or it is not usual
        bool is_read = false;
        // Whether the explorer has to be asked for the context, and whether it has said that there is none.
        bool has_own_context = false, is_foreign = false;
    };
    struct Place {
        const char* keyword;
        nb::handle name = {};
        std::int32_t index = -1;
    };

    static Context context_of(const nb::tuple& told);
    Schema* schema_of(std::int32_t question);
    void ask_for_context(std::int32_t question, Schema& own);
    bool is_usual(std::int32_t question, Schema& own);
    bool read(std::int32_t question, const Schema& own, Reading& reading);
    bool read_scalars(const Schema& own, Reading& reading);
    bool read_listed(Reading& reading, nb::handle values);
    bool read_options(std::int32_t question, const Schema& own, Reading& reading, const char* keyword);
    const Reading* reading_of(std::int32_t question);
    std::uint32_t types_said(std::int32_t question);
    bool read_object(std::int32_t question, const Schema& own, Reading& reading, nb::handle properties,
                     nb::handle required, nb::handle others);
    bool read_pattern(std::int32_t question, const Schema& own, Object& made);
    bool read_array(std::int32_t question, const Schema& own, Reading& reading, nb::handle items,
                    nb::handle least, nb::handle most);
    // The question of a schema below one; nothing: it is no schema.
    std::optional<std::int32_t> below(std::int32_t parent, const Context& context, nb::handle node,
                                      const Place& place, bool may_differ = false);
    // Where a reference leads; null: it is not usual. `may_differ`: the context there may be another one.
    struct Target {
        nb::handle node;
        bool may_differ = false;
    };
    Target referred(const Context& context, nb::handle reference) const;
    std::uint32_t types_with_empty(nb::handle node, int depth) const;
    bool asks_only_what_is_read(nb::handle node, std::uint32_t types) const;
    bool asserts_format(nb::handle format) const;
    bool asserts_beside(nb::handle node, std::initializer_list<const char*> keywords) const;
    std::int32_t reserved(std::int32_t count);
    std::int32_t count_formula(std::int32_t count);  // that an array has more items
    static std::size_t index_of(std::int32_t number) {
        return static_cast<std::size_t>(NestedSchemas::kFirstKept - number);
    }
    std::int32_t number_of(const std::shared_ptr<const CountedTerminal>& terminal);
    Vector numbers_of(const KeptScalars::Kept& kept);
    // What is kept for a key, or the terminals of the explorer's numbers, which are kept from then on.
    template <class Ask>
    KeptTerminals kept(const std::string& key, Ask ask);
    const Vector& terminals(std::size_t type, bool has_plain_integers);
    std::string key_of(const Schema& own, char what);
    KeptTerminals scalars(std::int32_t question, const Schema& own);
    std::optional<Terminals> scalars_told(const Schema& own);
    // Nothing: the format is not regular, or there would be many states.
    std::optional<std::vector<NestedTerminal>> terminals_of_format(nb::handle format) const;
    bool has_plain_scalar(std::int32_t question, const Schema& own);
    KeptTerminals names_by_pattern(std::string_view pattern);
    const Container& signs(bool is_array);
    std::optional<std::int32_t> free_names();
    ValueFamily family_of_options(std::int32_t question, const Vector& options);
    std::optional<bool> plainly_possible(std::int32_t question, int depth);

    nb::handle explorer_;
    Formulas& formulas_;
    bool is_on_ = false, is_ascii_ = false;
    bool has_one_integer_ = false;             // whether each integer has one text
    bool has_python_numbers_ = false;          // whether other numbers are written as Python does
    nb::object assertions_, formats_, owner_;  // the owner of what is kept
    KeptScalars* kept_ = nullptr;
    std::string end_of_name_, prefix_;  // of keys: what else terminals depend on
    int reading_ = 0;                   // schemas that are being read
    std::int32_t next_reserved_ = 0, end_reserved_ = 0;
    std::vector<std::shared_ptr<const CountedTerminal>> numbered_;
    std::unordered_map<const CountedTerminal*, std::int32_t> numbers_;
    std::unordered_map<std::int32_t, Schema> schemas_;                 // by question
    std::unordered_map<PyObject*, std::int32_t> questions_;            // by schema
    std::map<std::pair<std::uint32_t, bool>, std::int32_t> of_types_;  // of schemas that say nothing else
    std::unordered_map<std::int32_t, std::int32_t> objects_, arrays_;  // by formula: a question
    std::map<std::pair<std::size_t, bool>, Vector> terminals_;
    std::optional<Container> signs_[2];
    std::optional<std::optional<std::int32_t>> free_names_;
    Vector counts_;  // variables
};

}  // namespace pdacon
