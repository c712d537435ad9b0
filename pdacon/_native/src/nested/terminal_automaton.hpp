// A terminal as a deterministic automaton over bytes whose states are made as they are read, and what the
// tokens of a vocabulary do from each of its positions.
//
// A state is a set of the terminal's positions, by the subset construction (M. Rabin and D. Scott, "Finite
// Automata and Their Decision Problems", IBM Journal 3(2), 1959). Terminals that say the same are one
// automaton for all constraints with the vocabulary, so that the strings and numbers of the next schema are
// there already. Safe from any thread: its lock is held for no longer than a state or the tokens of one take,
// and nothing else is waited for while it is held.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "detokenizer/shared_trie.hpp"
#include "detokenizer/token_set.hpp"
#include "nested/character_counts.hpp"
#include "nested/rests.hpp"
#include "nested/schemas.hpp"
#include "regular/string_lengths.hpp"

namespace pdacon {

using ByteSet = std::bitset<256>;

// How many states somebody may make.
class StateLimit {
  public:
    explicit StateLimit(std::int64_t most) : most_(most) {}
    // Throws LimitExceeded.
    void add();

  private:
    std::int64_t most_, count_ = 0;
};

// How many characters a string must still have, and may have at most, for what tokens do; kMany: any number.
struct CharactersLeft {
    static constexpr std::int32_t kMany = StringLengths::kEndless;
    std::int32_t least = 0, most = kMany;
    bool are_free() const { return least <= 0 && most >= kMany; }
    auto operator<=>(const CharactersLeft&) const = default;
};

// Tokens from a position of a terminal: those that do not get beyond its end, and the rests of the others.
// Where the terminal ends at the position itself, those that begin with another byte than its texts are not
// here.
struct TerminalTokens {
    std::shared_ptr<const LoopTokens> loop;  // those that stay in a run of characters; or null
    std::vector<std::int32_t> mask;          // of others, such as those that stay in it for few; or empty
    TokenSet within;
    std::shared_ptr<const Rests> beyond;
    // Nodes of the trie at which the terminal has ended, with all rests below them, where those are many.
    std::vector<std::int32_t> large;

    void add_to(std::span<std::int32_t> words) const {
        if (loop) loop->staying.add_to(words);
        for (std::size_t at = 0; at < mask.size(); ++at) words[at] |= mask[at];
        within.add_to(words);
    }
};

class TerminalAutomaton {
  public:
    // A position: eight times a state, and three bits that say whether it stands behind a character of a
    // string, whether the terminal ends there, and whether a text of it can go on.
    static constexpr std::int32_t kDead = -1;
    static bool ends_character(std::int32_t position) { return (position & 4) != 0; }
    static bool matches(std::int32_t position) { return (position & 2) != 0; }
    static bool can_go_on(std::int32_t position) { return (position & 1) != 0; }

    struct Row {
        std::array<std::int32_t, 256> next;  // kDead: no text goes on so
        ByteSet live;
    };
    // Characters that a position reads one after another, each in the same way: in a loop, or in a chain of
    // states that count them.
    struct Run {
        CharacterSet characters;
        std::int32_t next = kDead;  // after one of them; kDead: it reads no characters alike
        bool is_loop = false;       // whether `next` is the same
        // For how many characters at least it goes on so, up to kMostCounted; kEndless: for any number;
        // -1: not known yet.
        mutable std::int32_t length = -1;
        mutable std::shared_ptr<const LoopExits> exits = nullptr;  // of a loop, once they are needed
        mutable int has_many_exits = -1, has_end = -1;             // whether it has; -1: not known yet
        static constexpr std::int32_t kEndless = 1 << 20, kMostCounted = CharacterCounts::kMost;
    };
    // States between which some characters lead, whichever they are and wherever they begin (`regions.cpp`).
    struct Region {
        static constexpr std::int32_t kAny = 1 << 30;  // so many characters lead nowhere out of it
        static constexpr std::int32_t kSeveral = -2;
        CharacterSet characters;
        std::array<std::int32_t, 256> next;  // where a byte leads from all states, or kSeveral
        mutable std::shared_ptr<const LoopExits> exits = nullptr;  // once they are needed
    };

    explicit TerminalAutomaton(std::shared_ptr<const NestedTerminal> terminal);
    TerminalAutomaton(const TerminalAutomaton&) = delete;
    TerminalAutomaton& operator=(const TerminalAutomaton&) = delete;

    const NestedTerminal& terminal() const { return own_; }
    std::int32_t start() const { return start_; }
    std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    // What is returned stays as it is while the automaton lives.
    const Row& row(std::int32_t position, StateLimit& limit);
    const Run& run(std::int32_t position, StateLimit& limit);
    std::shared_ptr<const TerminalTokens> tokens(std::int32_t position, const CharactersLeft& left,
                                                 const SharedTrie& trie, StateLimit& limit);
    // Where a byte leads that goes from one position to another, after so many characters; kDead: nowhere,
    // since no text that goes on so has as many as it must and may.
    std::int32_t counted(std::int32_t from, std::int32_t to, std::int32_t characters, std::int32_t least,
                         std::int32_t most) {
        if (!lengths_) return among_all(from, to, characters, least, most);
        const std::lock_guard hold(lock_);
        return counted_here(from, to, characters, least, most);
    }
    // From how many characters that may still come on it makes no difference how many they are; -1: it may.
    std::int32_t settled() const { return lengths_ ? lengths_->settled() : 0; }

  private:
    class Walk;
    struct State {
        std::unique_ptr<const Row> row;        // null: not made yet
        std::unique_ptr<Run> run;              // the same
        std::shared_ptr<const Region> region;  // null: there is none, or it was not looked for
        std::int32_t safe = 0;  // how many characters can be read in it before one may lead nowhere
        bool is_region_known = false;
        std::shared_ptr<const TerminalTokens> tokens;
    };
    using Kept = std::shared_ptr<const TerminalTokens>;
    // What tokens do from a position. Others take it over where bytes lead from both to the same.
    struct Base {
        std::int32_t position;
        Kept tokens;
    };
    // What a walk has read of a position: bytes, and whether also its run.
    struct Read {
        std::int32_t position;
        ByteSet bytes;
        bool is_run = false;
    };
    // A long walk, with the position where it began first (`like_walks.cpp`).
    struct Walked {
        std::vector<Read> read;
        std::unordered_map<std::int32_t, std::size_t> numbers;  // by position
        Kept found;
    };
    // Of all these the lock is held.
    void keep_base(std::int32_t position, const Kept& tokens);
    void keep_walk(std::vector<Read> read, const Kept& found);
    // What a walk from another position has found, if bytes lead from this one alike as far as it has read.
    Kept alike(std::int32_t position, StateLimit& limit);
    bool leads_alike(const Walked& walked, std::int32_t position, StateLimit& limit);
    const Kept& kept_tokens(std::int32_t position, const SharedTrie& trie, StateLimit& limit);
    std::int32_t position_of(std::vector<std::int32_t> positions, StateLimit& limit);
    const Row& made_row(std::int32_t position, StateLimit& limit);
    const Run& made_run(std::int32_t position, StateLimit& limit);
    std::int32_t length_of(const Run& run, StateLimit& limit);
    Kept made_tokens(std::int32_t position, const CharactersLeft& left, const SharedTrie& trie,
                     StateLimit& limit);
    std::int32_t only_target(std::int32_t position, int first, int last, StateLimit& limit);
    std::uint64_t leads_between(std::int32_t from, std::int32_t to, StateLimit& limit);
    std::shared_ptr<const Rests> rests_of(const SharedTrie& trie, std::vector<std::int32_t> nodes);
    Run found_run(std::int32_t position, StateLimit& limit);
    // The characters that lead from a position anywhere, and of those outside ASCII where, by their first
    // bytes.
    struct Ways {
        CharacterSet characters;
        std::vector<std::pair<std::uint64_t, std::vector<std::int32_t>>> outside;
    };
    std::vector<std::int32_t> ends_of_lead(std::int32_t position, int lead, StateLimit& limit);
    Ways ways_from(std::int32_t position, StateLimit& limit);
    struct Found {
        std::shared_ptr<Region> region;
        std::vector<std::int32_t> inside, safe;  // positions, and how many characters can be read from each
    };
    std::optional<Found> found_region(std::int32_t position, bool may_end, StateLimit& limit);
    void find_safe(Found& found, const std::map<std::int32_t, Ways>& ways,
                   const std::map<std::int32_t, std::int32_t>& numbers);
    void find_region(std::int32_t position, StateLimit& limit);
    // The state of a position, for which a region has been looked for.
    const State& within_region(std::int32_t position, StateLimit& limit);
    void find_lengths();
    // The same of all strings: from each of their positions strings of all lengths are left.
    static std::int32_t among_all(std::int32_t from, std::int32_t to, std::int32_t characters,
                                  std::int32_t least, std::int32_t most) {
        if (to == kDead || (matches(to) && characters < least)) return kDead;
        return ends_character(from) && !matches(to) && characters >= most ? kDead : to;
    }
    std::int32_t counted_here(std::int32_t from, std::int32_t to, std::int32_t characters, std::int32_t least,
                              std::int32_t most) const {
        const auto among = among_all(from, to, characters, least, most);
        if (among == kDead || !lengths_ || matches(to)) return among;
        return has_lengths(to, characters + ends_character(to), least, most) ? to : kDead;
    }
    // Whether a text goes on from a position behind so many characters, and has as many as it must and may.
    bool has_lengths(std::int32_t position, std::int32_t characters, std::int32_t least,
                     std::int32_t most) const;
    // If strings of all lengths from one on, and of none below, go on from a position: that one; else -1.
    std::int32_t all_lengths_from(std::int32_t position) const;

    const std::shared_ptr<const NestedTerminal> given_;
    const NestedTerminal& own_;
    // Of strings that are counted, and are not all strings: how long they can be from each of the states
    // between characters; and of the states within one, which of the former they lead to.
    std::optional<StringLengths> lengths_;
    std::vector<std::vector<std::int32_t>> leads_to_;
    std::mutex lock_;
    Interner sets_;
    std::deque<State> states_;
    // By where they begin.
    struct ByFirst {
        using is_transparent = void;
        static const auto& of(const std::vector<std::int32_t>& nodes) { return nodes; }
        static const auto& of(const std::shared_ptr<const Rests>& rests) { return rests->first(); }
        bool operator()(const auto& one, const auto& other) const { return of(one) < of(other); }
    };
    std::set<std::shared_ptr<const Rests>, ByFirst> rests_;
    std::deque<Base> bases_;
    std::deque<Walked> walks_;
    int failures_ = 0;                 // searches for a region that found none
    std::vector<std::uint32_t> seen_;  // by position of the terminal: the last search that came to it
    std::uint32_t search_ = 0;
    // Of strings with few characters left, up to so many.
    static constexpr std::size_t kMostCounted = 512;
    std::map<std::pair<std::int32_t, CharactersLeft>, std::shared_ptr<const TerminalTokens>> counted_;
    std::atomic<std::int64_t> bytes_{0};
    std::int32_t start_;
};

// The automata of terminals, for all constraints that use a vocabulary: those used last, up to so many bytes.
// Who has one keeps it. Safe from any thread.
class TerminalAutomata {
  public:
    std::shared_ptr<TerminalAutomaton> of(std::shared_ptr<const NestedTerminal> terminal);

  private:
    static constexpr std::int64_t kMostBytes = 64 << 20;
    struct Entry {
        std::shared_ptr<TerminalAutomaton> automaton;
        std::uint64_t used;
    };
    void make_room();

    std::mutex lock_;
    std::unordered_multimap<std::uint64_t, Entry> known_;  // by a hash of the terminal
    std::uint64_t clock_ = 0;
};

}  // namespace pdacon
