// Which terminals can come, of all those that the parser takes: those that some text leads on with, to its
// end.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "base/interner.hpp"
#include "liveness/coaccessibility.hpp"

namespace pdacon {

// Labels, as the lexer commits them.
struct ExpectedTerminals {
    std::set<std::int32_t> unfinished;  // what the lexeme that has been begun is, in some sentence
    std::set<std::int32_t> next;        // what begins right here, in some sentence
};

// Looks for the outlook of one configuration, between two tokens.
//
// Where a lexeme has been begun, it may turn out to end here, or even before, by what follows. So the bytes
// behind the place are counted, as long as a match can wait for them: the lexer's lookahead. What is read
// again then is what has been read: the words of commits stand for all texts that lead to the same, and may
// have their lexemes elsewhere. A lexeme that begins here can be whatever its future has.
class ExpectedTerminalsSearch {
  public:
    ExpectedTerminalsSearch(const Pushdown& machine, Coaccessibility& coaccessibility, Budget& budget)
        : machine_(machine), coaccessibility_(coaccessibility), budget_(budget) {}

    // `text`: what has been read, or of its end as much as the lexer may read again. Throws LimitExceeded.
    ExpectedTerminals find(const Reading& reading, const StackView& stack, std::string_view text);

  private:
    // A configuration behind so many bytes, of which a lexeme has been begun.
    struct Place {
        Reading reading;
        std::int32_t speller_state;
        std::int32_t stack;              // index in stacks_
        std::vector<std::int32_t> read;  // as byte classes
        bool begins_here;                // the lexeme; else before
    };
    // Lexemes that have been cut on the way to a configuration: of each its label, and where it began and
    // ended, counted from the place that is asked about.
    struct Cut {
        std::int32_t label, begin, end;
    };

    // What leads to the same place in other ways may have lexemes that end elsewhere: some ways are followed.
    static constexpr std::int32_t kMostWays = 4;

    std::int64_t longest_wait(const Place& place) const;
    void add(Place place);
    void add_future(const Place& place);
    void go_on(const Place& from);
    void lex(const Place& from, std::int32_t byte_class, std::int32_t speller_state);
    std::vector<std::int32_t> again(std::span<const std::int32_t> read, std::size_t length) const;
    std::int32_t cut(std::int32_t stack, std::int32_t label, Column column);
    bool is_live(const Reading& reading, std::int32_t speller_state, std::int32_t stack);
    void note(std::span<const Cut> cuts);

    const Pushdown& machine_;
    Coaccessibility& coaccessibility_;
    Budget& budget_;
    ReadSet read_set_;
    std::vector<Overlay> stacks_;
    Interner stack_ids_;                   // the stack before, the label and the column that led to another
    std::vector<std::int32_t> after_cut_;  // of each: the stack, or -1
    std::vector<std::int32_t> before_;     // the end of the text, as byte classes
    Interner place_ids_;
    std::vector<std::int32_t> ways_;  // to each
    std::vector<Place> places_;
    ExpectedTerminals found_;
};

}  // namespace pdacon
