#include "composition/character_steps.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/utf8.hpp"

namespace pdacon {

namespace {

// A set with fewer characters is left so often that a walk costs less than a look-up.
constexpr int kLeastInLoop = 16;

}  // namespace

CharacterSteps::Step& CharacterSteps::describe(std::int32_t lexer_state) {
    auto& step = steps_.emplace_back();
    number_[lexer_state] = static_cast<std::int32_t>(steps_.size()) - 1;
    step.next = commonest_next(lexer_state);
    if (step.next < 0) return step;
    for (std::size_t byte = 0; byte < 128; ++byte)
        if (lexer_.next(lexer_state, lexer_.byte_class(static_cast<std::uint8_t>(byte))) == step.next)
            step.characters.ascii[byte / 64] |= std::uint64_t{1} << (byte % 64);
    for (auto lead = CharacterSet::kFirstLead; lead <= CharacterSet::kLastLead; ++lead)
        if (after_lead(lexer_state, lead) == step.next) step.characters.leads |= CharacterSet::lead(lead);
    return step;
}

const CharacterSteps::Step* CharacterSteps::loop(std::int32_t lexer_state) {
    of(lexer_state);
    auto& step = steps_[number_[lexer_state]];
    if (step.exits != nullptr) return &step;
    if (step.next != lexer_state || step.characters.size() < kLeastInLoop ||
        lexer_.keeps_columns(lexer_state))
        return nullptr;
    const auto [at, is_new] = exits_.try_emplace(characters_of(lexer_state, step.characters));
    auto& [characters, exits] = *at;
    if (!exits) {
        exits = trie_.loops().exits(characters);
        bytes_ += exits->bytes() + characters.others.size() * sizeof(std::uint64_t);
    }
    step.loop = &characters;
    step.exits = exits.get();
    return &step;
}

// What a self-loop reads. A character is one of `others` if it leads back through states with the future of
// the loop, so that a token that ends in the character is one that stays.
LoopCharacters CharacterSteps::characters_of(std::int32_t loop, const CharacterSet& set) {
    LoopCharacters found{set, {}};
    bool is_decided = true;
    for (auto lead = CharacterSet::kFirstLead; lead <= CharacterSet::kLastLead; ++lead)
        is_decided &= set.contains(lead) || lexer_.next(loop, lexer_.byte_class(lead)) < 0;
    if (is_decided) return found;
    const auto leads_back = [&](const TrieCharacters::Character& character) {
        auto state = loop;
        for (const auto byte : character.view()) {
            state = lexer_.next(state, lexer_.byte_class(byte));
            if (state < 0 || futures_.future(state) != futures_.future(loop)) return false;
        }
        return state == loop || !character.is_whole;
    };
    const auto& all = trie_.loops().characters().characters();
    found.others.assign((all.size() + 63) / 64, 0);
    bool is_any = false;
    for (std::size_t at = 0; at < all.size(); ++at) {
        if (set.contains(all[at].bytes[0]) || !leads_back(all[at])) continue;
        found.others[at / 64] |= std::uint64_t{1} << (at % 64);
        is_any = true;
    }
    if (!is_any) found.others.clear();
    return found;
}

void CharacterSteps::find_loops() {
    constexpr std::size_t kMostSets = 32;
    // Most states are no loops; looking at their byte classes is cheaper than describing them.
    std::vector<int> ascii(static_cast<std::size_t>(lexer_.num_classes()), 0);
    std::vector<std::int32_t> row(ascii.size());
    for (std::uint8_t byte = 0; byte < 128; ++byte) ++ascii[lexer_.byte_class(byte)];
    for (std::int32_t state = 0; state < lexer_.num_states() && exits_.size() < kMostSets; ++state) {
        budget_.tick();
        if (!lexer_.transitions().may_loop(state)) continue;
        int characters = 0;
        lexer_.copy_row(state, row);
        for (std::size_t cls = 0; cls < ascii.size(); ++cls)
            if (row[cls] == state) characters += ascii[cls];
        if (characters >= kLeastInLoop) loop(state);
    }
}

// The state itself if an ASCII byte leads back to it, otherwise the state that most ASCII bytes lead to;
// kDead if they all commit or die.
std::int32_t CharacterSteps::commonest_next(std::int32_t lexer_state) const {
    std::vector<std::pair<std::int32_t, int>> counts;
    for (std::size_t byte = 0; byte < 128; ++byte) {
        const auto next = lexer_.next(lexer_state, lexer_.byte_class(static_cast<std::uint8_t>(byte)));
        if (next == lexer_state) return next;
        if (next < 0) continue;
        const auto known = std::ranges::find(counts, next, &std::pair<std::int32_t, int>::first);
        if (known == counts.end())
            counts.emplace_back(next, 1);
        else
            ++known->second;
    }
    const auto most = std::ranges::max_element(counts, {}, &std::pair<std::int32_t, int>::second);
    return most == counts.end() ? LexingAutomaton::kDead : most->first;
}

std::optional<std::uint8_t> CharacterSteps::loop_length(std::int32_t lexer_state) {
    // The exits of shorter chains are walked for each state; longer chains are cut, so that the cache has
    // only a few lengths for each set.
    constexpr std::uint8_t kLeastLength = 4, kMostLength = 16;
    const auto first = of(lexer_state);
    if (first.characters.size() < kLeastInLoop) return std::nullopt;
    if (lexer_.keeps_columns(lexer_state)) return std::nullopt;
    if (first.next == lexer_state) return 0;
    // The state is one character before a self-loop. A walk shares its subtrees with those of the loop.
    if (first.next >= 0 && of(first.next).next == first.next) return std::nullopt;
    std::uint8_t count = 0;
    for (auto here = first; count < kMostLength; here = of(here.next)) {
        if (here.next < 0 || here.characters != first.characters || lexer_.keeps_columns(here.next) ||
            futures_.future(here.next) != futures_.future(first.next))
            break;
        ++count;
    }
    if (count < kLeastLength) return std::nullopt;
    return std::bit_floor(count);
}

std::int32_t CharacterSteps::after_lead(std::int32_t lexer_state, std::uint8_t lead) {
    const auto first = lexer_.next(lexer_state, lexer_.byte_class(lead));
    if (first < 0) return LexingAutomaton::kDead;
    const auto key = std::uint64_t{static_cast<std::uint32_t>(first)} << 8 | lead;
    const auto [known, is_new] = after_leads_.try_emplace(key, LexingAutomaton::kDead);
    if (is_new) {
        bytes_ += sizeof(*known) + 2 * sizeof(void*);
        const auto rest = utf8_rest(lead);
        known->second = after_rest(first, rest.bytes, rest.first, rest.last);
    }
    return known->second;
}

// The state that all sequences of `left` continuation bytes, the first of them in low..high, lead to, through
// states with the future of that state; kDead if there is none. The recursion is at most as deep as a
// character has bytes.
std::int32_t CharacterSteps::after_rest(std::int32_t state, int left, int low, int high) const {
    if (state < 0 || left == 0) return std::max(state, LexingAutomaton::kDead);
    std::int32_t target = LexingAutomaton::kDead, checked = LexingAutomaton::kDead;
    for (int byte = low; byte <= high; ++byte) {
        const auto next = lexer_.next(state, lexer_.byte_class(static_cast<std::uint8_t>(byte)));
        if (byte > low && next == checked) continue;
        const auto after = after_rest(next, left - 1, 0x80, 0xBF);
        if (after < 0 || (byte > low && after != target)) return LexingAutomaton::kDead;
        target = after;
        checked = next;
    }
    return futures_.future(state) == futures_.future(target) ? target : LexingAutomaton::kDead;
}

void CharacterSteps::forget() {
    std::ranges::fill(number_, -1);
    steps_.clear();
    after_leads_.clear();
    exits_.clear();
    bytes_ = 0;
}

}  // namespace pdacon
