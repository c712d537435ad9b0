#include "liveness/expected_terminals.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "liveness/newline_liveness.hpp"

namespace pdacon {

namespace {

constexpr std::int32_t kEnd = -1;  // of the text, instead of a byte class

}  // namespace

ExpectedTerminals ExpectedTerminalsSearch::find(const Reading& reading, const StackView& stack,
                                                std::string_view text) {
    const auto& lexer = machine_.lexer;
    const auto most = static_cast<std::size_t>(lexer.lookahead()) + 1;
    for (const char byte : text.substr(text.size() - std::min(most, text.size())))
        before_.push_back(lexer.byte_class(static_cast<std::uint8_t>(byte)));
    stacks_.emplace_back(stack, read_set_);
    add({reading, 0, 0, {}, lexer.at_end(reading.state) == LexingAutomaton::kBoundary});
    for (std::size_t at = 0; at < places_.size(); ++at) {
        budget_.tick();
        const auto place = std::move(places_[at]);
        if (place.begins_here || static_cast<std::int64_t>(place.read.size()) > longest_wait(place))
            add_future(place);
        else
            go_on(place);
    }
    return std::move(found_);
}

// How many bytes may lie behind a match that waits at a place: it has ended before that or right there if no
// more have been read since.
std::int64_t ExpectedTerminalsSearch::longest_wait(const Place& place) const {
    const auto& lexer = machine_.lexer;
    if (place.read.empty() || lexer.waiting().empty()) return lexer.lookahead();
    return lexer.waiting()[static_cast<std::size_t>(place.reading.state) * 2 + 1];
}

void ExpectedTerminalsSearch::add(Place place) {
    const std::array key{place.reading.state,
                         place.reading.now.value,
                         place.reading.matched.value,
                         place.speller_state,
                         place.stack,
                         static_cast<std::int32_t>(place.read.size()),
                         static_cast<std::int32_t>(place.begins_here)};
    const auto id = static_cast<std::size_t>(place_ids_.intern(key));
    if (id == ways_.size()) ways_.push_back(0);
    if (ways_[id]++ < (place.begins_here ? 1 : kMostWays)) places_.push_back(std::move(place));
}

// The last of the byte classes that have been read, the last one first.
std::vector<std::int32_t> ExpectedTerminalsSearch::again(std::span<const std::int32_t> read,
                                                         std::size_t length) const {
    std::vector<std::int32_t> word;
    for (auto at = read.size(); at > 0 && word.size() < length; --at) word.push_back(read[at - 1]);
    for (auto at = before_.size(); at > 0 && word.size() < length; --at) word.push_back(before_[at - 1]);
    return word;
}

// Whatever the lexeme can still become. A lexeme that began before ends behind the place by now.
void ExpectedTerminalsSearch::add_future(const Place& place) {
    auto& labels = place.begins_here ? found_.next : found_.unfinished;
    auto& futures = coaccessibility_.futures();
    const auto emissions = futures.emissions(futures.of(place.reading, place.speller_state));
    const std::vector<std::int32_t> all(emissions.begin(), emissions.end());  // a copy: more are made
    for (const auto emission : all) {
        const auto label = futures.emission(emission).label;
        if (label == machine_.lexer.end_label() || labels.contains(label)) continue;
        const auto alone = futures.intern_set(std::span(&emission, 1));
        if (!coaccessibility_.reaches_end(alone, stacks_[static_cast<std::size_t>(place.stack)])) continue;
        // Columns are known here by their classes alone.
        if (label == machine_.layout.newline && !is_live(place.reading, place.speller_state, place.stack))
            continue;
        labels.insert(label);
    }
}

// One byte further in a lexeme that began before the place, or to the end of the text.
void ExpectedTerminalsSearch::go_on(const Place& from) {
    const auto& lexer = machine_.lexer;
    auto& futures = coaccessibility_.futures();
    if (futures.may_end(from.speller_state)) lex(from, kEnd, from.speller_state);
    Interner seen;  // most byte classes that end a lexeme do so alike
    std::vector<std::int32_t> ways;
    for (const auto& move : futures.moves(from.speller_state)) {
        const auto next = lexer.next(from.reading.state, move.byte_class);
        if (next == LexingAutomaton::kDead) continue;
        if (LexingAutomaton::is_commit(next)) {
            const auto column = lexer.committed_column(lexer.commit(next), from.reading, move.byte_class);
            const auto id =
                static_cast<std::size_t>(seen.intern(std::array{next, column.value, move.speller_state}));
            if (id == ways.size()) ways.push_back(0);
            if (ways[id]++ >= kMostWays) continue;
        }
        lex(from, move.byte_class, move.speller_state);
    }
}

// Reads a byte class, or the end of the text, and what has to be read again then.
void ExpectedTerminalsSearch::lex(const Place& from, std::int32_t byte_class, std::int32_t speller_state) {
    const auto& lexer = machine_.lexer;
    auto read = from.read;
    std::vector<std::int32_t> pending;  // the last one first
    if (byte_class != kEnd) {
        read.push_back(byte_class);
        pending.push_back(byte_class);
    }
    auto reading = from.reading;
    auto stack = from.stack;
    std::vector<Cut> cuts;
    std::int32_t begin = -1;  // before the place, wherever that is
    for (;;) {
        std::int32_t next = LexingAutomaton::kDead;
        Column column = reading.matched;
        if (!pending.empty()) {
            const auto cls = pending.back();
            pending.pop_back();
            next = lexer.next(reading.state, cls);
            if (next >= 0) {
                lexer.move(reading, next, cls);
                continue;
            }
            if (next != LexingAutomaton::kDead)
                column = lexer.committed_column(lexer.commit(next), reading, cls);
        } else if (byte_class == kEnd) {
            next = lexer.at_end(reading.state);
            if (next == LexingAutomaton::kBoundary) {
                auto closed = stacks_[static_cast<std::size_t>(stack)];
                if (feed_end(machine_, closed)) note(cuts);
                return;
            }
        } else {
            break;
        }
        if (next == LexingAutomaton::kDead) return;
        const auto& commit = lexer.commit(next);
        stack = cut(stack, commit.label, column);
        if (stack < 0) return;
        reading = boundary(machine_, stacks_[static_cast<std::size_t>(stack)], commit.behind);
        if (reading.state < 0) return;
        pending = again(read, pending.size() + lexer.word(commit.word).size());
        const auto end = static_cast<std::int32_t>(read.size()) - static_cast<std::int32_t>(pending.size());
        cuts.push_back({commit.label, begin, end});
        begin = end;
    }
    if (!cuts.empty() && is_live(reading, speller_state, stack)) note(cuts);
    if (begin <= 0) add({reading, speller_state, stack, std::move(read), begin == 0});
}

// The stack once a label has been taken; -1: the parser does not take it.
std::int32_t ExpectedTerminalsSearch::cut(std::int32_t stack, std::int32_t label, Column column) {
    const std::array key{stack, label, column.value};
    const auto id = static_cast<std::size_t>(stack_ids_.intern(key));
    if (id == after_cut_.size()) {
        auto after = stacks_[static_cast<std::size_t>(stack)];
        const bool taken = feed_label(machine_, after, label, column);
        after_cut_.push_back(taken ? static_cast<std::int32_t>(stacks_.size()) : -1);
        if (taken) stacks_.push_back(std::move(after));
    }
    return after_cut_[id];
}

bool ExpectedTerminalsSearch::is_live(const Reading& reading, std::int32_t speller_state,
                                      std::int32_t stack) {
    const auto& here = stacks_[static_cast<std::size_t>(stack)];
    return NewlineLiveness(machine_, coaccessibility_, budget_, here).is_live(reading, speller_state);
}

void ExpectedTerminalsSearch::note(std::span<const Cut> cuts) {
    for (const auto& [label, begin, end] : cuts) {
        if (begin < 0 && end >= 0) found_.unfinished.insert(label);
        if (begin == 0) found_.next.insert(label);
    }
}

}  // namespace pdacon
