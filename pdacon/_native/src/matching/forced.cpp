// What has to follow in every accepted text, and of the tokens that spell it those that no longer one can
// replace.
#include <algorithm>
#include <utility>

#include "detokenizer/merging.hpp"
#include "matching/matcher.hpp"

namespace pdacon {

std::string Matcher::forced_bytes(std::size_t limit) const {
    // Where tokens are not spelled by single bytes, the first one can spell what no other can: nothing is
    // promised.
    const bool unsure = at_.leading_space && trie().alphabet().empty();
    if (at_.terminated || unsure) return {};
    if (nested_) return nested_->forced_bytes(nested_at(at_), limit);
    auto forced = pda_->forced_bytes(at_.lexing, at_.stack, limit);
    // A label that has to come has no bytes of its own, but those of whichever token is read as it.
    if (pda_->labels().size() > 0)
        forced.erase(std::ranges::find_if(forced, Labels::is_of_spelling), forced.end());
    return forced;
}

std::vector<std::int64_t> Matcher::merged(std::string_view forced) const {
    return merge_pairs(trie(), at_.leading_space ? " " + std::string(forced) : std::string(forced));
}

std::size_t Matcher::settled(std::span<const std::int64_t> tokens, std::string_view forced) const {
    std::vector<Position> positions;  // before each token that spells what has to follow
    std::vector<std::size_t> begins;
    auto at = at_;
    std::size_t end = 0;
    for (const auto token : tokens) {
        auto next = token < 0 ? std::nullopt : step(at, token);
        if (!next || next->to.terminated || !forced.substr(end).starts_with(next->text) || !is_allowed(*next))
            break;
        begins.push_back(end);
        end += next->text.size();
        positions.push_back(std::exchange(at, std::move(next->to)));
    }
    for (std::size_t k = 0; k < positions.size(); ++k)
        if (is_extended(positions[k], forced.substr(begins[k], end - begins[k]), forced.substr(begins[k])))
            return k;
    return positions.size();
}

// Whether an allowed token is longer than `spelled` and agrees with `forced`, as far as both go.
bool Matcher::is_extended(const Position& at, std::string_view spelled, std::string_view forced) const {
    const auto& trie = this->trie();
    MaskView mask;  // only asked for if the vocabulary has such tokens
    const auto any_allowed = [&](std::int32_t begin, std::int32_t end) {
        if (begin < end && !mask) mask = this->mask(at).view;
        for (; begin < end; ++begin)
            if (mask.has(trie.token(begin))) return true;
        return false;
    };
    const auto below = [&](std::int32_t node) {
        std::size_t depth = 0;
        for (; depth < forced.size(); ++depth) {
            if (depth > spelled.size() && any_allowed(trie.first_token(node), trie.first_token(node + 1)))
                return true;
            node = trie.child(node, static_cast<std::uint8_t>(forced[depth]));
            if (node < 0) return false;
        }
        const auto own = depth > spelled.size() ? node : node + 1;
        return any_allowed(trie.first_token(own), trie.first_token(trie.subtree_end(node)));
    };
    if (static_cast<std::size_t>(trie.max_depth()) <= spelled.size()) return false;
    if (!at.leading_space) return below(0);
    const auto space = trie.child(0, ' ');
    return (space >= 0 && below(space)) || (!forced.starts_with(' ') && below(0));
}

}  // namespace pdacon
