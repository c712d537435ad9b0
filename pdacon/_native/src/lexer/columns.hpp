// Columns, as Lark's Indenter counts them, and the lexer configuration that keeps them.
//
// Only grammars with layout have columns. A newline lexeme ends with the indentation of the next line, and
// its column decides which blocks open and close.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace pdacon {

// A column: blanks since the last line break of a lexeme, a tab counting as several. Unknown before the first
// one.
struct Column {
    static constexpr std::int32_t kMost = 1 << 30;
    std::int32_t value = -1;
    static Column at(std::int32_t value) { return {value}; }
    bool known() const { return value >= 0; }
    Column plus(std::int32_t width) const { return {known() ? std::min(value + width, kMost) : value}; }
    bool operator==(const Column&) const = default;
};

// A lexer configuration: a state of the lexing automaton and, while the lexeme may be a newline, two columns:
// `now`, where the text has come to, and `matched`, at the end of the match that is the fallback.
template <class AnyColumn>
struct LexerConfigurationOf {
    std::int32_t state = 0;
    AnyColumn now, matched;
    bool operator==(const LexerConfigurationOf&) const = default;
};
using LexerConfiguration = LexerConfigurationOf<Column>;

// What a lexer state keeps columns for: a newline that is being read; a newline that is the fallback, matched
// at the last byte (fresh) or before it (old). Bits.
enum ColumnUse : std::uint8_t { kCounting = 1, kFreshMatch = 2, kOldMatch = 4 };

// How bytes move columns, by their classes; none of them does in a grammar without layout.
struct ColumnRules {
    bool active = false;
    std::int32_t line_break = -1, space = -1, tab = -1;  // byte classes, each of one byte
    std::int32_t tab_width = 8;

    template <class AnyColumn>
    AnyColumn after(AnyColumn column, std::int32_t byte_class) const {
        if (!active) return {};
        if (byte_class == line_break) return AnyColumn::at(0);
        if (byte_class == space) return column.plus(1);
        return byte_class == tab ? column.plus(tab_width) : column;
    }
    // Moves the columns over a byte that leads to a state with these uses.
    template <class AnyColumn>
    void move(LexerConfigurationOf<AnyColumn>& lexing, std::uint8_t uses, std::int32_t byte_class) const {
        if (!active) return;
        lexing.now = after(lexing.now, byte_class);
        if ((uses & kFreshMatch) != 0)
            lexing.matched = lexing.now;
        else if ((uses & kOldMatch) == 0)
            lexing.matched = {};
        if ((uses & kCounting) == 0) lexing.now = {};
    }
};

inline ColumnRules column_rules(const std::array<std::uint8_t, 256>& byte_class, bool active,
                                std::int32_t tab_width) {
    ColumnRules rules{active, -1, -1, -1, tab_width};
    if (active) {
        rules.line_break = byte_class['\n'];
        rules.space = byte_class[' '];
        rules.tab = byte_class['\t'];
    }
    return rules;
}

// Column classes: columns that no sentence tells apart. Each of the first `single` columns is a class of its
// own; the others are classed by their remainder modulo `period`. The least column of a class represents it.
struct ColumnClasses {
    std::int32_t single = 0, period = 1;
    std::int32_t count() const { return single + period; }
    // The least column of the same class that is no less than `from`, unless the column itself is.
    Column least(Column column, std::int32_t from = 0) const {
        from = std::max(from, single);
        return column.value < from ? column : Column{from + (column.value - from) % period};
    }
    LexerConfiguration least(const LexerConfiguration& lexing, std::int32_t from = 0) const {
        return {lexing.state, least(lexing.now, from), least(lexing.matched, from)};
    }
};

// A column as a function of the configuration at the start of a walk: a constant, or one of the two columns
// there plus a number.
struct RelativeColumn {
    enum Base : std::int32_t { kUnknown, kLineStart, kNow, kMatched };
    Base base = kUnknown;
    std::int32_t value = 0;
    static RelativeColumn at(std::int32_t value) { return {kLineStart, value}; }
    RelativeColumn plus(std::int32_t width) const {
        return {base, base == kUnknown ? 0 : std::min(value + width, Column::kMost)};
    }
    Column from(const LexerConfiguration& start) const {
        switch (base) {
            case kLineStart:
                return Column::at(value);
            case kNow:
                return start.now.plus(value);
            case kMatched:
                return start.matched.plus(value);
            default:
                return {};
        }
    }
    bool operator==(const RelativeColumn&) const = default;
};

}  // namespace pdacon
