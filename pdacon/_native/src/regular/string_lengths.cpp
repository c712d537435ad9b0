#include "regular/string_lengths.hpp"

#include <algorithm>
#include <map>

#include "regular/character_dfa.hpp"

namespace pdacon {

namespace {

constexpr std::int64_t kMostWork = 8'000'000;  // edges that are looked at, and bits that are kept

}  // namespace

std::optional<StringLengths> StringLengths::of(std::span<const std::vector<std::int32_t>> targets,
                                               std::span<const std::uint8_t> accepting) {
    const auto states = targets.size();
    std::int64_t edges = static_cast<std::int64_t>(states);
    for (const auto& own : targets) edges += static_cast<std::int64_t>(own.size());
    using Set = std::vector<bool>;
    std::vector<Set> sets{Set(accepting.begin(), accepting.end())};
    std::map<Set, std::int32_t> known{{sets[0], 0}};
    StringLengths made;
    for (;;) {
        if (static_cast<std::int64_t>(sets.size()) * edges > kMostWork) return std::nullopt;
        const auto& last = sets.back();
        Set next(states);
        for (std::size_t state = 0; state < states; ++state)
            next[state] = std::ranges::any_of(
                targets[state], [&](auto target) { return last[static_cast<std::size_t>(target)]; });
        const auto number = static_cast<std::int32_t>(sets.size());
        const auto [same, is_new] = known.emplace(next, number);
        if (!is_new) {
            made.first_ = same->second;
            made.period_ = number - same->second;
            break;
        }
        sets.push_back(std::move(next));
    }
    for (std::int32_t more = 0; more < made.period_; ++more)
        sets.push_back(sets[static_cast<std::size_t>(made.first_ + more)]);
    made.offset_.push_back(0);
    for (std::size_t state = 0; state < states; ++state) {
        for (std::size_t length = 0; length < sets.size(); ++length) {
            if (!sets[length][state]) continue;
            const auto own = static_cast<std::int32_t>(length);
            if (length > 0 && sets[length - 1][state])
                made.spans_.back().second = own;
            else
                made.spans_.emplace_back(own, own);
        }
        made.offset_.push_back(static_cast<std::int32_t>(made.spans_.size()));
    }
    return made;
}

std::optional<StringLengths> StringLengths::of(const CharacterDfa& dfa) {
    std::vector<std::vector<std::int32_t>> targets(dfa.size());
    for (std::size_t state = 0; state < dfa.size(); ++state) {
        auto& own = targets[state];
        for (std::int32_t cls = 0; cls < dfa.classes.count; ++cls)
            if (const auto to = dfa.next(static_cast<std::int32_t>(state), cls); to >= 0) own.push_back(to);
        std::ranges::sort(own);
        const auto same = std::ranges::unique(own);
        own.erase(same.begin(), same.end());
    }
    return of(targets, dfa.accepting);
}

bool StringLengths::meet(std::int32_t state, std::int32_t least, std::int32_t most) const {
    least = std::max(least, 0);
    if (least > most) return false;
    if (least >= first_) {  // one turn of the circle has all that comes
        const auto more = std::min(most - least, period_ - 1);
        least = first_ + (least - first_) % period_;
        most = least + more;
    } else {
        most = std::min(most, first_ + period_ - 1);
    }
    const auto begin = spans_.begin() + offset_[static_cast<std::size_t>(state)];
    const auto end = spans_.begin() + offset_[static_cast<std::size_t>(state) + 1];
    const auto span = std::partition_point(begin, end, [&](const Span& one) { return one.second < least; });
    return span != end && span->first <= most;
}

std::int32_t StringLengths::all_from(std::int32_t state) const {
    const auto begin = offset_[static_cast<std::size_t>(state)];
    if (period_ != 1 || offset_[static_cast<std::size_t>(state) + 1] != begin + 1) return -1;
    const auto& [first, last] = spans_[static_cast<std::size_t>(begin)];
    return last > first_ ? first : -1;
}

}  // namespace pdacon
