// The ordered subset construction: one pass over the states of a lexing automaton.
//
// A state is what a Pike VM holds at a place in a text: an ordered list of threads, which are NFA positions
// by descending priority; the keyword threads that may rename a match; and the fallback, the last match that
// is certain if no thread gets to another one, with its pushback. A step moves the threads in order. A match
// that is certain at once becomes the fallback, and all threads after it are cut, as in a leftmost-first
// matcher. If no thread is left, the fallback is committed. States are equal if all of this is equal,
// pushbacks by their class (Pushbacks).
//
// States have ids of their own, as Pushbacks may ask for states that no text reaches. Those that a text
// reaches are also numbered, in the order in which they are found: these numbers are the automaton's.
//
// Cost: O(states x (byte classes + edges of their threads)). There can be exponentially many states; the
// budget bounds them.
//
// Source: Cox 2009, "Regular expression matching: the virtual machine approach", for the threads.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "lexer/automaton.hpp"
#include "lexer/determinizer.hpp"
#include "lexer/legibility.hpp"
#include "lexer/lookahead_cycles.hpp"
#include "lexer/nfa.hpp"
#include "lexer/pushbacks.hpp"
#include "lexer/relexing.hpp"

namespace pdacon {

// The byte classes of a lexer, each with the byte that stands for it in texts.
struct ByteClasses {
    ByteClasses(const Nfa& nfa, Lines lines)
        : count(byte_classes(nfa, bytes_of_lines(lines), class_of)),
          representative(most_legible(class_of, count)) {}
    std::array<std::uint8_t, 256> class_of;
    std::int32_t count;
    std::vector<std::uint8_t> representative;
};

class SubsetConstruction final : private Pushbacks::Lexer {
  public:
    enum class Pass {
        kBounded,  // is given up where a pushback grows
        kSurvey,   // takes all pushbacks for alike, and tells `cycles` which matches wait
        kCut       // gives up the matches that wait in one of the cycles
    };

    // `cycles`: null in a bounded pass.
    SubsetConstruction(const LexerSpec& spec, const ByteClasses& bytes, Relexing& relexing,
                       LookaheadCycles* cycles, Budget& budget);

    // Makes all states that a text reaches. False: a bounded pass was given up.
    bool run(Pass pass);
    // All but `unbounded`.
    LexingTables tables() &&;

  private:
    // A match, and the bytes read since.
    struct Match {
        static constexpr std::int32_t kNone = -1;
        // A match whose pushback cannot be lexed. A thread with one is kept while it can still win, since it
        // then makes the text fail, whatever lower threads do.
        static constexpr std::int32_t kFailed = -2;
        std::int32_t label = kNone;
        std::int32_t look_behind = 0;              // the look-behind state at its end
        std::int32_t pushback = Pushbacks::kNone;  // in a survey: 0 or kNone
        std::int32_t relexing = -1;                // the set of Relexing after the pushback
        bool waits() const { return pushback != Pushbacks::kNone; }
    };
    // A thread at a pending position has matched on the condition that the following text fits.
    struct Thread {
        std::int32_t position;
        Match match;
    };
    // A position in a keyword that can rename a match of `regex`, while the lexeme so far is a prefix of it.
    struct KeywordThread {
        std::int32_t regex, keyword, position;
        bool operator==(const KeywordThread&) const = default;
    };
    struct State {
        bool at_start = false;         // at the start of a lexeme: nothing has been read of it
        std::int32_t look_behind = 0;  // the look-behind state
        std::vector<Thread> threads;
        std::vector<KeywordThread> keywords;
        Match fallback;             // the last match that is certain if no thread gets to another one
        std::uint8_t keeps = 0;     // ColumnUse bits, and how much of an escape has been read in a newline
        Escape escape = kNoEscape;  // how much of an escape has been read, if a newline is being read
        std::int32_t parent = -1;   // the state it was first reached from
        std::int32_t via = -1;      // and the byte class
    };
    // Where a byte class leads to, and the terminal that it made the first to match, or -1.
    struct Step {
        std::int32_t target = kUnknown, matched = -1;
        static constexpr std::int32_t kUnknown = std::numeric_limits<std::int32_t>::min();
    };
    // A partition of the byte classes: classes of one part lead all threads to the same positions.
    struct Partition {
        static constexpr std::int32_t kNoThread = 0;  // the part on which no thread goes on
        std::array<std::int32_t, 256> of{};           // of each class
        std::int32_t last = kNoThread;
        std::array<std::uint8_t, 256> classes;  // those on which a thread goes on, ascending
        std::ptrdiff_t num_classes = 0;
        std::span<const std::uint8_t> leading() const {
            return {classes.data(), static_cast<std::size_t>(num_classes)};
        }
    };
    struct Split {
        std::int32_t part, target, into;
    };
    // What plain states with the same fallback have in common: where they lead if their thread does not go
    // on, as a row of the transitions, and what the end of the text makes of them.
    struct FallbackRow {
        std::int32_t row = -1, end = Step::kUnknown;
        std::vector<std::uint8_t> open;  // the byte classes whose targets no state has needed so far
        // Of each byte class, once it is known: whether the match waits if its thread reads it.
        std::vector<std::optional<bool>> waits;
    };
    // A plain state has one thread, no keywords, and no match but one that ends here. States deep in a
    // terminal whose automaton is deterministic are plain. All that is kept of a plain state is its id, which
    // tells the position of the thread and whether there is a match. Plain states are made only in a bounded
    // pass, and only if nothing looks behind, all texts are wanted, and no columns are counted.
    struct PlainState {
        std::int32_t position;
        bool matched;
    };
    static constexpr std::int32_t kPlain = 1 << 30;  // where the ids of plain states begin
    static bool is_plain(std::int32_t id) { return id >= kPlain; }
    static std::int32_t plain_id(std::int32_t position, bool matched) {
        return kPlain + 2 * position + static_cast<std::int32_t>(matched);
    }
    static PlainState plain_state(std::int32_t id) { return {(id - kPlain) / 2, (id & 1) != 0}; }
    // Where a state keeps a match that waits for following bytes: the index of a thread, or kFallback.
    using Slot = std::int32_t;
    static constexpr Slot kFallback = -1;

    std::int32_t reach(std::int32_t target);
    void enter(std::int32_t context, std::int32_t look_behind);
    std::int32_t entry(std::int32_t context, std::int32_t look_behind);
    void step_all(std::int32_t from);
    bool has_plain_states() const { return !plain_number_.empty(); }
    bool is_plain(const State& state) const;
    std::int32_t label_of(std::int32_t terminal) const {
        return spec_.ignored[terminal] ? ignored_label() : terminal;
    }
    std::int32_t label_at(std::int32_t position) const { return label_of(spec_.nfa.owner[position]); }
    FallbackRow& fallback_row(std::int32_t label);
    void step_plain(std::int32_t from, const PlainState& state);
    bool waits_after(std::int32_t label, std::int32_t cls);
    std::int32_t plain_target(std::int32_t label, std::int32_t cls, std::int32_t target);
    Step plain_step(std::int32_t from, std::int32_t label, std::int32_t cls, std::int32_t target);
    std::int32_t written_out(std::int32_t plain);
    void number_plain_states(std::int32_t terminal);
    bool is_large_and_alone(std::int32_t terminal) const;
    std::vector<bool> plain_states_of(std::int32_t terminal);
    std::int32_t& number_of(std::int32_t id) {
        return is_plain(id) ? plain_number_[id - kPlain] : number_[id];
    }
    std::size_t num_states() const { return states_.size() + num_plain_; }
    void complete(std::int32_t from, std::vector<Step>& row);
    Partition partition(const State& state);
    bool leads_outside(std::int32_t from, std::int32_t cls) const;
    std::int32_t without_threads(std::int32_t from, const Match& fallback, std::int32_t cls);
    Step step(std::int32_t from, std::int32_t cls);
    void survey_matches();
    void survey_step(std::int32_t from, std::int32_t cls, std::int32_t next);
    bool move(const State& from, std::int32_t cls, const std::vector<Match>& pending, State& to,
              std::int32_t& matched);
    std::vector<std::pair<std::int32_t, std::int32_t>> step_keywords(const State& from, std::uint8_t byte,
                                                                     State& to);
    std::int32_t finish(State&& state);
    std::vector<Match> read_pending(std::int32_t from, std::int32_t cls);
    Match read_on(Match match, std::int32_t cls);
    void cut_cycles(State& state);
    bool is_redundant(const State& state) const;
    std::int32_t at_end(const State& state);
    std::uint8_t columns_kept(const State& state) const;
    void describe_states();
    template <class Label>
    std::vector<Label> described();
    void note_match(std::int32_t terminal) { made_.matched[terminal] = 1; }
    std::int32_t length_of(const Match& match) const {
        return match.waits() && pass_ != Pass::kSurvey ? pushbacks_->length(match.pushback) : match.waits();
    }
    std::string path_to(const State& state) const;
    std::int32_t commit(const Match& match);
    std::int32_t intern(State&& state);
    void note_key(const State& state);
    static std::vector<std::int32_t> wait_of(const State& state, Slot slot);
    static std::vector<Slot> waiting_slots(const State& state);
    static const Match& match_in(const State& state, Slot slot) {
        return slot == kFallback ? state.fallback : state.threads[slot].match;
    }
    std::int32_t num_look_behind() const { return spec_.nfa.num_look_behind(); }
    std::int32_t ignored_label() const { return spec_.num_terminals() + 1; }
    std::span<const std::int32_t> contexts_after(std::int32_t label) const {
        return label == ignored_label() ? contexts_ : std::span(spec_.follow[label]);
    }
    std::uint8_t representative(std::int32_t cls) const { return bytes_.representative[cls]; }

    // What a state keeps of columns, in a grammar with layout, where none is plain.
    std::uint8_t keeps(std::int32_t state) const { return states_[state].keeps; }

    // Pushbacks asks on demand, also about states that no text has reached yet, or ever will.
    std::vector<std::int32_t> entries_after(std::int32_t label, std::int32_t look_behind) override;
    std::int32_t next(std::int32_t state, std::int32_t cls) override;
    std::vector<std::int32_t> carried(std::int32_t state) const override;
    void move(LexerConfiguration& lexing, std::int32_t next, std::int32_t cls) const override;
    Pushbacks::Committed committed(std::int32_t commit, const LexerConfiguration& lexing,
                                   std::int32_t cls) override;

    const LexerSpec& spec_;
    const ByteClasses& bytes_;
    Relexing& relexing_;
    LookaheadCycles* cycles_;
    Budget& budget_;
    ColumnRules columns_;
    std::vector<std::int32_t> contexts_;  // all of them
    Closure closure_;
    Pass pass_ = Pass::kBounded;
    std::optional<Pushbacks> pushbacks_;  // none in a survey
    // What has been made, by ids of its own.
    Interner state_ids_, commit_ids_;
    std::vector<State> states_;
    std::vector<Match> commits_;
    std::vector<std::int32_t> entries_;          // [contexts, look-behind states]; kDead: not made
    std::vector<std::vector<Step>> steps_;       // of each state: what Pushbacks has asked for
    std::vector<std::int32_t> key_, positions_;  // scratch space, as the next
    std::vector<Split> splits_;
    LexingTables made_;
    TransitionsBuilder transitions_;
    std::vector<FallbackRow> fallback_rows_;  // by label, from kNone on
    std::vector<std::int32_t> plain_number_;  // as number_, by id from kPlain on
    std::size_t num_plain_ = 0;
    std::vector<bool> is_laid_out_;  // of each terminal: see number_plain_states
    std::vector<std::pair<std::uint8_t, std::int32_t>> plain_edges_;  // scratch space
    // Ids of the states and commits that a text reaches, in the order of their numbers.
    std::vector<std::int32_t> reached_, reached_commits_;
    std::vector<std::int32_t> number_, commit_number_;  // of each state and commit; kDead: not reached
    // About the step at hand: whether a match has read the byte, and where each match was and is.
    bool has_read_on_ = false;
    std::vector<std::pair<Slot, Slot>> moved_matches_;
};

}  // namespace pdacon
