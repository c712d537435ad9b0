// The numbers between bounds as a terminal, written as json.dumps writes floats, with trailing zeros
// allowed: a plain decimal, or an exponent where the number is very large or very small
// (pdacon/frontends/json_schema/numbers.py says so of all that numbers are asked).
//
// In: bounds. Out: an automaton over bytes. Digits are compared with those of both bounds as they are read;
// what is left of a comparison is a state. Numbers with exponents are told by the exponent first: only those
// with a bound's own exponent compare their digits.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nested/schemas.hpp"

namespace pdacon {

// 0.d1d2d3... times ten to the power of `point`, without zeros in front of the digits and behind them.
struct Decimal {
    bool is_negative = false;
    std::string digits;  // empty: 0
    int point = 0;

    // A number as JSON or Python writes it; nothing: it is none, or has a very large or small exponent.
    static std::optional<Decimal> read(std::string_view text);
    bool is_less(const Decimal& other) const;
    bool operator==(const Decimal&) const = default;
};

struct NumberBound {
    Decimal number;
    bool is_inclusive;
};

struct NumberBounds {
    std::optional<NumberBound> least, most;  // nothing: there is none on that side
};

// The numbers between the bounds of any range. There are none: nothing.
std::optional<NestedTerminal> numbers_between(std::span<const NumberBounds> ranges);
// The same of integers, each in its one spelling.
std::optional<NestedTerminal> integers_between(std::span<const NumberBounds> ranges);

}  // namespace pdacon
