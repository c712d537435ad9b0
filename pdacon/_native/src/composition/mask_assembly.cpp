#include "composition/mask_assembly.hpp"

#include <optional>

#include "liveness/newline_liveness.hpp"

namespace pdacon {

void MaskAssembly::Contribution::add(const TokenSet& set) {
    if (set.is_mask())
        sets.push_back(&set);
    else
        add(set.ids());
}

void MaskAssembly::Contribution::add(std::span<const std::int32_t> listed) {
    tokens.insert(tokens.end(), listed.begin(), listed.end());
}

void MaskAssembly::Contribution::add(const Contribution& other) {
    add(other.tokens);
    sets.insert(sets.end(), other.sets.begin(), other.sets.end());
}

void MaskAssembly::add_allowed(const TokenClasses::Node& node, const LexerConfiguration& start,
                               const StackView& stack, ReadSet& read_set, std::span<std::int32_t> mask) {
    if (bytes() > kMostBytes) forget();
    path_.clear();
    stack_nodes_.clear();
    path_.push_back({&node, stack});
    add_inner(path_.back(), start);
    for (;;) {
        if (path_.back().next < path_.back().node->emitting.size()) {
            if (enter_next(path_.back(), start)) add_inner(path_.back(), start);
            continue;
        }
        auto done = std::move(path_.back());
        path_.pop_back();
        if (path_.empty()) {
            read_set.states = std::max(read_set.states, done.read_set.states);
            read_set.columns |= done.read_set.columns;
            for (const auto token : done.found.tokens) set_bit(mask, token);
            for (const auto* set : done.found.sets) set->add_to(mask);
            return;
        }
        path_.back().read_set.columns |= done.read_set.columns;
        add_found(path_.back(), done.found, done.read_set.states, done.popped, done.pushed);
        if (!done.read_set.columns) keep(std::move(done));
    }
}

void MaskAssembly::add_inner(Frame& frame, const LexerConfiguration& start) {
    std::optional<NewlineLiveness> lines;
    const auto is_allowed = [&](const TokenClasses::InnerEnd& end) {
        if (end.lexer_state < 0) return coaccessibility_.is_live(end.future, frame.stack, frame.read_set);
        if (!lines) lines.emplace(machine_, coaccessibility_, budget_, Overlay(frame.stack, frame.read_set));
        frame.read_set.columns = true;
        return lines->is_live({end.lexer_state, end.now.from(start), end.matched.from(start)}, 0);
    };
    const auto& node = *frame.node;
    for (const auto& [end, tokens] : node.inner)
        if (is_allowed(end)) frame.found.add(*tokens);
    for (const auto& [end, first, last] : node.listed)
        if (is_allowed(end)) frame.found.add(std::span(node.tokens).subspan(first, last - first));
}

// Follows the next emitting edge. True if that has put its node on the path, since no contribution is kept
// for it.
bool MaskAssembly::enter_next(Frame& frame, const LexerConfiguration& start) {
    const auto& edge = frame.node->emitting[frame.next++];
    Overlay after(frame.stack, frame.read_set);
    if (!feed_label(machine_, after, edge.label, edge.column.from(start))) return false;
    const auto context = machine_.tables.context[after.top()];
    const auto& node = classes_.after(edge, context);
    const auto stack = after.view(stack_nodes_);
    if (const auto known = kept_.find(node.number, stack.top); known.answer >= 0) {
        add_found(frame, contributions_[known.answer], known.states, after.popped(), after.pushed());
        return false;
    }
    path_.push_back({&node, stack, after.popped(), after.pushed()});
    return true;
}

void MaskAssembly::add_found(Frame& to, const Contribution& found, std::uint32_t states, std::uint32_t popped,
                             std::uint32_t pushed) {
    to.found.add(found);
    if (states > pushed) to.read_set.states = std::max(to.read_set.states, popped + states - pushed);
}

void MaskAssembly::keep(Frame frame) {
    kept_.add(frame.node->number, frame.stack.top,
              {static_cast<std::int32_t>(contributions_.size()), frame.read_set.states});
    bytes_ += frame.found.bytes();
    contributions_.push_back(std::move(frame.found));
}

void MaskAssembly::forget() {
    kept_.forget();
    contributions_.clear();
    bytes_ = 0;
}

}  // namespace pdacon
