#include "frontends/multiples.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include "base/at.hpp"
#include "base/interner.hpp"

namespace pdacon {

namespace {

constexpr std::int32_t kSmallest = 5;          // the exponent after "e-" from which on Python writes one
constexpr std::int32_t kLargestFraction = 16;  // digits after the point of a number with "e+"
constexpr std::int32_t kExponentDigits = 3;    // at most
constexpr std::string_view kSigns = "+-.0123456789e";  // by their code points; each is a class

// What has been read of a number. `after` counts the digits after the point; -1: it has not come yet, -2: nor
// has a sign or a digit.
struct State {
    enum What : std::int32_t { kDigits, kSign, kExponent } what;
    // kDigits: after, zeros at the end that do not count yet, remainder. kSign: the exponent's bound.
    // kExponent: its bound, its value as far as it matters, its digits.
    std::int32_t first, second, third;

    std::array<std::int32_t, 4> key() const { return {what, first, second, third}; }
};

class Multiples {
  public:
    Multiples(const Divisor& divisor, Spelled spelled, Budget& budget)
        : scaled_(divisor.scaled), places_(divisor.places), spelled_(spelled), budget_(budget) {}

    CharacterDfa made() {
        CharacterDfa made;
        made.classes = {{0}, {-1}, static_cast<std::int32_t>(kSigns.size())};
        for (std::size_t cls = 0; cls < kSigns.size(); ++cls) {
            const std::int32_t point = kSigns[cls];
            if (made.classes.firsts.back() == point)
                made.classes.numbers.back() = static_cast<std::int32_t>(cls);
            else
                add_class(made.classes, point, static_cast<std::int32_t>(cls));
            add_class(made.classes, point + 1, -1);
        }
        number({State::kDigits, -2, 0, 0});
        for (std::int32_t own = 0; at(own) < states_.size(); ++own) {
            budget_.tick();
            const auto key = states_[own];
            const State state{static_cast<State::What>(key[0]), key[1], key[2], key[3]};
            row_.fill(-1);
            if (state.what != State::kDigits)
                read_exponent(state);
            else if (spelled_ == Spelled::kPlain)
                read_plain(state);
            else if (spelled_ == Spelled::kLarge)
                read_large(state);
            else
                read_small(state);
            made.table.insert(made.table.end(), row_.begin(), row_.end());
            made.accepting.push_back(accepts(state) ? 1 : 0);
        }
        return minimized(made, budget_);
    }

  private:
    static void add_class(CharacterClasses& classes, std::int32_t first, std::int32_t cls) {
        classes.firsts.push_back(first);
        classes.numbers.push_back(cls);
    }
    std::int32_t number(const State& state) {
        const auto made = states_.intern(state.key());
        budget_.check_states(states_.size());
        return made;
    }
    void lead(char sign, const State& to) { row_[kSigns.find(sign)] = number(to); }
    void lead(std::int32_t digit, const State& to) { lead(static_cast<char>('0' + digit), to); }

    std::int32_t behind(std::int32_t remainder, std::int32_t digit) const {
        return static_cast<std::int32_t>((std::int64_t{remainder} * 10 + digit) % scaled_);
    }
    std::int32_t raised(std::int32_t remainder, std::int32_t tens) const {
        for (; tens > 0; --tens) remainder = behind(remainder, 0);
        return remainder;
    }
    // By how many tens a number of a remainder has to be multiplied to become a multiple; -1: by no number.
    std::int32_t tens(std::int32_t remainder) const {
        const auto most = static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(scaled_)));
        for (std::int32_t count = 0; count <= most; ++count, remainder = behind(remainder, 0))
            if (remainder % scaled_ == 0) return count;
        return -1;
    }

    void read_digits(std::int32_t after, std::int32_t remainder) {
        const auto following = after >= 0 ? after + 1 : -1;
        for (std::int32_t digit = 0; digit < 10; ++digit)
            lead(digit, {State::kDigits, following, 0, behind(remainder, digit)});
    }
    void read_plain(const State& state) {
        const auto after = state.first, remainder = state.third;
        if (after == -2) lead('-', {State::kDigits, -1, 0, 0});
        if (after < places_ || after < 0)
            read_digits(after, remainder);
        else
            lead('0', state);
        if (after == -1) lead('.', {State::kDigits, 0, 0, remainder});
    }
    void read_large(const State& state) {
        const auto after = state.first, remainder = state.third;
        if (after == -2)
            lead('-', state);
        else
            lead('.', {State::kDigits, 0, 0, remainder});
        if (after < kLargestFraction) read_digits(after, remainder);
        const auto some = tens(remainder);
        if (after > -2 && some >= 0)
            lead('e', {State::kSign, std::max(0, some + std::max(after, 0) - places_), 0, 0});
    }
    // The last digit that is not 0 has to be within the divisor's places.
    void read_small(const State& state) {
        const auto after = state.first, zeros = state.second, remainder = state.third;
        const auto most = places_ - kSmallest;  // digits after the point that can matter
        if (after == -2) {
            lead('-', state);
            for (std::int32_t digit = 1; digit < 10; ++digit)
                lead(digit, {State::kDigits, -1, 0, digit % scaled_});
        } else if (after == -1) {
            lead('.', {State::kDigits, 0, 0, remainder});
        } else {
            lead('0', {State::kDigits, after, std::min(zeros + 1, std::max(0, most - after)), remainder});
            for (std::int32_t digit = 1; after + zeros < most && digit < 10; ++digit)
                lead(digit, {State::kDigits, after + zeros + 1, 0, behind(raised(remainder, zeros), digit)});
        }
        const auto some = tens(remainder);
        const auto largest = places_ - std::max(after, 0) - some;
        if (after > -2 && some >= 0 && largest >= kSmallest) lead('e', {State::kSign, largest, 0, 0});
    }
    // The exponent is no less than its bound after "e+", no more after "e-".
    void read_exponent(const State& state) {
        const bool is_small = spelled_ == Spelled::kSmall;
        const auto bound = state.first;
        if (state.what == State::kSign) return lead(is_small ? '-' : '+', {State::kExponent, bound, 0, 0});
        for (std::int32_t digit = 0; state.third < kExponentDigits && digit < 10; ++digit) {
            const auto exponent = state.second * 10 + digit;
            if (is_small && exponent > bound) break;
            lead(digit, {State::kExponent, bound, state.third > 0 ? std::min(exponent, bound) : exponent,
                         state.third + 1});
        }
    }
    bool accepts(const State& state) const {
        if (state.what == State::kExponent)
            return spelled_ == Spelled::kSmall ? state.second <= state.first : state.second >= state.first;
        if (state.what != State::kDigits || spelled_ != Spelled::kPlain || state.first == -2) return false;
        return raised(state.third, places_ - std::max(state.first, 0)) % scaled_ == 0;
    }

    const std::int32_t scaled_, places_;
    const Spelled spelled_;
    Budget& budget_;
    Interner states_;
    std::array<std::int32_t, kSigns.size()> row_{};
};

}  // namespace

CharacterDfa multiples(const Divisor& divisor, Spelled spelled, Budget& budget) {
    return Multiples(divisor, spelled, budget).made();
}

}  // namespace pdacon
