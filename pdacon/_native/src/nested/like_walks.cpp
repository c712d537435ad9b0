// Walks that others take over: what tokens do from a position depends on what a walk reads of it, and of the
// positions behind it, and on nothing else.
//
// The states of a pattern that counts, such as that of at most 200 words, lead alike as far as a token goes.
// A walk notes which bytes it reads of which positions. From another position tokens do the same if it, and
// the positions behind it that take the places of those that were read, lead alike by these bytes: a
// bisimulation, as far as has been read (R. Milner, "Communication and Concurrency", 1989).
#include <algorithm>
#include <utility>

#include "nested/terminal_automaton.hpp"

namespace pdacon {

namespace {

constexpr std::size_t kMostKept = 8;  // of an automaton, those made last

template <class Kept>
void keep(std::deque<Kept>& kept, Kept made) {
    if (kept.size() >= kMostKept) kept.pop_back();
    kept.push_front(std::move(made));
}

}  // namespace

void TerminalAutomaton::keep_base(std::int32_t position, const Kept& tokens) {
    keep(bases_, Base{position, tokens});
}

void TerminalAutomaton::keep_walk(std::vector<Read> read, const Kept& found) {
    Walked walked{std::move(read), {}, found};
    for (std::size_t k = 0; k < walked.read.size(); ++k) walked.numbers.emplace(walked.read[k].position, k);
    keep(walks_, std::move(walked));
}

TerminalAutomaton::Kept TerminalAutomaton::alike(std::int32_t position, StateLimit& limit) {
    const auto known = std::ranges::find_if(
        walks_, [&](const auto& walked) { return leads_alike(walked, position, limit); });
    return known == walks_.end() ? nullptr : known->found;
}

bool TerminalAutomaton::leads_alike(const Walked& walked, std::int32_t position, StateLimit& limit) {
    if (position % 8 != walked.read.front().position % 8) return false;
    std::vector<std::int32_t> others(walked.read.size(), kDead);  // that take the places of those read
    others[0] = position;
    std::vector<std::size_t> pending{0};
    // Whether a position may take the place of another one.
    const auto takes = [&](std::int32_t to, std::int32_t other) {
        if (to == kDead || other == kDead) return to == other;
        if (to % 8 != other % 8) return false;
        const auto number = walked.numbers.find(to);
        if (number == walked.numbers.end()) return true;
        auto& known = others[number->second];
        if (known != kDead) return known == other;
        known = other;
        pending.push_back(number->second);
        return true;
    };
    for (std::size_t k = 0; k < pending.size(); ++k) {
        const auto& [own, bytes, is_run] = walked.read[pending[k]];
        const auto other = others[pending[k]];
        const auto& row = made_row(own, limit).next;
        const auto& others_row = made_row(other, limit).next;
        std::pair before{kDead, kDead};
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::pair to{row[byte], others_row[byte]};
            if (!bytes[byte] || to == before) continue;
            if (!takes(to.first, to.second)) return false;
            before = to;
        }
        if (!is_run) continue;
        const auto& run = made_run(own, limit);
        const auto& others_run = made_run(other, limit);
        if (run.characters != others_run.characters || run.is_loop != others_run.is_loop ||
            !takes(run.next, others_run.next))
            return false;
    }
    // What was looked at in vain is read by nobody.
    for (std::size_t k = 0; k < others.size(); ++k)
        if (others[k] == kDead && (walked.read[k].bytes.any() || walked.read[k].is_run)) return false;
    return true;
}

}  // namespace pdacon
