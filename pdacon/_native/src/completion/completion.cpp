#include "completion/completion.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pdacon {

namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) { return LeastYields::sum(a, b); }

// The stack node that a reduction exposes; null where it pops the whole stack.
const StackNode* below(const StackNode* node, const LeastYields::KernelReduction& reduction) {
    node = node->below;
    for (auto left = reduction.left; left > 0 && node != nullptr; --left) node = node->below;
    return node;
}

}  // namespace

std::int32_t Completion::serial(const StackNode* node) {
    return serials_.try_emplace(node, static_cast<std::int32_t>(serials_.size())).first->second;
}

// A lower bound of the bytes that are missing when a reduction of the node's state is complete.
std::int64_t Completion::least_below(const StackNode* node, const LeastYields::KernelReduction& reduction) {
    if (reduction.lhs == yields_.whole_text()) return 0;
    const auto* revealed = below(node, reduction);
    return revealed == nullptr ? kNone : least_after(reduction.lhs, revealed);
}

// A lower bound of the bytes that are missing where the reduction to `lhs` is complete above a node.
std::int64_t Completion::least_after(std::int32_t lhs, const StackNode* node) {
    static_assert(kNone == LeastYields::kNever);
    const auto known = least_after_.find(key_of(lhs, node));
    if (known != least_after_.end()) return known->second;
    fold_from_bottom(lhs, node, least_after_,
                     [&](std::int32_t, const StackNode*, std::int64_t least) { return least; });
    return least_after_.at(key_of(lhs, node));
}

// Computes find(lhs, node, least) for a reduction that is complete above a node, after it has for all
// reductions that this leads to further down; `least` is the best sum over them. Iterative: down the stack
// for what is needed, then up.
template <class Find>
void Completion::fold_from_bottom(std::int32_t lhs, const StackNode* node, CostByReduction& found,
                                  Find find) {
    std::vector<std::pair<std::int32_t, const StackNode*>> open{{lhs, node}};
    while (!open.empty()) {
        const auto [nonterminal, at] = open.back();
        const auto reductions = yields_.reductions(at->state);
        auto least = kNone;
        bool ready = true;
        for (std::size_t reduction = 0; reduction < reductions.size(); ++reduction) {
            const auto cost = yields_.after(nonterminal, at->state, static_cast<std::int32_t>(reduction));
            if (cost == kNone) continue;
            std::int64_t rest = 0;
            if (reductions[reduction].lhs != yields_.whole_text()) {
                const auto* revealed = below(at, reductions[reduction]);
                if (revealed == nullptr) continue;
                const auto known = found.find(key_of(reductions[reduction].lhs, revealed));
                if (known == found.end()) {
                    open.emplace_back(reductions[reduction].lhs, revealed);
                    ready = false;
                    continue;
                }
                rest = known->second;
            }
            least = std::min(least, sum(cost, rest));
        }
        if (!ready) continue;
        open.pop_back();
        if (const auto key = key_of(nonterminal, at); !found.contains(key))
            found.emplace(key, find(nonterminal, at, least));
    }
}

// Raises the lower bound where a reduction of the node's state is complete, by a search with any control
// pending. Returns false where that has been done, or cannot be. Without it, every level of the stack whose
// words need blanks between them would send all levels above it in search of other paths, as many bytes
// further.
bool Completion::tighten_below(const StackNode* node, const LeastYields::KernelReduction& reduction) {
    if (reduction.lhs == yields_.whole_text() || speller_.edges.size() > 1) return false;
    const auto* revealed = below(node, reduction);
    if (tightened_.contains(key_of(reduction.lhs, revealed))) return false;
    fold_from_bottom(reduction.lhs, revealed, tightened_,
                     [&](std::int32_t lhs, const StackNode* at, std::int64_t least) {
                         const auto any = search_node(lhs, kAny, at, least);
                         refine(any, sum(least, kTighteningMargin));
                         const auto found = search_nodes_[static_cast<std::size_t>(any)].least;
                         if (found != kNone) least = std::max(least, found - controls_.error_bound());
                         return least_after_[key_of(lhs, at)] = found == kNone ? kNone : least;
                     });
    return true;
}

// A lower bound from a search node to one of its state's reductions.
std::int64_t Completion::least_from(const SearchNode& from, std::int32_t reduction) {
    const auto state = from.node->state;
    return from.lhs < 0 ? yields_.reductions(state)[static_cast<std::size_t>(reduction)].cost
                        : yields_.after(from.lhs, state, reduction);
}

std::int32_t Completion::search_node(std::int32_t lhs, std::int32_t pending, const StackNode* node,
                                     std::int64_t least) {
    const std::int32_t key[] = {lhs, pending, serial(node)};
    const auto id = search_node_ids_.intern(key);
    if (static_cast<std::size_t>(id) == search_nodes_.size())
        search_nodes_.push_back({lhs, pending, node, least});
    return id;
}

// -1: it is not part of the search yet.
std::int32_t Completion::known_search_node(std::int32_t lhs, std::int32_t pending, const StackNode* node) {
    const std::int32_t key[] = {lhs, pending, serial(node)};
    return search_node_ids_.find(key);
}

// The cost of an edge is what its summary is known to have, or one more than the bound up to which it was
// explored.
Completion::Choice Completion::choose(const SearchNode& from) {
    Choice best;
    std::int32_t at = 0;
    const auto offer = [&](std::int64_t cost, bool exact, std::int32_t to, std::int32_t summary) {
        if (cost < best.cost || (cost == best.cost && exact && !best.exact))
            best = {cost, best.cost, exact, to, summary, at};
        else
            best.second = std::min(best.second, cost);
    };
    const auto state = from.node->state;
    const auto reductions = yields_.reductions(state);
    for (; static_cast<std::size_t>(at) < reductions.size(); ++at) {
        const auto& reduction = reductions[static_cast<std::size_t>(at)];
        const auto least = least_from(from, at);
        const auto rest = least == kNone ? kNone : least_below(from.node, reduction);
        if (rest == kNone) continue;
        const auto summary = from.lhs < 0           ? summaries_.any_of(from.pending, state, at)
                             : from.pending == kAny ? summaries_.completed_before_any(from.lhs, state, at)
                                                    : summaries_.completed(from.lhs, from.pending, state, at);
        const auto bound = summaries_.bound(summary);
        if (bound < WeightedSummaries::kUnbounded)
            offer(sum(sum(least, bound + 1), rest), false, -1, summary);
        for (const auto& [control, more] : summaries_.results(summary)) {
            const auto cost = sum(least, more), at_least = sum(cost, rest);
            if (reduction.lhs == yields_.whole_text()) {
                offer(cost, true, -1, -1);
                continue;
            }
            // Of edges that tie for the best, one is expanded; others count if they are part of the search.
            const auto to = at_least < best.cost
                                ? search_node(reduction.lhs, control, below(from.node, reduction), rest)
                            : at_least == best.cost
                                ? known_search_node(reduction.lhs, control, below(from.node, reduction))
                                : -1;
            if (to < 0) {
                best.second = std::min(best.second, at_least);
                continue;
            }
            const auto& reached = search_nodes_[static_cast<std::size_t>(to)];
            offer(sum(cost, reached.least), reached.exact, to, -1);
            if (best.exact && best.cost <= from.least) return best;
        }
    }
    return best;
}

// Searches until the cost of a search node is exact, or known to be more than a limit. The best edge is
// followed as long as it costs no more than the second best.
//
// Source: recursive best-first search (Korf 1993), with an explicit stack.
void Completion::refine(std::int32_t root, std::int64_t limit) {
    struct Open {
        std::int32_t node_id;
        std::int64_t limit;
        std::int32_t next = -1;  // the edge being followed, and its own cost
        std::int64_t before = 0;
    };
    std::vector<Open> open{{root, limit}};
    while (!open.empty()) {
        const auto [at, most, followed, before] = open.back();
        if (followed >= 0) {
            const auto& reached = search_nodes_[static_cast<std::size_t>(followed)];
            auto& known = search_nodes_[static_cast<std::size_t>(at)];
            known.exact = known.exact || (reached.exact && sum(before, reached.least) <= known.least);
        }
        const auto from = search_nodes_[static_cast<std::size_t>(at)];
        if (from.exact || from.least > most) {
            open.pop_back();
            continue;
        }
        const auto best = choose(from);
        auto& known = search_nodes_[static_cast<std::size_t>(at)];
        known.least = std::max(known.least, best.cost);
        known.exact = best.exact || best.cost >= LeastYields::kMost;
        if (known.exact || known.least > most) {
            open.pop_back();
        } else if (best.summary >= 0) {
            const auto bound = summaries_.bound(best.summary) + 1;
            if (bound > 1 &&
                tighten_below(from.node,
                              yields_.reductions(from.node->state)[static_cast<std::size_t>(best.reduction)]))
                continue;
            summaries_.explore(best.summary,
                               bound > kFewBytes ? WeightedSummaries::kUnbounded : bound + bound / 2);
        } else {
            const auto& next = search_nodes_[static_cast<std::size_t>(best.node_id)];
            const auto room = std::min(most, best.second);
            open.back().next = best.node_id;
            open.back().before = best.cost - next.least;
            open.push_back({best.node_id, next.least + (room - best.cost)});
        }
    }
}

// The bytes missing from a lexer configuration on. Exact if it is no more than the limit; else some number
// beyond it.
std::int64_t Completion::cost(const LexerConfiguration& reading, std::int32_t speller_state,
                              const StackNode* stack, std::int64_t limit) {
    const auto [list, before] = controls_.following(reading, speller_state);
    const auto reductions = yields_.reductions(stack->state);
    auto least = kNone;
    for (const auto& reduction : reductions)
        if (const auto rest = least_below(stack, reduction); rest != kNone)
            least = std::min(least, sum(reduction.cost, rest));
    const auto root = search_node(-1, list, stack, least);
    refine(root, limit - before);
    const auto found = search_nodes_[static_cast<std::size_t>(root)].least;
    return found == kNone ? kNone : found + before;
}

// Appends the least byte after which `left` bytes are missing, and reads it. False: there is none.
bool Completion::spell_byte(LexerConfiguration& reading, std::int32_t& speller_state, PersistentStack& stack,
                            std::int64_t left, std::string& out) {
    std::vector<std::pair<std::int32_t, std::int32_t>> tried;  // byte classes and speller states
    for (const auto& edge : speller_.edges[static_cast<std::size_t>(speller_state)]) {
        const std::pair move{machine_.lexer.byte_class(edge.byte), edge.next};
        if (std::find(tried.begin(), tried.end(), move) != tried.end()) continue;
        tried.push_back(move);
        auto next = reading;
        auto next_stack = stack;
        std::vector<std::int32_t> pending{move.first};
        const bool readable = read(machine_, next_stack, next, pending);
        kept_.push_back(next_stack);
        // Within a line the cost is that of the best column of the class, so spell_to_column has to decide.
        if (!readable || !any_column(machine_.lexer, next)) continue;
        if (cost(next, edge.next, next_stack.node(), left) != left) continue;
        reading = next;
        speller_state = edge.next;
        stack = std::move(next_stack);
        out.push_back(static_cast<char>(edge.byte));
        return true;
    }
    return false;
}

// Within a newline, where the column at hand may not be the one that costs least: spells on to where costs
// are exact again, which is behind the newline's end. Blanks cost nothing there, and as many are spelled as
// the column needs, spaces rather than tabs. Where a next line begins, the cost is only a lower bound, for
// its best column may need bytes that are no blanks; so the search goes on from there, and from wherever no
// less than `below` is missing. Returns the bytes missing then; kNone: the text may end there.
std::int64_t Completion::spell_to_column(LexerConfiguration& reading, std::int32_t& speller_state,
                                         PersistentStack& stack, std::int64_t below, std::string& out) {
    ColumnSearch search;
    search.add({.reading = reading, .stack = stack, .speller_state = speller_state});
    for (auto at = search.take(); at >= 0; at = search.take()) {
        budget_.check_states(kStatesPerPath * search.size());
        const auto here = search.path(at);
        // Columns further in than the innermost block can open are equivalent within their class. The
        // configuration itself keeps its own column, for the block that it opens.
        const auto most = machine_.layout.equivalent_from(here.stack.column());
        const auto like = machine_.layout.classes.least(here.reading, most);
        if (!search.is_new(like, here.speller_state, serial(here.stack.node()))) continue;
        ReadSet read_set;
        Overlay closed(here.stack.view(), read_set);
        if (speller_.boundary[static_cast<std::size_t>(here.speller_state)] &&
            ends(machine_, closed, here.reading))
            search.offer({here.spent, kNone, at, -1, here.reading, here.speller_state, here.stack});
        add_moves(search, at, below);
    }
    const auto& best = search.best();
    if (!best.stack) throw std::logic_error("no column leads on to the shortest completion");
    out += search.text();
    reading = best.reading;
    speller_state = best.speller_state;
    stack = *best.stack;
    return best.left;
}

// Adds the paths that one more byte leads to within the line or to the beginning of a next one, and offers
// the ends that it leads to outside, if less than `below` is missing there; else they are paths as well.
void Completion::add_moves(ColumnSearch& search, std::int32_t at, std::int64_t below) {
    const auto& lexer = machine_.lexer;
    const auto here = search.path(at);
    std::vector<std::pair<std::int32_t, std::int32_t>> tried;  // byte classes and speller states
    for (const auto& edge : speller_.edges[static_cast<std::size_t>(here.speller_state)]) {
        const std::pair move{lexer.byte_class(edge.byte), edge.next};
        if (std::find(tried.begin(), tried.end(), move) != tried.end()) continue;
        tried.push_back(move);
        auto next = here.reading;
        const auto state = lexer.next(next.state, move.first);
        if (state >= 0) lexer.move(next, state, move.first);
        if (state >= 0 && !any_column(lexer, next)) {
            const bool free = here.reading.now.known() && lengths_.of_byte(move.first) == 0;
            const bool tab = free && edge.byte == '\t';
            const auto spent = here.spent + !free;
            search.add({next, here.stack, edge.next, spent, std::max(here.least, spent), here.tabs + tab,
                        here.spaces + (free && !tab), at, edge.byte});
            continue;
        }
        next = here.reading;
        auto next_stack = here.stack;
        std::vector<std::int32_t> pending{move.first};
        if (!read(machine_, next_stack, next, pending)) continue;
        kept_.push_back(next_stack);
        const auto known = search.best().cost;
        const auto limit = known == kNone ? kUnlimited : known - here.spent - 1;
        const auto left = cost(next, edge.next, next_stack.node(), limit);
        if (left == kNone) continue;
        const auto spent = here.spent + 1;
        if (left >= below || (lexer.keeps_columns(next.state) && any_column(lexer, next)))
            search.add(
                {next, next_stack, edge.next, spent, spent + left, here.tabs, here.spaces, at, edge.byte});
        else
            search.offer({spent + left, left, at, edge.byte, next, edge.next, next_stack});
    }
}

std::int64_t Completion::shortest(LexerConfiguration reading, PersistentStack stack, std::string* out,
                                  std::size_t most) {
    if (out != nullptr) out->clear();
    ReadSet read_set;
    Overlay closed(stack.view(), read_set);
    if (ends(machine_, closed, reading)) return 0;
    kept_.assign(1, stack);
    const auto length = cost(reading, 0, stack.node(), kUnlimited);
    if (out != nullptr) {
        const bool short_enough = length <= kLongest || most < kLongest;
        spell(std::move(reading), std::move(stack), short_enough ? length : 0, most, *out);
    }
    serials_.clear();
    least_after_.clear();
    tightened_.clear();
    search_node_ids_ = {};
    search_nodes_.clear();
    kept_.clear();
    return length;
}

// Spells a completion with `left` bytes missing, or `most` bytes of it or more.
void Completion::spell(LexerConfiguration reading, PersistentStack stack, std::int64_t left, std::size_t most,
                       std::string& out) {
    std::int32_t speller_state = 0;
    const auto at_column = [&] {
        if (left > 0 || !machine_.lexer.keeps_columns(reading.state)) return true;
        ReadSet read_set;
        Overlay closed(stack.view(), read_set);
        return speller_.boundary[static_cast<std::size_t>(speller_state)] && ends(machine_, closed, reading);
    };
    // Where the text has come to when fewer bytes were missing than ever before.
    struct Nearest {
        LexerConfiguration reading;
        std::int32_t speller_state;
        PersistentStack stack;
        std::size_t length;
        std::int64_t left;
    };
    Nearest nearest{reading, speller_state, stack, out.size(), left};
    int idle = 0;  // steps in a row that brought the end no nearer
    while (out.size() < most && left != kNone && (left > 0 || !at_column())) {
        if (left > 0 && spell_byte(reading, speller_state, stack, left - 1, out)) {
            --left;
            continue;
        }
        // Or the byte leads into a newline.
        if (machine_.layout.newline < 0)
            throw std::logic_error("no byte leads on to the shortest completion");
        auto below = kNone;
        if (idle == kMostIdle) {
            reading = nearest.reading;
            speller_state = nearest.speller_state;
            stack = nearest.stack;
            out.resize(nearest.length);
            below = nearest.left;
        }
        left = spell_to_column(reading, speller_state, stack, below, out);
        if (left < nearest.left) {
            nearest = {reading, speller_state, stack, out.size(), left};
            idle = 0;
        } else {
            ++idle;
        }
    }
}

}  // namespace pdacon
