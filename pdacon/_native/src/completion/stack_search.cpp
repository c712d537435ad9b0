#include "completion/stack_search.hpp"

#include <algorithm>
#include <utility>

namespace pdacon {

namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) { return LeastYields::sum(a, b); }

}  // namespace

void StackSearch::forget() {
    least_after_.clear();
    tightened_.clear();
    settled_.clear();
    search_node_ids_ = {};
    search_nodes_.clear();
}

// The cell that a reduction exposes; StackCells::kBottom where it pops the whole stack.
std::int32_t StackSearch::below(std::int32_t cell, const LeastYields::KernelReduction& reduction) const {
    cell = cells_[cell].below;
    for (auto left = reduction.left; left > 0 && cell != StackCells::kBottom; --left)
        cell = cells_[cell].below;
    return cell;
}

// A lower bound of what is missing when a reduction of the cell's state is complete.
std::int64_t StackSearch::least_below(std::int32_t cell, const LeastYields::KernelReduction& reduction) {
    if (reduction.lhs == yields_.whole_text()) return 0;
    const auto revealed = below(cell, reduction);
    return revealed == StackCells::kBottom ? kNone : least_after(reduction.lhs, revealed);
}

// A lower bound of what is missing where the reduction to `lhs` is complete above a cell.
std::int64_t StackSearch::least_after(std::int32_t lhs, std::int32_t cell) {
    static_assert(kNone == LeastYields::kNever);
    const auto known = least_after_.find(key_of(lhs, cell));
    if (known != least_after_.end()) return known->second;
    fold_from_bottom(lhs, cell, least_after_,
                     [&](std::int32_t, std::int32_t, std::int64_t least) { return least; });
    return least_after_.at(key_of(lhs, cell));
}

// Computes find(lhs, cell, least) for a reduction that is complete above a cell, after it has for all
// reductions that this leads to further down; `least` is the best sum over them. Iterative: down the stack
// for what is needed, then up.
template <class Find>
void StackSearch::fold_from_bottom(std::int32_t lhs, std::int32_t cell, CostByReduction& found, Find find) {
    std::vector<std::pair<std::int32_t, std::int32_t>> open{{lhs, cell}};
    while (!open.empty()) {
        const auto [nonterminal, at] = open.back();
        const auto reductions = yields_.reductions(state(at));
        auto least = kNone;
        bool ready = true;
        for (std::size_t reduction = 0; reduction < reductions.size(); ++reduction) {
            const auto cost = yields_.after(nonterminal, state(at), static_cast<std::int32_t>(reduction));
            if (cost == kNone) continue;
            std::int64_t rest = 0;
            if (reductions[reduction].lhs != yields_.whole_text()) {
                const auto revealed = below(at, reductions[reduction]);
                if (revealed == StackCells::kBottom) continue;
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

// Raises the lower bound where a reduction of the cell's state is complete, by a search with any control
// pending. Returns false if that has been done before, or cannot be. Why: a word that needs a blank before it
// costs a byte more than least yields say. With each such level of the stack, all levels above it would
// search for other paths one byte further.
bool StackSearch::tighten_below(std::int32_t cell, const LeastYields::KernelReduction& reduction) {
    if (reduction.lhs == yields_.whole_text() || (!tightens_ && bytes_ == nullptr)) return false;
    const auto revealed = below(cell, reduction);
    if (tightened_.contains(key_of(reduction.lhs, revealed))) return false;
    tighten(reduction.lhs, revealed);
    return true;
}

void StackSearch::tighten(std::int32_t nonterminal, std::int32_t cell) {
    if (tightened_.contains(key_of(nonterminal, cell))) return;
    fold_from_bottom(
        nonterminal, cell, tightened_, [&](std::int32_t lhs, std::int32_t at, std::int64_t least) {
            auto found = kNone;
            if (bytes_ != nullptr) {
                bytes_->tighten(lhs, at);
                found = bytes_->least_after_.at(key_of(lhs, at));
                if (found != kNone) found = controls_.weights().of_bytes(found);
            } else {
                const auto any = search_node(lhs, kAny, at, least);
                refine(any, sum(least, kTighteningMargin * step_));
                found = search_nodes_[any].least;
                if (found != kNone) found -= controls_.error_bound();
            }
            return least_after_[key_of(lhs, at)] = found == kNone ? kNone : std::max(least, found);
        });
}

// A lower bound from a search node to one of its state's reductions.
std::int64_t StackSearch::least_from(const SearchNode& from, std::int32_t reduction) {
    const auto top = state(from.cell);
    return from.lhs < 0 ? yields_.reductions(top)[reduction].cost : yields_.after(from.lhs, top, reduction);
}

std::int32_t StackSearch::search_node(std::int32_t lhs, std::int32_t pending, std::int32_t cell,
                                      std::int64_t least) {
    const std::int32_t key[] = {lhs, pending, cell};
    const auto id = search_node_ids_.intern(key);
    if (static_cast<std::size_t>(id) == search_nodes_.size())
        search_nodes_.push_back({lhs, pending, cell, least});
    return id;
}

// The id of a node; -1: it is not part of the search yet.
std::int32_t StackSearch::known_search_node(std::int32_t lhs, std::int32_t pending, std::int32_t cell) {
    const std::int32_t key[] = {lhs, pending, cell};
    return search_node_ids_.find(key);
}

// The cost of an edge is what its summary is known to have, or one more than the bound up to which it was
// explored.
StackSearch::Choice StackSearch::choose(const SearchNode& from) {
    Choice best;
    std::int32_t at = 0;
    const auto offer = [&](std::int64_t cost, bool exact, std::int32_t to, std::int32_t summary) {
        if (cost < best.cost || (cost == best.cost && exact && !best.exact))
            best = {cost, best.cost, exact, to, summary, at};
        else
            best.second = std::min(best.second, cost);
    };
    const auto top = state(from.cell);
    const auto reductions = yields_.reductions(top);
    for (; static_cast<std::size_t>(at) < reductions.size(); ++at) {
        const auto& reduction = reductions[at];
        const auto least = least_from(from, at);
        const auto rest = least == kNone ? kNone : least_below(from.cell, reduction);
        if (rest == kNone) continue;
        const auto summary = from.lhs < 0           ? summaries_.any_of(from.pending, top, at)
                             : from.pending == kAny ? summaries_.completed_before_any(from.lhs, top, at)
                                                    : summaries_.completed(from.lhs, from.pending, top, at);
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
                                ? search_node(reduction.lhs, control, below(from.cell, reduction), rest)
                            : at_least == best.cost
                                ? known_search_node(reduction.lhs, control, below(from.cell, reduction))
                                : -1;
            if (to < 0) {
                best.second = std::min(best.second, at_least);
                continue;
            }
            const auto& reached = search_nodes_[to];
            offer(sum(cost, reached.least), reached.exact, to, -1);
            if (best.exact && best.cost <= from.least) return best;
        }
    }
    return best;
}

// Searches until the cost of a search node is exact, or known to be more than a limit. The best edge is
// followed as long as it costs no more than the second best.
void StackSearch::refine(std::int32_t root, std::int64_t limit) {
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
            const auto& reached = search_nodes_[followed];
            auto& known = search_nodes_[at];
            known.exact = known.exact || (reached.exact && sum(before, reached.least) <= known.least);
        }
        const auto from = search_nodes_[at];
        if (from.exact || from.least > most) {
            open.pop_back();
            continue;
        }
        const auto best = choose(from);
        auto& known = search_nodes_[at];
        known.least = std::max(known.least, best.cost);
        known.exact = best.exact || best.cost >= LeastYields::kMost;
        if (known.exact || known.least > most) {
            open.pop_back();
        } else if (best.summary >= 0) {
            const auto bound = summaries_.bound(best.summary) + 1;
            if (bound > step_ &&
                tighten_below(from.cell, yields_.reductions(state(from.cell))[best.reduction]))
                continue;
            // No further than where another edge, or the end of the search, comes first: each byte of a
            // detour can make a summary several times as large.
            const auto room = std::min(most, best.second) - best.cost;
            summaries_.explore(best.summary, bound > kFew * step_ ? WeightedSummaries::kUnbounded
                                                                  : bound + std::min(bound / 8, room));
        } else {
            const auto& next = search_nodes_[best.node_id];
            const auto room = std::min(most, best.second);
            open.back().next = best.node_id;
            open.back().before = best.cost - next.least;
            open.push_back({best.node_id, next.least + (room - best.cost)});
        }
    }
}

std::int64_t StackSearch::cost(const LexerConfiguration& lexing, std::int32_t speller_state,
                               std::int32_t cell, std::int64_t limit) {
    return cost(controls_.following(lexing, speller_state), cell, limit);
}

// The search node of a cell on which any one of a list of controls is pending.
std::int32_t StackSearch::root(std::int32_t list, std::int32_t cell) {
    auto least = kNone;
    for (const auto& reduction : yields_.reductions(state(cell)))
        if (const auto rest = least_below(cell, reduction); rest != kNone)
            least = std::min(least, sum(reduction.cost, rest));
    return search_node(-1, list, cell, least);
}

// Searches from cells below, the lowest first, where nothing is known of many levels. Why: each level can
// raise the bounds of all above it, and a search from the top would come down anew for each of them.
void StackSearch::settle_below(std::int32_t list, std::int32_t cell, std::int64_t limit) {
    std::vector<std::int32_t> some;
    std::int32_t passed = 0;
    for (auto at = cell; at != StackCells::kBottom && !settled_.contains(at); at = cells_[at].below) {
        if (++passed <= kLevels || state(at) != state(cell)) continue;  // the same state: the same is asked
        some.push_back(at);
        passed = 0;
    }
    for (; !some.empty(); some.pop_back()) {
        refine(root(list, some.back()), limit);
        settled_.insert(some.back());
    }
    settled_.insert(cell);
}

std::int64_t StackSearch::cost(const WeightedControls::Following& following, std::int32_t cell,
                               std::int64_t limit) {
    const auto [list, before] = following;
    if (const auto known = known_search_node(-1, list, cell); known >= 0 && search_nodes_[known].exact) {
        const auto least = search_nodes_[known].least;
        return least == kNone ? kNone : least + before;
    }
    settle_below(list, cell, limit - before);
    const auto from = root(list, cell);
    refine(from, limit - before);
    const auto found = search_nodes_[from].least;
    return found == kNone ? kNone : found + before;
}

}  // namespace pdacon
