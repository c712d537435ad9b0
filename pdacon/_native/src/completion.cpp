#include "completion.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace pdacon {

// One control for each label and cost. Costs relative to the cheapest in one control would be fewer, and need
// not end.
std::vector<PendingControls::Successor> WeightedControls::by_label(const Costs& costs) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int32_t>> groups;
    for (const auto& [id, cost] : costs) {
        const auto& event = futures_.event(id);
        groups[{event.label, cost}].push_back(event.residue);
    }
    std::vector<Successor> successors;
    for (auto& [group, residues] : groups) {
        std::sort(residues.begin(), residues.end());
        std::vector<std::int32_t> key{group.first};
        key.insert(key.end(), residues.begin(), residues.end());
        successors.push_back({ids_.intern(key), group.second});
    }
    return successors;
}

std::span<const PendingControls::Successor> WeightedControls::after(std::int32_t context,
                                                                    std::int32_t control) {
    const std::int32_t key[] = {context, control};
    const auto id = static_cast<std::size_t>(after_ids_.intern(key));
    if (id == after_.size()) {
        const auto known = ids_[control];
        const std::vector<std::int32_t> residues(known.begin() + 1, known.end());
        Costs costs;
        const auto add = [&](std::int32_t event, std::int32_t cost) {
            const auto [at, added] = costs.try_emplace(event, cost);
            if (!added) at->second = std::min(at->second, cost);
        };
        for (const auto residue : residues) {
            const auto landing = futures_.land(context, residue);
            if (landing.event >= 0) add(landing.event, 0);
            if (landing.lexer_state < 0) continue;
            for (const auto& [event, cost] : event_costs(landing.lexer_state, landing.speller_state))
                add(event, cost);
        }
        after_.push_back(by_label(costs));
    }
    return after_[id];
}

std::span<const PendingControls::Successor> WeightedControls::distances(std::int32_t lexer_state,
                                                                        std::int32_t speller_state) {
    const std::int32_t key[] = {lexer_state, speller_state};
    const auto id = static_cast<std::size_t>(distance_ids_.intern(key));
    if (id == distances_.size()) distances_.push_back(by_label(event_costs(lexer_state, speller_state)));
    return distances_[id];
}

// Breadth first over lexer and speller states; visit(state, number of bytes) says whether to go on from
// there.
template <class Visit>
void WeightedControls::search(State from, Visit visit) {
    Interner seen;
    const std::int32_t first[] = {from.lexer_state, from.speller_state};
    seen.intern(first);
    std::vector<std::int32_t> cost{0};
    for (std::size_t at = 0; at < seen.size(); ++at) {
        const auto pair = seen[static_cast<std::int32_t>(at)];
        const State state{pair[0], pair[1]};
        if (!visit(state, cost[at])) continue;
        for (const auto& move : futures_.moves(state.speller_state)) {
            const auto next = futures_.lexer().next(state.lexer_state, move.byte_class);
            if (next < 0) continue;
            const std::int32_t reached[] = {next, move.speller_state};
            seen.intern(reached);
            if (seen.size() > cost.size()) cost.push_back(cost[at] + 1);
        }
    }
}

const WeightedControls::Costs& WeightedControls::event_costs(std::int32_t lexer_state,
                                                             std::int32_t speller_state) {
    const State from{lexer_state, speller_state};
    const auto known = event_costs_.find(key_of(from));
    if (known != event_costs_.end()) return known->second;
    std::vector<State> ahead;
    search(from, [&](State state, std::int32_t bytes) {
        if (event_costs_.contains(key_of(state))) return false;
        if (bytes > 0 && bytes % kSpan == 0) ahead.push_back(state);
        return true;
    });
    for (; !ahead.empty(); ahead.pop_back())
        event_costs_.emplace(key_of(ahead.back()), costs_from(ahead.back()));
    return event_costs_.emplace(key_of(from), costs_from(from)).first->second;
}

WeightedControls::Costs WeightedControls::costs_from(State from) {
    const auto& lexer = futures_.lexer();
    Costs found;
    const auto add = [&](std::int32_t event, std::int32_t cost) {
        if (event < 0) return;
        const auto [at, added] = found.try_emplace(event, cost);
        if (!added) at->second = std::min(at->second, cost);
    };
    search(from, [&](State state, std::int32_t bytes) {
        if (const auto known = event_costs_.find(key_of(state)); known != event_costs_.end()) {
            for (const auto& [event, cost] : known->second) add(event, bytes + cost);
            return false;
        }
        if (futures_.may_end(state.speller_state)) add(futures_.end_event(state.lexer_state), bytes);
        for (const auto& move : futures_.moves(state.speller_state)) {
            const auto next = lexer.next(state.lexer_state, move.byte_class);
            if (LexingAutomaton::is_commit(next))
                add(futures_.commit_event(lexer.commit(next), move.speller_state), bytes + 1);
        }
        return true;
    });
    return found;
}

// The cost of going on below: what a pop control finds on `stack`. Iterative: first down, for what is needed,
// then up.
std::int64_t Completion::cost_of_pop(std::int32_t pop, const StackNode* stack) {
    const auto key_of = [&](std::int32_t control, const StackNode* node) {
        const auto serial =
            serials_.try_emplace(node, static_cast<std::uint32_t>(serials_.size())).first->second;
        return static_cast<std::uint64_t>(serial) << 32 | static_cast<std::uint32_t>(control);
    };
    std::vector<std::pair<std::int32_t, const StackNode*>> open{{pop, stack}};
    while (!open.empty()) {
        const auto [control, node] = open.back();
        const auto key = key_of(control, node);
        if (pop_costs_.contains(key)) {
            open.pop_back();
            continue;
        }
        const auto summary = summaries_.pop(control, node->state);
        std::int64_t best = summary.accept == Summaries::kNever ? kNone : summary.accept;
        bool ready = true;
        if (node->below != nullptr) {
            for (const auto& result : summary.results) {
                const auto below = pop_costs_.find(key_of(result.pop, node->below));
                if (below == pop_costs_.end()) {
                    open.emplace_back(result.pop, node->below);
                    ready = false;
                } else if (below->second != kNone) {
                    best = std::min(best, below->second + result.cost);
                }
            }
        }
        if (!ready) continue;
        pop_costs_.emplace(key, best);
        open.pop_back();
    }
    return pop_costs_.at(key_of(pop, stack));
}

std::int64_t Completion::cost(std::int32_t lexer_state, std::int32_t speller_state, const StackNode* stack) {
    const auto known = controls_.distances(lexer_state, speller_state);
    const std::vector<PendingControls::Successor> events(known.begin(), known.end());
    std::int64_t best = kNone;
    for (const auto& event : events) {
        if (event.cost >= best) continue;
        const auto summary = summaries_.pending(event.control, stack->state);
        if (summary.accept != Summaries::kNever)
            best = std::min(best, std::int64_t{event.cost} + summary.accept);
        if (stack->below == nullptr) continue;
        for (const auto& result : summary.results)
            if (const auto below = cost_of_pop(result.pop, stack->below); below != kNone)
                best = std::min(best, event.cost + result.cost + below);
    }
    return best;
}

// Reads the least byte after which `cost` bytes are enough.
bool Completion::step(std::int32_t& lexer_state, std::int32_t& speller_state, PersistentStack& stack,
                      std::int64_t left, std::string& out) {
    std::vector<std::pair<std::int32_t, std::int32_t>> tried;  // byte classes and speller states
    for (const auto& edge : speller_.edges[static_cast<std::size_t>(speller_state)]) {
        const std::pair move{machine_.lexer.byte_class(edge.byte), edge.next};
        if (std::find(tried.begin(), tried.end(), move) != tried.end()) continue;
        tried.push_back(move);
        auto next_state = lexer_state;
        auto next_stack = stack;
        std::vector<std::int32_t> pending{move.first};
        const bool readable = read(machine_, next_stack, next_state, pending);
        kept_.push_back(next_stack);
        if (!readable || cost(next_state, edge.next, next_stack.node()) != left) continue;
        lexer_state = next_state;
        speller_state = edge.next;
        stack = std::move(next_stack);
        out.push_back(static_cast<char>(edge.byte));
        return true;
    }
    return false;
}

std::int64_t Completion::shortest(std::int32_t lexer_state, PersistentStack stack, std::string& out) {
    out.clear();
    std::int32_t speller_state = 0;
    kept_.assign(1, stack);
    const auto length = cost(lexer_state, speller_state, stack.node());
    auto left = length <= kLongest ? length : 0;
    while (left > 0)
        if (!step(lexer_state, speller_state, stack, --left, out))
            throw std::logic_error("no byte leads on to the shortest completion");
    pop_costs_.clear();
    serials_.clear();
    kept_.clear();
    return length;
}

}  // namespace pdacon
