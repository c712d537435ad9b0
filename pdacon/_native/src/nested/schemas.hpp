// What a nested-word automaton asks of whoever knows the schemas, when a place of it is first read.
//
// In: questions, which are formulas over schemas that a value satisfies or not; formulas about objects and
// about arrays; terminals by number. Out: what their values look like. Answers may make formulas.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/containers.hpp"

namespace pdacon {

// A nested-word automaton cannot be made as it is read: the constraint has to be compiled as a whole.
struct NeedsWhole : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// More brackets are open than may be for certain. How deep its stack is then only the whole knows; where
// there is none, this is the limit that is met.
struct TooDeep : NeedsWhole {
    TooDeep(std::int64_t given_, std::int64_t limit_)
        : NeedsWhole("so many brackets may be open only in the whole"), given(given_), limit(limit_) {}
    std::int64_t given, limit;
};

// A text, or an ordered automaton over bytes (pdacon/regular/ordered/program.py), which is read here as the
// set of its texts: what follows a value tells its end.
struct NestedTerminal {
    enum Kind : std::uint8_t { kBytes, kSplit, kMatch, kPending, kPendingOrEnd };
    std::string text;  // empty for an automaton
    std::vector<std::uint8_t> kind, lo, hi;
    std::vector<std::int32_t> offset, target;
    std::int32_t start = 0;
    std::int32_t inside = 0;  // the first so many states of an automaton stand between characters of a string

    bool operator==(const NestedTerminal&) const = default;
    bool is_text() const { return !text.empty(); }
    // Where a name ends in its terminal, before what follows names.
    static std::size_t end_of_name(std::string_view text) { return text.rfind('"') + 1; }
};

// How many characters of a string there may be. They are counted beside the automaton's states.
struct Counts {
    static constexpr std::int32_t kEndless = 1 << 30;
    std::int32_t least = 0, most = kEndless;
    bool are_free() const { return least == 0 && most == kEndless; }
};

struct CountedTerminal {
    std::shared_ptr<const NestedTerminal> terminal;
    Counts counts;
};

// A terminal of strings, numbers or constants: it leads from one local state of its family to another, from 0
// at the beginning, or ends a value that satisfies a question.
struct ScalarEdge {
    std::int32_t from, terminal;
    std::int32_t to;        // -1: the value ends
    std::int32_t question;  // that it satisfies then
};

// The arrays, or the objects, of a family: formulas about them that exclude one another, ascending, each with
// the question that its values satisfy.
struct FamilyMachine {
    bool is_array;
    Vector formulas, questions;
};

// A text that is a value, and the question that it satisfies.
struct ListedValue {
    std::string text;
    std::int32_t question;
};

struct ValueFamily {
    std::vector<ScalarEdge> scalars;
    std::vector<ListedValue> listed;
    std::vector<FamilyMachine> machines;
};

// An object or an array: the signs around it, and what is asked while it is read.
struct NestedContainer {
    Container container;
    Vector start;          // its machine, in the facts that members or items are read with
    MemberOrder order;     // of an object
    bool others_are_free;  // the terminal of the others matches listed names too, which then win
    std::unique_ptr<AboutMembers> about;
    std::vector<std::string> texts;  // of the terminals of listed names, where each is one; else empty
};

// A place of the text around values: terminals, each with the place behind it, and perhaps the values that
// satisfy a question, with the place behind them.
struct OuterPlace {
    struct Edge {
        std::int32_t terminal, to;
    };
    std::vector<Edge> edges;
    std::int32_t question = -1, behind = -1;  // -1: no value may come
    bool may_end = false;  // whether the text may end where nothing of the place has been read
};

class NestedSchemas {
  public:
    // Terminals from this one down are kept for the process, and have numbers of their own.
    static constexpr std::int32_t kFirstKept = -(1 << 23);
    virtual ~NestedSchemas() = default;
    // Only where texts are around values, from the place 0 on.
    virtual OuterPlace outer(std::int32_t place) = 0;
    virtual Formulas& formulas() = 0;
    virtual ValueFamily family(const Vector& questions) = 0;
    // At a depth, on which blanks may depend.
    virtual NestedContainer container(bool is_array, const Vector& machine, std::int32_t depth) = 0;
    virtual CountedTerminal terminal(std::int32_t number) = 0;
    // Whether it is plain that some value satisfies a question, however little may lie within it.
    virtual bool plainly_possible(std::int32_t question) = 0;
};

}  // namespace pdacon
