#include "composition/distance_assembly.hpp"

#include "composition/open_nodes.hpp"
#include "detokenizer/token_set.hpp"

namespace pdacon {

void DistanceAssembly::add(const TokenClasses::Node& root, const LexerConfiguration& start,
                           const StackView& stack) {
    ReadSet read_set;
    Overlay::Nodes stack_nodes;
    for_each_open_node(machine_, classes_, root, start, Overlay(stack, read_set), budget_,
                       [&](const TokenClasses::Node& node, const Overlay& here) {
                           add_inner(node, start, here.view(stack_nodes));
                       });
}

void DistanceAssembly::add_leading(const Trie& trie, const LexerConfiguration& start,
                                   const StackView& stack) {
    add(classes_.of_state(start.state), start, stack);
    const auto space = trie.child(0, ' ');
    if (space < 0) return;
    const auto end = trie.first_token(trie.subtree_end(space));
    for (auto& [distance, mask] : masks_)
        for (auto position = trie.first_token(space); position < end; ++position)
            clear_bit(mask, trie.token(position));
    add(classes_.below(space, start.state), start, stack);
}

void DistanceAssembly::add_inner(const TokenClasses::Node& node, const LexerConfiguration& start,
                                 const StackView& stack) {
    for (const auto& [end, tokens] : node.inner)
        if (auto* mask = mask_of(end, start, stack)) tokens->add_to(*mask);
    for (const auto& [end, first, last] : node.listed)
        if (auto* mask = mask_of(end, start, stack))
            for (const auto token : std::span(node.tokens).subspan(first, last - first))
                set_bit(*mask, token);
}

// The mask that the tokens of an inner edge belong to; null: they are not allowed.
std::vector<std::int32_t>* DistanceAssembly::mask_of(const TokenClasses::InnerEnd& end,
                                                     const LexerConfiguration& start,
                                                     const StackView& stack) {
    const LexerConfiguration lexing{end.lexer_state, end.now.from(start), end.matched.from(start)};
    const auto distance = distances_.least(lexing, false, stack);
    if (distance == TokenDistances::kNone) return nullptr;
    auto& mask = masks_[distance];
    if (mask.empty()) mask.resize(words_, 0);
    return &mask;
}

std::vector<std::pair<std::int64_t, std::vector<std::int32_t>>> DistanceAssembly::by_distance(
    std::span<const std::int32_t> end_tokens) const {
    std::vector<std::pair<std::int64_t, std::vector<std::int32_t>>> found;
    for (const auto& [distance, mask] : masks_) {
        auto sum = mask;
        for (std::size_t at = 0; !found.empty() && at < sum.size(); ++at) sum[at] |= found.back().second[at];
        for (const auto token : end_tokens) set_bit(sum, token);
        found.emplace_back(distance, std::move(sum));
    }
    return found;
}

}  // namespace pdacon
