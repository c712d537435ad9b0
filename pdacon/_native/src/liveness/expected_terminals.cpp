#include "liveness/expected_terminals.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "liveness/newline_liveness.hpp"

namespace pdacon {

namespace {

constexpr std::int32_t kEnd = -1;  // of the text, instead of a byte class

}  // namespace

ExpectedTerminals ExpectedTerminalsSearch::find(const LexerConfiguration& lexing, const StackView& stack,
                                                std::string_view text) {
    const auto& lexer = machine_.lexer;
    const auto most = static_cast<std::size_t>(lexer.lookahead()) + 1;
    for (const char byte : text.substr(text.size() - std::min(most, text.size())))
        before_.push_back(lexer.byte_class(static_cast<std::uint8_t>(byte)));
    stacks_.emplace_back(stack, read_set_);
    add({lexing, 0, 0, {}, lexer.at_end(lexing.state) == LexingAutomaton::kBoundary});
    for (std::size_t at = 0; at < open_.size(); ++at) {
        budget_.tick();
        const auto configuration = std::move(open_[at]);
        if (configuration.starts_here ||
            static_cast<std::int64_t>(configuration.read.size()) > longest_pushback(configuration))
            add_future(configuration);
        else
            advance(configuration);
    }
    return std::move(found_);
}

// How many bytes can stand after a match that is still open in a configuration. Where more have been read
// since the position, the lexeme under way cannot end at or before it any more.
std::int64_t ExpectedTerminalsSearch::longest_pushback(const Configuration& configuration) const {
    const auto& lexer = machine_.lexer;
    if (configuration.read.empty() || lexer.waiting_lengths().empty()) return lexer.lookahead();
    return lexer.waiting_lengths()[static_cast<std::size_t>(configuration.lexing.state)];
}

void ExpectedTerminalsSearch::add(Configuration configuration) {
    const std::array key{configuration.lexing.state,
                         configuration.lexing.now.value,
                         configuration.lexing.matched.value,
                         configuration.speller_state,
                         configuration.stack,
                         static_cast<std::int32_t>(configuration.read.size()),
                         static_cast<std::int32_t>(configuration.starts_here)};
    const auto id = static_cast<std::size_t>(configuration_ids_.intern(key));
    if (id == visits_.size()) visits_.push_back(0);
    if (visits_[id]++ < (configuration.starts_here ? 1 : kMostVisits))
        open_.push_back(std::move(configuration));
}

// Adds all that the lexeme under way can still become. If it began before the position, it ends after it.
void ExpectedTerminalsSearch::add_future(const Configuration& configuration) {
    auto& labels = configuration.starts_here ? found_.next : found_.unfinished;
    auto& futures = coaccessibility_.futures();
    const auto emissions = futures.emissions(futures.of(configuration.lexing, configuration.speller_state));
    const std::vector<std::int32_t> all(emissions.begin(), emissions.end());  // a copy: more are made
    for (const auto emission : all) {
        const auto label = futures.emission(emission).label;
        if (label == machine_.lexer.end_label() || labels.contains(label)) continue;
        const auto alone = futures.intern_set(std::span(&emission, 1));
        if (!coaccessibility_.reaches_end(alone, stacks_[configuration.stack])) continue;
        // The future knows columns by their classes alone.
        if (label == machine_.layout.newline &&
            !is_live(configuration.lexing, configuration.speller_state, configuration.stack))
            continue;
        labels.insert(label);
    }
}

// Reads one more byte, or the end of the text, in a lexeme that began before the position.
void ExpectedTerminalsSearch::advance(const Configuration& from) {
    const auto& lexer = machine_.lexer;
    auto& futures = coaccessibility_.futures();
    if (futures.may_end(from.speller_state)) step(from, kEnd, from.speller_state);
    Interner seen;  // most byte classes that end a lexeme do so alike
    std::vector<std::int32_t> visits;
    for (const auto& move : futures.moves(from.speller_state)) {
        const auto next = lexer.next(from.lexing.state, move.byte_class);
        if (next == LexingAutomaton::kDead) continue;
        if (LexingAutomaton::is_commit(next)) {
            const auto column = lexer.committed_column(lexer.commit(next), from.lexing, move.byte_class);
            const auto id =
                static_cast<std::size_t>(seen.intern(std::array{next, column.value, move.speller_state}));
            if (id == visits.size()) visits.push_back(0);
            if (visits[id]++ >= kMostVisits) continue;
        }
        step(from, move.byte_class, move.speller_state);
    }
}

// Reads a byte class, or the end of the text, and then what commits push back.
void ExpectedTerminalsSearch::step(const Configuration& from, std::int32_t byte_class,
                                   std::int32_t speller_state) {
    const auto& lexer = machine_.lexer;
    auto read = from.read;
    if (byte_class != kEnd) read.push_back(byte_class);
    // What is to be lexed, and lexed again, is always the end of what has been read: from here on.
    const auto known = static_cast<std::int32_t>(before_.size());
    const auto size = known + static_cast<std::int32_t>(read.size());
    auto at = byte_class == kEnd ? size : size - 1;
    const auto class_at = [&](std::int32_t place) {
        return place < known ? before_[place] : read[place - known];
    };
    auto lexing = from.lexing;
    auto stack = from.stack;
    std::vector<Lexeme> lexemes;
    std::int32_t begin = -1;  // anywhere before the position
    for (;;) {
        std::int32_t next = LexingAutomaton::kDead;
        Column column = lexing.matched;
        if (at < size) {
            const auto cls = class_at(at++);
            next = lexer.next(lexing.state, cls);
            if (next >= 0) {
                lexer.move(lexing, next, cls);
                continue;
            }
            if (next != LexingAutomaton::kDead)
                column = lexer.committed_column(lexer.commit(next), lexing, cls);
        } else if (byte_class == kEnd) {
            next = lexer.at_end(lexing.state);
            if (next == LexingAutomaton::kBoundary) {
                auto closed = stacks_[stack];
                if (feed_label(machine_, closed, lexer.end_label(), {})) record(lexemes);
                return;
            }
        } else {
            break;
        }
        if (next == LexingAutomaton::kDead) return;
        const auto& commit = lexer.commit(next);
        stack = take_label(stack, commit.label, column);
        if (stack < 0) return;
        lexing = boundary(machine_, stacks_[stack], commit.look_behind);
        if (lexing.state < 0) return;
        at = std::max(0, at - static_cast<std::int32_t>(lexer.pushback(commit.pushback).size()));
        const auto end = at - known;
        lexemes.push_back({commit.label, begin, end});
        begin = end;
    }
    if (!lexemes.empty() && is_live(lexing, speller_state, stack)) record(lexemes);
    if (begin <= 0) add({lexing, speller_state, stack, std::move(read), begin == 0});
}

// The stack after a label; -1: the parser does not take it.
std::int32_t ExpectedTerminalsSearch::take_label(std::int32_t stack, std::int32_t label, Column column) {
    const std::array key{stack, label, column.value};
    const auto id = static_cast<std::size_t>(stack_ids_.intern(key));
    if (id == after_label_.size()) {
        auto after = stacks_[stack];
        const bool taken = feed_label(machine_, after, label, column);
        after_label_.push_back(taken ? static_cast<std::int32_t>(stacks_.size()) : -1);
        if (taken) stacks_.push_back(std::move(after));
    }
    return after_label_[id];
}

bool ExpectedTerminalsSearch::is_live(const LexerConfiguration& lexing, std::int32_t speller_state,
                                      std::int32_t stack) {
    const auto& here = stacks_[stack];
    return NewlineLiveness(machine_, coaccessibility_, budget_, here).is_live(lexing, speller_state);
}

void ExpectedTerminalsSearch::record(std::span<const Lexeme> lexemes) {
    for (const auto& [label, begin, end] : lexemes) {
        if (begin < 0 && end >= 0) found_.unfinished.insert(label);
        if (begin == 0) found_.next.insert(label);
    }
}

}  // namespace pdacon
