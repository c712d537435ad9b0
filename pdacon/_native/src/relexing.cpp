#include "relexing.hpp"

namespace pdacon {

namespace {

// In a set: a lexeme may have ended here. Viable, even where no terminal can follow any more but the end.
constexpr std::int32_t kBetween = -1;

}  // namespace

std::int32_t Relexing::after(std::int32_t label) {
    auto& known = starts_[static_cast<std::size_t>(label)];
    if (known < 0) {
        std::set<std::int32_t> positions;
        if (label >
            spec_.num_terminals()) {  // ignored text: the context is what it was before, whatever that is
            for (const auto& context : spec_.contexts) add_entries(context, positions);
        } else {
            for (const auto context : spec_.follow[static_cast<std::size_t>(label)])
                add_entries(spec_.contexts[static_cast<std::size_t>(context)], positions);
        }
        known = intern(positions);
    }
    return known;
}

std::int32_t Relexing::step(std::int32_t set, std::uint8_t byte) {
    const auto [known, added] = steps_.try_emplace({set, byte}, -1);
    if (!added) return known->second;
    const auto& nfa = spec_.nfa;
    const auto before = sets_[set];
    const std::vector<std::int32_t> positions(before.begin(), before.end());
    std::set<std::int32_t> reached;
    for (const auto position : positions) {
        if (position == kBetween) continue;
        const auto at = static_cast<std::size_t>(position);
        for (auto edge = static_cast<std::size_t>(nfa.offset[at]);
             edge < static_cast<std::size_t>(nfa.offset[at + 1]); ++edge) {
            if (byte < nfa.low[edge] || byte > nfa.high[edge]) continue;
            if (!close(nfa.target[edge], reached)) continue;
            reached.insert(kBetween);
            const auto starts = sets_[after_match(nfa.owner[at])];
            reached.insert(starts.begin(), starts.end());
        }
    }
    return known->second = intern(reached);
}

// The set after a match of `terminal`, whatever keyword it may be renamed to.
std::int32_t Relexing::after_match(std::int32_t terminal) {
    if (spec_.ignored[static_cast<std::size_t>(terminal)]) return after(spec_.num_terminals() + 1);
    auto& known = match_starts_[static_cast<std::size_t>(terminal)];
    if (known >= 0) return known;
    std::set<std::int32_t> positions;
    const auto add = [&](std::int32_t label) {
        const auto starts = sets_[after(label)];
        positions.insert(starts.begin(), starts.end());
    };
    add(terminal);
    for (const auto& context : spec_.contexts)
        for (const auto& rename : context.renames)
            if (rename.regex == terminal)
                for (const auto keyword : rename.keywords) add(keyword);
    return known = intern(positions);
}

// Adds the byte positions behind `position`, of every priority; whether a match is among them.
bool Relexing::close(std::int32_t position, std::set<std::int32_t>& out) const {
    bool matched = false;
    std::vector<std::int32_t> stack{position};
    std::set<std::int32_t> seen;
    while (!stack.empty()) {
        const auto at = static_cast<std::size_t>(stack.back());
        stack.pop_back();
        if (!seen.insert(static_cast<std::int32_t>(at)).second) continue;
        const auto kind = static_cast<NfaKind>(spec_.nfa.kind[at]);
        if (kind == NfaKind::kMatch) matched = true;
        if (kind == NfaKind::kBytes) out.insert(static_cast<std::int32_t>(at));
        if (kind == NfaKind::kSplit)
            for (auto edge = spec_.nfa.offset[at]; edge < spec_.nfa.offset[at + 1]; ++edge)
                stack.push_back(spec_.nfa.target[static_cast<std::size_t>(edge)]);
    }
    return matched;
}

void Relexing::add_entries(const LexicalContext& context, std::set<std::int32_t>& out) const {
    for (const auto terminal : context.alternation)
        if (const auto entry = spec_.nfa.entry[static_cast<std::size_t>(terminal)]; entry >= 0)
            close(entry, out);
}

std::int32_t Relexing::intern(const std::set<std::int32_t>& positions) {
    return sets_.intern(std::vector<std::int32_t>(positions.begin(), positions.end()));
}

}  // namespace pdacon
