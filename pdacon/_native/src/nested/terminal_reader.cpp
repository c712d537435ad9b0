#include "nested/terminal_reader.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace pdacon {

// The state of some positions, with those that follow without a byte.
std::int32_t TerminalReader::state_of(std::vector<std::int32_t> positions) {
    std::vector<std::int32_t> set;
    while (!positions.empty()) {
        const auto at = positions.back();
        positions.pop_back();
        const auto index = static_cast<std::size_t>(at);
        if (own_.kind[index] != NestedTerminal::kSplit) {
            set.push_back(at);
            continue;
        }
        for (auto edge = own_.offset[index]; edge < own_.offset[index + 1]; ++edge)
            positions.push_back(own_.target[static_cast<std::size_t>(edge)]);
    }
    std::ranges::sort(set);
    set.erase(std::unique(set.begin(), set.end()), set.end());
    const auto number = sets_.intern(set);
    if (std::cmp_less(number, states_.size())) return number;
    const auto any = [&](const auto& holds) { return std::ranges::any_of(set, holds); };
    states_.push_back(
        {any([&](auto at) { return own_.kind[static_cast<std::size_t>(at)] >= NestedTerminal::kMatch; }),
         any([&](auto at) {
             const auto index = static_cast<std::size_t>(at);
             return own_.kind[index] == NestedTerminal::kBytes && own_.offset[index] < own_.offset[index + 1];
         }),
         nullptr});
    return number;
}

const TerminalReader::Row& TerminalReader::row(std::int32_t state) {
    const auto index = static_cast<std::size_t>(state);
    if (states_[index].next) return *states_[index].next;
    std::array<std::vector<std::int32_t>, 256> targets;
    const auto view = sets_[state];
    for (const auto at : std::vector(view.begin(), view.end())) {
        const auto position = static_cast<std::size_t>(at);
        if (own_.kind[position] != NestedTerminal::kBytes) continue;
        for (auto edge = static_cast<std::size_t>(own_.offset[position]);
             edge < static_cast<std::size_t>(own_.offset[position + 1]); ++edge)
            for (std::size_t byte = own_.lo[edge]; byte <= own_.hi[edge]; ++byte)
                targets[byte].push_back(own_.target[edge]);
    }
    auto made = std::make_unique<Row>();
    for (std::size_t byte = 0; byte < 256; ++byte) {
        if (targets[byte].empty())
            (*made)[byte] = kDead;
        else if (byte > 0 && targets[byte] == targets[byte - 1])
            (*made)[byte] = (*made)[byte - 1];
        else
            (*made)[byte] = state_of(targets[byte]);
    }
    states_[index].next = std::move(made);
    return *states_[index].next;
}

std::int32_t TerminalReader::next(std::int32_t state, std::uint8_t byte) {
    if (!is_text()) return row(state)[byte];
    const auto at = static_cast<std::size_t>(state);
    return at < own_.text.size() && static_cast<std::uint8_t>(own_.text[at]) == byte ? state + 1 : kDead;
}

bool TerminalReader::matches(std::int32_t state) const {
    return is_text() ? std::cmp_equal(state, own_.text.size())
                     : states_[static_cast<std::size_t>(state)].matches;
}

bool TerminalReader::can_go_on(std::int32_t state) const {
    return is_text() ? std::cmp_less(state, own_.text.size())
                     : states_[static_cast<std::size_t>(state)].goes_on;
}

// The state that all bytes of a range lead to; kDead: there is no such state.
std::int32_t TerminalReader::only_target(std::int32_t state, int first, int last) {
    if (state == kDead) return kDead;
    const auto& next = row(state);
    const auto begin = next.begin() + first, end = next.begin() + last + 1;
    return std::all_of(begin, end, [&](auto target) { return target == *begin; }) ? *begin : kDead;
}

// Whether every character outside ASCII leads from one state to another.
bool TerminalReader::reads_others(std::int32_t from, std::int32_t to) {
    const auto last = [&](std::int32_t state) { return only_target(state, 0x80, 0xBF) == to; };
    const auto two = [&](std::int32_t state, int first, int end) {
        return last(only_target(state, first, end));
    };
    const auto three = [&](int lead, int end) { return two(only_target(from, lead, end), 0x80, 0xBF); };
    const auto four = [&](int lead, int end, int first, int after) {
        return two(only_target(only_target(from, lead, end), first, after), 0x80, 0xBF);
    };
    return last(only_target(from, 0xC2, 0xDF)) && two(only_target(from, 0xE0, 0xE0), 0xA0, 0xBF) &&
           three(0xE1, 0xEC) && two(only_target(from, 0xED, 0xED), 0x80, 0x9F) && three(0xEE, 0xEF) &&
           four(0xF0, 0xF0, 0x90, 0xBF) && four(0xF1, 0xF3, 0x80, 0xBF) && four(0xF4, 0xF4, 0x80, 0x8F);
}

TerminalReader::Run TerminalReader::found_run(std::int32_t state) {
    Run run;
    const auto& next = row(state);
    std::map<std::int32_t, int> count;
    for (std::size_t byte = 0; byte < 128; ++byte)
        if (next[byte] != kDead) ++count[next[byte]];
    const auto most = std::ranges::max_element(count, {}, [](const auto& entry) { return entry.second; });
    if (most == count.end()) return run;
    run.next = most->first;
    for (std::size_t byte = 0; byte < 128; ++byte)
        if (next[byte] == run.next) run.characters.ascii[byte / 64] |= std::uint64_t{1} << (byte % 64);
    run.characters.other = reads_others(state, run.next);
    run.is_loop = run.next == state;
    run.length = run.is_loop ? Run::kEndless : 1;
    return run;
}

const TerminalReader::Run& TerminalReader::run(std::int32_t state) {
    std::vector<std::int32_t> chain;
    // A chain counts as far as the states after it read the same characters.
    for (auto at = state; !runs_.contains(at);) {
        const auto& found = runs_.emplace(at, found_run(at)).first->second;
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
    return runs_.at(state);
}

}  // namespace pdacon
