// The terminals that can come next, in some sentence: of all that the parser would take, those that some
// spellable text leads on with to its end.
//
// For messages and `explain`, not for masks: it is exact up to kMostVisits ways to one configuration, and
// costs a breadth-first search over lexer configurations as far as the lexer's lookahead.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "base/interner.hpp"
#include "liveness/coaccessibility.hpp"

namespace pdacon {

// Labels as the lexer commits them.
struct ExpectedTerminals {
    std::set<std::int32_t> unfinished;  // what the lexeme under way can turn out to be
    std::set<std::int32_t> next;        // what can begin right here
};

// Finds the expected terminals of one configuration between two tokens.
//
// A lexeme under way may turn out, by the bytes that follow, to have ended here or even before. So the search
// reads on after the position asked about, and counts the bytes, as long as a match can wait for more of
// them. What a commit pushes back is then taken from the text itself and not from the commit: the commit's
// pushback stands for a class of texts, whose lexemes may lie elsewhere. A lexeme that begins at the position
// itself can become whatever its future has.
class ExpectedTerminalsSearch {
  public:
    ExpectedTerminalsSearch(const Pushdown& machine, Coaccessibility& coaccessibility, Budget& budget)
        : machine_(machine), coaccessibility_(coaccessibility), budget_(budget) {}

    // `text`: what has been read, or as much of its end as the lexer may read again. Throws LimitExceeded.
    ExpectedTerminals find(const LexerConfiguration& lexing, const StackView& stack, std::string_view text);

  private:
    // A configuration some bytes after the position, with a lexeme under way.
    struct Configuration {
        LexerConfiguration lexing;
        std::int32_t speller_state;
        std::int32_t stack;              // index in stacks_
        std::vector<std::int32_t> read;  // the bytes after the position, as byte classes
        bool starts_here;                // the lexeme under way starts at the position; else before it
    };
    // A lexeme that was committed on the way, with its begin and end counted from the position; begin is -1
    // where it lies anywhere before that.
    struct Lexeme {
        std::int32_t label, begin, end;
    };

    // Paths to the same configuration can differ in where their lexemes end. So many of them are followed.
    static constexpr std::int32_t kMostVisits = 4;

    std::int64_t longest_pushback(const Configuration& configuration) const;
    void add(Configuration configuration);
    void add_future(const Configuration& configuration);
    void advance(const Configuration& from);
    void step(const Configuration& from, std::int32_t byte_class, std::int32_t speller_state);
    std::int32_t take_label(std::int32_t stack, std::int32_t label, Column column);
    bool is_live(const LexerConfiguration& lexing, std::int32_t speller_state, std::int32_t stack);
    void record(std::span<const Lexeme> lexemes);

    const Pushdown& machine_;
    Coaccessibility& coaccessibility_;
    Budget& budget_;
    ReadSet read_set_;
    std::vector<Overlay> stacks_;
    Interner stack_ids_;                     // stack, label and column
    std::vector<std::int32_t> after_label_;  // by that key: the stack afterwards, or -1
    std::vector<std::int32_t> before_;       // the last bytes of the text, as byte classes
    Interner configuration_ids_;
    std::vector<std::int32_t> visits_;  // by configuration id
    std::vector<Configuration> open_;
    ExpectedTerminals found_;
};

}  // namespace pdacon
