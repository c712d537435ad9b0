// Pushbacks: the bytes read after a match that is not certain yet, told apart only as far as it matters.
//
// When a match is committed, its pushback is lexed again, in each context that can follow. The result of that
// scan in one context is dead, a lexer configuration inside a lexeme, or another commit with a shorter
// pushback. Two texts after the same match are in one class if their scans have the same result in every
// context: whatever follows leads to the same, so this refines the Myhill-Nerode equivalence. Example: with
// numbers such as `1.5`, the match `1` waits after `1.` with the pushback `.`.
//
// A pushback is a class and a length, and the first text that is found stands for all with both. The length
// is no part of the class, because what follows does not depend on it. It is kept because where lexemes lie
// in a text is found by going back so many bytes (lexeme_trace.hpp), and because it is the lookahead that the
// automaton tells and bounds.
//
// Classes are computed on demand while the lexing automaton is built: `after` is the class with one more
// byte. It asks the automaton for steps, and these may ask for `after` of other classes, `needed` ones. This
// mutual recursion ends: a needed class is that of what is left of the text after a lexeme, or after a
// match inside it, and both have read one byte or more. So for each text of a class, a needed class has a
// shorter one, and the length of the shortest text falls along `needed`.
//
// A limit that is met leaves no class half made. Cost: each pair of a class and a byte class is computed
// once, in O(contexts + r^2) for r distinct results.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interned_map.hpp"
#include "base/interner.hpp"
#include "lexer/columns.hpp"

namespace pdacon {

class Pushbacks {
  public:
    static constexpr std::int32_t kNone = -1;  // no bytes

    // A match that was committed in a step, and the column of a layout's newline.
    struct Committed {
        std::int32_t label, look_behind, pushback;
        Column column;
    };
    // The automaton that is being built, by the ids that its construction gives to states and commits.
    class Lexer {
      public:
        // The distinct states at the start of a lexeme that can follow a label, with a look-behind state.
        virtual std::vector<std::int32_t> entries_after(std::int32_t label, std::int32_t look_behind) = 0;
        // LexingAutomaton::kDead, a state, or a commit.
        virtual std::int32_t next(std::int32_t state, std::int32_t byte_class) = 0;
        // The pushbacks that a state carries.
        virtual std::vector<std::int32_t> carried(std::int32_t state) const = 0;
        // Moves the columns over a byte class that leads to state `next`.
        virtual void move(LexerConfiguration& lexing, std::int32_t next, std::int32_t byte_class) const = 0;
        virtual Committed committed(std::int32_t commit, const LexerConfiguration& lexing,
                                    std::int32_t byte_class) = 0;

      protected:
        ~Lexer() = default;
    };

    Pushbacks(Lexer& lexer, std::int32_t num_classes, Budget& budget)
        : lexer_(lexer), num_classes_(num_classes), budget_(budget) {}

    // The pushback with the first byte after a match, or with one more byte; kNone where it cannot be lexed
    // in any context.
    std::int32_t after_match(std::int32_t label, std::int32_t look_behind, std::int32_t byte_class);
    std::int32_t after(std::int32_t pushback, std::int32_t byte_class);
    std::int32_t length(std::int32_t pushback) const { return pushbacks_[pushback].length; }
    // The text that represents the pushback, as byte classes.
    std::vector<std::int32_t> text(std::int32_t pushback) const;

  private:
    struct Pushback {
        std::int32_t cls, length;
        std::int32_t parent, via;  // the pushback that it was first reached from, and the byte class
    };
    // The result of lexing a pushback in one context.
    struct ScanResult {
        enum Kind : std::int32_t { kDead, kInside, kEmission };
        Kind kind = kDead;
        std::int32_t target = 0;  // inside a lexeme: the state; after a commit: the class of what is left
        Column now, matched;      // columns inside a lexeme; after a newline's commit its column is `matched`
        bool operator==(const ScanResult&) const = default;
    };
    struct Class {
        std::int32_t assignment;           // which entry state has which result
        std::vector<ScanResult> results;   // the distinct ones, without kDead
        std::vector<std::int32_t> needed;  // the classes whose next byte has to be known before this one's
        std::vector<std::int32_t> after;   // by byte class: a class, kNone: all are dead, or kUnknown
    };
    static constexpr std::int32_t kUnknown = -2;

    std::int32_t start(std::int32_t label, std::int32_t look_behind);
    std::int32_t class_after(std::int32_t cls, std::int32_t byte_class);
    void compute(std::int32_t cls, std::int32_t byte_class);
    ScanResult scan(const ScanResult& from, std::int32_t byte_class);
    bool known(std::int32_t cls, std::int32_t byte_class) const;
    std::int32_t intern(std::int32_t assignment, std::vector<ScanResult> results);
    std::int32_t add(std::int32_t cls, std::int32_t parent, std::int32_t byte_class);

    Lexer& lexer_;
    std::int32_t num_classes_;
    Budget& budget_;
    InternedMap<Pushback> pushbacks_;   // by class and length
    InternedMap<std::int32_t> starts_;  // by label and look-behind state: the class of the empty text
    // Of a class: the label and the look-behind state, then for each entry state the index of its result, or
    // -1.
    Interner assignments_;
    InternedMap<Class, std::deque<Class>> classes_;  // by assignment and results
};

}  // namespace pdacon
