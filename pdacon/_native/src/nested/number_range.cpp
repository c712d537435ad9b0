#include "nested/number_range.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "nested/digit_states.hpp"

namespace pdacon {

namespace {

constexpr int kMostPlaces = 40;  // of a bound before the point and behind it

// A bound of magnitudes, by its digits before the point and behind it.
struct Side {
    std::string whole, fraction;
    bool is_inclusive;
};

Side plain_side(const NumberBound& bound) {
    const auto& [_, digits, point] = bound.number;
    const auto size = static_cast<int>(digits.size());
    if (point <= 0)
        return {"0", std::string(digits.empty() ? 0U : static_cast<std::size_t>(-point), '0') + digits,
                bound.is_inclusive};
    if (point >= size)
        return {digits + std::string(static_cast<std::size_t>(point - size), '0'), "", bound.is_inclusive};
    const auto before = static_cast<std::size_t>(point);
    return {digits.substr(0, before), digits.substr(before), bound.is_inclusive};
}

// The same of the factor before a power of ten, which has one digit before the point.
Side mantissa_side(const NumberBound& bound) {
    return {bound.number.digits.substr(0, 1), bound.number.digits.substr(1), bound.is_inclusive};
}

// Digits that are compared with bounds of magnitudes.
struct Comparison {
    std::optional<Side> low, high;
    bool is_mantissa;   // there is one digit before the point, which is not 0
    int most_places;    // digits behind the point; 0: any number
    std::int32_t then;  // of a mantissa: where an `e` leads
};

NumberBound negated(const NumberBound& bound) {
    auto made = bound;
    made.number.is_negative = !made.number.is_negative && !made.number.digits.empty();
    return made;
}

// How the digits so far compare with those of a bound.
enum Order : std::int8_t { kLess = -1, kEqual = 0, kGreater = 1 };

class NumberStates {
  public:
    NumberStates() { states_.edge(DigitStates::kStart, '-', '-', minus_); }

    void add(const NumberBounds& range) {
        const auto& [least, most] = range;
        const auto is_positive = [](const NumberBound& bound) {
            return !bound.number.is_negative && !bound.number.digits.empty();
        };
        const auto is_negative = [](const NumberBound& bound) { return bound.number.is_negative; };
        const bool has_positive = !most || is_positive(*most), has_negative = !least || is_negative(*least);
        if (has_positive)
            add_magnitudes(DigitStates::kStart, least && is_positive(*least) ? least : std::nullopt, most);
        if (has_negative)
            add_magnitudes(minus_, most && is_negative(*most) ? std::optional(negated(*most)) : std::nullopt,
                           least ? std::optional(negated(*least)) : std::nullopt);
        const auto takes_zero = [](const std::optional<NumberBound>& bound, bool is_beyond) {
            return !bound || is_beyond || (bound->number.digits.empty() && bound->is_inclusive);
        };
        if (!takes_zero(least, has_negative) || !takes_zero(most, has_positive)) return;
        add_zero(DigitStates::kStart);
        add_zero(minus_);
    }
    std::optional<NestedTerminal> terminal() const { return states_.terminal(); }

  private:
    // Numbers greater than 0, with a sign in front of them or not, behind a state. No `low`: all from 0 on.
    void add_magnitudes(std::int32_t from, const std::optional<NumberBound>& low,
                        const std::optional<NumberBound>& high) {
        const auto side = [](const std::optional<NumberBound>& bound, auto of) {
            return bound ? std::optional(of(*bound)) : std::nullopt;
        };
        const Side zero{"0", "", false};
        add_digits(from, {low ? plain_side(*low) : zero, side(high, plain_side), false, 0, -1});
        // What Python writes with an exponent, by the exponents: of large numbers, of small ones.
        constexpr int kNone = 1'000;
        const auto first = low ? low->number.point - 1 : -kNone;
        const auto last = high ? high->number.point - 1 : kNone;
        for (const auto& [least, most] : {std::pair{16, 307}, std::pair{-324, -5}}) {
            add_exponents(from, {}, {}, std::max(least, first + 1), std::min(most, last - 1));
            const auto is_here = [least = least, most = most](int exponent) {
                return least <= exponent && exponent <= most;
            };
            const auto own_low = side(low, mantissa_side), own_high = side(high, mantissa_side);
            if (first == last && is_here(first)) {
                add_exponents(from, own_low, own_high, first, first);
            } else if (first < last) {
                if (is_here(first)) add_exponents(from, own_low, {}, first, first);
                if (is_here(last)) add_exponents(from, {}, own_high, last, last);
            }
        }
        const Side greatest{"1", "7976931348623157", true};  // the mantissa of the greatest double
        if (!high) add_exponents(from, {}, greatest, 308, 308);
    }
    void add_zero(std::int32_t from) {
        const auto point = states_.state(), zeros = states_.state();
        states_.edge(from, '0', '0', DigitStates::kEnd);
        states_.edge(from, '0', '0', point);
        states_.edge(point, '.', '.', zeros);
        states_.edge(zeros, '0', '0', zeros);
        states_.edge(zeros, '0', '0', DigitStates::kEnd);
    }
    // Where a comparison is: digits read before the point, or behind it.
    struct Place {
        bool is_fraction = false, is_zero = false;  // is_zero: a 0 was read before the point
        int read = 0;
        Order low = kEqual, high = kEqual;
        auto operator<=>(const Place&) const = default;
    };

    // Numbers with exponents from one to another, which have one sign.
    void add_exponents(std::int32_t from, std::optional<Side> low, std::optional<Side> high, int first,
                       int last) {
        if (first > last) return;
        const bool is_large = first > 0;
        const auto sign = states_.state(), digits = states_.state();
        states_.edge(sign, is_large ? '+' : '-', is_large ? '+' : '-', digits);
        const auto least = is_large ? first : -last, most = is_large ? last : -first;
        if (least < 10) {  // there are two digits at least
            const auto second = states_.state();
            states_.edge(digits, '0', '0', second);
            states_.edge(second, '0' + least, '0' + std::min(most, 9), DigitStates::kEnd);
        }
        if (most >= 10) states_.add(digits, std::to_string(std::max(least, 10)), std::to_string(most));
        add_digits(from, {std::move(low), std::move(high), true, is_large ? 16 : 0, sign});
    }

    void add_digits(std::int32_t from, const Comparison& asked) {
        std::map<Place, std::int32_t> number{{Place{}, from}};
        std::vector<std::pair<Place, std::int32_t>> pending{*number.begin()};
        const auto number_of = [&](const Place& place) {
            const auto [known, is_new] = number.emplace(place, -1);
            if (is_new) {
                known->second = states_.state();
                pending.push_back(*known);
            }
            return known->second;
        };
        while (!pending.empty()) {
            const auto [place, own] = pending.back();
            pending.pop_back();
            std::array<std::optional<Place>, 10> next;
            for (int digit = 0; digit < 10; ++digit)
                next[static_cast<std::size_t>(digit)] = after_digit(asked, place, digit);
            for (int digit = 0, last; digit < 10; digit = last + 1) {
                const auto& to = next[static_cast<std::size_t>(digit)];
                for (last = digit; last < 9 && next[static_cast<std::size_t>(last) + 1] == to;) ++last;
                if (!to) continue;
                states_.edge(own, '0' + digit, '0' + last, number_of(*to));
                if (!asked.is_mantissa && may_end(asked, *to))
                    states_.edge(own, '0' + digit, '0' + last, DigitStates::kEnd);
            }
            if (place.read == 0) continue;  // neither a point nor an exponent comes first, or behind a point
            if (!place.is_fraction)
                if (const auto behind = after_point(asked, place))
                    states_.edge(own, '.', '.', number_of(*behind));
            if (asked.is_mantissa && may_end(asked, place)) states_.edge(own, 'e', 'e', asked.then);
        }
    }

    static Order compared(int digit, const std::string& digits, int at) {
        const auto other =
            static_cast<std::size_t>(at) < digits.size() ? digits[static_cast<std::size_t>(at)] - '0' : 0;
        return digit < other ? kLess : digit > other ? kGreater : kEqual;
    }
    // The order of whole numbers of which so many digits have been read.
    static Order whole_order(const Side& side, const Place& place, Order digits) {
        const auto size = static_cast<int>(side.whole.size());
        return place.read < size ? kLess : place.read > size ? kGreater : digits;
    }

    std::optional<Place> after_digit(const Comparison& asked, const Place& place, int digit) const {
        auto to = place;
        ++to.read;
        const auto compare = [&](Order& order, const std::string& digits) {
            if (order == kEqual) order = compared(digit, digits, place.read);
        };
        if (place.is_fraction) {
            if (asked.most_places != 0 && to.read > asked.most_places) return std::nullopt;
            std::size_t longest = 1;
            if (asked.low) compare(to.low, asked.low->fraction);
            if (asked.high) compare(to.high, asked.high->fraction);
            if (to.low == kLess || to.high == kGreater) return std::nullopt;
            if (to.low == kEqual && asked.low) longest = std::max(longest, asked.low->fraction.size());
            if (to.high == kEqual && asked.high) longest = std::max(longest, asked.high->fraction.size());
            if (asked.most_places == 0) to.read = std::min(to.read, static_cast<int>(longest));
            return to;
        }
        if (place.is_zero || (asked.is_mantissa && (digit == 0 || place.read == 1))) return std::nullopt;
        to.is_zero = digit == 0 && place.read == 0;
        int longest = 1;
        const auto read_whole = [&](Order& order, const Side& side) {
            const auto size = static_cast<int>(side.whole.size());
            if (to.read > size)
                order = kGreater;
            else
                compare(order, side.whole);
            longest = std::max(longest, size + 1);
        };
        if (asked.low) read_whole(to.low, *asked.low);
        if (asked.high) read_whole(to.high, *asked.high);
        if (asked.high && to.read > static_cast<int>(asked.high->whole.size())) return std::nullopt;
        to.read = std::min(to.read, longest);
        return to;
    }

    std::optional<Place> after_point(const Comparison& asked, const Place& place) const {
        Place to{true, false, 0, kGreater, kLess};
        if (asked.low) to.low = whole_order(*asked.low, place, place.low);
        if (asked.high) to.high = whole_order(*asked.high, place, place.high);
        if (to.low == kLess || to.high == kGreater) return std::nullopt;
        return to;
    }

    // Whether the number so far is between the bounds.
    bool may_end(const Comparison& asked, const Place& place) const {
        const auto order = [&](const Side& side, Order digits) {
            if (!place.is_fraction) digits = whole_order(side, place, digits);
            const auto rest = place.is_fraction ? static_cast<std::size_t>(place.read) : 0;
            return digits == kEqual && rest < side.fraction.size() ? kLess : digits;
        };
        if (asked.low) {
            const auto own = order(*asked.low, place.low);
            if (own == kLess || (own == kEqual && !asked.low->is_inclusive)) return false;
        }
        if (asked.high) {
            const auto own = order(*asked.high, place.high);
            if (own == kGreater || (own == kEqual && !asked.high->is_inclusive)) return false;
        }
        return true;
    }

    DigitStates states_;
    const std::int32_t minus_ = states_.state();
};

// A whole number with its sign; 0 has none.
struct Integer {
    bool is_negative;
    std::string digits;

    bool is_positive() const { return !is_negative && digits != "0"; }
    Integer negated() const { return {is_positive(), digits}; }
    bool is_less(const Integer& other) const {
        if (is_negative != other.is_negative) return is_negative;
        const auto is_smaller = [](const std::string& one, const std::string& two) {
            return one.size() != two.size() ? one.size() < two.size() : one < two;
        };
        return is_negative ? is_smaller(other.digits, digits) : is_smaller(digits, other.digits);
    }

    // The least one that is not below a bound.
    static Integer above(const NumberBound& bound) {
        auto [whole, fraction, is_inclusive] = plain_side(bound);
        if (bound.number.is_negative) {
            if (fraction.empty() && !is_inclusive) whole = one_less(std::move(whole));
            return {whole != "0", std::move(whole)};
        }
        return {false, fraction.empty() && is_inclusive ? std::move(whole) : one_more(std::move(whole))};
    }

  private:
    static std::string one_more(std::string digits) {
        auto at = digits.size();
        while (at > 0 && digits[at - 1] == '9') digits[--at] = '0';
        if (at == 0) return '1' + digits;
        ++digits[at - 1];
        return digits;
    }
    static std::string one_less(std::string digits) {
        auto at = digits.size();
        while (digits[at - 1] == '0') digits[--at] = '9';
        --digits[at - 1];
        if (digits.size() > 1 && digits[0] == '0') digits.erase(0, 1);
        return digits;
    }
};

}  // namespace

std::optional<Decimal> Decimal::read(std::string_view text) {
    Decimal made;
    std::size_t at = 0;
    const auto is_digit = [&] { return at < text.size() && '0' <= text[at] && text[at] <= '9'; };
    if (at < text.size() && text[at] == '-') {
        made.is_negative = true;
        ++at;
    }
    const auto begin = at;
    for (; is_digit(); ++at) made.digits += text[at];
    if (at == begin) return std::nullopt;
    made.point = static_cast<int>(made.digits.size());
    if (at < text.size() && text[at] == '.')
        for (++at; is_digit(); ++at) made.digits += text[at];
    if (made.digits.size() > 2 * kMostPlaces) return std::nullopt;
    if (at < text.size() && (text[at] | 0x20) == 'e') {
        ++at;
        const bool is_negative = at < text.size() && text[at] == '-';
        if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
        int exponent = 0;
        if (!is_digit()) return std::nullopt;
        for (; is_digit(); ++at)
            if ((exponent = exponent * 10 + text[at] - '0') > 2 * kMostPlaces) return std::nullopt;
        made.point += is_negative ? -exponent : exponent;
    }
    if (at != text.size()) return std::nullopt;
    const auto first = made.digits.find_first_not_of('0');
    if (first == std::string::npos) return Decimal();
    made.digits.erase(0, first);
    made.point -= static_cast<int>(first);
    made.digits.erase(made.digits.find_last_not_of('0') + 1);
    if (made.point > kMostPlaces || static_cast<int>(made.digits.size()) - made.point > kMostPlaces)
        return std::nullopt;
    return made;
}

bool Decimal::is_less(const Decimal& other) const {
    if (is_negative != other.is_negative) return is_negative;
    const auto is_smaller = [](const Decimal& one, const Decimal& two) {
        if (one.digits.empty() || two.digits.empty()) return !two.digits.empty() && one.digits.empty();
        return one.point != two.point ? one.point < two.point : one.digits < two.digits;
    };
    return is_negative ? is_smaller(other, *this) : is_smaller(*this, other);
}

std::optional<NestedTerminal> numbers_between(std::span<const NumberBounds> ranges) {
    NumberStates states;
    for (const auto& range : ranges) states.add(range);
    return states.terminal();
}

std::optional<NestedTerminal> integers_between(std::span<const NumberBounds> ranges) {
    DigitStates states;
    const auto minus = states.state();
    states.edge(DigitStates::kStart, '-', '-', minus);
    for (const auto& [lower, upper] : ranges) {
        const auto least = lower ? std::optional(Integer::above(*lower)) : std::nullopt;
        const auto most = upper ? std::optional(Integer::above(negated(*upper)).negated()) : std::nullopt;
        if (least && most && most->is_less(*least)) continue;
        const auto magnitude = [](const std::optional<Integer>& bound) {
            return bound ? std::optional(bound->digits) : std::nullopt;
        };
        if (!most || most->is_positive())
            states.add(DigitStates::kStart, least && least->is_positive() ? least->digits : "1",
                       magnitude(most));
        if ((!least || !least->is_positive()) && (!most || !most->is_negative))
            states.edge(DigitStates::kStart, '0', '0', DigitStates::kEnd);
        if (!least || least->is_negative)
            states.add(minus, most && most->is_negative ? most->digits : "1", magnitude(least));
    }
    return states.terminal();
}

}  // namespace pdacon
