#include "nested/reading.hpp"

#include <algorithm>
#include <utility>

#include "base/budget.hpp"
#include "nested/room.hpp"

namespace pdacon {

namespace {

using Act = NestedAutomaton::Act;
using Cursor = NestedReading::Cursor;

}  // namespace

const NestedReading::Place& NestedReading::at(std::int32_t number) {
    const auto index = static_cast<std::size_t>(number);
    if (index < places_.size() && places_[index]) return *places_[index];
    const auto& moves = automaton_.moves(number);
    auto made = std::make_unique<Place>();
    std::vector<Thread> threads;
    for (std::size_t move = 0; move < moves.size(); ++move) {
        const auto own_move = static_cast<std::int32_t>(move);
        if (NestedAutomaton::is_text(moves[move].terminal)) {
            made->texts.push_back({automaton_.text(moves[move].terminal), own_move});
            continue;
        }
        const auto& own = terminal(moves[move].terminal);
        if (own.automaton)
            threads.push_back({own_move, own.automaton->start()});
        else
            made->texts.push_back({own.text, own_move});
    }
    made->texts.shrink_to_fit();
    sort(made->texts);
    made->allowed.reserve(made->texts.size() + 1);
    made->allowed.push_back(0);
    for (const auto& text : made->texts)
        made->allowed.push_back(made->allowed.back() +
                                (moves[static_cast<std::size_t>(text.move)].act != Act::kNone));
    made->begin = with_threads({number, 0, static_cast<std::int32_t>(made->texts.size()), 0}, threads);
    if (count_characters(made->begin)) made->begin.count = -1;  // the quote comes first
    made->live = live_here(made->begin, *made);
    made->begins_ended = std::ranges::any_of(
        threads, [](const auto& thread) { return TerminalAutomaton::matches(thread.position); });
    if (places_.size() <= index) places_.resize(index + 1);
    places_[index] = std::move(made);
    return *places_[index];
}

// The first bytes of most names tell them apart, and are compared as one number.
void NestedReading::sort(std::vector<Text>& texts) {
    if (texts.size() < 2) return;
    constexpr std::size_t kFirst = 8;
    std::vector<std::pair<std::uint64_t, Text>> keyed;
    keyed.reserve(texts.size());
    for (const auto& own : texts) {
        std::uint64_t first = 0;
        for (std::size_t at = 0; at < kFirst; ++at)
            first = first << 8 | (at < own.text.size() ? static_cast<std::uint8_t>(own.text[at]) : 0U);
        keyed.emplace_back(first, own);
    }
    std::ranges::sort(keyed, [](const auto& one, const auto& other) {
        return one.first != other.first ? one.first < other.first : one.second.text < other.second.text;
    });
    std::ranges::transform(keyed, texts.begin(), [](const auto& own) { return own.second; });
}

const NestedReading::Terminal& NestedReading::terminal(std::int32_t number) {
    constexpr auto kKept = NestedSchemas::kFirstKept;
    auto& terminals = number > kKept ? terminals_ : kept_;
    const auto first = number > kKept ? -1 : kKept;
    const auto index = static_cast<std::size_t>(first - number);
    if (terminals.size() <= index) terminals.resize(index + 1);
    if (!terminals[index]) {
        auto [given, counts] = automaton_.terminal(number);
        auto made = std::make_unique<Terminal>();
        made->counts = counts;
        if (given->is_text())
            made->text = given->text;
        else
            made->automaton = known_.of(std::move(given));
        terminals[index] = std::move(made);
    }
    return *terminals[index];
}

std::span<const NestedReading::Thread> NestedReading::threads(const Cursor& from) const {
    if (from.more < 0) return {&from.thread, from.thread.move >= 0 ? std::size_t{1} : 0};
    return sets_[static_cast<std::size_t>(from.more)];
}

Cursor NestedReading::with_threads(Cursor cursor, const std::vector<Thread>& threads) {
    cursor.more = -1;
    cursor.thread = threads.size() == 1 ? threads[0] : Thread{-1, 0};
    if (threads.size() < 2) return cursor;
    std::vector<std::int32_t> key;
    for (const auto& [move, position] : threads) {
        key.push_back(move);
        key.push_back(position);
    }
    cursor.more = set_keys_.find(key);
    if (cursor.more >= 0) return cursor;
    sets_.push_back(threads);
    try {
        cursor.more = set_keys_.intern(key);
    } catch (...) {
        sets_.pop_back();
        throw;
    }
    return cursor;
}

int NestedReading::byte_of(const Cursor& cursor, std::int32_t number) {
    const auto& text = at(cursor.place).texts[static_cast<std::size_t>(number)].text;
    const auto depth = static_cast<std::size_t>(cursor.depth);
    return depth < text.size() ? static_cast<std::uint8_t>(text[depth]) : -1;
}

std::string_view NestedReading::plain_rest(const Cursor& cursor) {
    if (cursor.end != cursor.first + 1 || cursor.more >= 0) return {};
    const auto& [text, number] = at(cursor.place).texts[static_cast<std::size_t>(cursor.first)];
    if (automaton_.moves(cursor.place)[static_cast<std::size_t>(number)].act == Act::kNone) return {};
    const auto begin = static_cast<std::size_t>(cursor.depth);
    auto end = text.size();
    const auto& [move, position] = cursor.thread;
    if (move >= 0) {
        const auto& [none, automaton, counts] = terminal_of(cursor.place, move);
        if (TerminalAutomaton::matches(position) || !counts.are_free()) return {};
        end = std::min(end, NestedTerminal::end_of_name(text));
        const auto& next = automaton->row(position, limit_).next;
        for (auto at = begin; at < end; ++at)
            if (next[static_cast<std::uint8_t>(text[at])] != position) end = at + 1;
    }
    // With its last byte a text ends, and with that of a name the others may.
    return begin + 1 < end ? text.substr(begin, end - 1 - begin) : std::string_view();
}

std::int32_t NestedReading::end_of_byte(const Cursor& cursor, std::int32_t from) {
    const auto byte = byte_of(cursor, from);
    auto low = from + 1, high = cursor.end;  // all before `low` go on with it, none from `high` on does
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (byte_of(cursor, middle) == byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ByteSet NestedReading::live_here(const Cursor& cursor, const Place& place) {
    ByteSet live;
    const auto depth = static_cast<std::size_t>(cursor.depth);
    for (auto at = cursor.first; at < cursor.end; ++at) {
        const auto& text = place.texts[static_cast<std::size_t>(at)].text;
        if (depth < text.size()) live.set(static_cast<std::uint8_t>(text[depth]));
    }
    for (const auto& [move, position] : threads(cursor))
        live |= automaton(cursor.place, move).row(position, limit_).live;
    return live;
}

ByteSet NestedReading::live(const Cursor& from) {
    const auto& place = at(from.place);
    if (is_begin(from, place) && !place.begins_ended) return place.live;
    auto live = live_here(from, place);
    const auto ended = status(from).ended;
    if (ended < 0) return live;
    const auto after = made_move(from.place, ended, std::nullopt);
    return after.ending >= 0 ? ByteSet().set() : live | this->live(after.to);
}

bool NestedReading::is_begin(const Cursor& cursor, const Place& place) {
    const auto& begin = place.begin;
    return cursor.depth == 0 && cursor.first == 0 && cursor.end == begin.end && cursor.more == begin.more &&
           cursor.thread.move == begin.thread.move && cursor.thread.position == begin.thread.position;
}

NestedReading::Status NestedReading::status(const Cursor& cursor) {
    Status found;
    const auto& moves = automaton_.moves(cursor.place);
    const auto& place = at(cursor.place);
    bool is_listed = false;
    const auto end = [&](std::int32_t number, bool is_word) {
        const bool now = is_word && moves[static_cast<std::size_t>(number)].is_listed;
        if (found.ended >= 0 && is_listed == now) throw NeedsWhole("two terminals match the same text");
        if (found.ended >= 0 && is_listed) return;
        found.ended = number;
        is_listed = now;
    };
    auto longer = cursor.first;
    for (; longer < cursor.end; ++longer) {
        const auto& [text, move] = place.texts[static_cast<std::size_t>(longer)];
        const bool is_none = moves[static_cast<std::size_t>(move)].act == Act::kNone;
        if (is_none && std::cmp_equal(cursor.depth, NestedTerminal::end_of_name(text)))
            found.is_blocked = true;
        if (std::cmp_less(cursor.depth, text.size())) break;
        if (!is_none) end(move, true);
    }
    found.goes_on =
        place.allowed[static_cast<std::size_t>(cursor.end)] > place.allowed[static_cast<std::size_t>(longer)];
    for (const auto& [move, position] : threads(cursor)) {
        found.goes_on = found.goes_on || TerminalAutomaton::can_go_on(position);
        if (TerminalAutomaton::matches(position))
            end(move, automaton(cursor.place, move).terminal().inside == 0);
    }
    return found;
}

// Whether one of the texts may come. Where none does, they only tell what must not come of a thread's texts.
bool NestedReading::has_allowed_text(const Cursor& cursor) {
    const auto& allowed = at(cursor.place).allowed;
    return allowed[static_cast<std::size_t>(cursor.end)] > allowed[static_cast<std::size_t>(cursor.first)];
}

// Whether a listed name that may come has ended, which then wins over the other names, before what follows
// it.
bool NestedReading::has_name_ended(const Cursor& cursor) {
    const auto& [text, move] = at(cursor.place).texts[static_cast<std::size_t>(cursor.first)];
    const auto& own = automaton_.moves(cursor.place)[static_cast<std::size_t>(move)];
    return own.act == Act::kMember && cursor.depth > 1 &&
           text[static_cast<std::size_t>(cursor.depth) - 1] == '"' &&
           std::cmp_equal(cursor.depth, NestedTerminal::end_of_name(text));
}

NestedReading::Step NestedReading::step(const Cursor& from, std::uint8_t byte) {
    auto to = from;
    ++to.depth;
    for (; to.first < to.end && byte_of(from, to.first) < byte;) to.first = end_of_byte(from, to.first);
    if (to.first < to.end) to.end = byte_of(from, to.first) == byte ? end_of_byte(from, to.first) : to.first;
    bool ends_character = false;
    if (from.more >= 0) {
        std::vector<Thread> threads;
        for (const auto& thread : this->threads(from)) {
            const auto position = next(from, thread, byte, ends_character);
            if (position != TerminalAutomaton::kDead) threads.push_back({thread.move, position});
        }
        to = with_threads(to, threads);
    } else if (from.thread.move >= 0) {
        to.thread.position = next(from, from.thread, byte, ends_character);
        if (to.thread.position == TerminalAutomaton::kDead) to.thread = {-1, 0};
    }
    if (to.has_texts() && to.has_threads() && has_name_ended(to)) {
        to.more = -1;
        to.thread = {-1, 0};
    }
    to.count = count_characters(to) ? from.count + ends_character : 0;
    if (!to.has_threads() && !has_allowed_text(to)) to.end = to.first;
    if (!to.has_texts() && !to.has_threads()) {
        const auto ended = status(from).ended;
        return ended < 0 ? Step{} : made_move(from.place, ended, byte);
    }
    if (!to.has_texts()) to.first = to.end = to.depth = 0;
    const auto next = status(to);
    if (next.is_blocked) return {};
    if (next.ended >= 0 && !next.goes_on) return made_move(to.place, next.ended, std::nullopt);
    return {Step::How::kWithin, to};
}

NestedReading::Step NestedReading::made_move(std::int32_t place, std::int32_t number) {
    return made_move(place, number, std::nullopt);
}

NestedReading::Step NestedReading::made_move(std::int32_t place, std::int32_t number,
                                             std::optional<std::uint8_t> byte) {
    const auto move = automaton_.moves(place)[static_cast<std::size_t>(number)];
    Step made{Step::How::kMoved};
    if (move.act == Act::kClose) {
        if (byte) throw NeedsWhole("a closing sign reads on");
        made.ending = move.target;
        return made;
    }
    auto to = move.target;
    if (move.act == Act::kMember) to = automaton_.place_of_member(move.target);
    if (move.act == Act::kOpen) {
        const auto opening = automaton_.opening(move.target);
        made.push = opening.frame;
        to = opening.within;
    }
    made.to = begin(to);
    if (!byte) return made;
    auto next = step(made.to, *byte);
    if (next.is_dead()) return next;
    next.how = Step::How::kMoved;
    if (made.push < 0) return next;
    if (next.push >= 0) throw NeedsWhole("two signs open at once");
    if (next.ending >= 0) return {Step::How::kMoved, begin(automaton_.after(made.push, next.ending))};
    next.push = made.push;
    return next;
}

std::int32_t NestedReading::place_at_end(const Cursor& from) {
    if (automaton_.may_end(from.place) && is_begin(from, at(from.place))) return NestedAutomaton::kEnd;
    const auto ended = status(from).ended;
    if (ended < 0) return -1;
    const auto& move = automaton_.moves(from.place)[static_cast<std::size_t>(ended)];
    if (move.act != Act::kGo) return -1;
    return automaton_.may_end(move.target) ? NestedAutomaton::kEnd : move.target;
}

bool NestedReading::count_characters(const Cursor& cursor) {
    return std::ranges::any_of(threads(cursor),
                               [&](const auto& thread) { return counts(cursor.place, thread.move); });
}

std::int32_t NestedReading::next(const Cursor& from, const Thread& thread, std::uint8_t byte,
                                 bool& ends_character) {
    const auto& [text, automaton, counts] = terminal_of(from.place, thread.move);
    const auto to = automaton->row(thread.position, limit_).next[byte];
    if (counts.are_free()) return to;
    const auto counted = automaton->counted(thread.position, to, from.count, counts.least, counts.most);
    ends_character =
        ends_character || (counted != TerminalAutomaton::kDead && TerminalAutomaton::ends_character(counted));
    return counted;
}

CharactersLeft NestedReading::left(const Cursor& at, std::int32_t move, std::int32_t most) {
    const auto& [text, automaton, counts] = terminal_of(at.place, move);
    if (counts.are_free()) return {};
    const auto settled = automaton->settled();
    const auto enough = settled < 0 ? CharactersLeft::kMany : most + settled;
    const auto room = counts.most - at.count;
    return {std::clamp(counts.least - at.count, 0, enough), room >= enough ? CharactersLeft::kMany : room};
}

std::int32_t NestedReading::node(const Cursor& cursor) {
    const std::int32_t key[] = {cursor.place,          cursor.first, cursor.end,
                                cursor.depth,          cursor.more,  cursor.thread.move,
                                cursor.thread.position};
    if (const auto known = nodes_.find(key); known >= 0) return known;
    if (max_nodes_ > 0 && std::cmp_greater_equal(nodes_.size(), max_nodes_))
        throw LimitExceeded("states", static_cast<double>(nodes_.size()), static_cast<double>(max_nodes_));
    require_room(kRoomOfState);
    const auto counts = count_characters(cursor);
    counts_.push_back(counts);
    try {
        return nodes_.intern(key);
    } catch (...) {
        counts_.pop_back();
        throw;
    }
}

Cursor NestedReading::cursor(std::int32_t node, std::int32_t count) const {
    const auto key = nodes_[node];
    return {key[0], key[1], key[2], key[3], key[4], {key[5], key[6]}, count};
}

}  // namespace pdacon
