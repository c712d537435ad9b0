// Fast validation of tables from a file: whether every number of a row needs no more than there is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace pdacon {

// A number of a table may need something, such as a least number of states on the stack: `needed` has that
// for each. Most numbers of a row are `empty`, which needs nothing.
class Needs {
  public:
    // `needed`: of each number, from `lowest` on.
    Needs(std::vector<std::int32_t> needed, std::int32_t lowest, std::int32_t empty)
        : needed_(std::move(needed)), lowest_(lowest), empty_(empty) {
        // most_: for each number, the greatest need of any number between it and `empty`.
        most_ = needed_;
        for (auto i = place(empty); i-- > 0;) most_[i] = std::max(most_[i], most_[i + 1]);
        for (auto i = place(empty) + 1; i < most_.size(); ++i) most_[i] = std::max(most_[i], most_[i - 1]);
    }

    // For numbers that have been held against `needed`. Cost: mostly that of the row's extremes, which are
    // found without a branch: numbers near `empty` stand for what comes early, and need little.
    template <class Number>
    bool are_within(std::span<const Number> row, std::int32_t limit) const {
        using Unsigned = std::make_unsigned_t<Number>;
        const auto empty = static_cast<Number>(empty_);
        const auto above = [&](Number number) { return static_cast<Unsigned>(number - empty); };
        Number least = empty, most = empty;
        Unsigned nearest = 0;  // to `empty`, of those below it; they come last, as they are far above it
        for (const Number number : row) {
            least = number < least ? number : least;
            most = number > most ? number : most;
            nearest = above(number) > nearest ? above(number) : nearest;
        }
        const bool one_below = nearest == above(least);
        if (at(most_, most) <= limit &&
            (at(most_, least) <= limit || (one_below && at(needed_, least) <= limit)))
            return true;
        return most_needed(row) <= limit;
    }

  private:
    std::size_t place(std::int32_t number) const { return static_cast<std::size_t>(number - lowest_); }
    std::int32_t at(const std::vector<std::int32_t>& values, std::int32_t number) const {
        return values[place(number)];
    }
    // The greatest need in a row, number by number; eight empty numbers are skipped at a time.
    template <class Number>
    std::int32_t most_needed(std::span<const Number> row) const {
        constexpr std::size_t kStep = 8;
        const auto* needed = needed_.data() + place(0);
        std::int32_t found = 0;
        std::size_t begin = 0;
        for (; begin + kStep <= row.size(); begin += kStep) {
            std::int32_t different = 0;
            for (std::size_t i = 0; i < kStep; ++i) different |= row[begin + i] ^ empty_;
            if (different == 0) continue;
            for (std::size_t i = 0; i < kStep; ++i) found = std::max(found, needed[row[begin + i]]);
        }
        for (; begin < row.size(); ++begin) found = std::max(found, needed[row[begin]]);
        return found;
    }

    std::vector<std::int32_t> needed_, most_;
    std::int32_t lowest_, empty_;
};

}  // namespace pdacon
