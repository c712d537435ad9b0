#include "composition/canonical_search.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <span>
#include <utility>

#include "composition/open_nodes.hpp"
#include "detokenizer/token_set.hpp"
#include "liveness/newline_liveness.hpp"

namespace pdacon {

std::int32_t CanonicalSearch::configuration(const LexerConfiguration& lexing, const Overlay& stack) {
    auto key = stack.change();
    key.insert(key.end(), {lexing.state, lexing.now.value, lexing.matched.value});
    const auto id = configuration_ids_.intern(key);
    if (static_cast<std::size_t>(id) == known_.size()) {
        numbers_ += key.size();
        known_.push_back(std::make_unique<Known>(
            Known{lexing, stack, is_live(coaccessibility_, lexing, stack), false, {}, -1, {}, {}, {}}));
    }
    return id;
}

bool CanonicalSearch::is_live(Coaccessibility& coaccessibility, const LexerConfiguration& lexing,
                              const Overlay& stack) {
    Overlay here = stack;
    if (machine_.layout.newline < 0) return coaccessibility.is_future_live(lexing, 0, here);
    return NewlineLiveness(machine_, coaccessibility, budget_, here).is_live(lexing, 0);
}

void CanonicalSearch::expand(std::int32_t from) {
    auto& start = *known_[from];
    if (start.expanded) return;
    start.expanded = true;
    std::unordered_map<std::int32_t, std::size_t> at;  // in `found`, by configuration
    std::vector<Successors> found;
    const auto tokens_to = [&](const TokenClasses::InnerEnd& end, const Overlay& stack) {
        const LexerConfiguration lexing{end.lexer_state, end.now.from(start.lexing),
                                        end.matched.from(start.lexing)};
        const auto target = configuration(lexing, stack);
        if (!known_[target]->live) return static_cast<std::vector<std::int32_t>*>(nullptr);
        const auto [slot, is_new] = at.emplace(target, found.size());
        if (is_new) found.push_back({target, {}});
        return &found[slot->second].tokens;
    };
    const auto add_inner = [&](const TokenClasses::Node& node, const Overlay& stack) {
        for (const auto& [end, set] : node.inner)
            if (auto* tokens = tokens_to(end, stack)) add(*set, *tokens);
        for (const auto& [end, first, last] : node.listed)
            if (auto* tokens = tokens_to(end, stack)) {
                const auto listed = std::span(node.tokens).subspan(first, last - first);
                tokens->insert(tokens->end(), listed.begin(), listed.end());
            }
    };
    for_each_open_node(machine_, classes_, classes_.of_state(start.lexing.state), start.lexing, start.stack,
                       budget_, add_inner);
    start.successors = std::move(found);
}

std::int32_t CanonicalSearch::leading_configuration(std::int32_t start, bool spaced) {
    const auto id = configuration_ids_.intern(std::array<std::int32_t, 1>{-1});  // no other key is as short
    leading_ = id;
    const auto& from = *known_[start];
    known_.push_back(
        std::make_unique<Known>(Known{from.lexing, from.stack, from.live, true, {}, -1, {}, {}, {}}));
    // After a token that is all space the text is empty still, and may not end: a tokenizer makes no tokens
    // of the empty text.
    only_space_ = configuration_ids_.intern(std::array<std::int32_t, 1>{-2});
    known_.push_back(
        std::make_unique<Known>(Known{from.lexing, from.stack, from.live, false, {}, 0, {}, {}, {}}));
    std::unordered_map<std::int32_t, std::vector<std::int32_t>> found;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < tokens_.size(); ++token) {
        budget_.tick();
        if (!tokens_.has_text(token)) continue;
        auto text = tokens_.bytes_of(token);
        if (text.front() == ' ')
            text.remove_prefix(1);
        else if (spaced)
            continue;
        auto lexing = from.lexing;
        Overlay stack = from.stack;
        if (!text.empty() && !read_text(lexing, stack, text)) continue;
        const auto target = text.empty() ? only_space_ : configuration(lexing, stack);
        if (known_[target]->live) found[target].push_back(token);
    }
    auto& successors = known_[id]->successors;
    for (auto& [target, tokens] : found) successors.push_back({target, std::move(tokens)});
    std::ranges::sort(successors, {}, &Successors::configuration);
    return id;
}

void CanonicalSearch::add(const TokenSet& set, std::vector<std::int32_t>& tokens) const {
    if (!set.is_mask()) {
        tokens.insert(tokens.end(), set.ids().begin(), set.ids().end());
        return;
    }
    std::vector<std::int32_t> mask(tokens_.words(), 0);
    set.add_to(mask);
    for_each_bit(mask, [&](std::int32_t token) {
        tokens.push_back(token);
        return true;
    });
}

bool CanonicalSearch::may_end(Known& known) {
    if (known.may_end < 0) {
        Overlay stack = known.stack;
        known.may_end = ends(machine_, stack, known.lexing) ? 1 : 0;
    }
    return known.may_end == 1;
}

bool CanonicalSearch::may_follow(Known& known, std::int32_t spelling) {
    known.follows.resize(characters_.size(), -1);
    auto& follows = known.follows[spelling];
    if (follows < 0) {
        const auto reversed = characters_.reversed(spelling);
        std::vector<std::int32_t> pending(reversed.begin(), reversed.end());
        auto lexing = known.lexing;
        Overlay stack = known.stack;
        follows = read(machine_, stack, lexing, pending) && is_live(settled_, lexing, stack) ? 1 : 0;
    }
    return follows == 1;
}

bool CanonicalSearch::is_settled_anew(std::int32_t at, std::int32_t text) {
    auto& known = *known_[at];
    if (may_end(known)) return true;
    // What keeps it live may be the empty text alone.
    if (at == only_space_ || use_.texts->is_pending(text)) return false;
    return is_live(settled_, known.lexing, known.stack);
}

bool CanonicalSearch::is_settled(std::int32_t at, std::int32_t place, std::int32_t text) {
    auto& known = *known_[at];
    // What follows could complete an added word.
    if (use_.texts && use_.texts->is_pending(text)) return use_.pretokens.ends(place) && may_end(known);
    const auto slot = static_cast<std::size_t>(place);
    if (known.settled.size() <= slot) known.settled.resize(slot + 1, -1);
    if (known.settled[slot] < 0) {
        const auto follows = [&](std::int32_t spelling) { return may_follow(known, spelling); };
        const bool settled = (use_.pretokens.ends(place) && may_end(known)) ||
                             std::ranges::any_of(characters_.after(use_.pretokens, place), follows);
        known.settled[slot] = settled ? 1 : 0;
    }
    return known.settled[slot] == 1;
}

std::int32_t CanonicalSearch::node(std::int32_t at, std::int32_t place, std::int32_t text,
                                   bool delicate_only) {
    const std::array<std::int32_t, 4> key = {at, place, text, delicate_only};
    const auto id = node_ids_.intern(key);
    if (static_cast<std::size_t>(id) == nodes_.size()) {
        Node made;
        made.configuration = at;
        made.place = place;
        made.text = text;
        nodes_.push_back(std::move(made));
    }
    return id;
}

void CanonicalSearch::explore(std::int32_t id, bool delicate_only) {
    const auto from = nodes_[id].configuration;
    const auto place = nodes_[id].place;
    const auto text = nodes_[id].text;
    auto* texts = use_.texts;
    expand(from);
    steps_ += kNodeSteps;
    const std::array after{&use_.pretokens.after(place, false), &use_.pretokens.after(place, true)};
    std::array<std::vector<std::int32_t>, 2> live;  // within the pretoken, and across a mark
    std::vector<Edge> open;
    const auto add_word = [&](std::int32_t token, std::int32_t target) {
        const auto text_after = use_.pretokens.ends(place) ? texts->step_added(text, token) : -1;
        if (text_after < 0) return;
        if (is_settled_anew(target, text_after))
            live[1].push_back(token);
        else
            open.push_back({token, node(target, Pretokens::kStart, text_after), true, true});
    };
    for (const auto& [target, tokens] : known_[from]->successors)
        for (const auto token : tokens) {
            budget_.tick();
            steps_ += after.size();
            if (delicate_only && !texts->is_delicate(text, token)) continue;
            if (texts && texts->is_added(token)) {
                add_word(token, target);
                continue;
            }
            if (!merges_.is_reachable(token)) continue;
            const auto group = static_cast<std::size_t>(use_.pretokens.group(token));
            if ((*after[0])[group] < 0 && (*after[1])[group] < 0) continue;
            const auto text_after = texts ? texts->step(text, token) : text;
            if (text_after < 0) continue;
            for (std::size_t marked = 0; marked < after.size(); ++marked) {
                const auto to = (*after[marked])[group];
                if (to < 0) continue;
                if (is_settled(target, to, text_after))
                    live[marked].push_back(token);
                else
                    open.push_back({token, node(target, to, text_after), marked != 0, false});
            }
        }
    numbers_ += open.size() * (sizeof(Edge) / sizeof(std::int32_t));
    auto& made = nodes_[id];
    made.explored = true;
    made.within.insert(made.within.end(), live[0].begin(), live[0].end());  // after those of `complete`
    made.across.insert(made.across.end(), live[1].begin(), live[1].end());
    made.open = std::move(open);
}

bool CanonicalSearch::has_live_successor(Edge& edge) {
    const auto& after = nodes_[edge.node];
    if (!after.across.empty() || (edge.restarts && !after.within.empty())) return true;
    for (; edge.tested < after.within.size(); ++edge.tested)
        if (!merges_.merges(edge.token, after.within[edge.tested])) return true;
    return false;
}

void CanonicalSearch::close_all() {
    for (bool changed = true; changed;) {
        changed = false;
        for (auto& each : nodes_ | std::views::reverse) {  // from the ends of texts to their beginnings
            std::vector<Edge> open;
            for (auto edge : std::exchange(each.open, {})) {
                budget_.tick();
                if (!has_live_successor(edge)) {
                    open.push_back(edge);
                    continue;
                }
                (edge.marked ? each.across : each.within).push_back(edge.token);
                changed = true;
            }
            each.open = std::move(open);
        }
    }
}

// The unexplored nodes that open tokens of the roots depend on, along open tokens that may follow each other.
std::vector<std::int32_t> CanonicalSearch::wanted(std::span<const std::int32_t> roots) {
    ++round_;
    std::vector<Edge*> todo;
    for (const auto root : roots)
        for (auto& edge : nodes_[root].open)
            if (std::exchange(edge.round, round_) != round_) todo.push_back(&edge);
    return wanted_after(std::move(todo));
}

// The same from the nodes on that were wanted last, which are explored by now, if no edge was closed since.
std::vector<std::int32_t> CanonicalSearch::wanted_further() { return wanted_after(std::move(frontier_)); }

std::vector<std::int32_t> CanonicalSearch::wanted_after(std::vector<Edge*> todo) {
    frontier_.clear();
    std::vector<std::int32_t> found;
    while (!todo.empty()) {
        budget_.tick();
        auto& edge = *todo.back();
        todo.pop_back();
        auto& after = nodes_[edge.node];
        if (!after.explored) {
            found.push_back(edge.node);
            frontier_.push_back(&edge);
        }
        for (auto& next : after.open)
            if (next.round != round_ && follows(edge, next)) {
                next.round = round_;
                todo.push_back(&next);
            }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

bool CanonicalSearch::is_too_large(std::size_t explored) const {
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(budget_.states(), 0));
    return most > 0 && explored > kLeastNodes && (explored > most || numbers_ / kNodeNumbers > most);
}

void CanonicalSearch::add_to(Found& found, const Node& node) {
    for (const auto token : node.within) set_bit(found.within, token);
    for (const auto token : node.across) set_bit(found.across, token);
    if (use_.pretokens.ends(node.place) && may_end(*known_[node.configuration]))
        for (const auto token : tokens_.end_tokens()) set_bit(found.across, token);
}

std::vector<bool> CanonicalSearch::answered() const {
    std::vector<bool> known(nodes_.size());
    for (std::size_t at = 0; at < nodes_.size(); ++at) known[at] = nodes_[at].explored;
    for (bool changed = true; changed;) {
        changed = false;
        for (auto at = nodes_.size(); at-- > 0;) {  // from the ends of texts to their beginnings
            const auto is_known = [&](const Edge& edge) { return known[edge.node]; };
            if (!known[at] || std::ranges::all_of(nodes_[at].open, is_known)) continue;
            known[at] = false;
            changed = true;
        }
    }
    return known;
}

std::vector<CanonicalSearch::Successors> CanonicalSearch::successors(const LexerConfiguration& lexing,
                                                                     const StackView& stack, bool leading) {
    ReadSet read_set;
    auto first = configuration(lexing, Overlay(stack, read_set));
    if (leading) first = leading_configuration(first, spaced_);
    expand(first);
    return known_[first]->successors;
}

CanonicalSearch::Found CanonicalSearch::find(const LexerConfiguration& lexing, const StackView& stack,
                                             std::span<const std::int32_t> places, std::int32_t text,
                                             bool leading, const Found* from_start, ReadSet& read_set) {
    auto first = configuration(lexing, Overlay(stack, read_set));
    if (leading) first = leading_configuration(first, spaced_);
    std::vector<std::int32_t> roots;
    for (const auto place : places) roots.push_back(node(first, place, text, from_start != nullptr));
    for (const auto root : roots) explore(root, from_start != nullptr);
    const auto is_open = [&](std::int32_t root) { return !nodes_[root].open.empty(); };
    Found found;
    if (from_start != nullptr) found.cut = from_start->cut;
    std::size_t explored = roots.size(), closed = 0;  // the level at which edges were closed last
    while (std::ranges::any_of(roots, is_open)) {
        const auto next = levels_ == closed ? wanted(roots) : wanted_further();
        if (next.empty() && levels_ == closed) break;
        if (!is_over_soon()) {
            if (complete_some(roots, next)) {
                close_all();
                closed = levels_;
                continue;
            }
        }
        if (is_too_large(explored + next.size())) {
            found.cut = true;
            close_all();
            break;
        }
        for (const auto each : next) {
            if (!is_over_soon() && !nodes_[each].is_completed) break;
            explore(each, false);
            ++explored;
        }
        // Closing looks at all levels again, so in a long search it is done seldom.
        if (++levels_ <= kShortSearch || levels_ >= closed + closed / 4 || next.empty()) {
            close_all();
            closed = levels_;
        }
    }
    if (from_start != nullptr) {
        found.within = from_start->within;
        found.across = from_start->across;
        for (std::int32_t token = 0; static_cast<std::size_t>(token) < tokens_.size(); ++token)
            if (tokens_.has_text(token) && use_.texts->is_delicate(text, token)) {
                clear_bit(found.within, token);
                clear_bit(found.across, token);
            }
    } else {
        found.within.assign(tokens_.words(), 0);
        found.across.assign(tokens_.words(), 0);
    }
    for (const auto root : roots) add_to(found, nodes_[root]);
    return found;
}

}  // namespace pdacon
