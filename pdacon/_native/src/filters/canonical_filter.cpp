#include "filters/canonical_filter.hpp"

#include <algorithm>
#include <array>

namespace pdacon {

std::int32_t CanonicalFilter::state_of(std::int32_t last, std::span<const std::int32_t> places,
                                       std::int32_t text) {
    return state_in(last, {sets_.intern(places), text});
}

std::int32_t CanonicalFilter::state_in(std::int32_t last, Situation situation) {
    const std::array<std::int32_t, 3> key = {last, situation.set, situation.text};
    const auto id = state_ids_.intern(key);
    if (static_cast<std::size_t>(id) == states_.size()) states_.push_back({last, situation});
    return id;
}

std::int32_t CanonicalFilter::state_with(std::int32_t last, Situation situation) {
    const std::lock_guard hold(lock_);
    return state_in(last, situation);
}

std::optional<CanonicalFilter::Situation> CanonicalFilter::after(Situation situation, std::int32_t token,
                                                                 bool marked) {
    const std::lock_guard hold(lock_);
    if (begins_anew(token)) {
        const auto places = sets_[situation.set];
        if (!marked || std::ranges::none_of(places, [&](auto place) { return pretokens_.ends(place); }))
            return std::nullopt;
        const auto text = texts_->step_added(situation.text, token);
        if (text < 0) return std::nullopt;
        return Situation{sets_.intern(kStartPlaces), text};
    }
    const auto group = merges_.is_reachable(token) ? pretokens_.group(token) : -1;
    if (group < 0) return std::nullopt;
    auto& known = sets_after_[{situation.set, marked}];
    const auto at = static_cast<std::size_t>(group);
    if (known.size() <= at) known.resize(at + 1, kUnknown);
    if (known[at] == kUnknown) {
        std::vector<std::int32_t> places;
        for (const auto place : places_of(situation.set))
            if (const auto to = pretokens_.after(place, marked)[at]; to >= 0) places.push_back(to);
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        known[at] = places.empty() ? -1 : sets_.intern(places);
    }
    if (known[at] < 0) return std::nullopt;
    const auto text = texts_ ? texts_->step(situation.text, token) : TextStates::kStart;
    if (text < 0) return std::nullopt;
    return Situation{known[at], text};
}

std::int32_t CanonicalFilter::step(std::int32_t state, std::int32_t token) {
    const std::lock_guard hold(lock_);
    const auto key = static_cast<std::uint64_t>(state) << 32 | static_cast<std::uint32_t>(token);
    if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
    const auto [last, situation] = states_[in_range(state, states_.size())];
    if (texts_ && texts_->is_added(token)) {
        const auto text = ends(state) ? texts_->step_added(situation.text, token) : -1;
        return text < 0 ? -1 : state_of(kNothing, kStartPlaces, text);
    }
    const auto group = merges_.is_reachable(token) ? pretokens_.group(token) : -1;
    const auto text = group >= 0 && texts_ ? texts_->step(situation.text, token) : TextStates::kStart;
    std::vector<std::int32_t> places;
    if (group >= 0 && text >= 0) {
        const bool follows = may_follow(state, token);
        for (const auto place : places_of(situation.set))
            for (const bool marked : {false, true})
                if (marked ? last != kNothing : follows)
                    if (const auto to = pretokens_.after(place, marked)[group]; to >= 0) places.push_back(to);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const auto to = places.empty() ? -1 : state_of(token, places, text);
    if (steps_.size() >= kMostSteps) steps_.clear();
    steps_.emplace(key, to);
    return to;
}

bool CanonicalFilter::ends(std::int32_t state) {
    const std::lock_guard hold(lock_);
    const auto places = places_of(situation(state).set);
    return std::ranges::any_of(places, [&](std::int32_t place) { return pretokens_.ends(place); });
}

std::int32_t CanonicalFilter::step(std::int32_t state, std::string_view bytes) {
    const std::lock_guard hold(lock_);
    if (!texts_) return kStart;
    const auto text = texts_->step_bytes(situation(state).text, bytes);
    return text < 0 ? -1 : state_of(kNothing, kStartPlaces, text);
}

CanonicalFilter::Situation CanonicalFilter::situation(std::int32_t state) {
    const std::lock_guard hold(lock_);
    return states_[in_range(state, states_.size())].situation;
}

std::vector<std::int32_t> CanonicalFilter::places_of(std::int32_t set) {
    const std::lock_guard hold(lock_);
    const auto places = sets_[set];
    return {places.begin(), places.end()};
}

std::int32_t CanonicalFilter::set_of(std::int32_t place) {
    const std::lock_guard hold(lock_);
    return sets_.intern(std::array{place});
}

const std::vector<std::int32_t>& CanonicalFilter::row(std::int32_t token) {
    if (const auto known = rows_.find(token); known != rows_.end()) return known->second;
    const auto words = tokens().words();
    if ((rows_.size() + 1) * words * sizeof(std::int32_t) > kMostRowBytes) rows_.clear();
    std::vector<std::int32_t> made(words, 0);
    merges_.add_followers(token, made);
    return rows_.emplace(token, std::move(made)).first->second;
}

void CanonicalFilter::combine(std::int32_t state, const std::int32_t* within, const std::int32_t* across,
                              std::span<std::int32_t> mask) {
    const std::lock_guard hold(lock_);
    const auto last = states_[in_range(state, states_.size())].last;
    auto* out = mask.data();
    const auto words = mask.size();
    if (last == kMergesWithAll) {
        std::copy_n(across, words, out);
        return;
    }
    if (last == kNothing) {
        for (std::size_t at = 0; at < words; ++at) out[at] = within[at] | across[at];
        return;
    }
    const auto* followers = row(last).data();
    for (std::size_t at = 0; at < words; ++at) out[at] = (within[at] & followers[at]) | across[at];
}

std::int32_t CanonicalFilter::last(std::int32_t state) {
    const std::lock_guard hold(lock_);
    return states_[in_range(state, states_.size())].last;
}

bool CanonicalFilter::may_follow(std::int32_t state, std::int32_t token) {
    const std::lock_guard hold(lock_);
    const auto last = states_[in_range(state, states_.size())].last;
    return last == kNothing || (last != kMergesWithAll && !merges_.merges(last, token));
}

CanonicalFilter::Statistics CanonicalFilter::statistics() {
    const std::lock_guard hold(lock_);
    return {states_.size(),
            sets_.size(),
            static_cast<std::size_t>(pretokens_.num_places()),
            rows_.size(),
            rows_.size() * tokens().words() * sizeof(std::int32_t) + pretokens_.bytes(),
            merges_.num_unreachable()};
}

}  // namespace pdacon
