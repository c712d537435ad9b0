// The part of CanonicalSearch that asks for completions.
#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "composition/canonical_search.hpp"

namespace pdacon {

namespace {

// Of a completion so many bytes are asked for at first, then more, and no more than that.
constexpr std::size_t kFirstText = 4, kMoreText = 8, kMostText = 1 << 16;
// A byte counts as so many steps, and a search of this many asks no more.
constexpr std::size_t kByteSteps = 1 << 10, kMostSteps = 1 << 26;
constexpr std::int32_t kMostProven = 1 << 18;

}  // namespace

bool CanonicalSearch::complete_some(std::span<const std::int32_t> roots,
                                    std::span<const std::int32_t> others) {
    std::vector<std::int32_t> first(roots.begin(), roots.end());
    for (const auto root : roots)
        for (const auto& edge : nodes_[root].open)
            if (!nodes_[edge.node].is_completed) first.push_back(edge.node);
    const auto completes = [&](std::int32_t each) { return complete(each); };
    return std::ranges::count_if(first, completes) > 0 || std::ranges::count_if(others, completes) > 0;
}

bool CanonicalSearch::complete(std::int32_t id) {
    auto& node = nodes_[id];
    if (std::exchange(node.is_completed, true) || node.configuration == leading_) return false;
    auto& known = *known_[node.configuration];
    const CanonicalFilter::Situation situation{filter_.set_of(node.place), node.text};
    bool is_found = false;
    for (const bool marked : {false, true}) {
        const auto last = marked ? CanonicalFilter::kMergesWithAll : CanonicalFilter::kNothing;
        const auto token = first_live_token(known, filter_.state_with(last, situation));
        if (!token) continue;
        (marked || filter_.begins_anew(*token) ? node.across : node.within).push_back(*token);
        is_found = true;
    }
    return is_found;
}

std::optional<std::int32_t> CanonicalSearch::first_live_token(Known& known, std::int32_t state) {
    const bool splits = use_.pretokens.is_ever_free();
    for (auto most = kFirstText;; most *= kMoreText) {
        auto& completion = known.completion;
        if (!completion || (!completion->is_whole && completion->text.size() < most)) {
            if (steps_ > kMostSteps) return std::nullopt;
            completion = completion_(known.lexing, known.stack.persistent(), most);
            steps_ += completion->text.size() * kByteSteps;
        }
        const auto [path, goes_on] = splits ? spell_to_settled(known, state) : spell_to_proven(known, state);
        if (!path.empty()) return path.front().token;
        if (!goes_on || completion->is_whole || most >= kMostText) return std::nullopt;
    }
}

Spelling CanonicalSearch::spell_to_settled(Known& known, std::int32_t state) {
    const auto& [text, is_whole] = *known.completion;
    auto lexing = known.lexing;
    auto stack = known.stack;
    std::size_t read_bytes = 0;
    std::int32_t here = -1;
    return spell(trie_, filter_, budget_, state, text, [&](std::size_t at, std::int32_t reached) {
        if (at > read_bytes) {
            if (!read_text(lexing, stack, std::string_view(text).substr(read_bytes, at - read_bytes)))
                throw std::logic_error("a completion that the grammar does not go on with");
            read_bytes = at;
            here = -1;
        }
        auto closed = stack;
        if (is_whole && at == text.size()) return filter_.ends(reached) && ends(machine_, closed, lexing);
        if (here < 0) here = configuration(lexing, stack);
        return is_settled_in(here, reached);
    });
}

// Whether a text may go on from a state of the filter as it likes.
bool CanonicalSearch::is_settled_in(std::int32_t at, std::int32_t state) {
    if (filter_.last(state) == CanonicalFilter::kNothing) return false;  // after an added word
    const auto [set, text] = filter_.situation(state);
    return std::ranges::any_of(filter_.places_of(set),
                               [&](std::int32_t place) { return is_settled(at, place, text); });
}

Spelling CanonicalSearch::spell_to_proven(Known& known, std::int32_t state) {
    const auto& [text, is_whole] = *known.completion;
    known.stack.look_at_all();
    auto lexing = known.lexing;
    auto stack = known.stack.persistent();
    std::map<std::size_t, std::array<std::int32_t, 6>>
        keys;  // by bytes read, without the state of the filter
    std::size_t read_bytes = 0;
    const auto key_at = [&](std::size_t at, std::int32_t reached) {
        const auto [slot, is_new] = keys.try_emplace(at);
        if (is_new) {
            if (!read_text(lexing, stack, std::string_view(text).substr(read_bytes, at - read_bytes)))
                throw std::logic_error("a completion that the grammar does not go on with");
            read_bytes = at;
            const auto name = proven_.cells.name(proven_.cells.of(stack.node()));
            slot->second = {lexing.state,
                            lexing.now.value,
                            lexing.matched.value,
                            static_cast<std::int32_t>(name),
                            static_cast<std::int32_t>(name >> 32),
                            0};
        }
        auto key = slot->second;
        key.back() = reached;
        return key;
    };
    auto spelled = spell(trie_, filter_, budget_, state, text, [&](std::size_t at, std::int32_t reached) {
        if (is_whole && at == text.size()) return filter_.ends(reached);
        return proven_.keys.find(key_at(at, reached)) >= 0;
    });
    if (static_cast<std::int32_t>(proven_.keys.size()) > kMostProven) proven_.keys = {};
    for (const auto& [token, end, reached] : spelled.path)
        if (end < text.size() || !is_whole) proven_.keys.intern(key_at(end, reached));
    return spelled;
}

}  // namespace pdacon
