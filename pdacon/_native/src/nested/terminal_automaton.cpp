#include "nested/terminal_automaton.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/budget.hpp"
#include "base/checksum.hpp"
#include "nested/counted_loops.hpp"

namespace pdacon {

namespace {

constexpr int kLong = 32;             // a run of so many characters has its tokens known for the process
constexpr int kChain = 16;            // if it is a loop, or goes on for so many
constexpr std::int64_t kState = 200;  // bytes, about, without its row

template <class Number>
std::uint64_t checksum_of(const std::vector<Number>& numbers) {
    return checksum(numbers.data(), numbers.size() * sizeof(Number));
}

std::uint64_t hash_of(const NestedTerminal& terminal) {
    return (checksum_of(terminal.target) * 31 + checksum_of(terminal.lo)) * 31 + checksum_of(terminal.hi);
}

}  // namespace

void StateLimit::add() {
    if (most_ > 0 && count_ >= most_)
        throw LimitExceeded("states", static_cast<double>(count_), static_cast<double>(most_));
    ++count_;
}

TerminalAutomaton::TerminalAutomaton(NestedTerminal terminal)
    : own_(std::move(terminal)),
      seen_(own_.kind.size()),
      bytes_(static_cast<std::int64_t>(own_.kind.size() * 9 + own_.target.size() * 6)) {
    StateLimit none(0);
    start_ = position_of({own_.start}, none);
    if (own_.inside > 0) find_lengths();
}

void TerminalAutomaton::find_lengths() {
    const auto inside = static_cast<std::size_t>(own_.inside);
    std::vector<std::uint8_t> accepting(inside), is_known(own_.kind.size());
    std::vector<std::vector<std::int32_t>> leads_to(own_.kind.size());
    // A character is a path without a circle: what is within one is known before what leads there.
    for (std::size_t state = 0; state < inside; ++state) {
        std::vector<std::size_t> open{state};
        while (!open.empty()) {
            const auto at = open.back();
            const auto begin = own_.target.begin() + own_.offset[at];
            const auto end = own_.target.begin() + own_.offset[at + 1];
            const auto missing = std::find_if(begin, end, [&](auto target) {
                return target >= own_.inside && !is_known[static_cast<std::size_t>(target)];
            });
            if (missing != end) {
                open.push_back(static_cast<std::size_t>(*missing));
                continue;
            }
            open.pop_back();
            auto& own = leads_to[at];
            for (auto edge = begin; edge != end; ++edge) {
                const auto target = static_cast<std::size_t>(*edge);
                if (*edge < own_.inside)
                    own.push_back(*edge);
                else if (own_.kind[target] >= NestedTerminal::kMatch)
                    accepting[at] = at < inside;
                else
                    own.insert(own.end(), leads_to[target].begin(), leads_to[target].end());
            }
            std::ranges::sort(own);
            const auto same = std::ranges::unique(own);
            own.erase(same.begin(), same.end());
            is_known[at] = 1;
        }
    }
    auto lengths = StringLengths::of(std::span(leads_to).first(inside), accepting);
    if (!lengths) throw NeedsWhole("the lengths of strings are too many to be told");
    for (std::int32_t state = 0; state < own_.inside; ++state)
        if (lengths->all_from(state) != 0) {
            lengths_ = std::move(lengths);
            leads_to_ = std::move(leads_to);
            return;
        }
}

bool TerminalAutomaton::has_lengths(std::int32_t position, std::int32_t characters, std::int32_t least,
                                    std::int32_t most) const {
    least -= characters;
    most = most >= CharactersLeft::kMany ? most : most - characters;
    return std::ranges::any_of(sets_[position / 8], [&](auto state) {
        if (state < own_.inside) return lengths_->meet(state, least, most);
        return std::ranges::any_of(leads_to_[static_cast<std::size_t>(state)],
                                   [&](auto to) { return lengths_->meet(to, least - 1, most - 1); });
    });
}

std::int32_t TerminalAutomaton::all_lengths_from(std::int32_t position) const {
    if (!lengths_) return 0;
    const auto set = sets_[position / 8];
    return set.size() == 1 && set[0] < own_.inside ? lengths_->all_from(set[0]) : -1;
}

const TerminalAutomaton::Row& TerminalAutomaton::row(std::int32_t position, StateLimit& limit) {
    const std::lock_guard hold(lock_);
    return made_row(position, limit);
}

const TerminalAutomaton::Run& TerminalAutomaton::run(std::int32_t position, StateLimit& limit) {
    const std::lock_guard hold(lock_);
    return made_run(position, limit);
}

std::shared_ptr<const TerminalTokens> TerminalAutomaton::tokens(std::int32_t position,
                                                                const CharactersLeft& left,
                                                                const SharedTrie& trie, StateLimit& limit) {
    const std::lock_guard hold(lock_);
    if (!left.are_free() && counted_.size() >= kMostCounted) counted_.clear();
    auto& known =
        left.are_free() ? states_[static_cast<std::size_t>(position / 8)].tokens : counted_[{position, left}];
    if (!known) {
        known = std::make_shared<const TerminalTokens>(made_tokens(position, left, trie, limit));
        bytes_.fetch_add(static_cast<std::int64_t>(known->within.bytes() + known->beyond.bytes() +
                                                   known->counted.size() * sizeof(std::int32_t)),
                         std::memory_order_relaxed);
    }
    return known;
}

// The position of some positions of the terminal, with those that follow without a byte.
std::int32_t TerminalAutomaton::position_of(std::vector<std::int32_t> positions, StateLimit& limit) {
    std::vector<std::int32_t> set;
    ++search_;
    while (!positions.empty()) {
        const auto index = static_cast<std::size_t>(positions.back());
        positions.pop_back();
        if (std::exchange(seen_[index], search_) == search_) continue;
        if (own_.kind[index] != NestedTerminal::kSplit) {
            set.push_back(static_cast<std::int32_t>(index));
            continue;
        }
        for (auto edge = own_.offset[index]; edge < own_.offset[index + 1]; ++edge)
            positions.push_back(own_.target[static_cast<std::size_t>(edge)]);
    }
    std::ranges::sort(set);
    std::int32_t flags = 0;
    for (const auto at : set) {
        const auto index = static_cast<std::size_t>(at);
        if (own_.kind[index] >= NestedTerminal::kMatch) flags |= 2;
        if (own_.kind[index] == NestedTerminal::kBytes && own_.offset[index] < own_.offset[index + 1])
            flags |= 1;
        if (at < own_.inside) flags |= 4;
    }
    auto number = sets_.find(set);
    if (number < 0) {
        limit.add();
        states_.emplace_back();
        try {
            number = sets_.intern(set);
        } catch (...) {
            states_.pop_back();
            throw;
        }
        bytes_.fetch_add(kState, std::memory_order_relaxed);
    }
    return number * 8 + flags;
}

const TerminalAutomaton::Row& TerminalAutomaton::made_row(std::int32_t position, StateLimit& limit) {
    auto& known = states_[static_cast<std::size_t>(position / 8)].row;
    if (known) return *known;
    std::array<std::vector<std::int32_t>, 256> targets;
    const auto view = sets_[position / 8];
    for (const auto at : view) {
        const auto index = static_cast<std::size_t>(at);
        if (own_.kind[index] != NestedTerminal::kBytes) continue;
        for (auto edge = static_cast<std::size_t>(own_.offset[index]);
             edge < static_cast<std::size_t>(own_.offset[index + 1]); ++edge)
            for (std::size_t byte = own_.lo[edge]; byte <= own_.hi[edge]; ++byte)
                targets[byte].push_back(own_.target[edge]);
    }
    auto made = std::make_unique<Row>();
    for (std::size_t byte = 0; byte < 256; ++byte) {
        if (targets[byte].empty())
            made->next[byte] = kDead;
        else if (byte > 0 && targets[byte] == targets[byte - 1])
            made->next[byte] = made->next[byte - 1];
        else
            made->next[byte] = position_of(targets[byte], limit);
        made->live[byte] = made->next[byte] != kDead;
    }
    bytes_.fetch_add(static_cast<std::int64_t>(sizeof(Row)), std::memory_order_relaxed);
    known = std::move(made);
    return *known;
}

// The state that all bytes of a range lead to; kDead: there is no such state.
std::int32_t TerminalAutomaton::only_target(std::int32_t position, int first, int last, StateLimit& limit) {
    if (position == kDead) return kDead;
    const auto& next = made_row(position, limit).next;
    const auto begin = next.begin() + first, end = next.begin() + last + 1;
    return std::all_of(begin, end, [&](auto target) { return target == *begin; }) ? *begin : kDead;
}

// Whether every character outside ASCII leads from one state to another.
bool TerminalAutomaton::reads_others(std::int32_t from, std::int32_t to, StateLimit& limit) {
    const auto last = [&](std::int32_t state) { return only_target(state, 0x80, 0xBF, limit) == to; };
    const auto two = [&](std::int32_t state, int first, int end) {
        return last(only_target(state, first, end, limit));
    };
    const auto three = [&](int lead, int end) {
        return two(only_target(from, lead, end, limit), 0x80, 0xBF);
    };
    const auto four = [&](int lead, int end, int first, int after) {
        return two(only_target(only_target(from, lead, end, limit), first, after, limit), 0x80, 0xBF);
    };
    return last(only_target(from, 0xC2, 0xDF, limit)) &&
           two(only_target(from, 0xE0, 0xE0, limit), 0xA0, 0xBF) && three(0xE1, 0xEC) &&
           two(only_target(from, 0xED, 0xED, limit), 0x80, 0x9F) && three(0xEE, 0xEF) &&
           four(0xF0, 0xF0, 0x90, 0xBF) && four(0xF1, 0xF3, 0x80, 0xBF) && four(0xF4, 0xF4, 0x80, 0x8F);
}

TerminalAutomaton::Run TerminalAutomaton::found_run(std::int32_t position, StateLimit& limit) {
    Run run;
    const auto& next = made_row(position, limit).next;
    std::map<std::int32_t, int> count;
    for (std::size_t byte = 0; byte < 128; ++byte)
        if (next[byte] != kDead) ++count[next[byte]];
    const auto most = std::ranges::max_element(count, {}, [](const auto& entry) { return entry.second; });
    if (most == count.end()) return run;
    run.next = most->first;
    for (std::size_t byte = 0; byte < 128; ++byte)
        if (next[byte] == run.next) run.characters.ascii[byte / 64] |= std::uint64_t{1} << (byte % 64);
    run.characters.other = reads_others(position, run.next, limit);
    run.is_loop = run.next == position;
    run.length = run.is_loop ? Run::kEndless : 1;
    return run;
}

const TerminalAutomaton::Run& TerminalAutomaton::made_run(std::int32_t position, StateLimit& limit) {
    std::vector<std::int32_t> chain;
    // A chain counts as far as the states after it read the same characters.
    for (auto at = position; !runs_.contains(at);) {
        const auto& found = runs_.emplace(at, found_run(at, limit)).first->second;
        chain.push_back(at);
        if (found.next == kDead || found.is_loop) break;
        at = found.next;
    }
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
        auto& here = runs_.at(*at);
        if (here.next == kDead || here.is_loop) continue;
        const auto after = runs_.find(here.next);
        if (after != runs_.end() && after->second.next != kDead &&
            after->second.characters == here.characters)
            here.length = std::min(Run::kEndless, after->second.length + 1);
    }
    return runs_.at(position);
}

TerminalTokens TerminalAutomaton::made_tokens(std::int32_t position, const CharactersLeft& left,
                                              const SharedTrie& trie, StateLimit& limit) {
    struct Read {
        std::int32_t node, at, characters;
    };
    TerminalTokens made;
    std::vector<TokenRange> within;
    std::vector<std::int32_t> beyond;  // nodes of the trie whose bytes no text of the terminal goes on with
    std::vector<Read> pending;         // nodes that were read
    const auto read = [&](std::int32_t node, std::int32_t at, std::int32_t characters) {
        within.emplace_back(trie.first_token(node), trie.first_token(node + 1));
        if (trie.subtree_end(node) > node + 1)
            pending.push_back({node, at, characters + (own_.inside > 0 && ends_character(at))});
    };
    const bool is_counted = !left.are_free();
    const auto next = [&](std::int32_t at, std::uint8_t byte, std::int32_t characters) {
        const auto to = made_row(at, limit).next[byte];
        return is_counted ? counted_here(at, to, characters, left.least, left.most) : to;
    };
    // The characters of a token between the depth of a node and another one.
    const auto characters_in = [&](std::int32_t token, std::int32_t node, std::int32_t depth) {
        const auto bytes = trie.tokens()->bytes_of(trie.token(token));
        const auto from = static_cast<std::size_t>(trie.depth(node));
        return characters_of(bytes.substr(from, static_cast<std::size_t>(depth) - from));
    };
    const auto run = made_run(position, limit);
    // Tokens that stay in a loop from a node on, where there is room for so many characters.
    const auto stay = [&](std::int32_t node, std::int32_t first, std::int32_t end, std::int32_t room) {
        if (!is_counted) return within.emplace_back(first, end), void();
        for (auto at = first; at < end; ++at) {
            const auto depth = static_cast<std::int32_t>(trie.tokens()->bytes_of(trie.token(at)).size());
            if (characters_in(at, node, depth) <= room) within.emplace_back(at, at + 1);
        }
    };
    // Of how many characters at least a string must go on behind a loop; -1: some numbers below others, too.
    const auto needed = [&](std::int32_t at) { return is_counted ? all_lengths_from(at) : 0; };
    const auto leave = [&](std::int32_t before, std::uint8_t byte, std::int32_t characters,
                           const std::vector<std::int32_t>& nodes) {
        const auto to = next(before, byte, characters);
        for (const auto node : nodes) {
            if (to != kDead)
                read(node, to, characters);
            else if (matches(before) && trie.depth(node) > 1)
                beyond.push_back(node);
        }
    };
    if (run.next == kDead || run.characters.size() < kLong || needed(position) < 0 ||
        (!run.is_loop && (is_counted || run.length < kChain))) {
        pending.push_back({0, position, 0});
    } else if (is_counted) {
        const auto tokens = trie.loops().tokens(run.characters);
        const auto loop = trie.kept<CountedLoops>().of(trie, run.characters, *tokens);
        made.counted = loop->mask(trie, left.most - needed(position));
        for (const auto& exit : loop->exits())
            if (exit.characters <= left.most) leave(position, exit.byte, exit.characters, exit.nodes);
    } else {
        const auto longest = std::min(trie.max_depth(), 255);
        const auto most = run.is_loop ? 0 : std::min(run.length, longest);
        made.loop = trie.loops().tokens(run.characters, static_cast<std::uint8_t>(most));
        std::vector<std::int32_t> positions{position};  // after so many characters
        for (const auto& exit : made.loop->exits) {
            while (positions.size() <= exit.characters)
                positions.push_back(made_run(positions.back(), limit).next);
            leave(positions[exit.characters], exit.byte, exit.characters, exit.nodes);
        }
    }
    while (!pending.empty()) {
        const auto [node, at, characters] = pending.back();
        pending.pop_back();
        const auto end = trie.subtree_end(node);
        std::shared_ptr<const LoopExits> exits;
        if (end - node > 8) {
            const auto& below = made_run(at, limit);
            if (below.is_loop && below.characters.size() >= kLong && needed(at) >= 0)
                exits = trie.loops().exits(below.characters);
        }
        for (auto child = node + 1; child < end; child = trie.subtree_end(child)) {
            auto before = characters;
            if (exits) {
                const auto first = exits->first(child, end);
                stay(node, trie.first_token(child), trie.first_token(first),
                     left.most - characters - needed(at));
                if (first == end) break;
                child = first;
                if (is_counted) before += characters_in(trie.first_token(child), node, trie.depth(child) - 1);
                if (before > left.most) continue;
            }
            const auto to = next(at, trie.byte(child), before);
            if (to != kDead)
                read(child, to, before);
            else if (matches(at) && node != 0)
                beyond.push_back(child);
        }
    }
    std::erase_if(within, [](const auto& range) { return range.first == range.second; });
    made.within = TokenSet(trie, std::move(within));
    made.beyond = Rests(trie, beyond);
    return made;
}

void TerminalAutomata::make_room() {
    std::int64_t held = 0;
    for (const auto& [hash, entry] : known_) held += entry.automaton->bytes();
    if (held <= kMostBytes) return;
    std::vector<std::uint64_t> uses;
    for (const auto& [hash, entry] : known_) uses.push_back(entry.used);
    std::ranges::nth_element(uses, uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2));
    const auto middle = uses[uses.size() / 2];
    std::erase_if(known_, [&](const auto& entry) { return entry.second.used <= middle; });
}

std::shared_ptr<TerminalAutomaton> TerminalAutomata::of(NestedTerminal terminal) {
    const auto hash = hash_of(terminal);
    const std::lock_guard hold(lock_);
    const auto [begin, end] = known_.equal_range(hash);
    for (auto at = begin; at != end; ++at)
        if (at->second.automaton->terminal() == terminal) {
            at->second.used = ++clock_;
            return at->second.automaton;
        }
    if ((++clock_ & 31U) == 0) make_room();
    auto made = std::make_shared<TerminalAutomaton>(std::move(terminal));
    known_.emplace(hash, Entry{made, clock_});
    return made;
}

}  // namespace pdacon
