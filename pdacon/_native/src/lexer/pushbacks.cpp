#include "lexer/pushbacks.hpp"

#include <algorithm>

#include "lexer/automaton.hpp"

namespace pdacon {

std::int32_t Pushbacks::after_match(std::int32_t label, std::int32_t look_behind, std::int32_t byte_class) {
    return add(outcome_after(start(label, look_behind), byte_class), kNone, byte_class);
}

std::int32_t Pushbacks::after(std::int32_t pushback, std::int32_t byte_class) {
    return add(outcome_after(at(pushback).outcome, byte_class), pushback, byte_class);
}

std::vector<std::int32_t> Pushbacks::text(std::int32_t pushback) const {
    std::vector<std::int32_t> text;
    for (; pushback != kNone; pushback = at(pushback).parent) text.push_back(at(pushback).via);
    std::reverse(text.begin(), text.end());
    return text;
}

std::int32_t Pushbacks::add(std::int32_t outcome, std::int32_t parent, std::int32_t byte_class) {
    if (outcome == kNone) return kNone;
    const auto length = parent == kNone ? 1 : at(parent).length + 1;
    const std::int32_t key[] = {outcome, length};
    const auto id = pushback_ids_.intern(key);
    if (static_cast<std::size_t>(id) == pushbacks_.size())
        pushbacks_.push_back({outcome, length, parent, byte_class});
    return id;
}

std::int32_t Pushbacks::start(std::int32_t label, std::int32_t look_behind) {
    const std::int32_t key[] = {label, look_behind};
    const auto id = start_ids_.intern(key);
    if (static_cast<std::size_t>(id) == starts_.size()) {
        std::vector<Landing> landings;
        std::vector<std::int32_t> share{id};
        for (const auto entry : lexer_.entries_after(label, look_behind)) {
            share.push_back(static_cast<std::int32_t>(landings.size()));
            landings.push_back({Landing::kInside, entry, {}, {}});
        }
        starts_.push_back(intern(shares_.intern(share), std::move(landings)));
    }
    return starts_[static_cast<std::size_t>(id)];
}

// What must be known of other outcomes first is about shorter texts. It is found with a stack of its own: a
// pushback can be as long as a terminal, and have as many lexemes.
std::int32_t Pushbacks::outcome_after(std::int32_t outcome, std::int32_t byte_class) {
    std::vector<std::int32_t> open{outcome};
    while (!open.empty()) {
        const auto last = open.back();
        const auto before = open.size();
        if (!known(last, byte_class))
            for (const auto other : outcomes_[static_cast<std::size_t>(last)].needed)
                if (!known(other, byte_class)) open.push_back(other);
        if (open.size() > before) continue;
        open.pop_back();
        if (!known(last, byte_class)) compute(last, byte_class);
    }
    return outcomes_[static_cast<std::size_t>(outcome)].after[static_cast<std::size_t>(byte_class)];
}

bool Pushbacks::known(std::int32_t outcome, std::int32_t byte_class) const {
    const auto& after = outcomes_[static_cast<std::size_t>(outcome)].after;
    return !after.empty() && after[static_cast<std::size_t>(byte_class)] != kUnknown;
}

void Pushbacks::compute(std::int32_t outcome, std::int32_t byte_class) {
    budget_.tick();
    auto& from = outcomes_[static_cast<std::size_t>(outcome)];
    std::vector<Landing> landings;
    std::vector<std::int32_t> place_of;  // of each landing before
    bool changed = false;
    for (const auto& before : from.landings) {
        const auto landing = land(before, byte_class);
        const auto known = std::ranges::find(landings, landing);
        changed = changed || landing.kind == Landing::kDead || known != landings.end();
        place_of.push_back(
            landing.kind == Landing::kDead ? -1 : static_cast<std::int32_t>(known - landings.begin()));
        if (landing.kind != Landing::kDead && known == landings.end()) landings.push_back(landing);
    }
    auto share = from.share;
    if (changed) {
        std::vector<std::int32_t> key(shares_[share].begin(), shares_[share].end());
        for (std::size_t entry = 1; entry < key.size(); ++entry)
            if (key[entry] >= 0) key[entry] = place_of[static_cast<std::size_t>(key[entry])];
        share = shares_.intern(key);
    }
    const auto after = landings.empty() ? kNone : intern(share, std::move(landings));
    if (from.after.empty()) from.after.assign(static_cast<std::size_t>(num_classes_), kUnknown);
    from.after[static_cast<std::size_t>(byte_class)] = after;
}

Pushbacks::Landing Pushbacks::land(const Landing& from, std::int32_t byte_class) {
    if (from.kind == Landing::kDead) return {};
    if (from.kind == Landing::kCommitted) {
        const auto left = outcome_after(from.place, byte_class);
        return left == kNone ? Landing{} : Landing{Landing::kCommitted, left, {}, from.matched};
    }
    const auto next = lexer_.next(from.place, byte_class);
    if (next == LexingAutomaton::kDead) return {};
    LexerConfiguration lexing{from.place, from.now, from.matched};
    if (next >= 0) {
        lexer_.move(lexing, next, byte_class);
        return {Landing::kInside, next, lexing.now, lexing.matched};
    }
    const auto committed = lexer_.committed(next, lexing, byte_class);
    const auto left = committed.pushback == kNone ? start(committed.label, committed.look_behind)
                                                  : at(committed.pushback).outcome;
    return {Landing::kCommitted, left, {}, committed.column};
}

std::int32_t Pushbacks::intern(std::int32_t share, std::vector<Landing> landings) {
    std::vector<std::int32_t> key{share};
    for (const auto& [kind, place, now, matched] : landings)
        key.insert(key.end(), {kind, place, now.value, matched.value});
    const auto id = outcome_ids_.intern(key);
    if (static_cast<std::size_t>(id) == outcomes_.size()) {
        std::vector<std::int32_t> needed;
        for (const auto& landing : landings) {
            if (landing.kind == Landing::kCommitted) needed.push_back(landing.place);
            if (landing.kind != Landing::kInside) continue;
            for (const auto pushback : lexer_.carried(landing.place)) needed.push_back(at(pushback).outcome);
        }
        outcomes_.push_back({share, std::move(landings), std::move(needed), {}});
        budget_.check_states(outcomes_.size());
    }
    return id;
}

}  // namespace pdacon
