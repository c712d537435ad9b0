// Room `lexer`: terminals to one deterministic lexing automaton. Its `checks/` compare terminals for the
// determinism checker, and nothing else in the core needs them.
//
// In: an ordered byte NFA for each terminal (Nfa), and the lexical contexts, each an ordered alternation of
// terminals with its keyword renamings. Out: LexingAutomaton. It knows no parser and no tokens; the contexts
// that can follow each terminal are given.
//
// The lexing automaton is a deterministic transducer over byte classes. A transition stays inside a lexeme,
// or makes a commit: the decision that a lexeme has ended, and as which terminal. A match is often certain
// only some bytes after its end; a commit therefore has a pushback, the byte classes read since, which are
// lexed again in the context that follows.
// Example: in `1..2`, with numbers such as `1.5` and an operator `..`, the match `1` waits at the first dot;
// at the second one NUMBER is committed with the pushback `..`. Matching is leftmost-first, as in Python's
// `re`.
//
// Source: see SubsetConstruction.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/budget.hpp"
#include "base/flat.hpp"
#include "base/in_range.hpp"
#include "base/interner.hpp"
#include "lexer/columns.hpp"
#include "lexer/nfa.hpp"
#include "lexer/transitions.hpp"

namespace pdacon {

struct Rename {
    std::int32_t regex;                  // what matched
    std::vector<std::int32_t> keywords;  // the first of these that matches the whole lexeme is its name
};

struct LexicalContext {
    std::vector<std::int32_t> alternation;  // terminals, first match wins
    std::vector<Rename> renames;
};

struct LexerSpec {
    const Nfa& nfa;
    std::vector<std::uint8_t> ignored;  // of each terminal
    std::vector<LexicalContext> contexts;
    std::vector<std::vector<std::int32_t>> follow;  // of each terminal: the contexts it can lead to
    std::vector<std::int32_t> starts;               // the contexts at the start of a text
    std::int32_t newline = -1;                      // the terminal whose columns count; -1: none
    std::int32_t tab_width = 8;
    bool escaped_lines = false;  // whether lines are those that a string of JSON stands for
    std::int32_t num_terminals() const { return nfa.num_terminals(); }
    Lines lines() const {
        return newline < 0 ? Lines::kNone : escaped_lines ? Lines::kEscaped : Lines::kPlain;
    }
};

// The end of a lexeme. `label`: a terminal, $END = num_terminals, or ignored text = num_terminals + 1.
struct Commit {
    std::int32_t label;
    std::int32_t look_behind;  // the state of Nfa::look_behind at the end of the lexeme
    std::int32_t pushback;     // byte classes to be lexed again in the context that follows
};

// A match whose lookahead has no bound: after `prefix`, `loop` can be repeated for ever before it is known
// whether the terminal `label` ends where `prefix` had matched it.
struct UnboundedLookahead {
    std::int32_t label;
    std::string prefix, loop;
};

class LexingAutomaton {
  public:
    static constexpr std::int32_t kDead = -1;
    static constexpr bool is_commit(std::int32_t next) { return next < kDead; }
    // Commits count down from below kDead: the number of a commit, from 0, and the transition with a number.
    static constexpr std::int32_t commit_number(std::int32_t next) { return kDead - 1 - next; }
    static constexpr std::int32_t commit_with(std::int32_t number) { return kDead - 1 - number; }

    // Throws std::invalid_argument on inconsistent input, LimitExceeded("states" | "seconds").
    LexingAutomaton(const LexerSpec& spec, Budget& budget);
    // What `save` has written, which is all but what only reports ask for. Throws ArtifactDamage.
    explicit LexingAutomaton(const ArtifactReader& artifact);
    // Throws ArtifactDamage if a pushback is longer than kLongestPushback.
    void save(ArtifactWriter& artifact) const;
    // Bounds the work for one byte of a text: a pushback is lexed again, and its commits may have pushbacks
    // too.
    static constexpr std::size_t kLongestPushback = 4096;

    std::int32_t num_states() const { return static_cast<std::int32_t>(end_.size()); }
    std::int32_t num_classes() const { return num_classes_; }
    std::int32_t end_label() const { return num_terminals_; }
    std::int32_t ignored_label() const { return num_terminals_ + 1; }
    std::int32_t byte_class(std::uint8_t byte) const { return byte_class_[byte]; }

    // kDead, a state, or a commit (see is_commit and commit).
    std::int32_t next(std::int32_t state, std::int32_t byte_class) const {
        return delta_.next(static_cast<std::int32_t>(in_range(state, end_.size())), byte_class);
    }
    // The same for all byte classes of a state at once.
    void copy_row(std::int32_t state, std::span<std::int32_t> row) const {
        delta_.copy_row(static_cast<std::int32_t>(in_range(state, end_.size())), row);
    }
    const Commit& commit(std::int32_t next) const {
        return commits_[in_range(commit_number(next), commits_.size())];
    }
    std::int32_t num_commits() const { return static_cast<std::int32_t>(commits_.size()); }
    std::span<const std::int32_t> pushback(std::int32_t id) const { return pushbacks_[id]; }

    // What a state keeps columns for; nothing in a grammar without layout. See ColumnUse.
    bool has_columns() const { return columns_.active(); }
    bool has_escaped_lines() const { return columns_.lines == Lines::kEscaped; }
    bool keeps_columns(std::int32_t state) const { return keeps(state) != 0; }
    bool keeps_match(std::int32_t state) const { return (keeps(state) & (kFreshMatch | kOldMatch)) != 0; }
    bool keeps_old_match(std::int32_t state) const { return (keeps(state) & kOldMatch) != 0; }
    bool counts(std::int32_t state) const { return (keeps(state) & kCounting) != 0; }
    bool is_within_escape(std::int32_t state) const { return keeps(state) >> kEscapeShift != kNoEscape; }
    // What a byte class is to the column that a state counts.
    Blank blank(std::int32_t state, std::int32_t byte_class) const {
        return columns_.blank(keeps(state), byte_class);
    }
    bool is_line_break(std::int32_t state, std::int32_t byte_class) const {
        return blank(state, byte_class) == Blank::kLineBreak;
    }
    // Whether a byte class by itself is a blank of a line, between escapes.
    bool indents(std::int32_t byte_class) const {
        const auto by_itself = columns_.blank(0, byte_class);
        return by_itself == Blank::kSpace || by_itself == Blank::kTab;
    }
    std::int32_t tab_width() const { return columns_.tab_width; }
    // Moves a configuration over a byte class that leads to state `next`.
    template <class AnyColumn>
    void move(LexerConfigurationOf<AnyColumn>& lexing, std::int32_t next, std::int32_t byte_class) const {
        if (has_columns()) columns_.move(lexing, keeps(lexing.state), keeps(next), byte_class);
        lexing.state = next;
    }
    // The configurations in which columns begin to be kept: at starts of lexemes, and after states that keep
    // none.
    std::vector<LexerConfiguration> first_columns() const;
    // The column of a newline that is committed when a byte class is read.
    template <class AnyColumn>
    AnyColumn committed_column(const Commit& commit, const LexerConfigurationOf<AnyColumn>& lexing,
                               std::int32_t byte_class) const {
        if (!pushbacks_[commit.pushback].empty()) return lexing.matched;
        return columns_.after(lexing.now, keeps(lexing.state), byte_class);
    }

    // At the end of input: kDead inside a lexeme, the fallback's commit, or kBoundary between lexemes.
    static constexpr std::int32_t kBoundary = 0;
    std::int32_t at_end(std::int32_t state) const { return end_[in_range(state, end_.size())]; }

    // The state at the start of a lexeme; kDead if no text leads there in this context and look-behind state.
    std::int32_t entry(std::int32_t context, std::int32_t look_behind) const {
        return entries_[in_matrix(context, contexts_.size(), look_behind,
                                  static_cast<std::size_t>(num_look_behind_))];
    }
    std::int32_t num_contexts() const { return static_cast<std::int32_t>(contexts_.size()); }
    std::int32_t num_look_behind() const { return num_look_behind_; }
    // The contexts in which lexing can go on after a label other than $END.
    std::span<const std::int32_t> contexts_after(std::int32_t label) const {
        return label == ignored_label() ? contexts_ : follow_[label];
    }

    // The length of the longest pushback in any state, and the matches whose pushback has no bound. Such a
    // match is dropped when it enters its cycle, so that the automaton is finite and the threads of higher
    // priority win.
    std::int32_t lookahead() const { return lookahead_; }
    const std::vector<UnboundedLookahead>& unbounded() const { return unbounded_; }

    // Bytes of memory, as who made it has measured them.
    std::int64_t held() const { return held_; }
    void set_held(std::int64_t bytes) { held_ = bytes; }

    // For reports: the tables as they are, [num_states, num_classes] and so on.
    const Transitions& transitions() const { return delta_; }
    std::span<const std::int32_t> ends() const { return end_; }
    std::span<const std::int32_t> entries() const { return entries_; }
    std::span<const Commit> commits() const { return commits_; }
    // Of each state: the label of the match with the longest pushback, or kDead, and the length of that. The
    // lengths are empty where all are 0, and both are where the automaton was loaded.
    const Packed& waiting_labels() const { return waiting_labels_; }
    std::span<const std::int32_t> waiting_lengths() const { return waiting_lengths_; }
    // For each terminal: whether some text makes it the first to match, whatever that is then called.
    std::span<const std::int32_t> matched() const { return matched_; }
    // For each terminal: how many states read on in it.
    std::span<const std::int32_t> states_by_terminal() const { return states_by_terminal_; }

  private:
    std::uint8_t keeps(std::int32_t state) const {
        return has_columns() ? keeps_[in_range(state, keeps_.size())] : std::uint8_t{0};
    }
    std::vector<std::int32_t> least_read() const;
    bool reads_on(std::span<const std::int32_t> least) const;

    std::int64_t held_ = 0;
    std::int32_t num_terminals_ = 0;
    std::int32_t num_classes_ = 0;
    std::int32_t num_look_behind_ = 1;
    std::array<std::uint8_t, 256> byte_class_{};
    Transitions delta_;
    Flat<std::int32_t> end_;      // [num_states]
    Flat<std::int32_t> entries_;  // [num_contexts, num_look_behind]
    Rows<std::int32_t> follow_;
    std::vector<std::int32_t> contexts_;  // all of them
    Flat<Commit> commits_;
    Rows<std::int32_t> pushbacks_;
    ColumnRules columns_;
    Flat<std::uint8_t> keeps_;  // of each state; empty without layout
    std::int32_t lookahead_ = 0;
    std::vector<UnboundedLookahead> unbounded_;
    Packed waiting_labels_;                                   // [num_states]
    std::vector<std::int32_t> waiting_lengths_;               // [num_states]
    std::vector<std::int32_t> matched_, states_by_terminal_;  // [num_terminals]
};

// Whether the columns of a configuration are as good as any: its line has just begun, or has not begun. The
// fallback may have a column only if it was matched at the last byte. Within an escape no space can follow.
inline bool any_column(const LexingAutomaton& lexer, const LexerConfiguration& lexing) {
    return lexing.now.value <= 0 && !(lexing.now.known() && lexer.is_within_escape(lexing.state)) &&
           (!lexing.matched.known() || (lexing.now.known() && !lexer.keeps_old_match(lexing.state)));
}

}  // namespace pdacon
