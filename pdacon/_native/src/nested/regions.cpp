// Regions of a terminal: states between which some characters only move.
//
// A pattern that may match anywhere in a string takes all characters in all states until the string ends, but
// few of its states are loops. Tokens of such characters stay in the region from wherever they begin, as if
// it were one loop. Only where a token leaves it the state has to be known, which the bytes before tell.
// Where a pattern must match nowhere, a character may lead nowhere in some states: then this holds for tokens
// that are too short to come so far.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/utf8.hpp"
#include "nested/terminal_automaton.hpp"

namespace pdacon {

namespace {

constexpr int kFewest = 32;                  // characters for which a region is worth while
constexpr std::size_t kMostStates = 96;      // of a region, since all of them are made
constexpr std::size_t kMostPositions = 300;  // of a terminal that is looked at: others count, say, words
constexpr int kMostFailures = 3;             // searches that find none, of one automaton
constexpr std::int32_t kSafe = 4;  // characters that some state has to be away from those that lead nowhere

CharacterSet common(const CharacterSet& one, const CharacterSet& other) {
    return {{one.ascii[0] & other.ascii[0], one.ascii[1] & other.ascii[1]}, one.leads & other.leads};
}

void add(std::vector<std::int32_t>& positions, std::int32_t position) {
    if (std::ranges::find(positions, position) == positions.end()) positions.push_back(position);
}

}  // namespace

// The positions behind the characters that begin with a byte; none, if one of these leads nowhere.
std::vector<std::int32_t> TerminalAutomaton::ends_of_lead(std::int32_t position, int lead,
                                                          StateLimit& limit) {
    std::vector<std::int32_t> ends{made_row(position, limit).next[static_cast<std::size_t>(lead)]};
    const auto rest = utf8_rest(lead);
    for (int k = 0; k < rest.bytes; ++k) {
        const auto first = k > 0 ? 0x80 : rest.first, last = k > 0 ? 0xBF : rest.last;
        const auto before = std::exchange(ends, {});
        for (const auto at : before) {
            if (at == kDead) return {};
            const auto& next = made_row(at, limit).next;
            for (auto byte = static_cast<std::size_t>(first); byte <= static_cast<std::size_t>(last); ++byte)
                if (ends.empty() || ends.back() != next[byte]) add(ends, next[byte]);
        }
    }
    return std::ranges::find(ends, kDead) == ends.end() ? ends : std::vector<std::int32_t>{};
}

TerminalAutomaton::Ways TerminalAutomaton::ways_from(std::int32_t position, StateLimit& limit) {
    Ways ways;
    const auto& next = made_row(position, limit).next;
    for (std::size_t byte = 0; byte < 128; ++byte)
        if (next[byte] != kDead) ways.characters.ascii[byte / 64] |= std::uint64_t{1} << (byte % 64);
    for (int lead = CharacterSet::kFirstLead; lead <= CharacterSet::kLastLead; ++lead) {
        const auto at = static_cast<std::size_t>(lead);
        const bool is_alike = lead != CharacterSet::kFirstLead && lead != 0xE0 && lead != 0xE1 &&
                              lead != 0xED && lead != 0xEE && lead != 0xF0 && lead != 0xF1 && lead != 0xF4;
        if (!is_alike || next[at] != next[at - 1])
            ways.outside.emplace_back(0, ends_of_lead(position, lead, limit));
        if (ways.outside.back().second.empty()) continue;
        ways.outside.back().first |= CharacterSet::lead(static_cast<std::uint8_t>(lead));
        ways.characters.leads |= CharacterSet::lead(static_cast<std::uint8_t>(lead));
    }
    return ways;
}

// The states of a region, the position first; `may_end`: whether characters may lead nowhere from some of
// them. Begins with all characters that lead anywhere, and leaves out those that lead to where few of them
// do, such as `"` and `\` of strings. None: characters are few, or states many.
std::optional<TerminalAutomaton::Found> TerminalAutomaton::found_region(std::int32_t position, bool may_end,
                                                                        StateLimit& limit) {
    std::map<std::int32_t, Ways> ways{{position, ways_from(position, limit)}};
    auto characters = ways.at(position).characters;
    std::map<std::int32_t, std::int32_t> numbers{{position, 0}};
    std::vector<std::int32_t> inside{position};
    const auto is_inside = [&](std::int32_t to) {
        const auto [known, is_new] = ways.try_emplace(to);
        if (is_new) {
            known->second = ways_from(to, limit);
            if (common(known->second.characters, characters).size() >= kFewest) {
                numbers.emplace(to, static_cast<std::int32_t>(inside.size()));
                inside.push_back(to);
            }
        }
        return numbers.contains(to);
    };
    for (std::size_t k = 0; k < inside.size(); ++k) {
        const auto& own = ways.at(inside[k]);
        const auto& next = made_row(inside[k], limit).next;
        if (!may_end) characters = common(characters, own.characters);
        for (std::size_t byte = 0; byte < 128; ++byte)
            if (characters.contains(static_cast<std::uint8_t>(byte)) && next[byte] != kDead &&
                !is_inside(next[byte]))
                characters.ascii[byte / 64] &= ~(std::uint64_t{1} << (byte % 64));
        for (const auto& [leads, ends] : own.outside)
            if ((characters.leads & leads) != 0 && !std::ranges::all_of(ends, is_inside))
                characters.leads &= ~leads;
        if (inside.size() > kMostStates) failures_ = kMostFailures;  // so it would be from other states, too
        if (characters.size() < kFewest || inside.size() > kMostStates) return std::nullopt;
    }
    Found found{std::make_shared<Region>(), inside, std::vector<std::int32_t>(inside.size(), Region::kAny)};
    found.region->characters = characters;
    if (may_end) find_safe(found, ways, numbers);
    return found;
}

// How many characters can be read from each state of a region before one may lead nowhere.
void TerminalAutomaton::find_safe(Found& found, const std::map<std::int32_t, Ways>& ways,
                                  const std::map<std::int32_t, std::int32_t>& numbers) {
    const auto& characters = found.region->characters;
    std::vector<std::vector<std::int32_t>> before(found.inside.size());
    std::vector<std::int32_t> pending;
    for (std::size_t k = 0; k < found.inside.size(); ++k) {
        const auto& own = ways.at(found.inside[k]);
        if (common(own.characters, characters) != characters) {
            found.safe[k] = 0;
            pending.push_back(static_cast<std::int32_t>(k));
        }
        const auto lead_to = [&](std::int32_t to) {
            const auto at = numbers.find(to);
            if (at == numbers.end()) return;
            auto& sources = before[static_cast<std::size_t>(at->second)];  // ascending
            if (sources.empty() || sources.back() != static_cast<std::int32_t>(k))
                sources.push_back(static_cast<std::int32_t>(k));
        };
        const auto& next = states_[static_cast<std::size_t>(found.inside[k] / 8)].row->next;
        for (std::size_t byte = 0; byte < 128; ++byte)
            if (characters.contains(static_cast<std::uint8_t>(byte)) && next[byte] != kDead)
                lead_to(next[byte]);
        for (const auto& [leads, ends] : own.outside)
            if ((characters.leads & leads) != 0) std::ranges::for_each(ends, lead_to);
    }
    for (std::size_t k = 0; k < pending.size(); ++k)
        for (const auto state : before[static_cast<std::size_t>(pending[k])])
            if (auto& safe = found.safe[static_cast<std::size_t>(state)]; safe == Region::kAny) {
                safe = found.safe[static_cast<std::size_t>(pending[k])] + 1;
                pending.push_back(state);
            }
}

// Looks for the region that a position is in. A state keeps the one that was found first, which somebody may
// use.
void TerminalAutomaton::find_region(std::int32_t position, StateLimit& limit) {
    auto& own = states_[static_cast<std::size_t>(position / 8)];
    if (ways_from(position, limit).characters.size() < kFewest) {
        own.is_region_known = true;
        return;
    }
    auto found = found_region(position, true, limit);
    if (failures_ < kMostFailures && (!found || std::ranges::max(found->safe) < kSafe))
        found = found_region(position, false, limit);
    if (!found || found->inside.size() == 1) {  // none, or a loop
        failures_ += !found;
        own.is_region_known = true;
        return;
    }
    auto& next = found->region->next;
    next = made_row(position, limit).next;
    for (const auto at : found->inside)
        for (std::size_t byte = 0; byte < 256; ++byte)
            if (made_row(at, limit).next[byte] != next[byte] || (next[byte] == kDead && matches(at)))
                next[byte] = Region::kSeveral;
    for (std::size_t k = 0; k < found->inside.size(); ++k) {
        auto& state = states_[static_cast<std::size_t>(found->inside[k] / 8)];
        if (state.is_region_known) continue;
        state.region = found->region;
        state.safe = found->safe[k];
        state.is_region_known = true;
    }
}

const TerminalAutomaton::State& TerminalAutomaton::within_region(std::int32_t position, StateLimit& limit) {
    const auto index = static_cast<std::size_t>(position / 8);
    const bool is_small = own_.kind.size() <= kMostPositions && std::cmp_less_equal(own_.inside, kMostStates);
    if (is_small && !states_[index].is_region_known && failures_ < kMostFailures)
        find_region(position, limit);
    return states_[index];
}

}  // namespace pdacon
