// The lexing automaton in an artifact.
#include <algorithm>
#include <limits>
#include <numeric>

#include "artifact/needs.hpp"
#include "lexer/automaton.hpp"

namespace pdacon {

namespace {

constexpr auto kShared = ArtifactReader::kShared;

struct Numbers {
    std::int32_t num_terminals, num_classes, num_look_behind, num_contexts, lines, tab_width, lookahead;
};

}  // namespace

// Of each state: the fewest bytes that can have been read since the start of the lexeme. A pushback is
// shorter than that, so lexing again comes to an end.
std::vector<std::int32_t> LexingAutomaton::least_read() const {
    std::vector<std::int32_t> least(static_cast<std::size_t>(num_states()),
                                    std::numeric_limits<std::int32_t>::max()),
        open;
    const auto reach = [&](std::int32_t state, std::int32_t count) {
        if (state < 0 || least[state] <= count) return;
        least[state] = count;
        open.push_back(state);
    };
    for (const auto entry : entries_) reach(entry, 0);
    for (std::size_t at = 0; at < open.size(); ++at)
        for (std::int32_t cls = 0; cls < num_classes_; ++cls) reach(next(open[at], cls), least[open[at]] + 1);
    return least;
}

// Whether numbers of bytes are such that lexing, and lexing again, comes to an end: no transition adds more
// than one to them, and no commit has more to be lexed again than was read.
bool LexingAutomaton::reads_on(std::span<const std::int32_t> least) const {
    const auto states = static_cast<std::size_t>(num_states()),
               classes = static_cast<std::size_t>(num_classes_);
    // Only bytes up to the longest pushback plus one matter. For each target of a transition: how many bytes
    // have to be read when it is reached. Targets are ordered as their numbers are: commits, kDead, states.
    const auto dead = commits_.size();
    std::vector<std::int32_t> needed(dead + 1 + states, 0);
    std::int32_t longest = 0;
    for (std::size_t at = 0; at < dead; ++at) {
        const auto length = static_cast<std::int32_t>(pushback(commits_[at].pushback).size());
        longest = std::max(longest, length);
        needed[dead - 1 - at] = length + 1;
    }
    for (std::size_t state = 0; state < states; ++state)
        needed[dead + 1 + state] = std::min(least[state], longest + 1);
    const Needs needs(std::move(needed), kDead - static_cast<std::int32_t>(dead), kDead);
    bool good = true;
    for (const auto entry : entries_) good &= entry < 0 || least[entry] == 0;
    for (std::size_t state = 0; state < states; ++state) {
        if (least[state] < longest)
            good &= delta_.stored_matrix()->visit([&](auto all) {
                return needs.are_within(all.subspan(state * classes, classes), least[state] + 1);
            });
        if (is_commit(end_[state]))
            good &= static_cast<std::int32_t>(pushback(commit(end_[state]).pushback).size()) < least[state];
    }
    return good;
}

void LexingAutomaton::save(ArtifactWriter& artifact) const {
    for (std::size_t at = 0; at < pushbacks_.size(); ++at)
        if (pushback(static_cast<std::int32_t>(at)).size() > kLongestPushback)
            throw ArtifactDamage("a terminal of this grammar needs a lookahead of more than " +
                                 std::to_string(kLongestPushback) +
                                 " bytes: such a constraint cannot be saved");
    const Numbers numbers{num_terminals_,
                          num_classes_,
                          num_look_behind_,
                          num_contexts(),
                          static_cast<std::int32_t>(columns_.lines),
                          tab_width(),
                          lookahead_};
    artifact.add(Part::kLexer, kShared, std::span(&numbers, 1));
    artifact.add(Part::kByteClasses, kShared, std::span<const std::uint8_t>(byte_class_));
    if (const auto* matrix = delta_.stored_matrix())
        artifact.add_packed(Part::kTransitions, kShared, *matrix);
    else
        artifact.add_packed(Part::kTransitions, kShared, delta_.matrix());
    artifact.add(Part::kEnds, kShared, end_.view());
    artifact.add(Part::kEntries, kShared, entries_.view());
    artifact.add(Part::kCommits, kShared, commits_.view());
    artifact.add(Part::kPushbackOffsets, kShared, pushbacks_.offsets().view());
    artifact.add(Part::kPushbacks, kShared, pushbacks_.values().view());
    artifact.add(Part::kFollowOffsets, kShared, follow_.offsets().view());
    artifact.add(Part::kFollow, kShared, follow_.values().view());
    artifact.add(Part::kKeeps, kShared, keeps_.view());
    artifact.add(Part::kLeastRead, kShared, std::span<const std::int32_t>(least_read()));
}

LexingAutomaton::LexingAutomaton(const ArtifactReader& artifact) {
    const auto given = artifact.array<Numbers>(Part::kLexer, kShared);
    require_artifact(given.size() == 1, "numbers of the lexer");
    const auto& numbers = given[0];
    constexpr std::int32_t kMost = 1 << 30;
    for (const auto count : {numbers.num_terminals, numbers.tab_width, numbers.lookahead})
        require_artifact(count >= 0 && count < kMost, "numbers of the lexer");
    require_artifact(numbers.num_classes > 0 && numbers.num_classes <= 256 && numbers.num_look_behind > 0 &&
                         numbers.num_contexts > 0 && numbers.lines >= 0 &&
                         numbers.lines <= static_cast<std::int32_t>(Lines::kEscaped),
                     "numbers of the lexer");
    num_terminals_ = numbers.num_terminals;
    num_classes_ = numbers.num_classes;
    num_look_behind_ = numbers.num_look_behind;
    lookahead_ = numbers.lookahead;
    const auto classes = artifact.array<std::uint8_t>(Part::kByteClasses, kShared);
    require_artifact(classes.size() == byte_class_.size() && all_within(classes.view(), 0, num_classes_),
                     "classes of bytes");
    std::copy(classes.begin(), classes.end(), byte_class_.begin());
    columns_ = column_rules(byte_class_, static_cast<Lines>(numbers.lines), numbers.tab_width);
    end_ = artifact.array<std::int32_t>(Part::kEnds, kShared);
    entries_ = artifact.array<std::int32_t>(Part::kEntries, kShared);
    commits_ = artifact.array<Commit>(Part::kCommits, kShared);
    keeps_ = artifact.array<std::uint8_t>(Part::kKeeps, kShared);
    require_artifact(!end_.empty() && end_.size() < kMost && commits_.size() < kMost &&
                         keeps_.size() == (has_columns() ? end_.size() : 0) &&
                         entries_.size() == static_cast<std::size_t>(numbers.num_contexts) *
                                                static_cast<std::size_t>(num_look_behind_),
                     "sizes of the lexer");
    auto delta =
        artifact.packed(Part::kTransitions, kShared, end_.size() * static_cast<std::size_t>(num_classes_));
    contexts_.resize(static_cast<std::size_t>(numbers.num_contexts));
    std::iota(contexts_.begin(), contexts_.end(), 0);
    const auto lowest = -1 - static_cast<std::int64_t>(commits_.size());
    require_artifact(all_within(delta, lowest, num_states()), "transitions of the lexer");
    delta_ = {std::move(delta), num_classes_};
    require_artifact(all_within(end_.view(), lowest, kBoundary + 1), "ends of the lexer");
    require_artifact(all_within(entries_.view(), kDead, num_states()), "entries of the lexer");
    require_artifact(all_within(keeps_.view(), 0, kMostUses), "columns of the lexer");
    auto pushback_offsets = artifact.array<std::int32_t>(Part::kPushbackOffsets, kShared);
    auto pushbacks = artifact.array<std::int32_t>(Part::kPushbacks, kShared);
    require_artifact(
        are_rows(pushback_offsets, pushbacks.size()) && all_within(pushbacks.view(), 0, num_classes_),
        "words of the lexer");
    pushbacks_ = {std::move(pushback_offsets), std::move(pushbacks)};
    auto follow_offsets = artifact.array<std::int32_t>(Part::kFollowOffsets, kShared);
    auto follow = artifact.array<std::int32_t>(Part::kFollow, kShared);
    require_artifact(follow_offsets.size() == static_cast<std::size_t>(num_terminals_) + 1 &&
                         are_rows(follow_offsets, follow.size()) &&
                         all_within(follow.view(), 0, numbers.num_contexts),
                     "contexts of the lexer");
    follow_ = {std::move(follow_offsets), std::move(follow)};
    for (const auto& commit : commits_)
        require_artifact(commit.label >= 0 && commit.label <= ignored_label() &&
                             commit.label != end_label() && commit.look_behind >= 0 &&
                             commit.look_behind < num_look_behind_ && commit.pushback >= 0 &&
                             static_cast<std::size_t>(commit.pushback) < pushbacks_.size() &&
                             pushback(commit.pushback).size() <= kLongestPushback,
                         "commits of the lexer");
    const auto least = artifact.array<std::int32_t>(Part::kLeastRead, kShared);
    require_artifact(
        least.size() == end_.size() && all_within(least.view(), 0, std::int64_t{1} << 31) && reads_on(least),
        "a lexer that would not come to an end");
}

}  // namespace pdacon
