#include "lexer/automaton.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>

#include "lexer/determinizer.hpp"
#include "lexer/nfa.hpp"

namespace pdacon {

int legibility(std::uint8_t byte) {
    constexpr std::string_view first = "a0A ";
    if (const auto at = first.find(static_cast<char>(byte)); at != std::string_view::npos)
        return static_cast<int>(at);
    const auto lower = static_cast<std::uint8_t>(byte | 0x20);
    const bool alphanumeric = (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
    const bool printable = byte > 0x20 && byte < 0x7F;
    const int group = alphanumeric   ? 1
                      : printable    ? 2
                      : byte == '\n' ? 3
                      : byte == '\t' ? 4
                      : byte >= 0x80 ? 5
                                     : 6;
    return group * 256 + byte;
}

std::vector<std::uint8_t> most_legible(const std::array<std::uint8_t, 256>& class_of, int classes) {
    std::vector<int> found(static_cast<std::size_t>(classes), -1);
    for (int byte = 0; byte < 256; ++byte) {
        auto& best = found[class_of[static_cast<std::size_t>(byte)]];
        if (best < 0 ||
            legibility(static_cast<std::uint8_t>(byte)) < legibility(static_cast<std::uint8_t>(best)))
            best = byte;
    }
    std::vector<std::uint8_t> bytes;
    for (const auto byte : found) bytes.push_back(static_cast<std::uint8_t>(byte));
    return bytes;
}

int byte_classes(const Nfa& nfa, bool blanks, std::array<std::uint8_t, 256>& class_of) {
    std::set<std::pair<std::uint8_t, std::uint8_t>> ranges;
    std::vector<bool> known(256 * 256);  // most edges of a large automaton have the range of another one
    if (blanks)
        for (const std::uint8_t byte : {'\n', '\t', ' '}) ranges.emplace(byte, byte);
    for (std::size_t row = 0; row < nfa.look_behind.size(); row += 256)
        for (std::size_t low = 0, byte = 1; byte <= 256; ++byte) {
            if (byte < 256 && nfa.look_behind[row + byte] == nfa.look_behind[row + low]) continue;
            ranges.emplace(static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(byte - 1));
            low = byte;
        }
    for (std::size_t at = 0; at < nfa.kind.size(); ++at) {
        if (static_cast<NfaKind>(nfa.kind[at]) == NfaKind::kSplit) continue;
        for (auto edge = static_cast<std::size_t>(nfa.offset[at]);
             edge < static_cast<std::size_t>(nfa.offset[at + 1]); ++edge) {
            auto range = known[nfa.low[edge] * 256U + nfa.high[edge]];
            if (!range) ranges.emplace(nfa.low[edge], nfa.high[edge]);
            range = true;
        }
    }
    class_of.fill(0);
    int classes = 1;
    for (const auto& [low, high] : ranges) {
        std::array<int, 256> inside;
        inside.fill(-1);
        std::array<bool, 256> outside{};
        for (int byte = 0; byte < 256; ++byte)
            if (byte < low || byte > high) outside[class_of[static_cast<std::size_t>(byte)]] = true;
        for (std::size_t byte = low; byte <= high; ++byte) {
            const auto old = class_of[byte];
            if (!outside[old]) continue;  // the whole class lies inside the range
            if (inside[old] < 0) inside[old] = classes++;
            class_of[byte] = static_cast<std::uint8_t>(inside[old]);
        }
    }
    return classes;
}

namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

bool valid(std::int32_t value, std::size_t size) {
    return value >= 0 && static_cast<std::size_t>(value) < size;
}

void validate(const LexerSpec& spec) {
    validate(spec.nfa);
    const auto terminals = static_cast<std::size_t>(spec.num_terminals());
    require(spec.ignored.size() == terminals && spec.follow.size() == terminals, "lexer: lengths differ");
    for (const auto& context : spec.contexts) {
        for (const auto terminal : context.alternation)
            require(valid(terminal, terminals), "context: bad terminal");
        for (const auto& rename : context.renames) {
            require(valid(rename.regex, terminals), "context: bad terminal");
            for (const auto keyword : rename.keywords)
                require(valid(keyword, terminals), "context: bad terminal");
        }
    }
    for (const auto context : spec.starts)
        require(valid(context, spec.contexts.size()), "starts: bad context");
    for (const auto& contexts : spec.follow)
        for (const auto context : contexts)
            require(valid(context, spec.contexts.size()), "follow: bad context");
}

}  // namespace

void validate(const Nfa& nfa) {
    const auto positions = nfa.kind.size();
    require(!nfa.look_behind.empty() && nfa.look_behind.size() % 256 == 0,
            "nfa: what lies behind has no states");
    const auto look_behind = static_cast<std::size_t>(nfa.num_look_behind());
    require(nfa.entry.size() % look_behind == 0, "nfa: not an entry for each state of what lies behind");
    for (const auto next : nfa.look_behind)
        require(valid(next, look_behind), "nfa: bad state of what lies behind");
    const auto terminals = static_cast<std::size_t>(nfa.num_terminals());
    require(nfa.offset.size() == positions + 1 && nfa.owner.size() == positions, "nfa: lengths differ");
    require(nfa.low.size() == nfa.target.size() && nfa.high.size() == nfa.target.size(),
            "nfa: lengths differ");
    require(nfa.offset.front() == 0 && static_cast<std::size_t>(nfa.offset.back()) == nfa.target.size(),
            "nfa: offsets do not cover the edges");
    for (std::size_t at = 0; at < positions; ++at) {
        require(nfa.kind[at] <= 4 && nfa.offset[at] <= nfa.offset[at + 1], "nfa: bad position");
        require(valid(nfa.owner[at], terminals), "nfa: bad owner");
    }
    for (const auto target : nfa.target) require(valid(target, positions), "nfa: bad target");
    for (std::size_t at = 0; at < positions; ++at) {
        if (!nfa.is_pending(static_cast<std::int32_t>(at))) continue;
        for (auto edge = nfa.offset[at]; edge < nfa.offset[at + 1]; ++edge) {
            const auto target = nfa.target[static_cast<std::size_t>(edge)];
            require(nfa.is_pending(target) || nfa.kind_of(target) == NfaKind::kMatch,
                    "nfa: a pending position leads back into the lexeme");
        }
    }
    for (const auto entry : nfa.entry) require(entry == -1 || valid(entry, positions), "nfa: bad entry");
}

LexingAutomaton::LexingAutomaton(const LexerSpec& spec, Budget& budget) {
    validate(spec);
    require(spec.newline >= -1 && spec.newline < spec.num_terminals() && spec.tab_width >= 0,
            "lexer: bad newline");
    follow_ = Rows<std::int32_t>::of(spec.follow);
    tab_width_ = spec.tab_width;
    has_columns_ = spec.newline >= 0;
    for (std::size_t context = 0; context < spec.contexts.size(); ++context)
        contexts_.push_back(static_cast<std::int32_t>(context));
    Determinizer(spec, *this, budget).run();
}

std::vector<LexerConfiguration> LexingAutomaton::first_columns() const {
    std::vector<LexerConfiguration> found;
    if (!has_columns()) return found;
    Interner seen;
    const auto add = [&](const LexerConfiguration& lexing) {
        const std::int32_t key[] = {lexing.state, lexing.now.value, lexing.matched.value};
        if (keeps_columns(lexing.state) && static_cast<std::size_t>(seen.intern(key)) == found.size())
            found.push_back(lexing);
    };
    for (const auto entry : entries_)
        if (entry >= 0) add({entry, {}, {}});
    for (std::int32_t state = 0; state < num_states(); ++state) {
        if (keeps_columns(state)) continue;
        for (std::int32_t byte_class = 0; byte_class < num_classes_; ++byte_class) {
            const auto to = next(state, byte_class);
            if (to < 0 || !keeps_columns(to)) continue;
            LexerConfiguration lexing{state, {}, {}};
            move(lexing, to, byte_class);
            add(lexing);
        }
    }
    return found;
}

}  // namespace pdacon
