#include "lexer/relexing.hpp"

namespace pdacon {

std::int32_t Relexing::after(std::int32_t label, std::int32_t look_behind) {
    auto& known = starts_[index(label, look_behind)];
    if (known < 0) {
        std::set<std::int32_t> positions;
        if (label >
            spec_.num_terminals()) {  // ignored text leaves the context as it was, which is not known here
            for (const auto& context : spec_.contexts) add_entries(context, look_behind, positions);
        } else {
            for (const auto context : spec_.follow[label])
                add_entries(spec_.contexts[context], look_behind, positions);
        }
        known = intern(look_behind, positions);
    }
    return known;
}

std::int32_t Relexing::step(std::int32_t set, std::uint8_t byte) {
    if (static_cast<std::size_t>(set) >= steps_.size()) {
        constexpr auto unknown = [] {
            std::array<std::int32_t, 256> row{};
            row.fill(-1);
            return row;
        }();
        steps_.resize(sets_.size(), unknown);
    }
    auto& known = steps_[set][byte];
    if (known >= 0) return known;
    const auto& nfa = spec_.nfa;
    const auto before = sets_[set];
    const auto look_behind = nfa.look_behind_after(before[0], byte);
    const std::vector<std::int32_t> positions(before.begin() + 1, before.end());
    std::set<std::int32_t> reached;
    for (const auto position : positions) {
        if (position == kBetween) continue;
        for (const auto edge : nfa.edges(position)) {
            if (byte < nfa.low[edge] || byte > nfa.high[edge]) continue;
            if (!close(nfa.target[edge], reached)) continue;
            reached.insert(kBetween);
            const auto starts = sets_[after_match(nfa.owner[position],
                                                  nfa.look_behind_of_match(nfa.target[edge], look_behind))];
            reached.insert(starts.begin() + 1, starts.end());
        }
    }
    return known = intern(look_behind, reached);
}

std::int32_t Relexing::after_match(std::int32_t terminal, std::int32_t look_behind) {
    if (spec_.ignored[terminal]) return after(spec_.num_terminals() + 1, look_behind);
    auto& known = match_starts_[index(terminal, look_behind)];
    if (known >= 0) return known;
    std::set<std::int32_t> positions;
    const auto add = [&](std::int32_t label) {
        const auto starts = sets_[after(label, look_behind)];
        positions.insert(starts.begin() + 1, starts.end());
    };
    add(terminal);
    for (const auto& context : spec_.contexts)
        for (const auto& rename : context.renames)
            if (rename.regex == terminal)
                for (const auto keyword : rename.keywords) add(keyword);
    return known = intern(look_behind, positions);
}

bool Relexing::close(std::int32_t position, std::set<std::int32_t>& out) const {
    bool matched = false;
    for_each_in_closure(spec_.nfa, position, [&](std::int32_t at) {
        if (spec_.nfa.kind_of(at) == NfaKind::kBytes)
            out.insert(at);
        else
            matched = true;
    });
    return matched;
}

void Relexing::add_entries(const LexicalContext& context, std::int32_t look_behind,
                           std::set<std::int32_t>& out) const {
    for (const auto terminal : context.alternation)
        if (const auto entry = spec_.nfa.entry_of(terminal, look_behind); entry >= 0) close(entry, out);
}

std::int32_t Relexing::intern(std::int32_t look_behind, const std::set<std::int32_t>& positions) {
    std::vector<std::int32_t> key{look_behind};
    key.insert(key.end(), positions.begin(), positions.end());
    return sets_.intern(key);
}

}  // namespace pdacon
