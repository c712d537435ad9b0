#include "lexer/nfa.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>
#include <utility>

namespace pdacon {

namespace {

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

bool valid(std::int32_t value, std::size_t size) {
    return value >= 0 && static_cast<std::size_t>(value) < size;
}

// A number of four little-endian bytes.
std::int32_t number(std::span<const std::uint8_t> bytes, std::size_t index) {
    std::uint32_t value = 0;
    for (std::size_t k = 4; k-- > 0;) value = value << 8U | bytes[4 * index + k];
    return static_cast<std::int32_t>(value);
}

// Whether such numbers can be read where they are.
bool lies_as_numbers(std::span<const std::uint8_t> bytes) {
    return std::endian::native == std::endian::little &&
           reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::int32_t) == 0;
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
    require(nfa.offset[0] == 0 && static_cast<std::size_t>(nfa.offset[positions]) == nfa.target.size(),
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

NfaBuilder::NfaBuilder(std::int32_t num_terminals, std::shared_ptr<const void> owner)
    : memory_(std::move(owner)) {
    if (num_terminals < 0) throw std::invalid_argument("lexer: no number of terminals");
    entry_.assign(static_cast<std::size_t>(num_terminals), -1);
}

// Called for each program that is added, before its arrays are copied.
void NfaBuilder::begin(std::int32_t terminal, std::size_t positions) {
    if (terminal < 0 || static_cast<std::size_t>(terminal) >= entry_.size() || positions == 0)
        throw std::invalid_argument("lexer: no program of a terminal");
    if (alone_) write(*std::exchange(alone_, std::nullopt));
    entry_[terminal] = static_cast<std::int32_t>(owner_.size());
    owner_.insert(owner_.end(), positions, terminal);
}

void NfaBuilder::add(std::int32_t terminal, std::span<const std::uint8_t> kind,
                     std::span<const std::uint8_t> offset, std::span<const std::uint8_t> low,
                     std::span<const std::uint8_t> high, std::span<const std::uint8_t> target) {
    if (offset.size() != 4 * (kind.size() + 1) || target.size() != 4 * low.size() ||
        low.size() != high.size() || number(offset, 0) != 0 ||
        number(offset, kind.size()) != static_cast<std::int32_t>(low.size()))
        throw std::invalid_argument("lexer: the arrays of a program do not fit together");
    const bool is_first = owner_.empty();
    begin(terminal, kind.size());
    const Program program{kind, offset, low, high, target};
    if (is_first)
        alone_ = program;
    else
        write(program);
}

void NfaBuilder::write(const Program& program) {
    const auto base = static_cast<std::int32_t>(kind_.size());
    const auto edges = static_cast<std::int32_t>(target_.size());
    const auto positions = program.kind.size();
    if (positions > offset_.size()) {  // else they grow by themselves
        offset_.reserve(offset_.size() + positions);
        target_.reserve(target_.size() + program.low.size());
    }
    kind_.insert(kind_.end(), program.kind.begin(), program.kind.end());
    low_.insert(low_.end(), program.low.begin(), program.low.end());
    high_.insert(high_.end(), program.high.begin(), program.high.end());
    for (std::size_t k = 1; k <= positions; ++k) offset_.push_back(edges + number(program.offset, k));
    for (std::size_t k = 0; k < program.low.size(); ++k) target_.push_back(base + number(program.target, k));
}

void NfaBuilder::add(std::int32_t terminal, std::span<const std::uint8_t> text) {
    begin(terminal, text.size() + 1);
    for (const auto byte : text) {
        kind_.push_back(static_cast<std::uint8_t>(NfaKind::kBytes));
        low_.push_back(byte);
        high_.push_back(byte);
        target_.push_back(static_cast<std::int32_t>(kind_.size()));
        offset_.push_back(static_cast<std::int32_t>(target_.size()));
    }
    kind_.push_back(static_cast<std::uint8_t>(NfaKind::kMatch));
    offset_.push_back(static_cast<std::int32_t>(target_.size()));
}

Nfa NfaBuilder::take() && {
    Nfa made;
    made.owner = std::move(owner_);
    made.entry = std::move(entry_);
    made.look_behind = std::vector<std::int32_t>(256, 0);
    const auto numbers = [](std::span<const std::uint8_t> bytes) {
        return std::span(reinterpret_cast<const std::int32_t*>(bytes.data()), bytes.size() / 4);
    };
    if (alone_ && lies_as_numbers(alone_->offset) && lies_as_numbers(alone_->target)) {
        made.kind = {alone_->kind, memory_};
        made.offset = {numbers(alone_->offset), memory_};
        made.low = {alone_->low, memory_};
        made.high = {alone_->high, memory_};
        made.target = {numbers(alone_->target), memory_};
        return made;
    }
    if (alone_) write(*alone_);
    made.kind = std::move(kind_);
    made.offset = std::move(offset_);
    made.low = std::move(low_);
    made.high = std::move(high_);
    made.target = std::move(target_);
    return made;
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
