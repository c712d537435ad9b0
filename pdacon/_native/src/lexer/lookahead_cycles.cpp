#include "lexer/lookahead_cycles.hpp"

#include <algorithm>

#include "base/components.hpp"

namespace pdacon {

namespace {

// The indices of a wait's integers.
constexpr std::size_t kIsFallback = 0, kLabel = 1, kLookBehind = 2, kThreads = 3;

std::uint64_t pair_of(std::int32_t wait, std::int32_t position) {
    return static_cast<std::uint64_t>(wait) << 32 | static_cast<std::uint32_t>(position);
}

}  // namespace

LookaheadCycles::LookaheadCycles(const LexerSpec& spec, Relexing& relexing,
                                 const std::vector<std::uint8_t>& representative, Budget& budget)
    : spec_(spec),
      relexing_(relexing),
      representative_(representative),
      budget_(budget),
      may_pend_(static_cast<std::size_t>(spec.num_terminals())) {
    for (std::size_t at = 0; at < spec.nfa.kind.size(); ++at)
        if (spec.nfa.is_pending(static_cast<std::int32_t>(at))) may_pend_[spec.nfa.owner[at]] = true;
}

std::int32_t LookaheadCycles::add_wait(std::span<const std::int32_t> wait) {
    const auto id = waits_.intern(wait);
    steps_.resize(waits_.size());
    return id;
}

void LookaheadCycles::add_match(std::int32_t wait, std::int32_t look_behind, std::string text) {
    matches_.push_back({static_cast<std::size_t>(wait), look_behind, std::move(text)});
}

void LookaheadCycles::add_step(std::int32_t wait, std::int32_t byte_class, std::int32_t next) {
    auto& steps = steps_[wait];
    auto known = std::ranges::find(steps, next, &Step::next);
    if (known == steps.end()) known = steps.insert(known, {next, {}});
    known->classes.set(static_cast<std::size_t>(byte_class));
}

bool LookaheadCycles::contains(std::span<const std::int32_t> wait, std::int32_t set) const {
    if (on_cycle_.empty()) return false;
    const auto id = waits_.find(wait);
    return id >= 0 && std::ranges::any_of(relexing_.positions(set), [&](std::int32_t position) {
               return position != Relexing::kBetween && on_cycle_.contains(pair_of(id, position));
           });
}

std::vector<UnboundedLookahead> LookaheadCycles::find() {
    explore();
    std::vector<std::vector<std::int32_t>> successors(pairs_.size());
    for (std::size_t at = 0; at < pairs_.size(); ++at)
        for (const auto& edge : edges_[at]) successors[at].push_back(edge.target);
    const auto component = components(successors);
    std::vector<UnboundedLookahead> found;
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
        bool is_on_cycle = false;
        for (const auto& edge : edges_[at]) {
            if (component[edge.target] != component[at]) continue;
            on_cycle_.insert(pair_of(pairs_[at].wait, edge.position));
            is_on_cycle = true;
        }
        const auto label = waits_[pairs_[at].wait][kLabel];
        if (!is_on_cycle || std::ranges::find(found, label, &UnboundedLookahead::label) != found.end())
            continue;
        const auto start = static_cast<std::int32_t>(at);
        found.push_back({label, text_to(start), shortest_cycle(start, component)});
    }
    return found;
}

// Breadth-first search: all pairs that some text leads to, those of shorter texts first.
void LookaheadCycles::explore() {
    std::ranges::stable_sort(matches_, {}, [](const FreshMatch& match) { return match.text.size(); });
    std::size_t length = 0, at = 0;
    for (std::size_t match = 0; match < matches_.size() || at < pairs_.size(); ++length) {
        for (; match < matches_.size() && matches_[match].text.size() <= length; ++match) {
            const auto wait = static_cast<std::int32_t>(matches_[match].wait);
            const auto set = relexing_.after(waits_[wait][kLabel], matches_[match].look_behind);
            pair(wait, -1 - set, -1 - static_cast<std::int32_t>(match), 0);
        }
        for (const auto end = pairs_.size(); at < end; ++at) expand(static_cast<std::int32_t>(at));
    }
}

std::int32_t LookaheadCycles::pair(std::int32_t wait, std::int32_t place, std::int32_t parent,
                                   std::int32_t byte_class) {
    const std::int32_t key[] = {wait, place};
    const auto id = pair_ids_.intern(key);
    if (static_cast<std::size_t>(id) == pairs_.size()) {
        pairs_.push_back({wait, place, parent, byte_class});
        edges_.emplace_back();
    }
    return id;
}

void LookaheadCycles::expand(std::int32_t at) {
    const auto [wait, place, parent, byte_class] = pairs_[at];
    const auto& all = moves(place);
    std::vector<Edge> edges;
    for (const auto& step : steps_[wait]) {
        const auto look_behind = waits_[step.next][kLookBehind];
        for (const auto& move : all) {
            budget_.tick();
            const auto shared = step.classes & move.classes;
            if (shared.none() || is_ahead(wait, move.position)) continue;
            std::int32_t cls = 0;
            while (!shared[cls]) ++cls;
            const auto add = [&](std::int32_t next) {
                edges.push_back({pair(step.next, next, at, cls), cls, move.position});
            };
            const auto& [positions, matched] = closed(move.target);
            for (const auto position : positions)
                if (!is_ahead(step.next, position)) add(position);
            if (matched)
                add(-1 - relexing_.after_match(spec_.nfa.owner[move.position],
                                               spec_.nfa.look_behind_of_match(move.target, look_behind)));
        }
    }
    edges_[at] = std::move(edges);
}

// Whether a thread of the wait is at the position too. If the match is the fallback, such a thread stays
// alive as long as the pushback does and matches when it would, so that the fallback is never used for it.
// That holds only where a match of the position's terminal is certain at once: a match that depends on
// following text leaves the fallback as it is, and the pushback goes on with the next lexeme.
bool LookaheadCycles::is_ahead(std::int32_t wait, std::int32_t position) const {
    const auto parts = waits_[wait];
    return parts[kIsFallback] != 0 && !may_pend_[spec_.nfa.owner[position]] &&
           std::ranges::find(parts.subspan(kThreads), position) != parts.end();
}

const std::vector<LookaheadCycles::Move>& LookaheadCycles::moves(std::int32_t place) {
    const auto [known, added] = moves_.try_emplace(place);
    if (added) {
        if (place >= 0) {
            add_moves(place, known->second);
        } else {
            for (const auto position : relexing_.positions(-1 - place))
                if (position != Relexing::kBetween) add_moves(position, known->second);
        }
    }
    return known->second;
}

void LookaheadCycles::add_moves(std::int32_t position, std::vector<Move>& moves) const {
    const auto& nfa = spec_.nfa;
    const auto first = moves.size();
    for (const auto edge : nfa.edges(position)) {
        auto move = std::find_if(moves.begin() + static_cast<std::ptrdiff_t>(first), moves.end(),
                                 [&](const Move& known) { return known.target == nfa.target[edge]; });
        if (move == moves.end()) move = moves.insert(move, {position, {}, nfa.target[edge]});
        for (std::size_t cls = 0; cls < representative_.size(); ++cls)
            if (nfa.low[edge] <= representative_[cls] && representative_[cls] <= nfa.high[edge])
                move->classes.set(cls);
    }
}

const LookaheadCycles::Closed& LookaheadCycles::closed(std::int32_t target) {
    const auto [known, added] = closed_.try_emplace(target);
    if (added) {
        std::set<std::int32_t> positions;
        known->second.matched = relexing_.close(target, positions);
        known->second.positions.assign(positions.begin(), positions.end());
    }
    return known->second;
}

std::string LookaheadCycles::text_to(std::int32_t at) const {
    std::string text;
    for (;;) {
        const auto& pair = pairs_[at];
        if (pair.parent < 0) {
            std::reverse(text.begin(), text.end());
            return matches_[-1 - pair.parent].text + text;
        }
        text.push_back(static_cast<char>(representative_[pair.byte_class]));
        at = pair.parent;
    }
}

// The shortest text that leads from a pair on a cycle back to it.
std::string LookaheadCycles::shortest_cycle(std::int32_t start,
                                            std::span<const std::int32_t> component) const {
    struct Visit {
        std::int32_t pair;
        std::size_t before;
        std::int32_t byte_class;
    };
    std::vector<Visit> visits{{start, 0, 0}};
    std::unordered_set<std::int32_t> seen;
    for (std::size_t i = 0; i < visits.size(); ++i) {
        for (const auto& edge : edges_[visits[i].pair]) {
            if (component[edge.target] != component[start]) continue;
            if (edge.target != start) {
                if (seen.insert(edge.target).second) visits.push_back({edge.target, i, edge.byte_class});
                continue;
            }
            std::string text{static_cast<char>(representative_[edge.byte_class])};
            for (auto at = i; at > 0; at = visits[at].before)
                text.push_back(static_cast<char>(representative_[visits[at].byte_class]));
            std::reverse(text.begin(), text.end());
            return text;
        }
    }
    return {};
}

}  // namespace pdacon
