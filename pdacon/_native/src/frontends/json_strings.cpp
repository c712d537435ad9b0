#include "frontends/json_strings.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/at.hpp"
#include "base/interner.hpp"
#include "base/memory.hpp"

namespace pdacon {

namespace {

// A position in a spelling: which bytes write each value of some bits of the code point. A fixed byte writes
// no bits.
struct Digit {
    unsigned bits;
    std::vector<std::array<std::uint8_t, 2>> bytes;  // for each value one or two, which may be equal
};

// How the code points from `first` to `last` are written: as the digits of the code point less `base`.
struct Spelling {
    std::int32_t first, last, base;
    std::vector<Digit> digits;
};

Digit fixed(char byte) {
    const auto code = static_cast<std::uint8_t>(byte);
    return {0, {{code, code}}};
}

// Each value as the byte that is so much more than `from`.
Digit counted(unsigned bits, int from) {
    Digit digit{bits, {}};
    for (int value = 0; value < 1 << bits; ++value) {
        const auto byte = static_cast<std::uint8_t>(from + value);
        digit.bytes.push_back({byte, byte});
    }
    return digit;
}

// Each value as the hexadecimal digit of so much more than `from`.
Digit hexadecimal(unsigned bits, int from, bool capitals) {
    Digit digit{bits, {}};
    for (int value = from; value < from + (1 << bits); ++value) {
        const auto byte = static_cast<std::uint8_t>("0123456789abcdef"[value]);
        digit.bytes.push_back({byte, capitals ? static_cast<std::uint8_t>("0123456789ABCDEF"[value]) : byte});
    }
    return digit;
}

constexpr std::array<std::pair<char, char>, 8> kShort{
    {{'"', '"'}, {'\\', '\\'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'/', '/'}}};

// Those of YAML (YAML 1.2.2, section 5.7), but for a blank and a slash, which stand for themselves.
constexpr std::array<std::pair<char, std::int32_t>, 14> kShortOfYaml{{{'0', 0x00},
                                                                      {'a', 0x07},
                                                                      {'b', 0x08},
                                                                      {'t', 0x09},
                                                                      {'n', 0x0A},
                                                                      {'v', 0x0B},
                                                                      {'f', 0x0C},
                                                                      {'r', 0x0D},
                                                                      {'e', 0x1B},
                                                                      {'"', 0x22},
                                                                      {'\\', 0x5C},
                                                                      {'N', 0x85},
                                                                      {'L', 0x2028},
                                                                      {'P', 0x2029}}};

// The characters that have escapes only, in double quotes of YAML: first and last. Ends of lines are those of
// YAML 1.1, too.
constexpr std::array<std::array<std::int32_t, 2>, 7> kEscapedInYaml{{{0x00, 0x1F},
                                                                     {'"', '"'},
                                                                     {'\\', '\\'},
                                                                     {0x7F, 0x9F},
                                                                     {0x2028, 0x2029},
                                                                     {0xFEFF, 0xFEFF},
                                                                     {0xFFFE, 0xFFFF}}};

bool has_short(std::int32_t point) {
    return point != '/' && std::ranges::any_of(kShort, [=](auto one) { return one.second == point; });
}

bool stands_for_itself(std::int32_t point, Escapes escapes) {
    return escapes == Escapes::kNone ||
           (point >= 0x20 && point != '"' && point != '\\' && (escapes != Escapes::kAscii || point < 0x7F));
}

// `\u` and four digits, of a code point or of half of a pair of surrogates (RFC 8259, section 7).
void add_escapes(std::vector<Spelling>& spellings, Escapes escapes) {
    const bool any = escapes == Escapes::kAny;
    for (const auto& [letter, character] : kShort)
        if (character != '/' || any)
            spellings.push_back({character, character, character, {fixed('\\'), fixed(letter)}});
    const auto digit = [any](unsigned bits = 4, int from = 0) { return hexadecimal(bits, from, any); };
    const std::vector<Digit> four{fixed('\\'), fixed('u'), digit(), digit(), digit(), digit()};
    for (std::int32_t first = 0, last; first < 0x10000; first = last + 1) {
        const auto wanted = [=](std::int32_t point) {
            return any || (!stands_for_itself(point, escapes) && !has_short(point));
        };
        last = first;
        if (!wanted(first)) continue;
        while (last + 1 < 0x10000 && wanted(last + 1)) ++last;
        spellings.push_back({first, last, 0, four});
    }
    if (escapes == Escapes::kNeeded) return;
    spellings.push_back({0x10000,
                         kCodePoints - 1,
                         0x10000,
                         {fixed('\\'), fixed('u'), digit(0, 13), digit(2, 8), digit(), digit(), fixed('\\'),
                          fixed('u'), digit(0, 13), digit(2, 12), digit(), digit()}});
}

// Of what does not stand for itself the short escape, if there is one, and those by number: `\x` and two
// digits,
// `\u` and four.
void add_escapes_of_yaml(std::vector<Spelling>& spellings) {
    for (const auto& [letter, character] : kShortOfYaml)
        spellings.push_back({character, character, character, {fixed('\\'), fixed(letter)}});
    const auto digit = hexadecimal(4, 0, true);
    for (const auto& [first, last] : kEscapedInYaml) {
        if (first == '"' || first == '\\') continue;
        if (last <= 0xFF) spellings.push_back({first, last, 0, {fixed('\\'), fixed('x'), digit, digit}});
        spellings.push_back({first, last, 0, {fixed('\\'), fixed('u'), digit, digit, digit, digit}});
    }
}

// UTF-8 of the code points from `first` to `last`, which are beyond ASCII.
void add_utf8(std::vector<Spelling>& spellings, std::int32_t first, std::int32_t last) {
    const auto more = counted(6, 0x80);
    const auto add = [&](std::int32_t low, std::int32_t high, std::vector<Digit> digits) {
        low = std::max(low, first);
        high = std::min(high, last);
        if (low <= high) spellings.push_back({low, high, 0, std::move(digits)});
    };
    add(0x80, 0x7FF, {counted(5, 0xC0), more});
    add(0x800, 0xFFFF, {counted(4, 0xE0), more, more});
    add(0x10000, kCodePoints - 1, {counted(3, 0xF0), more, more, more});
}

// What stands for itself in double quotes of YAML, and the escapes of the rest.
std::vector<Spelling> spellings_of_yaml() {
    std::vector<Spelling> spellings;
    std::int32_t from = 0;
    const auto plain = [&](std::int32_t last) {
        if (from <= std::min(last, 0x7F))
            spellings.push_back({from, std::min(last, 0x7F), 0, {counted(7, 0)}});
        add_utf8(spellings, from, last);
    };
    for (const auto& [first, last] : kEscapedInYaml) {
        plain(first - 1);
        from = last + 1;
    }
    plain(kCodePoints - 1);
    add_escapes_of_yaml(spellings);
    return spellings;
}

std::vector<Spelling> make_spellings(Escapes escapes) {
    if (escapes == Escapes::kYaml) return spellings_of_yaml();
    std::vector<Spelling> spellings;
    for (std::int32_t first = 0, last; first < 0x80; first = last + 1) {
        last = first;
        if (!stands_for_itself(first, escapes)) continue;
        while (last + 1 < 0x80 && stands_for_itself(last + 1, escapes)) ++last;
        spellings.push_back({first, last, 0, {counted(7, 0)}});
    }
    if (escapes != Escapes::kAscii) add_utf8(spellings, 0x80, kCodePoints - 1);
    if (escapes != Escapes::kNone) add_escapes(spellings, escapes);
    return spellings;
}

// All spellings of characters. They are the same for all strings, and take longer to make than most automata
// of strings: they are made once.
const std::vector<Spelling>& spellings_of(Escapes escapes) {
    static const auto all = [] {
        const MemoryLimit::Pause nobodys;  // they stay
        std::array<std::vector<Spelling>, 5> made;
        for (std::size_t each = 0; each < made.size(); ++each)
            made[each] = make_spellings(static_cast<Escapes>(each));
        return made;
    }();
    return all[static_cast<std::size_t>(escapes)];
}

// Appends an edge, as a first byte, a last byte and a target; it is joined to the one before if it can be.
void join(std::vector<std::int32_t>& edges, std::int32_t low, std::int32_t high, std::int32_t target) {
    const auto size = edges.size();
    if (size != 0 && edges[size - 2] == low - 1 && edges[size - 1] == target)
        edges[size - 2] = high;
    else
        edges.insert(edges.end(), {low, high, target});
}

// The bytes of characters as a trie whose leaves are classes of characters; equal nodes are one, and a node
// comes after those that it leads to.
class CharacterTrie {
  public:
    CharacterTrie(const CharacterClasses& classes, Escapes escapes)
        : classes_(classes), spellings_(spellings_of(escapes)) {
        Cursors all;
        for (std::size_t spelling = 0; spelling < spellings_.size(); ++spelling)
            all.push_back({spelling, 0, spellings_[spelling].base});
        root_ = node(all);
    }

    // The edges of a node: first byte, last byte, and the next node, or ~class.
    std::span<const std::int32_t> operator[](std::int32_t node) const { return nodes_[node]; }
    std::size_t size() const { return nodes_.size(); }
    std::int32_t root() const { return root_; }  // -1 if there is no character

  private:
    // What is left of a spelling after some digits, for code points from `point` on.
    struct Cursor {
        std::size_t spelling, digit;
        std::int32_t point;
        auto operator<=>(const Cursor&) const = default;
    };
    using Cursors = std::vector<Cursor>;
    static constexpr std::int32_t kNothing = INT32_MIN, kMixed = kNothing + 1;

    // The class that all code points of a cursor are in; kNothing: none of them is in any; kMixed: they are
    // in several, or some of them are not of the spelling.
    std::int32_t class_of(const Cursor& cursor) const {
        const auto& spelling = spellings_[cursor.spelling];
        unsigned bits = 0;
        for (auto digit = cursor.digit; digit < spelling.digits.size(); ++digit)
            bits += spelling.digits[digit].bits;
        const auto whole_last = cursor.point + (1 << bits) - 1;
        const auto first = std::max(cursor.point, spelling.first), last = std::min(whole_last, spelling.last);
        if (first > last) return kNothing;
        const bool is_whole = first == cursor.point && last == whole_last;
        auto next = std::ranges::upper_bound(classes_.firsts, first);
        const auto number = classes_.numbers[static_cast<std::size_t>(next - classes_.firsts.begin()) - 1];
        for (; next != classes_.firsts.end() && *next <= last; ++next)
            if (classes_.numbers[static_cast<std::size_t>(next - classes_.firsts.begin())] != number)
                return kMixed;
        if (number < 0) return kNothing;
        return is_whole ? number : kMixed;
    }

    // The node that reads what is left of some spellings, or ~class where nothing is.
    std::int32_t node(const Cursors& cursors) {
        // Where all code points that are left are of one class, the node depends only on its digits and the
        // class: it is made once.
        const auto& spelling = spellings_[cursors.front().spelling];
        std::pair<const Digit*, std::int32_t> alike{nullptr, 0};
        if (cursors.size() == 1) {
            const auto cls = class_of(cursors.front());
            if (cursors.front().digit == spelling.digits.size()) return ~cls;
            if (cls != kMixed) {
                alike = {spelling.digits.data() + cursors.front().digit, cls};
                if (const auto found = known_.find(alike); found != known_.end()) return found->second;
            }
        }
        std::map<std::uint8_t, Cursors> next;
        for (const auto& cursor : cursors) {
            const auto& [first, last, base, digits] = spellings_[cursor.spelling];
            unsigned bits = 0;
            for (auto digit = cursor.digit + 1; digit < digits.size(); ++digit) bits += digits[digit].bits;
            const auto& bytes = digits[cursor.digit].bytes;
            if (last < cursor.point) continue;
            const auto least = at(std::max(first - cursor.point, 0) >> bits);
            const auto most = std::min(bytes.size(), at((last - cursor.point) >> bits) + 1);
            for (auto value = least; value < most; ++value) {
                const Cursor after{cursor.spelling, cursor.digit + 1,
                                   cursor.point + (static_cast<std::int32_t>(value) << bits)};
                if (class_of(after) == kNothing) continue;
                next[bytes[value][0]].push_back(after);
                if (bytes[value][1] != bytes[value][0]) next[bytes[value][1]].push_back(after);
            }
        }
        std::vector<std::int32_t> edges;
        for (const auto& [byte, after] : next) join(edges, byte, byte, node(after));
        const auto made = edges.empty() ? -1 : nodes_.intern(edges);
        if (alike.first != nullptr) known_.emplace(alike, made);
        return made;
    }

    const CharacterClasses& classes_;
    const std::vector<Spelling>& spellings_;
    Interner nodes_;
    std::map<std::pair<const Digit*, std::int32_t>, std::int32_t> known_;
    std::int32_t root_;
};

}  // namespace

ByteAutomaton json_strings(const CharacterDfa& contents, Escapes escapes,
                           std::span<const std::uint8_t> before, std::span<const std::uint8_t> after,
                           Budget& budget) {
    if (contents.size() == 0) return {};
    const CharacterTrie trie(contents.classes, escapes);
    // Targets are the states of `contents`, then those within a character or within `after`.
    const auto states = static_cast<std::int32_t>(contents.size());
    Interner between;
    std::vector<std::int32_t> edges;
    std::int32_t closing = -1;
    if (!after.empty()) closing = states + between.intern(edges);
    for (auto byte = after.rbegin(); byte + 1 < after.rend(); ++byte)
        closing = states + between.intern(std::array<std::int32_t, 3>{*byte, *byte, closing});
    std::vector<std::vector<std::int32_t>> own;  // the edges of each state of `contents`
    std::vector<std::int32_t> made(trie.size());
    for (std::int32_t state = 0; state < states; ++state) {
        budget.tick();
        budget.check_states(contents.size() + between.size());
        // Each node of the trie with the state's targets for the classes, from the leaves on.
        edges.clear();
        for (std::int32_t node = 0; at(node) < trie.size(); ++node) {
            edges.clear();
            const auto given = trie[node];
            for (std::size_t edge = 0; edge < given.size(); edge += 3) {
                const auto child = given[edge + 2];
                const auto target = child >= 0 ? made[at(child)] : contents.next(state, ~child);
                if (target >= 0) join(edges, given[edge], given[edge + 1], target);
            }
            if (node == trie.root()) break;
            made[at(node)] = edges.empty() ? -1 : states + between.intern(edges);
        }
        if (contents.accepting[at(state)] != 0) {
            std::size_t place = 0;
            if (!after.empty())
                while (place < edges.size() && edges[place + 1] < after[0]) place += 3;
            const bool goes_on = place < edges.size() && (after.empty() || edges[place] <= after[0]);
            if (goes_on && !(after.empty() && escapes == Escapes::kNone))
                throw std::invalid_argument("json strings: nothing says where they end");
            if (!after.empty())
                edges.insert(edges.begin() + static_cast<std::ptrdiff_t>(place),
                             {after[0], after[0], closing});
        }
        own.push_back(edges);
    }
    ByteAutomaton all;
    const auto first = static_cast<std::int32_t>(before.size());
    for (std::int32_t place = 0; place < first; ++place) {
        all.add(before[at(place)], before[at(place)], place + 1);
        all.end_state();
    }
    const auto copy = [&](std::span<const std::int32_t> from) {
        for (std::size_t edge = 0; edge < from.size(); edge += 3)
            all.add(static_cast<std::uint8_t>(from[edge]), static_cast<std::uint8_t>(from[edge + 1]),
                    from[edge + 2] + first);
        all.end_state();
    };
    for (const auto& some : own) copy(some);
    for (std::int32_t state = 0; at(state) < between.size(); ++state) copy(between[state]);
    return all;
}

}  // namespace pdacon
