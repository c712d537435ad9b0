#include "composition/byte_assembly.hpp"

#include <algorithm>
#include <utility>

#include "composition/open_nodes.hpp"

namespace pdacon {

std::span<const std::int32_t> TokensByLength::up_to(std::int64_t most) {
    masks_.resize(static_cast<std::size_t>(longest()) + 1);
    auto& mask = masks_[most];
    if (!mask.empty()) return mask;
    std::vector<std::int32_t> found(trie_.words(), 0);
    for (std::int32_t position = 0; position < trie_.num_texts(); ++position) {
        const auto token = trie_.token(position);
        if (std::ssize(trie_.tokens()->bytes_of(token)) <= most) set_bit(found, token);
    }
    return mask = std::move(found);
}

void ByteAssembly::add(const LexerConfiguration& start, bool leading, const StackView& stack) {
    leading_ = leading;
    add_nodes(classes_.of_state(start.state), start, 0, stack);
    const auto space = leading ? trie_.child(0, ' ') : -1;
    if (space >= 0) add_nodes(classes_.below(space, start.state), start, 1, stack);
}

void ByteAssembly::add_nodes(const TokenClasses::Node& root, const LexerConfiguration& start,
                             std::int64_t cut, const StackView& stack) {
    ReadSet read_set;
    Overlay::Nodes stack_nodes;
    for_each_open_node(machine_, classes_, root, start, Overlay(stack, read_set), budget_,
                       [&](const TokenClasses::Node& node, const Overlay& here) {
                           const auto open = here.view(stack_nodes);
                           for (const auto& [end, tokens] : node.inner)
                               add_part(end, start, open, {0, cut, tokens, {}});
                           for (const auto& [end, first, last] : node.listed) {
                               const auto some = std::span(node.tokens).subspan(first, last - first);
                               add_part(end, start, open, {0, cut, nullptr, {some.begin(), some.end()}});
                           }
                       });
}

void ByteAssembly::add_part(const TokenClasses::InnerEnd& end, const LexerConfiguration& start,
                            const StackView& stack, Part part) {
    const LexerConfiguration lexing{end.lexer_state, end.now.from(start), end.matched.from(start)};
    part.distance = distances_.at_most(lexing, stack);
    if (part.distance != ByteDistances::kNone) parts_.push_back(std::move(part));
}

void ByteAssembly::select(const Part& part, std::int64_t most, std::vector<std::int32_t>& selected) const {
    selected.assign(trie_.words(), 0);
    if (most + part.cut < 0) return;
    if (part.tokens) part.tokens->add_to(selected);
    for (const auto token : part.listed) set_bit(selected, token);
    if (most + part.cut < lengths_.longest()) {
        const auto shorter = lengths_.up_to(most + part.cut);
        for (std::size_t at = 0; at < selected.size(); ++at) selected[at] &= shorter[at];
    }
    const auto space = leading_ && part.cut == 0 ? trie_.child(0, ' ') : -1;
    if (space < 0) return;  // else those that begin with a space are in other parts
    const auto end = trie_.first_token(trie_.subtree_end(space));
    for (auto position = trie_.first_token(space); position < end; ++position)
        clear_bit(selected, trie_.token(position));
}

std::int64_t ByteAssembly::least() const {
    auto least = ByteDistances::kNone;
    std::vector<std::int32_t> selected;
    const auto any = [](std::int32_t word) { return word != 0; };
    for (const auto& part : parts_) {
        for (std::int64_t bytes = 0; bytes <= lengths_.longest() && part.distance + bytes < least; ++bytes) {
            select(part, bytes, selected);
            if (std::ranges::any_of(selected, any)) least = part.distance + bytes;
        }
    }
    return least;
}

std::int64_t ByteAssembly::enough() const {
    std::int64_t most = 0;
    for (const auto& part : parts_) most = std::max(most, part.distance);
    return most + lengths_.longest();
}

void ByteAssembly::write(std::int64_t most, std::int64_t after, std::span<std::int32_t> mask) const {
    std::vector<std::int32_t> selected;
    for (const auto& part : parts_) {
        if (part.distance > after || part.distance > most) continue;
        select(part, most - part.distance, selected);
        for (std::size_t at = 0; at < selected.size(); ++at) mask[at] |= selected[at];
    }
}

}  // namespace pdacon
