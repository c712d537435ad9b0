#include "lexer/nfa.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace pdacon {

namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

bool valid(std::int32_t value, std::size_t size) {
    return value >= 0 && static_cast<std::size_t>(value) < size;
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
    require(nfa.wanted.empty() || nfa.wanted.size() == look_behind, "nfa: not all states say what is wanted");
    for (const auto wanted : nfa.wanted) require(wanted <= 2, "nfa: nothing like that is wanted");
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
    require(nfa.leaves.empty() || nfa.leaves.size() == positions,
            "nfa: not all positions say what they leave");
    std::size_t reached = 0;  // look-behind states that bytes lead to come first
    for (const auto next : nfa.look_behind) reached = std::max(reached, static_cast<std::size_t>(next) + 1);
    for (std::size_t at = 0; at < nfa.leaves.size(); ++at) {
        if (nfa.leaves[at] == 0) continue;
        require(nfa.kind_of(static_cast<std::int32_t>(at)) == NfaKind::kMatch,
                "nfa: what is left is left by matches");
        require(nfa.leaves[at] > 0 && valid(nfa.leaves[at], look_behind - reached + 1),
                "nfa: bad state that is left");
    }
    if (!nfa.leaves.empty())
        for (std::size_t at = 0; at < positions; ++at)
            for (auto edge = nfa.offset[at]; nfa.kind[at] != 0 && edge < nfa.offset[at + 1]; ++edge)
                require(nfa.leaves[nfa.target[edge]] == 0,
                        "nfa: a match that leaves something is reached by a byte");
    for (std::size_t at = 0; at < positions; ++at) {
        if (!nfa.is_pending(static_cast<std::int32_t>(at))) continue;
        for (const auto edge : nfa.edges(at)) {
            const auto target = nfa.target[edge];
            require(nfa.is_pending(target) || nfa.kind_of(target) == NfaKind::kMatch,
                    "nfa: a pending position leads back into the lexeme");
        }
    }
    for (const auto entry : nfa.entry) require(entry == -1 || valid(entry, positions), "nfa: bad entry");
}

NfaBuilder::NfaBuilder(std::int32_t num_terminals) {
    if (num_terminals < 0) throw std::invalid_argument("lexer: no number of terminals");
    nfa_.offset.push_back(0);
    nfa_.entry.assign(static_cast<std::size_t>(num_terminals), -1);
    nfa_.look_behind.assign(256, 0);
}

void NfaBuilder::begin(std::int32_t terminal, std::size_t positions) {
    if (terminal < 0 || terminal >= nfa_.num_terminals() || positions == 0)
        throw std::invalid_argument("lexer: no program of a terminal");
    nfa_.entry[terminal] = static_cast<std::int32_t>(nfa_.kind.size());
    nfa_.owner.insert(nfa_.owner.end(), positions, terminal);
}

void NfaBuilder::add(std::int32_t terminal, std::span<const std::uint8_t> kind,
                     std::span<const std::uint8_t> offset, std::span<const std::uint8_t> low,
                     std::span<const std::uint8_t> high, std::span<const std::uint8_t> target) {
    const auto number = [](std::span<const std::uint8_t> bytes, std::size_t index) {
        std::uint32_t value = 0;
        for (std::size_t k = 4; k-- > 0;) value = value << 8U | bytes[4 * index + k];
        return static_cast<std::int32_t>(value);
    };
    if (offset.size() != 4 * (kind.size() + 1) || target.size() != 4 * low.size() ||
        low.size() != high.size() || number(offset, 0) != 0 ||
        number(offset, kind.size()) != static_cast<std::int32_t>(low.size()))
        throw std::invalid_argument("lexer: the arrays of a program do not fit together");
    const auto base = static_cast<std::int32_t>(nfa_.kind.size());
    const auto edges = static_cast<std::int32_t>(nfa_.target.size());
    begin(terminal, kind.size());
    if (kind.size() > nfa_.offset.size()) {  // else they grow by themselves
        nfa_.offset.reserve(nfa_.offset.size() + kind.size());
        nfa_.target.reserve(nfa_.target.size() + low.size());
    }
    nfa_.kind.insert(nfa_.kind.end(), kind.begin(), kind.end());
    nfa_.low.insert(nfa_.low.end(), low.begin(), low.end());
    nfa_.high.insert(nfa_.high.end(), high.begin(), high.end());
    for (std::size_t k = 1; k <= kind.size(); ++k) nfa_.offset.push_back(edges + number(offset, k));
    for (std::size_t k = 0; k < low.size(); ++k) nfa_.target.push_back(base + number(target, k));
}

void NfaBuilder::add(std::int32_t terminal, std::span<const std::uint8_t> text) {
    begin(terminal, text.size() + 1);
    for (const auto byte : text) {
        nfa_.kind.push_back(static_cast<std::uint8_t>(NfaKind::kBytes));
        nfa_.low.push_back(byte);
        nfa_.high.push_back(byte);
        nfa_.target.push_back(static_cast<std::int32_t>(nfa_.kind.size()));
        nfa_.offset.push_back(static_cast<std::int32_t>(nfa_.target.size()));
    }
    nfa_.kind.push_back(static_cast<std::uint8_t>(NfaKind::kMatch));
    nfa_.offset.push_back(static_cast<std::int32_t>(nfa_.target.size()));
}

int byte_classes(const Nfa& nfa, std::string_view alone, std::array<std::uint8_t, 256>& class_of) {
    std::set<std::pair<std::uint8_t, std::uint8_t>> ranges;
    std::vector<bool> known(256 * 256);  // most edges of a large automaton have the range of another one
    for (const char each : alone) {
        const auto byte = static_cast<std::uint8_t>(each);
        ranges.emplace(byte, byte);
    }
    for (std::size_t row = 0; row < nfa.look_behind.size(); row += 256)
        for (std::size_t low = 0, byte = 1; byte <= 256; ++byte) {
            if (byte < 256 && nfa.look_behind[row + byte] == nfa.look_behind[row + low]) continue;
            ranges.emplace(static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(byte - 1));
            low = byte;
        }
    for (std::size_t at = 0; at < nfa.kind.size(); ++at) {
        if (static_cast<NfaKind>(nfa.kind[at]) == NfaKind::kSplit) continue;
        for (const auto edge : nfa.edges(at)) {
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
            if (byte < low || byte > high) outside[class_of[byte]] = true;
        for (std::size_t byte = low; byte <= high; ++byte) {
            const auto old = class_of[byte];
            if (!outside[old]) continue;  // the whole class lies inside the range
            if (inside[old] < 0) inside[old] = classes++;
            class_of[byte] = static_cast<std::uint8_t>(inside[old]);
        }
    }
    return classes;
}

}  // namespace pdacon
