// Programs of terminals and lexical contexts by the fuzzer's bytes.
#pragma once

#include <algorithm>

#include "input.hpp"
#include "lexer/automaton.hpp"

namespace fuzzing {

inline pdacon::Nfa nfa(Input& input, std::int32_t terminals) {
    using pdacon::NfaKind;
    const auto positions = input.count(1, 14);
    std::vector<std::uint8_t> kinds;
    std::vector<std::int32_t> owner;
    for (std::int32_t at = 0; at < positions; ++at) {
        // Half of them read a byte, and there is always a match.
        constexpr NfaKind kKinds[] = {NfaKind::kBytes,       NfaKind::kBytes, NfaKind::kBytes,
                                      NfaKind::kSplit,       NfaKind::kMatch, NfaKind::kPending,
                                      NfaKind::kPendingOrEnd};
        auto kind = static_cast<std::uint8_t>(kKinds[input.byte() % 7]);
        if (at == positions - 1 && !input.wild()) kind = static_cast<std::uint8_t>(NfaKind::kMatch);
        if (input.wild() && input.byte() > 250) kind = input.byte();
        kinds.push_back(kind);
        owner.push_back(input.below(terminals));
    }
    pdacon::Nfa made;
    made.kind = std::move(kinds);
    made.owner = std::move(owner);
    std::vector<std::int32_t> behind_a_match;  // where a pending position may lead
    for (std::int32_t at = 0; at < positions; ++at)
        if (made.is_pending(at) || made.kind_of(at) == NfaKind::kMatch) behind_a_match.push_back(at);
    std::vector<std::int32_t> offset = {0}, target;
    std::vector<std::uint8_t> lows, highs;
    for (std::int32_t at = 0; at < positions; ++at) {
        const bool pending = made.is_pending(at) && !input.wild();
        const auto edges = made.kind_of(at) == NfaKind::kMatch ? 0 : input.count(1, 3);
        for (std::int32_t edge = 0; edge < edges; ++edge) {
            auto low = static_cast<std::uint8_t>(input.letter()),
                 high = static_cast<std::uint8_t>(input.letter());
            if (low > high && !input.wild()) std::swap(low, high);
            lows.push_back(low);
            highs.push_back(high);
            target.push_back(pending ? behind_a_match[input.byte() % behind_a_match.size()]
                                     : input.below(positions));
        }
        offset.push_back(input.wild() && input.byte() > 250 ? input.below(8)
                                                            : static_cast<std::int32_t>(target.size()));
    }
    made.offset = std::move(offset);
    made.low = std::move(lows);
    made.high = std::move(highs);
    made.target = std::move(target);
    const auto behind = input.count(1, 3);
    std::vector<std::int32_t> look_behind(static_cast<std::size_t>(behind) * 256, 0);
    if (behind > 1)
        for (std::int32_t state = 0; state < behind; ++state)
            for (const char letter : std::string("ab \n\t")) {
                const auto at = static_cast<std::size_t>(state) * 256 + static_cast<std::uint8_t>(letter);
                look_behind[at] = input.below(behind);
            }
    if (input.wild() && input.byte() > 250) look_behind.resize(input.byte());
    made.look_behind = std::move(look_behind);
    std::vector<std::int32_t> entry;
    for (std::int32_t at = 0; at < terminals * behind; ++at)
        entry.push_back(input.byte() % 8 == 7 ? -1 : input.below(positions));
    made.entry = std::move(entry);
    return made;
}

// `programs` has to outlive what is returned.
inline pdacon::LexerSpec spec(Input& input, const pdacon::Nfa& programs, std::int32_t terminals,
                              std::int32_t contexts) {
    pdacon::LexerSpec made{programs, {}, {}, {}, {}};
    const auto every =
        static_cast<std::size_t>(input.wild() && input.byte() > 250 ? input.count(0, 9) : terminals);
    for (std::size_t at = 0; at < every; ++at) {
        made.ignored.push_back(input.byte() % 4 == 3);
        made.follow.push_back(input.list(1, 2, contexts));
    }
    for (std::int32_t at = 0; at < contexts; ++at) {
        made.contexts.push_back({input.list(1, 4, terminals), {}});
        for (auto left = input.count(0, 1); left > 0; --left)
            made.contexts.back().renames.push_back({input.below(terminals), input.list(0, 2, terminals)});
    }
    made.starts = input.list(1, 2, contexts);
    made.newline = input.flag() ? input.below(terminals) : -1;
    made.tab_width = input.between(0, 4);
    return made;
}

}  // namespace fuzzing
