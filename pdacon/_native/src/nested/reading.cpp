#include "nested/reading.hpp"

#include <algorithm>
#include <utility>

#include "base/budget.hpp"

namespace pdacon {

namespace {

using Act = NestedAutomaton::Act;

std::uint64_t pair_key(std::int32_t first, std::int32_t second) {
    return std::uint64_t{static_cast<std::uint32_t>(first)} << 32 | static_cast<std::uint32_t>(second);
}

}  // namespace

std::int32_t NestedReading::begin(std::int32_t place) {
    std::vector<Thread> threads;
    const auto& moves = automaton_.moves(place);
    for (std::size_t move = 0; move < moves.size(); ++move)
        threads.push_back({static_cast<std::int32_t>(move), reader(moves[move].terminal).start()});
    return node(place, std::move(threads));
}

std::int32_t NestedReading::node(std::int32_t place, std::vector<Thread> threads) {
    std::vector<std::int32_t> key{place};
    for (const auto& [move, position] : threads) {
        key.push_back(move);
        key.push_back(position);
    }
    if (const auto known = keys_.find(key); known >= 0) return known;
    if (max_nodes_ > 0 && std::cmp_greater_equal(nodes_.size(), max_nodes_))
        throw LimitExceeded("states", static_cast<double>(nodes_.size()), static_cast<double>(max_nodes_));
    Node made{place, std::move(threads)};
    const auto& moves = automaton_.moves(place);
    for (const auto& thread : made.threads) {
        const auto& move = moves[static_cast<std::size_t>(thread.move)];
        const auto& terminal = reader(move.terminal);
        if (move.act == Act::kNone) {
            made.is_blocked =
                made.is_blocked || std::cmp_equal(thread.position, terminal.terminal().end_of_name());
            continue;
        }
        made.goes_on = made.goes_on || terminal.can_go_on(thread.position);
        if (!terminal.matches(thread.position)) continue;
        if (made.ended >= 0) {
            const bool before = moves[static_cast<std::size_t>(made.ended)].is_listed;
            const bool now = move.is_listed;
            if (before == now) throw NeedsWhole("two terminals match the same text");
            if (before) continue;
        }
        made.ended = thread.move;
    }
    nodes_.push_back(std::move(made));
    try {
        return keys_.intern(key);
    } catch (...) {
        nodes_.pop_back();
        throw;
    }
}

std::int32_t NestedReading::moved(std::int32_t number, const Thread& thread, std::int32_t position) {
    return node(nodes_[static_cast<std::size_t>(number)].place, {{thread.move, position}});
}

NestedReading::Step NestedReading::step(std::int32_t number, std::uint8_t byte) {
    const auto key = pair_key(number, byte);
    if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
    const auto found = made(number, byte);
    if (!found.is_dead()) steps_.emplace(key, found);
    return found;
}

NestedReading::Step NestedReading::made(std::int32_t number, std::uint8_t byte) {
    const auto& from = nodes_[static_cast<std::size_t>(number)];
    const auto& moves = automaton_.moves(from.place);
    std::vector<Thread> threads;
    for (const auto& [move, position] : from.threads) {
        const auto next = reader(moves[static_cast<std::size_t>(move)].terminal).next(position, byte);
        if (next != TerminalReader::kDead) threads.push_back({move, next});
    }
    if (threads.empty()) return from.ended < 0 ? Step{} : made_move(from, byte);
    const auto to = node(from.place, std::move(threads));
    const auto& next = nodes_[static_cast<std::size_t>(to)];
    if (next.is_blocked) return {};
    if (next.ended >= 0 && !next.goes_on) return made_move(next, std::nullopt);
    return {to};
}

NestedReading::Step NestedReading::made_move(const Node& from, std::optional<std::uint8_t> byte) {
    const auto& move = automaton_.moves(from.place)[static_cast<std::size_t>(from.ended)];
    const auto act = move.act;
    if (act == Act::kClose) {
        if (byte) throw NeedsWhole("a closing sign reads on");
        return {Step::kPopped, -1, move.target};
    }
    std::int32_t to = move.target, push = -1;
    if (act == Act::kMember) to = automaton_.place_of_member(move.target);
    if (act == Act::kOpen) {
        const auto& opening = automaton_.opening(move.target);
        push = opening.frame;
        to = opening.within;
    }
    const auto start = begin(to);
    if (!byte) return {start, push};
    auto next = step(start, *byte);
    if (next.is_dead() || push < 0) return next;
    if (next.push >= 0) throw NeedsWhole("two signs open at once");
    if (next.ending < 0) return {next.node, push};
    return {begin(automaton_.after(push, next.ending))};
}

std::int32_t NestedReading::place_at_end(std::int32_t number) {
    const auto& from = nodes_[static_cast<std::size_t>(number)];
    if (from.place == NestedAutomaton::kEnd) return NestedAutomaton::kEnd;
    if (from.ended < 0) return -1;
    const auto& move = automaton_.moves(from.place)[static_cast<std::size_t>(from.ended)];
    return move.act == Act::kGo ? move.target : -1;
}

TerminalReader& NestedReading::reader(std::int32_t terminal) {
    const auto at = static_cast<std::size_t>(~terminal);  // as in Productions
    if (readers_.size() <= at) readers_.resize(at + 1);
    if (!readers_[at]) readers_[at] = std::make_unique<TerminalReader>(automaton_.terminal(terminal));
    return *readers_[at];
}

}  // namespace pdacon
