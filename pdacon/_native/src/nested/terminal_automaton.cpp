#include "nested/terminal_automaton.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/budget.hpp"
#include "base/checksum.hpp"
#include "base/memory.hpp"
#include "base/utf8.hpp"
#include "nested/room.hpp"

namespace pdacon {

namespace {

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
    require_room(kRoomOfState);
    ++count_;
}

TerminalAutomaton::TerminalAutomaton(std::shared_ptr<const NestedTerminal> terminal)
    : given_(std::move(terminal)),
      own_(*given_),
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
    if (left.are_free()) return kept_tokens(position, trie, limit);
    if (counted_.size() >= kMostCounted) counted_.clear();
    auto& known = counted_[{position, left}];
    if (!known) known = made_tokens(position, left, trie, limit);
    return known;
}

const TerminalAutomaton::Kept& TerminalAutomaton::kept_tokens(std::int32_t position, const SharedTrie& trie,
                                                              StateLimit& limit) {
    auto& known = states_[static_cast<std::size_t>(position / 8)].tokens;
    if (!known) known = made_tokens(position, {}, trie, limit);
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
    struct Edge {
        std::uint8_t lo, hi;
        std::int32_t target;
    };
    std::vector<Edge> edges;
    std::bitset<257> borders;  // bytes between two of them lead to the same
    borders.set(0);
    for (const auto at : sets_[position / 8]) {
        const auto index = static_cast<std::size_t>(at);
        if (own_.kind[index] != NestedTerminal::kBytes) continue;
        for (auto edge = static_cast<std::size_t>(own_.offset[index]);
             edge < static_cast<std::size_t>(own_.offset[index + 1]); ++edge) {
            edges.push_back({own_.lo[edge], own_.hi[edge], own_.target[edge]});
            borders.set(own_.lo[edge]);
            borders.set(own_.hi[edge] + std::size_t{1});
        }
    }
    std::ranges::stable_sort(edges, {}, &Edge::lo);
    auto made = std::make_unique<Row>();
    std::vector<Edge> open;  // that lead on with the byte
    std::map<std::vector<std::int32_t>, std::int32_t> positions;
    auto next = edges.begin();
    for (std::size_t byte = 0; byte < 256; ++byte) {
        if (borders[byte]) {
            std::erase_if(open, [&](const auto& edge) { return edge.hi < byte; });
            for (; next != edges.end() && next->lo == byte; ++next) open.push_back(*next);
            std::vector<std::int32_t> targets;
            for (const auto& edge : open) targets.push_back(edge.target);
            std::ranges::sort(targets);
            const auto [at, is_new] = positions.try_emplace(std::move(targets), kDead);
            if (is_new && !at->first.empty()) at->second = position_of(at->first, limit);
            made->next[byte] = at->second;
        } else {
            made->next[byte] = made->next[byte - 1];
        }
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

// The first bytes of characters outside ASCII that, whatever comes behind, lead from one state to another.
std::uint64_t TerminalAutomaton::leads_between(std::int32_t from, std::int32_t to, StateLimit& limit) {
    const auto does = [&](int lead) {
        const auto rest = utf8_rest(lead);
        auto state = only_target(from, lead, lead, limit);
        state = only_target(state, rest.first, rest.last, limit);
        for (int left = rest.bytes - 1; left > 0; --left) state = only_target(state, 0x80, 0xBF, limit);
        return state == to;
    };
    const auto& next = made_row(from, limit).next;
    std::uint64_t leads = 0;
    bool before = false;
    for (int lead = CharacterSet::kFirstLead; lead <= CharacterSet::kLastLead; ++lead) {
        const auto at = static_cast<std::size_t>(lead);
        const bool is_alike = lead != CharacterSet::kFirstLead && lead != 0xE0 && lead != 0xE1 &&
                              lead != 0xED && lead != 0xEE && lead != 0xF0 && lead != 0xF1 && lead != 0xF4;
        if (!is_alike || next[at] != next[at - 1]) before = does(lead);
        if (before) leads |= CharacterSet::lead(static_cast<std::uint8_t>(lead));
    }
    return leads;
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
    run.characters.leads = leads_between(position, run.next, limit);
    run.is_loop = run.next == position;
    return run;
}

const TerminalAutomaton::Run& TerminalAutomaton::made_run(std::int32_t position, StateLimit& limit) {
    const auto index = static_cast<std::size_t>(position / 8);
    if (!states_[index].run) {
        auto made = std::make_unique<Run>(found_run(position, limit));
        states_[index].run = std::move(made);
    }
    return *states_[index].run;
}

// A chain counts as far as the states after it read the same characters.
std::int32_t TerminalAutomaton::length_of(const Run& run, StateLimit& limit) {
    if (run.length >= 0) return run.length;
    const auto* at = &run;
    std::int32_t length = 0;
    while (length < Run::kMostCounted && at->next != kDead && at->characters == run.characters) {
        if (at->is_loop) return run.length = Run::kEndless;
        at = &made_run(at->next, limit);
        ++length;
    }
    return run.length = length;
}

void TerminalAutomata::make_room() {
    std::int64_t held = 0;
    for (const auto& [hash, entry] : known_) held += entry.automaton->bytes();
    if (held <= kMostBytes) return;
    std::vector<std::uint64_t> uses;
    for (const auto& [hash, entry] : known_) uses.push_back(entry.used);
    std::ranges::nth_element(uses, uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2));
    const auto middle = uses[uses.size() / 2];
    const MemoryLimit::Pause theirs;  // who made them has paid: their bytes are no room for who makes others
    std::erase_if(known_, [&](const auto& entry) { return entry.second.used <= middle; });
}

std::shared_ptr<TerminalAutomaton> TerminalAutomata::of(std::shared_ptr<const NestedTerminal> terminal) {
    const auto hash = hash_of(*terminal);
    const std::lock_guard hold(lock_);
    const auto [begin, end] = known_.equal_range(hash);
    for (auto at = begin; at != end; ++at)
        if (&at->second.automaton->terminal() == terminal.get() ||
            at->second.automaton->terminal() == *terminal) {
            at->second.used = ++clock_;
            return at->second.automaton;
        }
    if ((++clock_ & 31U) == 0) make_room();
    auto made = std::make_shared<TerminalAutomaton>(std::move(terminal));
    known_.emplace(hash, Entry{made, clock_});
    return made;
}

}  // namespace pdacon
