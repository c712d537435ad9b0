#include "completion/completion.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace pdacon {

namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) { return LeastYields::sum(a, b); }

// Null where a goal pops the whole stack.
const StackNode* below(const StackNode* node, const LeastYields::Goal& goal) {
    node = node->below;
    for (auto left = goal.left; left > 0 && node != nullptr; --left) node = node->below;
    return node;
}

}  // namespace

std::int32_t Completion::serial(const StackNode* node) {
    return serials_.try_emplace(node, static_cast<std::int32_t>(serials_.size())).first->second;
}

// What is left at least when a goal of the node's state has been reached.
std::int64_t Completion::least_below(const StackNode* node, const LeastYields::Goal& goal) {
    if (goal.lhs == yields_.whole()) return 0;
    const auto* revealed = below(node, goal);
    return revealed == nullptr ? kNone : least_after(goal.lhs, revealed);
}

// The least that is left where a reduction is complete above a node.
std::int64_t Completion::least_after(std::int32_t lhs, const StackNode* node) {
    static_assert(kNone == LeastYields::kNever);
    const auto known = least_after_.find(key_of(lhs, node));
    if (known != least_after_.end()) return known->second;
    from_below(lhs, node, least_after_,
               [&](std::int32_t, const StackNode*, std::int64_t least) { return least; });
    return least_after_.at(key_of(lhs, node));
}

// Adds to `found` what `find` finds for a reduction that is complete above a node, and before that for those
// that it leads to. Iterative: first down, for what is needed, then up.
template <class Find>
void Completion::from_below(std::int32_t lhs, const StackNode* node, Found& found, Find find) {
    std::vector<std::pair<std::int32_t, const StackNode*>> open{{lhs, node}};
    while (!open.empty()) {
        const auto [nonterminal, at] = open.back();
        const auto goals = yields_.goals(at->state);
        auto least = kNone;
        bool ready = true;
        for (std::size_t goal = 0; goal < goals.size(); ++goal) {
            const auto cost = yields_.after(nonterminal, at->state, static_cast<std::int32_t>(goal));
            if (cost == kNone) continue;
            std::int64_t rest = 0;
            if (goals[goal].lhs != yields_.whole()) {
                const auto* revealed = below(at, goals[goal]);
                if (revealed == nullptr) continue;
                const auto known = found.find(key_of(goals[goal].lhs, revealed));
                if (known == found.end()) {
                    open.emplace_back(goals[goal].lhs, revealed);
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

// Raises what is known to be left at least where a goal of the node's state has been reached, whatever is
// pending then. False: it is known already, or there is no telling. Without it each level whose words need
// blanks between them would make all levels above look for other ways, that many bytes further.
bool Completion::raise_below(const StackNode* node, const LeastYields::Goal& goal) {
    if (goal.lhs == yields_.whole() || speller_.edges.size() > 1) return false;
    const auto* revealed = below(node, goal);
    if (raised_below_.contains(key_of(goal.lhs, revealed))) return false;
    from_below(goal.lhs, revealed, raised_below_,
               [&](std::int32_t lhs, const StackNode* at, std::int64_t least) {
                   const auto any = place(lhs, kAny, at, least);
                   refine(any, sum(least, kFarther));
                   const auto found = places_[static_cast<std::size_t>(any)].least;
                   if (found != kNone) least = std::max(least, found - controls_.slack());
                   return least_after_[key_of(lhs, at)] = found == kNone ? kNone : least;
               });
    return true;
}

// The least from a place to one of its state's goals.
std::int64_t Completion::least_from(const Place& from, std::int32_t goal) {
    const auto state = from.node->state;
    return from.lhs < 0 ? yields_.goals(state)[static_cast<std::size_t>(goal)].cost
                        : yields_.after(from.lhs, state, goal);
}

std::int32_t Completion::place(std::int32_t lhs, std::int32_t pending, const StackNode* node,
                               std::int64_t least) {
    const std::int32_t key[] = {lhs, pending, serial(node)};
    const auto id = place_ids_.intern(key);
    if (static_cast<std::size_t>(id) == places_.size()) places_.push_back({lhs, pending, node, least});
    return id;
}

// -1: nothing is known of it yet.
std::int32_t Completion::known_place(std::int32_t lhs, std::int32_t pending, const StackNode* node) {
    const std::int32_t key[] = {lhs, pending, serial(node)};
    return place_ids_.find(key);
}

// Each way on costs what is known of it, or else one more than what has been looked for.
Completion::Choice Completion::choose(const Place& from) {
    Choice best;
    std::int32_t at = 0;
    const auto offer = [&](std::int64_t cost, bool exact, std::int32_t to, std::int32_t summary) {
        if (cost < best.cost || (cost == best.cost && exact && !best.exact))
            best = {cost, best.cost, exact, to, summary, at};
        else
            best.second = std::min(best.second, cost);
    };
    const auto state = from.node->state;
    const auto goals = yields_.goals(state);
    for (; static_cast<std::size_t>(at) < goals.size(); ++at) {
        const auto& goal = goals[static_cast<std::size_t>(at)];
        const auto least = least_from(from, at);
        const auto rest = least == kNone ? kNone : least_below(from.node, goal);
        if (rest == kNone) continue;
        const auto summary = from.lhs < 0           ? summaries_.any_of(from.pending, state, at)
                             : from.pending == kAny ? summaries_.completed_before_any(from.lhs, state, at)
                                                    : summaries_.completed(from.lhs, from.pending, state, at);
        const auto bound = summaries_.bound(summary);
        if (bound < WeightedSummaries::kUnbounded)
            offer(sum(sum(least, bound + 1), rest), false, -1, summary);
        for (const auto& [control, more] : summaries_.results(summary)) {
            const auto cost = sum(least, more), at_least = sum(cost, rest);
            if (goal.lhs == yields_.whole()) {
                offer(cost, true, -1, -1);
                continue;
            }
            // Of many that may be the best one is looked into at a time; but what is known of others counts.
            const auto to = at_least < best.cost    ? place(goal.lhs, control, below(from.node, goal), rest)
                            : at_least == best.cost ? known_place(goal.lhs, control, below(from.node, goal))
                                                    : -1;
            if (to < 0) {
                best.second = std::min(best.second, at_least);
                continue;
            }
            const auto& reached = places_[static_cast<std::size_t>(to)];
            offer(sum(cost, reached.least), reached.exact, to, -1);
            if (best.exact && best.cost <= from.least) return best;
        }
    }
    return best;
}

// Until it is known exactly what a place costs, or that it is more than a limit. The best way on is followed
// as long as it is the best.
//
// Source: recursive best-first search (Korf 1993), without recursion.
void Completion::refine(std::int32_t root, std::int64_t limit) {
    struct Open {
        std::int32_t place;
        std::int64_t limit;
        std::int32_t next = -1;  // the way on that is being followed, and what there is to it
        std::int64_t before = 0;
    };
    std::vector<Open> open{{root, limit}};
    while (!open.empty()) {
        const auto [at, most, followed, before] = open.back();
        if (followed >= 0) {
            const auto& reached = places_[static_cast<std::size_t>(followed)];
            auto& known = places_[static_cast<std::size_t>(at)];
            known.exact = known.exact || (reached.exact && sum(before, reached.least) <= known.least);
        }
        const auto from = places_[static_cast<std::size_t>(at)];
        if (from.exact || from.least > most) {
            open.pop_back();
            continue;
        }
        const auto best = choose(from);
        auto& known = places_[static_cast<std::size_t>(at)];
        known.least = std::max(known.least, best.cost);
        known.exact = best.exact || best.cost >= LeastYields::kMost;
        if (known.exact || known.least > most) {
            open.pop_back();
        } else if (best.summary >= 0) {
            const auto bound = summaries_.bound(best.summary) + 1;
            if (bound > 1 &&
                raise_below(from.node, yields_.goals(from.node->state)[static_cast<std::size_t>(best.goal)]))
                continue;
            summaries_.explore(best.summary,
                               bound > kFewBytes ? WeightedSummaries::kUnbounded : bound + bound / 2);
        } else {
            const auto& next = places_[static_cast<std::size_t>(best.place)];
            const auto room = std::min(most, best.second);
            open.back().next = best.place;
            open.back().before = best.cost - next.least;
            open.push_back({best.place, next.least + (room - best.cost)});
        }
    }
}

// Exact if it is no more than the limit; if it is more, so is the answer.
std::int64_t Completion::cost(const Reading& reading, std::int32_t speller_state, const StackNode* stack,
                              std::int64_t limit) {
    const auto [list, before] = controls_.following(reading, speller_state);
    const auto goals = yields_.goals(stack->state);
    auto least = kNone;
    for (const auto& goal : goals)
        if (const auto rest = least_below(stack, goal); rest != kNone)
            least = std::min(least, sum(goal.cost, rest));
    const auto root = place(-1, list, stack, least);
    refine(root, limit - before);
    const auto found = places_[static_cast<std::size_t>(root)].least;
    return found == kNone ? kNone : found + before;
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
        if (cost(next, edge.next, next_stack.node(), left) != left) continue;
        reading = next;
        speller_state = edge.next;
        stack = std::move(next_stack);
        out.push_back(static_cast<char>(edge.byte));
        return true;
    }
    return false;
}

// In a newline whose column is not one that leads on for least: reads up to where the cost is certain again,
// which is behind a line break or the newline's end, with as many blanks on the way as it takes, and spaces
// rather than tabs. They cost nothing. Returns what is left then; kNone: the text may end there.
std::int64_t Completion::step_to_column(Reading& reading, std::int32_t& speller_state, PersistentStack& stack,
                                        std::string& out) {
    struct Way {
        Reading reading;
        std::int32_t speller_state;
        std::int64_t spent;
        std::int32_t tabs, spaces;  // that cost nothing
        std::int32_t from;
        std::uint8_t byte;
        auto order() const { return std::tuple(spent, tabs, spaces); }
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
    const auto most = machine_.layout.equivalent_from(stack.column());
    std::vector<Way> ways;
    const auto later = [&](std::int32_t a, std::int32_t b) {
        return std::pair(ways[static_cast<std::size_t>(a)].order(), a) >
               std::pair(ways[static_cast<std::size_t>(b)].order(), b);
    };
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, decltype(later)> open(later);
    Interner seen;
    const auto add = [&](const Way& way) {
        ways.push_back(way);
        open.push(static_cast<std::int32_t>(ways.size()) - 1);
    };
    const auto offer = [&](std::int64_t cost, const Best& found) {
        if (cost >= best.cost) return;
        best = found;
        best.cost = cost;
    };
    add({reading, speller_state, 0, 0, 0, -1, 0});
    while (!open.empty()) {
        const auto at = open.top();
        open.pop();
        const auto here = ways[static_cast<std::size_t>(at)];
        if (here.spent >= best.cost) break;
        // Beyond what the innermost block can have in it one column is as good as another of its class; but
        // what is read on the way keeps its own, for a block that it opens.
        const auto like = machine_.layout.classes.least(here.reading, most);
        const std::int32_t key[] = {like.state, like.now.value, like.matched.value, here.speller_state};
        const auto known = seen.size();
        if (static_cast<std::size_t>(seen.intern(key)) != known) continue;
        const auto spelled = static_cast<std::size_t>(here.speller_state);
        ReadSet read_set;
        Overlay closed(stack.view(), read_set);
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
                const bool free = here.reading.now.known() && lengths_.of_byte(move.first) == 0;
                const bool tab = free && edge.byte == '\t';
                add({next, edge.next, here.spent + !free, here.tabs + tab, here.spaces + (free && !tab), at,
                     edge.byte});
                continue;
            }
            next = here.reading;
            auto next_stack = stack;
            std::vector<std::int32_t> pending{move.first};
            if (!read(machine_, next_stack, next, pending)) continue;
            kept_.push_back(next_stack);
            const auto limit = best.cost == kNone ? kUnlimited : best.cost - here.spent - 1;
            const auto left = cost(next, edge.next, next_stack.node(), limit);
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

std::int64_t Completion::shortest(Reading reading, PersistentStack stack, std::string* out,
                                  std::size_t most) {
    kept_.assign(1, stack);
    const auto length = cost(reading, 0, stack.node(), kUnlimited);
    if (out != nullptr) {
        out->clear();
        const bool short_enough = length <= kLongest || most < kLongest;
        spell(std::move(reading), std::move(stack), short_enough ? length : 0, most, *out);
    }
    serials_.clear();
    least_after_.clear();
    raised_below_.clear();
    place_ids_ = {};
    places_.clear();
    kept_.clear();
    return length;
}

// The text of a completion of so many bytes, or its beginning.
void Completion::spell(Reading reading, PersistentStack stack, std::int64_t left, std::size_t most,
                       std::string& out) {
    std::int32_t speller_state = 0;
    const auto at_column = [&] {
        if (left > 0 || !machine_.lexer.keeps_columns(reading.state)) return true;
        ReadSet read_set;
        Overlay closed(stack.view(), read_set);
        return speller_.boundary[static_cast<std::size_t>(speller_state)] && ends(machine_, closed, reading);
    };
    auto least = left;
    int idle = 0;  // steps after which the text was no nearer to its end
    while (out.size() < most && left != kNone && (left > 0 || !at_column())) {
        if (left > 0 && step(reading, speller_state, stack, left - 1, out)) {
            --left;
        } else if (machine_.layout.newline >= 0 && idle <= kMostIdle) {  // or the byte before a newline
            left = step_to_column(reading, speller_state, stack, out);
            idle = left < least ? 0 : idle + 1;
            least = std::min(least, left);
        } else {
            throw std::logic_error("no byte leads on to the shortest completion");
        }
    }
}

}  // namespace pdacon
