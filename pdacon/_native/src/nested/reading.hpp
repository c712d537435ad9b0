// A nested-word automaton over bytes: the moves of a place as threads in its terminals, step by step.
//
// A cursor is a place with what has been read there: the texts that go on, of those of the place in order,
// and threads, each a move and a position in its terminal. A byte moves all of them. Where none goes on, the
// move whose terminal has ended is made, and the byte is read in the place behind it; where one has ended and
// none can go on, the move is made at once. The terminals of a place exclude one another, but that a listed
// name wins over the class of the others; whatever follows a terminal begins with a byte that no text of it
// goes on with. So there is one move at most.
//
// A text is followed with cursors, which cost nothing; those at which texts stand between tokens get numbers.
// Source: the lazy determinization of RE2 (R. Cox, "Regular Expression Matching in the Wild", 2010).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/interner.hpp"
#include "nested/automaton.hpp"
#include "nested/terminal_automaton.hpp"

namespace pdacon {

class NestedReading {
  public:
    struct Thread {
        std::int32_t move;      // of the place
        std::int32_t position;  // of its terminal's automaton
    };
    struct Cursor {
        std::int32_t place;
        std::int32_t first, end;  // texts of the place, in order, that have `depth` bytes in common with it
        std::int32_t depth;
        std::int32_t more = -1;  // a set of threads, where there is not one at most
        Thread thread{-1, 0};    // the only one; move -1: none
        std::int32_t count = 0;  // of the characters that were read, where a thread counts them; else 0
        bool has_texts() const { return first < end; }
        bool has_threads() const { return more >= 0 || thread.move >= 0; }
    };
    // What a byte does: pushes a frame, if there is one, pops one with an ending, if there is one, and leads
    // to a cursor; behind a pop that is at the place where the frame goes on.
    struct Step {
        enum class How : std::uint8_t { kDead, kWithin, kMoved } how = How::kDead;
        Cursor to{-1, 0, 0, 0};
        std::int32_t push = -1, ending = -1;
        bool is_dead() const { return how == How::kDead; }
    };
    NestedReading(NestedAutomaton& automaton, const SharedTrie& trie, std::int64_t max_states)
        : automaton_(automaton),
          known_(trie.kept<TerminalAutomata>()),
          max_nodes_(max_states),
          limit_(max_states) {}

    // Where nothing of a place has been read.
    Cursor begin(std::int32_t place) { return at(place).begin; }
    // Throws what NestedAutomaton::moves does; all is as it was then.
    Step step(const Cursor& from, std::uint8_t byte);
    // The move of a place, behind its terminal.
    Step made_move(std::int32_t place, std::int32_t move);
    // The bytes that may lead on.
    ByteSet live(const Cursor& from);
    // What the end of the text makes of a cursor: the place it leads to, without pops; -1: the terminal has
    // not ended.
    std::int32_t place_at_end(const Cursor& from);
    // The move whose terminal has ended; -1: none has.
    std::int32_t ended(const Cursor& from) { return status(from).ended; }

    std::int64_t num_nodes() const { return static_cast<std::int64_t>(nodes_.size()); }
    std::span<const Thread> threads(const Cursor& from) const;
    TerminalAutomaton& automaton(std::int32_t place, std::int32_t move) {
        return *terminal_of(place, move).automaton;
    }
    // How many characters a thread's string may still have, up to `most`, and whether it counts them.
    CharactersLeft left(const Cursor& at, std::int32_t move, std::int32_t most);
    bool counts(std::int32_t place, std::int32_t move) { return !terminal_of(place, move).counts.are_free(); }
    // Of the texts that a cursor has, those that go on with the same byte as the one at `from`: up to which.
    std::int32_t end_of_byte(const Cursor& cursor, std::int32_t from);
    // The byte with which a text goes on; -1: it has ended.
    int byte_of(const Cursor& cursor, std::int32_t text);
    // Where only one text goes on, the rest of it that is read with nothing else happening: no terminal ends,
    // and a thread beside it stays where it is. Empty: it may be another case.
    std::string_view plain_rest(const Cursor& cursor);
    StateLimit& limit() { return limit_; }

    // The number of a cursor but for its count, and the cursor of a number.
    std::int32_t node(const Cursor& cursor);
    Cursor cursor(std::int32_t node, std::int32_t count) const;
    bool counts(std::int32_t node) const { return counts_[static_cast<std::size_t>(node)]; }

  private:
    struct Terminal {
        std::string text;
        std::shared_ptr<TerminalAutomaton> automaton;  // null: it is a text
        Counts counts;
    };
    struct Text {
        std::string_view text;
        std::int32_t move;
    };
    static void sort(std::vector<Text>& texts);
    // A place as it is read.
    struct Place {
        std::vector<Text> texts;            // in order
        std::vector<std::int32_t> allowed;  // how many of the texts before each one may come
        Cursor begin;
        ByteSet live;       // the bytes that its terminals begin with
        bool begins_ended;  // whether a terminal has ended where nothing has been read
    };
    struct Status {
        std::int32_t ended = -1;  // the move whose terminal has ended
        bool goes_on = false;     // whether some text or thread can read on
        bool is_blocked = false;  // whether a name has ended that must not come
    };
    const Place& at(std::int32_t place);
    static bool is_begin(const Cursor& cursor, const Place& place);
    Status status(const Cursor& cursor);
    ByteSet live_here(const Cursor& cursor, const Place& place);
    Cursor with_threads(Cursor cursor, const std::vector<Thread>& threads);
    Step made_move(std::int32_t place, std::int32_t move, std::optional<std::uint8_t> byte);
    const Terminal& terminal(std::int32_t number);
    const Terminal& terminal_of(std::int32_t place, std::int32_t move) {
        return terminal(automaton_.moves(place)[static_cast<std::size_t>(move)].terminal);
    }
    bool count_characters(const Cursor& cursor);
    bool has_allowed_text(const Cursor& cursor);
    bool has_name_ended(const Cursor& cursor);
    // Where a thread's byte leads; notes whether a character that is counted has ended.
    std::int32_t next(const Cursor& from, const Thread& thread, std::uint8_t byte, bool& ends_character);

    NestedAutomaton& automaton_;
    TerminalAutomata& known_;
    std::int64_t max_nodes_;
    StateLimit limit_;
    Interner nodes_;
    std::vector<bool> counts_;  // by node: whether some thread counts characters
    Interner set_keys_;
    std::vector<std::vector<Thread>> sets_;  // of threads
    std::vector<std::unique_ptr<const Place>> places_;
    // By number, from the first one down; those that are kept for the process are apart.
    std::vector<std::unique_ptr<const Terminal>> terminals_, kept_;
};

}  // namespace pdacon
