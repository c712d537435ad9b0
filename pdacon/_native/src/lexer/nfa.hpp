// The nondeterministic automata of all terminals, as programs of a Pike VM, and how to step them.
//
// Source: Cox 2009, "Regular expression matching: the virtual machine approach".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat.hpp"
#include "base/in_range.hpp"

namespace pdacon {

// The kind of a position. kBytes has edges that read a byte; kSplit has epsilon edges in order of priority;
// kMatch is a match. The pending kinds are look-ahead: the terminal has matched there on the condition that
// the text that follows leads, through pending positions only, to a kMatch. kPendingOrEnd also holds at the
// end of the text.
enum class NfaKind : std::uint8_t { kBytes, kSplit, kMatch, kPending, kPendingOrEnd };

// Of a text: some wanted texts begin with it, it is one of them, or none does.
enum class Wanted : std::uint8_t { kBeginning, kWhole, kOutside };

// The programs of all terminals in one numbering of positions, and the automaton for look-behind.
struct Nfa {
    Flat<std::uint8_t> kind;    // NfaKind of each position
    Flat<std::int32_t> offset;  // edges of position i: offset[i] .. offset[i + 1]
    Flat<std::uint8_t> low;     // of each edge, but those of a kSplit position: the bytes low..high
    Flat<std::uint8_t> high;
    Flat<std::int32_t> target;  // of each edge; those of a kSplit position in order of priority
    Flat<std::int32_t> owner;   // the terminal of each position
    Flat<std::int32_t> entry;   // [terminals, look-behind states]; -1: no text matches
    // [look-behind states, 256]: the transitions of an automaton that reads the whole text from state 0,
    // whatever its lexemes are. Its state at the start of a lexeme says what look-behind, `\b` and `^` see
    // there.
    Flat<std::int32_t> look_behind;
    // Where only some texts are wanted, of each look-behind state what it says of a text that leads there, a
    // Wanted; empty: all texts are.
    Flat<std::uint8_t> wanted;
    // Of each position, if any terminal leaves something behind: what a match there adds to the look-behind
    // state that its bytes lead to, so that the next lexeme begins in an entry of its own; empty: nothing
    // anywhere. That is how a string is read in several lexemes. The next byte leads to a state without it.
    Flat<std::int32_t> leaves;

    // Whether the text may end in a look-behind state.
    bool may_end(std::int32_t state) const { return wanted.empty() || wanted_of(state) == Wanted::kWhole; }
    // Whether no wanted text begins like one that leads to a look-behind state.
    bool is_outside(std::int32_t state) const {
        return !wanted.empty() && wanted_of(state) == Wanted::kOutside;
    }
    Wanted wanted_of(std::int32_t state) const {
        return static_cast<Wanted>(wanted[in_range(state, wanted.size())]);
    }

    std::int32_t num_look_behind() const { return static_cast<std::int32_t>(look_behind.size() / 256); }
    std::int32_t num_terminals() const {
        return static_cast<std::int32_t>(entry.size() / static_cast<std::size_t>(num_look_behind()));
    }
    std::int32_t entry_of(std::int32_t terminal, std::int32_t look_behind_state) const {
        return entry[in_matrix(terminal, static_cast<std::size_t>(num_terminals()), look_behind_state,
                               static_cast<std::size_t>(num_look_behind()))];
    }
    std::int32_t look_behind_after(std::int32_t look_behind_state, std::uint8_t byte) const {
        return look_behind[in_matrix(look_behind_state, static_cast<std::size_t>(num_look_behind()), byte,
                                     256)];
    }
    // The look-behind state behind a lexeme that matches at a position, where its bytes lead to one.
    std::int32_t look_behind_of_match(std::int32_t position, std::int32_t look_behind_state) const {
        return leaves.empty() ? look_behind_state
                              : look_behind_state + leaves[in_range(position, leaves.size())];
    }
    NfaKind kind_of(std::int32_t position) const {
        return static_cast<NfaKind>(kind[in_range(position, kind.size())]);
    }
    // The indices of a position's edges.
    auto edges(std::size_t position) const {
        return std::views::iota(offset[position], offset[position + 1]);
    }
    bool is_pending(std::int32_t position) const { return kind_of(position) >= NfaKind::kPending; }
};

// Throws std::invalid_argument if the arrays do not fit together.
void validate(const Nfa& nfa);

// Puts the programs of terminals together that look at nothing behind them.
class NfaBuilder {
  public:
    // `owner` keeps the memory of what is added.
    NfaBuilder(std::int32_t num_terminals, std::shared_ptr<const void> owner);

    // Adds a program that begins at its first position: its arrays as bytes, numbers of four little-endian
    // ones. Throws std::invalid_argument if they do not fit together.
    void add(std::int32_t terminal, std::span<const std::uint8_t> kind, std::span<const std::uint8_t> offset,
             std::span<const std::uint8_t> low, std::span<const std::uint8_t> high,
             std::span<const std::uint8_t> target);
    // Adds the program of one text.
    void add(std::int32_t terminal, std::span<const std::uint8_t> text);
    Nfa take() &&;

  private:
    // The arrays of a program, as they were added.
    struct Program {
        std::span<const std::uint8_t> kind, offset, low, high, target;
    };
    void begin(std::int32_t terminal, std::size_t positions);
    void write(const Program& program);

    std::shared_ptr<const void> memory_;
    // The first program, which may be large: while it is alone it is not copied.
    std::optional<Program> alone_;
    std::vector<std::uint8_t> kind_, low_, high_;
    std::vector<std::int32_t> offset_{0}, target_, owner_, entry_;
};

// Visits every position in the epsilon closure of one that is no split, whatever its priority.
template <class Visit>
void for_each_in_closure(const Nfa& nfa, std::int32_t position, Visit visit) {
    std::vector<std::int32_t> open{position};
    std::set<std::int32_t> seen;
    while (!open.empty()) {
        const auto at = open.back();
        open.pop_back();
        if (!seen.insert(at).second) continue;
        if (nfa.kind_of(at) != NfaKind::kSplit) {
            visit(at);
            continue;
        }
        for (const auto edge : nfa.edges(at)) open.push_back(nfa.target[edge]);
    }
}

// Ordered epsilon closures. Between one begin() and the next no position is listed twice: the thread that
// comes to it first has the higher priority.
class Closure {
  public:
    explicit Closure(const Nfa& nfa) : nfa_(nfa), seen_(nfa.kind.size()) {}

    void begin() {
        for (const auto position : visited_) seen_[position] = 0;
        visited_.clear();
    }

    // Appends the byte and pending positions in the closure of a position by descending priority, up to the
    // first match. Returns whether there is one; positions of lower priority have lost against it.
    bool until_match(std::int32_t position, std::vector<std::int32_t>& out) {
        stack_.assign(1, position);
        while (!stack_.empty()) {
            const auto at = static_cast<std::size_t>(stack_.back());
            stack_.pop_back();
            if (!first(static_cast<std::int32_t>(at))) continue;
            switch (static_cast<NfaKind>(nfa_.kind[at])) {
                case NfaKind::kMatch:
                    return true;
                case NfaKind::kBytes:
                case NfaKind::kPending:
                case NfaKind::kPendingOrEnd:
                    out.push_back(static_cast<std::int32_t>(at));
                    break;
                case NfaKind::kSplit:
                    for (auto edge = nfa_.offset[at + 1]; edge-- > nfa_.offset[at];)
                        stack_.push_back(nfa_.target[edge]);
            }
        }
        return false;
    }

    // Whether the position is met for the first time in this visit.
    bool first(std::int32_t position) {
        auto& seen = seen_[position];
        if (seen != 0) return false;
        seen = 1;
        visited_.push_back(position);
        return true;
    }

    // The target of the edge for `byte`, or -1.
    std::int32_t step(std::int32_t position, std::uint8_t byte) const {
        for (const auto edge : nfa_.edges(position))
            if (nfa_.low[edge] <= byte && byte <= nfa_.high[edge]) return nfa_.target[edge];
        return -1;
    }

  private:
    const Nfa& nfa_;
    std::vector<std::uint8_t> seen_;  // of each position: whether it is in visited_
    std::vector<std::int32_t> visited_, stack_;
};

// Partitions the bytes: bytes that no edge tells apart share a class, and with `blanks` a line break, a tab
// and a space each have one of their own. Returns the number of classes; `class_of` maps bytes to classes.
int byte_classes(const Nfa& nfa, std::string_view alone, std::array<std::uint8_t, 256>& class_of);

}  // namespace pdacon
