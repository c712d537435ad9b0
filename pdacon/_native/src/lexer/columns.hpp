// Columns, as Lark's Indenter counts them, and the lexer configuration that keeps them.
//
// Only grammars with layout have columns. A newline lexeme ends with the indentation of the next line, and
// its column decides which blocks open and close.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

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
// at the last byte (fresh) or before it (old). Bits. Above them, where lines are escaped, is how much of an
// escape has been read in the newline.
enum ColumnUse : std::uint8_t { kCounting = 1, kFreshMatch = 2, kOldMatch = 4 };
constexpr int kEscapeShift = 3;
constexpr std::uint8_t kMostUses = 1 << 6;
enum Escape : std::uint8_t { kNoEscape, kBackslash, kU, kU0, kU00, kU000, kU002 };

// How lines are written: not at all, in a grammar without layout; as they are; or within a string of JSON,
// where `\n` and `\u000a` break a line.
enum class Lines : std::uint8_t { kNone, kPlain, kEscaped };

enum class Blank : std::uint8_t { kNone, kSpace, kTab, kLineBreak };

// How bytes move columns, by their classes; none of them does in a grammar without layout.
struct ColumnRules {
    Lines lines = Lines::kNone;
    std::int32_t tab_width = 8;
    // By byte class: the byte that it is of, if that means anything here.
    std::array<std::uint8_t, 256> byte{};

    bool active() const { return lines != Lines::kNone; }
    // What a byte is that is read in a state with these uses.
    Blank blank(std::uint8_t uses, std::int32_t byte_class) const {
        if (!active()) return Blank::kNone;
        const auto read = byte[byte_class];
        if (lines == Lines::kPlain)
            return read == '\n'   ? Blank::kLineBreak
                   : read == ' '  ? Blank::kSpace
                   : read == '\t' ? Blank::kTab
                                  : Blank::kNone;
        switch (uses >> kEscapeShift) {
            case kNoEscape:
                return read == ' ' ? Blank::kSpace : Blank::kNone;
            case kBackslash:
                return read == 'n' ? Blank::kLineBreak : read == 't' ? Blank::kTab : Blank::kNone;
            case kU000:
                return read == 'a' || read == 'A' ? Blank::kLineBreak
                       : read == '9'              ? Blank::kTab
                                                  : Blank::kNone;
            case kU002:
                return read == '0' ? Blank::kSpace : Blank::kNone;
            default:
                return Blank::kNone;
        }
    }
    // How much of an escape has been read after a byte. Other escapes are no blanks, whatever their digits.
    Escape escape_after(std::uint8_t uses, std::int32_t byte_class) const {
        if (lines != Lines::kEscaped) return kNoEscape;
        const auto read = byte[byte_class];
        switch (uses >> kEscapeShift) {
            case kNoEscape:
                return read == '\\' ? kBackslash : kNoEscape;
            case kBackslash:
                return read == 'u' ? kU : kNoEscape;
            case kU:
                return read == '0' ? kU0 : kNoEscape;
            case kU0:
                return read == '0' ? kU00 : kNoEscape;
            case kU00:
                return read == '0' ? kU000 : read == '2' ? kU002 : kNoEscape;
            default:
                return kNoEscape;
        }
    }
    template <class AnyColumn>
    AnyColumn after(AnyColumn column, std::uint8_t uses, std::int32_t byte_class) const {
        switch (blank(uses, byte_class)) {
            case Blank::kLineBreak:
                return AnyColumn::at(0);
            case Blank::kSpace:
                return column.plus(1);
            case Blank::kTab:
                return column.plus(tab_width);
            default:
                return active() ? column : AnyColumn{};
        }
    }
    // Moves the columns over a byte that leads from a state with these uses to one with those.
    template <class AnyColumn>
    void move(LexerConfigurationOf<AnyColumn>& lexing, std::uint8_t from, std::uint8_t to,
              std::int32_t byte_class) const {
        if (!active()) return;
        lexing.now = after(lexing.now, from, byte_class);
        if ((to & kFreshMatch) != 0)
            lexing.matched = lexing.now;
        else if ((to & kOldMatch) == 0)
            lexing.matched = {};
        if ((to & kCounting) == 0) lexing.now = {};
    }
};

// The bytes whose classes have to be of one byte.
inline std::string_view bytes_of_lines(Lines lines) {
    return lines == Lines::kNone ? "" : lines == Lines::kPlain ? "\n\t " : " \\ntu029aA";
}

inline ColumnRules column_rules(const std::array<std::uint8_t, 256>& byte_class, Lines lines,
                                std::int32_t tab_width) {
    ColumnRules rules{lines, tab_width, {}};
    for (const char byte : bytes_of_lines(lines))
        rules.byte[byte_class[static_cast<std::uint8_t>(byte)]] = static_cast<std::uint8_t>(byte);
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
