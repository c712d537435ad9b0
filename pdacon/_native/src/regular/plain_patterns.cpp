#include "regular/plain_patterns.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/at.hpp"
#include "regular/determinize.hpp"

namespace pdacon {

namespace {

using Points = std::vector<std::int32_t>;  // ascending, disjoint: first, last, first, last, ...

constexpr int kDeepest = 20;                // groups within one another
constexpr std::size_t kLongest = 2'000;     // bytes of a pattern
constexpr std::int32_t kMostTimes = 1'000;  // of a quantifier
constexpr std::size_t kMostSteps = 2'000;   // of the automaton whose states are positions
constexpr std::size_t kMostListed = 50'000, kMostParts = 10'000;
constexpr std::int32_t kFirstSurrogate = 0xD800, kBehindSurrogates = 0xE000;

// As pdacon/regular/characters.py has them.
const Points kDigits{0x30, 0x39};
const Points kWord{0x30, 0x39, 0x41, 0x5A, 0x5F, 0x5F, 0x61, 0x7A};
const Points kLineEnds{0x0A, 0x0A, 0x0D, 0x0D, 0x2028, 0x2029};
const Points kBlanks{0x09,   0x0D,   0x20,   0x20,   0xA0,   0xA0,   0x1680, 0x1680, 0x2000, 0x200A,
                     0x2028, 0x2029, 0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF};
const Points kAny{0, kFirstSurrogate - 1, kBehindSurrogates, kCodePoints - 1};

// What is in none of some ranges, which may be in any order and overlap; without surrogates.
Points complement(const Points& ranges) {
    std::vector<std::pair<std::int32_t, std::int32_t>> pieces{{kFirstSurrogate, kBehindSurrogates - 1}};
    for (std::size_t k = 0; k < ranges.size(); k += 2) pieces.emplace_back(ranges[k], ranges[k + 1]);
    std::ranges::sort(pieces);
    Points rest;
    std::int32_t from = 0;
    for (const auto& [first, last] : pieces) {
        if (from < first) rest.insert(rest.end(), {from, first - 1});
        from = std::max(from, last + 1);
    }
    if (from < kCodePoints) rest.insert(rest.end(), {from, kCodePoints - 1});
    return rest;
}

// The code points of well-formed UTF-8.
std::vector<std::int32_t> points_of(std::string_view text) {
    std::vector<std::int32_t> points;
    for (std::size_t k = 0; k < text.size();) {
        const auto lead = static_cast<std::uint8_t>(text[k]);
        const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        std::int32_t point = size == 1 ? lead : lead & (0xFF >> (size + 1));
        for (std::size_t rest = 1; rest < size && k + rest < text.size(); ++rest)
            point = point << 6 | (static_cast<std::uint8_t>(text[k + rest]) & 0x3F);
        points.push_back(point);
        k += size;
    }
    return points;
}

bool is_digit(std::int32_t point) { return '0' <= point && point <= '9'; }
bool is_letter(std::int32_t point) { return 'a' <= (point | 0x20) && (point | 0x20) <= 'z'; }

// There is something that is not read here.
struct NotPlain {};

}  // namespace

// By recursive descent, as the classes and functions of ecma.py do it.
class PlainPatternReader {
  public:
    explicit PlainPatternReader(std::string_view pattern) : text_(points_of(pattern)) {}

    PlainPattern whole() {
        choice();
        if (at_ < text_.size()) throw NotPlain();
        return std::move(made_);
    }

  private:
    using Kind = PlainPattern::Kind;

    std::int32_t peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : -1;
    }
    bool take(std::int32_t point) {
        const bool is_there = peek() == point;
        at_ += is_there ? 1 : 0;
        return is_there;
    }
    std::int32_t add(PlainPattern::Node node) {
        made_.nodes_.push_back(std::move(node));
        return static_cast<std::int32_t>(made_.nodes_.size()) - 1;
    }
    std::int32_t set(Points points) {
        const auto [known, is_new] =
            sets_.emplace(std::move(points), static_cast<std::int32_t>(sets_.size()));
        if (is_new) made_.sets_.push_back(known->first);
        return add({Kind::kSet, known->second, {}});
    }

    std::int32_t choice() {
        std::vector<std::int32_t> options{sequence()};
        while (take('|')) options.push_back(sequence());
        return options.size() == 1 ? options[0] : add({Kind::kAlternatives, -1, std::move(options)});
    }
    std::int32_t sequence() {
        std::vector<std::int32_t> parts;
        while (at_ < text_.size() && peek() != '|' && peek() != ')') parts.push_back(quantified());
        return parts.size() == 1 ? parts[0] : add({Kind::kSequence, -1, std::move(parts)});
    }
    std::int32_t quantified() {
        const bool is_anchor = peek() == '^' || peek() == '$';
        const auto part = atom();
        const auto times = counts();
        if (!times) return part;
        if (is_anchor) throw NotPlain();
        take('?');  // which match is taken first does not matter for the language
        if (counts()) throw NotPlain();
        return add({Kind::kRepeat, -1, {part}, times->first, times->second});
    }
    std::optional<std::pair<std::int32_t, std::int32_t>> counts() {
        constexpr auto kEndless = PlainPattern::kEndless;
        const auto begin = at_;
        if (take('*')) return std::pair{0, kEndless};
        if (take('+')) return std::pair{1, kEndless};
        if (take('?')) return std::pair{0, 1};
        if (peek() != '{') return std::nullopt;
        ++at_;
        const auto number = [&]() -> std::optional<std::int32_t> {
            if (!is_digit(peek())) return std::nullopt;
            std::int32_t value = 0;
            for (; is_digit(peek()); ++at_)
                if ((value = value * 10 + peek() - '0') > kMostTimes) throw NotPlain();
            return value;
        };
        const auto least = number();
        auto most = least;
        if (least && take(',')) most = peek() == '}' ? kEndless : number();
        if (!least || !most || !take('}')) {  // a brace of its own
            at_ = begin;
            return std::nullopt;
        }
        if (*most != kEndless && *most < *least) throw NotPlain();
        return std::pair{*least, *most};
    }
    std::int32_t atom() {
        const auto sign = text_[at_++];
        switch (sign) {
            case '^':
                return add({Kind::kStart, -1, {}});
            case '$':
                return add({Kind::kEnd, -1, {}});
            case '.':
                return set(complement(kLineEnds));
            case '(':
                return group();
            case '[':
                return set(character_class());
            case '\\':
                return set(escaped());
            case '*':
            case '+':
            case '?':
                throw NotPlain();
            case '{':  // a brace of its own, if there is nothing to repeat
                --at_;
                if (counts()) throw NotPlain();
                ++at_;
                return set({sign, sign});
            default:
                return set({sign, sign});
        }
    }
    std::int32_t group() {
        if (++depth_ > kDeepest) throw NotPlain();
        if (take('?') && !take(':')) throw NotPlain();
        const auto body = choice();
        if (!take(')')) throw NotPlain();
        --depth_;
        return body;
    }

    // The backslash has been read.
    Points escaped() {
        const auto sign = peek();
        if (sign < 0) throw NotPlain();
        ++at_;
        switch (sign) {
            case 'd':
                return kDigits;
            case 'D':
                return complement(kDigits);
            case 'w':
                return kWord;
            case 'W':
                return complement(kWord);
            case 's':
                return kBlanks;
            case 'S':
                return complement(kBlanks);
            default: {
                const auto point = escaped_point(sign);
                return {point, point};
            }
        }
    }
    std::int32_t escaped_point(std::int32_t sign) {
        switch (sign) {
            case 't':
                return '\t';
            case 'n':
                return '\n';
            case 'v':
                return '\v';
            case 'f':
                return '\f';
            case 'r':
                return '\r';
            case 'x':
                return hexadecimal(2);
            case 'u':
                return hexadecimal(4);
            default:
                if (is_letter(sign) || is_digit(sign)) throw NotPlain();
                return sign;
        }
    }
    std::int32_t hexadecimal(int count) {
        std::int32_t point = 0;
        for (; count > 0; --count, ++at_) {
            const auto sign = peek();
            const bool is_hexadecimal = is_digit(sign) || ('a' <= (sign | 0x20) && (sign | 0x20) <= 'f');
            if (sign < 0 || !is_hexadecimal) throw NotPlain();
            point = point << 4 | (is_digit(sign) ? sign - '0' : (sign | 0x20) - 'a' + 10);
        }
        if (kFirstSurrogate <= point && point < kBehindSurrogates) throw NotPlain();
        return point;
    }

    // What is between brackets; the opening one has been read.
    Points character_class() {
        const bool is_negative = take('^');
        Points pieces;
        const auto add_all = [&](const Points& some) {
            pieces.insert(pieces.end(), some.begin(), some.end());
        };
        const auto is_one = [](const Points& some) { return some.size() == 2 && some[0] == some[1]; };
        while (!take(']')) {
            const auto first = member();
            if (peek() != '-' || peek(1) == ']' || peek(1) < 0) {
                add_all(first);
                continue;
            }
            ++at_;
            const auto last = member();
            if (is_one(first) && is_one(last)) {
                if (last[0] < first[0]) throw NotPlain();
                add_all({first[0], last[0]});
            } else {  // the hyphen is one of the characters
                add_all(first);
                add_all({'-', '-'});
                add_all(last);
            }
        }
        const auto others = complement(pieces);
        return is_negative ? others : complement(others);
    }
    Points member() {
        if (at_ == text_.size()) throw NotPlain();
        const auto sign = text_[at_++];
        if (sign != '\\') return {sign, sign};
        if (take('b')) return {'\b', '\b'};
        return escaped();
    }

    const std::vector<std::int32_t> text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::map<Points, std::int32_t> sets_;
    PlainPattern made_;
};

// The automaton of a pattern whose states are what is to be read next: Thompson's construction, from behind.
class PatternPositions {
  public:
    explicit PatternPositions(const PlainPattern& pattern) : pattern_(pattern) {
        add({Kind::kMatch});
        const auto root = static_cast<std::int32_t>(pattern.nodes_.size()) - 1;
        start_ = matched(root, kMatched);
        if (!begins_at_start(root)) {  // anything may come before
            const auto any = add({Kind::kEither}), read = add({Kind::kRead, kAnySet, {any}});
            steps_[at(any)].next = {read, start_};
            start_ = any;
        }
    }

    CharacterDfa determinized(Budget& budget) {
        // Before all others two positions: the text ends, and every text.
        constexpr std::int32_t kEnded = 0, kEverything = 1;
        Positions made;
        made.everything = kEverything;
        made.sets.assign(pattern_.sets_.begin(), pattern_.sets_.end());
        made.sets.emplace_back(kAny);
        made.accepting = {1, 1};
        made.edge_offsets = {0, 0, 1};
        made.edge_sets = {static_cast<std::int32_t>(pattern_.sets_.size())};
        made.edge_lists = {0};
        made.lists = {kEverything};
        made.list_offsets = {0, 1};
        std::vector<std::int32_t> position(steps_.size(), -1), list(steps_.size(), -1), pending;
        const auto list_of = [&](std::int32_t step, bool is_at_start) {
            bool may_end = false;
            for (const auto met : closure(step, is_at_start, may_end)) {
                if (steps_[at(met)].kind == Kind::kMatch) {
                    made.lists.push_back(kEverything);
                    continue;
                }
                if (position[at(met)] < 0) {
                    position[at(met)] = static_cast<std::int32_t>(2 + pending.size());
                    pending.push_back(met);
                }
                made.lists.push_back(position[at(met)]);
            }
            if (may_end) made.lists.push_back(kEnded);
            if (made.lists.size() > kMostListed) throw NotPlain();
            made.list_offsets.push_back(static_cast<std::int32_t>(made.lists.size()));
            return static_cast<std::int32_t>(made.list_offsets.size()) - 2;
        };
        const auto start = list_of(start_, true);
        for (std::size_t k = 0; k < pending.size(); ++k) {  // grows
            const auto& read = steps_[at(pending[k])];
            auto& after = list[at(read.next[0])];
            if (after < 0) after = list_of(read.next[0], false);
            made.edge_sets.push_back(read.set == kAnySet ? made.edge_sets[0] : read.set);
            made.edge_lists.push_back(after);
            made.edge_offsets.push_back(static_cast<std::int32_t>(made.edge_sets.size()));
            made.accepting.push_back(0);
        }
        return pdacon::determinized(made, start, budget);
    }

  private:
    using Node = PlainPattern::Node;
    enum class Kind : std::uint8_t { kMatch, kRead, kEither, kStart, kEnd };
    struct Step {
        Kind kind;
        std::int32_t set = -1;
        std::vector<std::int32_t> next = {};
    };
    static constexpr std::int32_t kMatched = 0, kAnySet = -2;

    std::int32_t add(Step step) {
        if (steps_.size() == kMostSteps) throw NotPlain();
        steps_.push_back(std::move(step));
        return static_cast<std::int32_t>(steps_.size()) - 1;
    }

    // The step that matches a part of the pattern and goes on with another step.
    std::int32_t matched(std::int32_t number, std::int32_t then) {
        if (++parts_ > kMostParts) throw NotPlain();  // there may be many that add nothing
        const auto& node = pattern_.nodes_[at(number)];
        switch (node.kind) {
            case PlainPattern::Kind::kSet:
                return add({Kind::kRead, node.set, {then}});
            case PlainPattern::Kind::kStart:
                return add({Kind::kStart, -1, {then}});
            case PlainPattern::Kind::kEnd:
                return add({Kind::kEnd, -1, {then}});
            case PlainPattern::Kind::kSequence:
                for (auto part = node.parts.rbegin(); part != node.parts.rend(); ++part)
                    then = matched(*part, then);
                return then;
            case PlainPattern::Kind::kAlternatives: {
                Step either{Kind::kEither};
                for (const auto option : node.parts) either.next.push_back(matched(option, then));
                return add(std::move(either));
            }
            case PlainPattern::Kind::kRepeat:
                break;
        }
        const auto body = node.parts[0];
        if (node.most == PlainPattern::kEndless) {
            const auto loop = add({Kind::kEither});
            steps_[at(loop)].next = {matched(body, loop), then};
            then = loop;
        } else {
            const auto after = then;
            for (auto k = node.least; k < node.most; ++k)
                then = add({Kind::kEither, -1, {matched(body, then), after}});
        }
        for (std::int32_t k = 0; k < node.least; ++k) then = matched(body, then);
        return then;
    }

    bool begins_at_start(std::int32_t number) const {
        const auto& node = pattern_.nodes_[at(number)];
        const auto begins = [&](std::int32_t part) { return begins_at_start(part); };
        if (node.kind == PlainPattern::Kind::kSequence) return !node.parts.empty() && begins(node.parts[0]);
        if (node.kind == PlainPattern::Kind::kAlternatives) return std::ranges::all_of(node.parts, begins);
        return node.kind == PlainPattern::Kind::kStart;
    }

    // The steps that read a character, or match, without a character before them; `may_end`: whether there is
    // a match if the text ends here.
    const std::vector<std::int32_t>& closure(std::int32_t from, bool is_at_start, bool& may_end) {
        seen_.resize(2 * steps_.size());
        met_.clear();
        ++round_;
        std::vector<std::pair<std::int32_t, bool>> pending{{from, false}};  // whether the text has ended
        while (!pending.empty()) {
            const auto [number, has_ended] = pending.back();
            pending.pop_back();
            auto& seen = seen_[2 * at(number) + (has_ended ? 1 : 0)];
            if (seen == round_) continue;
            seen = round_;
            const auto& step = steps_[at(number)];
            const bool stops = step.kind == Kind::kRead || step.kind == Kind::kMatch;
            if (stops && !has_ended) met_.push_back(number);
            if (step.kind == Kind::kMatch && has_ended) may_end = true;
            if (stops || (step.kind == Kind::kStart && !is_at_start)) continue;
            for (const auto next : step.next)
                pending.emplace_back(next, has_ended || step.kind == Kind::kEnd);
        }
        return met_;
    }

    const PlainPattern& pattern_;
    std::vector<Step> steps_;
    std::size_t parts_ = 0;
    std::int32_t start_;
    std::vector<std::uint32_t> seen_;
    std::uint32_t round_ = 0;
    std::vector<std::int32_t> met_;
};

std::optional<PlainPattern> PlainPattern::read(std::string_view pattern) try {
    if (pattern.size() > kLongest) return std::nullopt;
    return PlainPatternReader(pattern).whole();
} catch (const NotPlain&) {
    return std::nullopt;
}

bool PlainPattern::certainly_matches() const {
    const auto is_anchor = [](const Node& node) {
        return node.kind == Kind::kStart || node.kind == Kind::kEnd;
    };
    if (std::ranges::any_of(sets_, [](const auto& set) { return set.empty(); })) return false;
    const auto& parts = nodes_.back().parts;
    const auto is_border = [&](const Node& node) {
        const auto number = static_cast<std::int32_t>(&node - nodes_.data());
        return nodes_.back().kind == Kind::kSequence && parts.size() > 1 &&
               number == (node.kind == Kind::kStart ? parts.front() : parts.back());
    };
    return std::ranges::all_of(nodes_, [&](const Node& node) { return !is_anchor(node) || is_border(node); });
}

std::optional<CharacterDfa> PlainPattern::strings(Budget& budget) const try {
    return PatternPositions(*this).determinized(budget);
} catch (const NotPlain&) {
    return std::nullopt;
}

}  // namespace pdacon
