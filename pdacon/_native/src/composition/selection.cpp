#include "composition/selection.hpp"

#include <optional>

#include "liveness/newline_liveness.hpp"

namespace pdacon {

void Selection::Answer::add(const TokenSet& set) {
    if (set.is_mask())
        sets.push_back(&set);
    else
        add(set.ids());
}

void Selection::Answer::add(std::span<const std::int32_t> few) {
    tokens.insert(tokens.end(), few.begin(), few.end());
}

void Selection::Answer::add(const Answer& other) {
    add(other.tokens);
    sets.insert(sets.end(), other.sets.begin(), other.sets.end());
}

void Selection::add_allowed(const TokenClasses::Node& node, const Reading& start, const StackView& stack,
                            ReadSet& looked, std::span<std::int32_t> mask) {
    if (bytes() > kMostBytes) forget();
    open_.clear();
    made_.clear();
    open_.push_back({&node, stack});
    add_staying(open_.back(), start);
    for (;;) {
        if (open_.back().next < open_.back().node->crossings.size()) {
            if (add_crossing(open_.back(), start)) add_staying(open_.back(), start);
            continue;
        }
        auto done = std::move(open_.back());
        open_.pop_back();
        if (open_.empty()) {
            looked.states = std::max(looked.states, done.looked.states);
            looked.columns |= done.looked.columns;
            for (const auto token : done.answer.tokens) set_bit(mask, token);
            for (const auto* set : done.answer.sets) set->add_to(mask);
            return;
        }
        open_.back().looked.columns |= done.looked.columns;
        add_answer(open_.back(), done.answer, done.looked.states, done.popped, done.pushed);
        if (!done.looked.columns) file(std::move(done));
    }
}

void Selection::add_staying(Open& open, const Reading& start) {
    std::optional<NewlineLiveness> lines;
    const auto is_allowed = [&](const TokenClasses::Stay& stay) {
        if (stay.lexer_state < 0) return coaccessibility_.is_live(stay.future, open.stack, open.looked);
        if (!lines) lines.emplace(machine_, coaccessibility_, budget_, Overlay(open.stack, open.looked));
        open.looked.columns = true;
        return lines->is_live({stay.lexer_state, stay.now.from(start), stay.matched.from(start)}, 0);
    };
    const auto& node = *open.node;
    for (const auto& [stay, tokens] : node.staying)
        if (is_allowed(stay)) open.answer.add(*tokens);
    for (const auto& [stay, begin, end] : node.few)
        if (is_allowed(stay)) open.answer.add(std::span(node.tokens).subspan(begin, end - begin));
}

// Takes the next crossing. Whether its node is open now: nothing is known of it.
bool Selection::add_crossing(Open& open, const Reading& start) {
    const auto& crossing = open.node->crossings[open.next++];
    Overlay after(open.stack, open.looked);
    if (!feed_label(machine_, after, crossing.label, crossing.column.from(start))) return false;
    const auto context = machine_.tables.context[static_cast<std::size_t>(after.top())];
    const auto& node = classes_.after(crossing, context);
    const auto stack = after.view(made_);
    if (const auto known = answer_of_.find(node.number, stack.top); known.answer >= 0) {
        add_answer(open, answers_[static_cast<std::size_t>(known.answer)], known.states, after.popped(),
                   after.pushed());
        return false;
    }
    open_.push_back({&node, stack, after.popped(), after.pushed()});
    return true;
}

void Selection::add_answer(Open& to, const Answer& answer, std::uint32_t states, std::uint32_t popped,
                           std::uint32_t pushed) {
    to.answer.add(answer);
    if (states > pushed) to.looked.states = std::max(to.looked.states, popped + states - pushed);
}

void Selection::file(Open open) {
    answer_of_.add(open.node->number, open.stack.top,
                   {static_cast<std::int32_t>(answers_.size()), open.looked.states});
    bytes_ += open.answer.bytes();
    answers_.push_back(std::move(open.answer));
}

void Selection::forget() {
    answer_of_.forget();
    answers_.clear();
    bytes_ = 0;
}

}  // namespace pdacon
