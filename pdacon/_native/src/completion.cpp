#include "completion.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace pdacon {

// One control for each label, column and cost. Costs relative to the cheapest in one control would be fewer,
// and need not end.
std::vector<PendingControls::Successor> WeightedControls::by_label(const Costs& costs) {
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::vector<std::int32_t>> groups;
    for (const auto& [id, cost] : costs) {
        const auto& event = futures_.event(id);
        groups[{event.label, event.column, cost}].push_back(event.residue);
    }
    std::vector<Successor> successors;
    for (auto& [group, residues] : groups) {
        const auto [label, column, bytes] = group;
        std::sort(residues.begin(), residues.end());
        emit_controls(label, column, residues,
                      [&](std::int32_t control) { successors.push_back({control, bytes}); });
    }
    return successors;
}

std::vector<PendingControls::Successor> WeightedControls::lexed(std::int32_t context,
                                                                std::span<const std::int32_t> residues) {
    Costs costs;
    const auto add = [&](std::int32_t event, std::int32_t cost) {
        const auto [at, added] = costs.try_emplace(event, cost);
        if (!added) at->second = std::min(at->second, cost);
    };
    for (const auto residue : residues) {
        const auto landing = futures_.land(context, residue);
        if (landing.event >= 0) add(landing.event, 0);
        if (landing.reading.state < 0) continue;
        for (const auto& [event, cost] : event_costs({landing.reading, landing.speller_state}))
            add(event, cost);
    }
    return by_label(costs);
}

std::span<const PendingControls::Successor> WeightedControls::distances(const Reading& reading,
                                                                        std::int32_t speller_state) {
    const State from{futures_.classes().least(reading), speller_state};
    const auto [known, added] = distances_.try_emplace(number(from));
    if (added) known->second = by_label(event_costs(from));
    return known->second;
}

// By the number of bytes, over readings and speller states; visit(state, number of bytes) says whether to go
// on from there.
template <class Visit>
void WeightedControls::search(const State& from, Visit visit) {
    Interner seen;
    std::vector<State> here{from}, further;
    for (std::int32_t bytes = 0; !here.empty(); ++bytes) {
        while (!here.empty()) {
            const auto state = here.back();
            here.pop_back();
            const auto& [reading, speller_state] = state;
            const std::int32_t key[] = {reading.state, reading.now.value, reading.matched.value,
                                        speller_state};
            const auto known = seen.size();
            if (static_cast<std::size_t>(seen.intern(key)) != known || !visit(state, bytes)) continue;
            for (const auto& move : futures_.moves(speller_state)) {
                const auto next = futures_.lexer().next(reading.state, move.byte_class);
                if (next < 0) continue;
                const bool free = reading.now.known() && futures_.lexer().is_space(move.byte_class);
                (free ? here : further)
                    .push_back({futures_.moved(reading, next, move.byte_class), move.speller_state});
            }
        }
        std::swap(here, further);
    }
}

const WeightedControls::Costs& WeightedControls::event_costs(State from) {
    from.reading = futures_.classes().least(from.reading);
    const auto known = event_costs_.find(number(from));
    if (known != event_costs_.end()) return known->second;
    std::vector<State> ahead;
    search(from, [&](const State& state, std::int32_t bytes) {
        if (event_costs_.contains(number(state))) return false;
        if (bytes > 0 && bytes % kSpan == 0) ahead.push_back(state);
        return true;
    });
    for (; !ahead.empty(); ahead.pop_back())
        event_costs_.emplace(number(ahead.back()), costs_from(ahead.back()));
    return event_costs_.emplace(number(from), costs_from(from)).first->second;
}

WeightedControls::Costs WeightedControls::costs_from(const State& from) {
    const auto& lexer = futures_.lexer();
    Costs found;
    const auto add = [&](std::int32_t event, std::int32_t cost) {
        if (event < 0) return;
        const auto [at, added] = found.try_emplace(event, cost);
        if (!added) at->second = std::min(at->second, cost);
    };
    search(from, [&](const State& state, std::int32_t bytes) {
        if (const auto known = event_costs_.find(number(state)); known != event_costs_.end()) {
            for (const auto& [event, cost] : known->second) add(event, bytes + cost);
            return false;
        }
        if (futures_.may_end(state.speller_state)) add(futures_.end_event(state.reading), bytes);
        for (const auto& move : futures_.moves(state.speller_state)) {
            const auto next = lexer.next(state.reading.state, move.byte_class);
            if (LexingAutomaton::is_commit(next))
                add(futures_.commit_event(next, state.reading, move), bytes + 1);
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

std::int64_t Completion::cost(const Reading& reading, std::int32_t speller_state, const StackNode* stack) {
    const auto known = controls_.distances(reading, speller_state);
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
bool Completion::step(Reading& reading, std::int32_t& speller_state, PersistentStack& stack,
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
        // Within a line the cost is that of the best column of its class; `step_to_column` tells which it is.
        if (!readable || !any_column(machine_.lexer, next)) continue;
        if (cost(next, edge.next, next_stack.node()) != left) continue;
        reading = next;
        speller_state = edge.next;
        stack = std::move(next_stack);
        out.push_back(static_cast<char>(edge.byte));
        return true;
    }
    return false;
}

// In a newline whose column is not one that leads on for least: reads up to where the cost is certain again,
// which is behind a line break or the newline's end, with as many spaces on the way as it takes. They cost
// nothing. Returns what is left then; kNone: the text may end there.
std::int64_t Completion::step_to_column(Reading& reading, std::int32_t& speller_state, PersistentStack& stack,
                                        std::string& out) {
    struct Way {
        Reading reading;
        std::int32_t speller_state;
        std::int64_t spent;
        std::int32_t from;
        std::uint8_t byte;
    };
    struct Best {
        std::int64_t cost = kNone, left = kNone;
        std::int32_t from = -1;
        int byte = -1;  // -1: the text ends
        Reading reading;
        std::int32_t speller_state = 0;
        std::optional<PersistentStack> stack;
    } best;
    const auto& lexer = machine_.lexer;
    const auto most = machine_.layout.alike_from(stack.column());
    std::vector<Way> ways;
    std::deque<std::int32_t> open;
    Interner seen;
    const auto add = [&](Way way, bool first) {
        ways.push_back(way);
        const auto id = static_cast<std::int32_t>(ways.size()) - 1;
        first ? open.push_front(id) : open.push_back(id);
    };
    const auto offer = [&](std::int64_t cost, const Best& found) {
        if (cost >= best.cost) return;
        best = found;
        best.cost = cost;
    };
    add({reading, speller_state, 0, -1, 0}, false);
    while (!open.empty()) {
        const auto at = open.front();
        open.pop_front();
        const auto here = ways[static_cast<std::size_t>(at)];
        if (here.spent >= best.cost) break;
        // Beyond what the innermost block can have in it one column is as good as another of its class; but
        // what is read on the way keeps its own, for a block that it opens.
        const auto like = machine_.layout.classes.least(here.reading, most);
        const std::int32_t key[] = {like.state, like.now.value, like.matched.value, here.speller_state};
        const auto known = seen.size();
        if (static_cast<std::size_t>(seen.intern(key)) != known) continue;
        const auto spelled = static_cast<std::size_t>(here.speller_state);
        Looked looked;
        Overlay closed(stack.view(), looked);
        if (speller_.boundary[spelled] && ends(machine_, closed, here.reading))
            offer(here.spent, {0, kNone, at, -1, here.reading, here.speller_state, stack});
        std::vector<std::pair<std::int32_t, std::int32_t>> tried;  // byte classes and speller states
        for (const auto& edge : speller_.edges[spelled]) {
            const std::pair move{lexer.byte_class(edge.byte), edge.next};
            if (std::find(tried.begin(), tried.end(), move) != tried.end()) continue;
            tried.push_back(move);
            auto next = here.reading;
            const auto state = lexer.next(next.state, move.first);
            if (state >= 0) lexer.move(next, state, move.first);
            if (state >= 0 && !any_column(lexer, next)) {
                const bool free = edge.byte == ' ' && here.reading.now.known();
                add({next, edge.next, here.spent + !free, at, edge.byte}, free);
                continue;
            }
            next = here.reading;
            auto next_stack = stack;
            std::vector<std::int32_t> pending{move.first};
            if (!read(machine_, next_stack, next, pending)) continue;
            kept_.push_back(next_stack);
            const auto left = cost(next, edge.next, next_stack.node());
            if (left == kNone) continue;
            offer(here.spent + 1 + left, {0, left, at, edge.byte, next, edge.next, next_stack});
        }
    }
    if (!best.stack) throw std::logic_error("no column leads on to the shortest completion");
    std::string path;
    if (best.byte >= 0) path.push_back(static_cast<char>(best.byte));
    for (auto at = best.from; ways[static_cast<std::size_t>(at)].from >= 0;
         at = ways[static_cast<std::size_t>(at)].from)
        path.push_back(static_cast<char>(ways[static_cast<std::size_t>(at)].byte));
    out.append(path.rbegin(), path.rend());
    reading = best.reading;
    speller_state = best.speller_state;
    stack = std::move(*best.stack);
    return best.left;
}

std::int64_t Completion::shortest(Reading reading, PersistentStack stack, std::string* out) {
    kept_.assign(1, stack);
    const auto length = cost(reading, 0, stack.node());
    if (out != nullptr) {
        out->clear();
        spell(std::move(reading), std::move(stack), length <= kLongest ? length : 0, *out);
    }
    pop_costs_.clear();
    serials_.clear();
    kept_.clear();
    return length;
}

// The text of a completion of so many bytes.
void Completion::spell(Reading reading, PersistentStack stack, std::int64_t left, std::string& out) {
    std::int32_t speller_state = 0;
    const auto at_column = [&] {
        if (left > 0 || !machine_.lexer.keeps_columns(reading.state)) return true;
        Looked looked;
        Overlay closed(stack.view(), looked);
        return ends(machine_, closed, reading);
    };
    while (left != kNone && (left > 0 || !at_column())) {
        if (left > 0 && step(reading, speller_state, stack, left - 1, out))
            --left;
        else if (machine_.lexer.keeps_columns(reading.state))
            left = step_to_column(reading, speller_state, stack, out);
        else
            throw std::logic_error("no byte leads on to the shortest completion");
    }
}

}  // namespace pdacon
