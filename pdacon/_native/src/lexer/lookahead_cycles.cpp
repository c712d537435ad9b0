#include "lexer/lookahead_cycles.hpp"

#include <algorithm>

#include "base/components.hpp"

namespace pdacon {

namespace {

// The parts of a line.
constexpr std::size_t kIsFallback = 0, kLabel = 1, kLookBehind = 2, kThreads = 3;

std::uint64_t pair_of(std::int32_t line, std::int32_t position) {
    return static_cast<std::uint64_t>(line) << 32 | static_cast<std::uint32_t>(position);
}

}  // namespace

LookaheadCycles::LookaheadCycles(const LexerSpec& spec, Relexing& relexing,
                                 const std::vector<std::uint8_t>& representative, Budget& budget)
    : spec_(spec),
      relexing_(relexing),
      representative_(representative),
      budget_(budget),
      pends_(static_cast<std::size_t>(spec.num_terminals())) {
    for (std::size_t at = 0; at < spec.nfa.kind.size(); ++at)
        if (spec.nfa.is_pending(static_cast<std::int32_t>(at)))
            pends_[static_cast<std::size_t>(spec.nfa.owner[at])] = true;
}

std::int32_t LookaheadCycles::add_line(std::span<const std::int32_t> line) {
    const auto id = lines_.intern(line);
    steps_.resize(lines_.size());
    return id;
}

void LookaheadCycles::add_match(std::int32_t line, std::int32_t look_behind, std::string text) {
    matches_.push_back({static_cast<std::size_t>(line), look_behind, std::move(text)});
}

void LookaheadCycles::add_step(std::int32_t line, std::int32_t byte_class, std::int32_t next) {
    auto& steps = steps_[static_cast<std::size_t>(line)];
    auto known = std::ranges::find(steps, next, &Step::next);
    if (known == steps.end()) known = steps.insert(known, {next, {}});
    known->classes.set(static_cast<std::size_t>(byte_class));
}

bool LookaheadCycles::contains(std::span<const std::int32_t> line, std::int32_t set) const {
    if (looping_.empty()) return false;
    const auto id = lines_.find(line);
    return id >= 0 && std::ranges::any_of(relexing_.positions(set), [&](std::int32_t position) {
               return position != Relexing::kBetween && looping_.contains(pair_of(id, position));
           });
}

std::vector<UnboundedLookahead> LookaheadCycles::find() {
    explore();
    std::vector<std::vector<std::int32_t>> successors(nodes_.size());
    for (std::size_t at = 0; at < nodes_.size(); ++at)
        for (const auto& edge : edges_[at]) successors[at].push_back(edge.target);
    const auto component = components(successors);
    std::vector<UnboundedLookahead> found;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
        bool loops = false;
        for (const auto& edge : edges_[at]) {
            if (component[static_cast<std::size_t>(edge.target)] != component[at]) continue;
            looping_.insert(pair_of(nodes_[at].line, edge.position));
            loops = true;
        }
        const auto label = lines_[nodes_[at].line][kLabel];
        if (!loops || std::ranges::find(found, label, &UnboundedLookahead::label) != found.end()) continue;
        const auto start = static_cast<std::int32_t>(at);
        found.push_back({label, text_to(start), shortest_loop(start, component)});
    }
    return found;
}

// All pairs that some text leads to, those of short texts first.
void LookaheadCycles::explore() {
    std::ranges::stable_sort(matches_, {}, [](const Found& match) { return match.text.size(); });
    std::size_t length = 0, at = 0;
    for (std::size_t match = 0; match < matches_.size() || at < nodes_.size(); ++length) {
        for (; match < matches_.size() && matches_[match].text.size() <= length; ++match) {
            const auto line = static_cast<std::int32_t>(matches_[match].line);
            const auto set = relexing_.after(lines_[line][kLabel], matches_[match].look_behind);
            node(line, -1 - set, -1 - static_cast<std::int32_t>(match), 0);
        }
        for (const auto end = nodes_.size(); at < end; ++at) expand(static_cast<std::int32_t>(at));
    }
}

std::int32_t LookaheadCycles::node(std::int32_t line, std::int32_t place, std::int32_t parent,
                                   std::int32_t byte_class) {
    const std::int32_t key[] = {line, place};
    const auto id = node_ids_.intern(key);
    if (static_cast<std::size_t>(id) == nodes_.size()) {
        nodes_.push_back({line, place, parent, byte_class});
        edges_.emplace_back();
    }
    return id;
}

void LookaheadCycles::expand(std::int32_t at) {
    const auto [line, place, parent, byte_class] = nodes_[static_cast<std::size_t>(at)];
    const auto& all = moves(place);
    std::vector<Edge> edges;
    for (const auto& step : steps_[static_cast<std::size_t>(line)]) {
        const auto look_behind = lines_[step.next][kLookBehind];
        for (const auto& move : all) {
            budget_.tick();
            const auto shared = step.classes & move.classes;
            if (shared.none() || is_ahead(line, move.position)) continue;
            std::int32_t cls = 0;
            while (!shared[static_cast<std::size_t>(cls)]) ++cls;
            const auto add = [&](std::int32_t next) {
                edges.push_back({node(step.next, next, at, cls), cls, move.position});
            };
            const auto& [positions, matched] = arrival(move.target);
            for (const auto position : positions)
                if (!is_ahead(step.next, position)) add(position);
            if (matched)
                add(-1 - relexing_.after_match(spec_.nfa.owner[static_cast<std::size_t>(move.position)],
                                               look_behind));
        }
    }
    edges_[static_cast<std::size_t>(at)] = std::move(edges);
}

// Whether the line's threads read a position in step with the pushback of a fallback: they stay alive as
// long, and match when it would, so that the fallback is never used for it. That holds only where a match is
// certain at once. A match that depends on what follows leaves the fallback as it is, and the pushback goes
// on with the next lexeme.
bool LookaheadCycles::is_ahead(std::int32_t line, std::int32_t position) const {
    const auto parts = lines_[line];
    return parts[kIsFallback] != 0 &&
           !pends_[static_cast<std::size_t>(spec_.nfa.owner[static_cast<std::size_t>(position)])] &&
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
    for (auto edge = static_cast<std::size_t>(nfa.offset[static_cast<std::size_t>(position)]);
         edge < static_cast<std::size_t>(nfa.offset[static_cast<std::size_t>(position) + 1]); ++edge) {
        auto move = std::find_if(moves.begin() + static_cast<std::ptrdiff_t>(first), moves.end(),
                                 [&](const Move& known) { return known.target == nfa.target[edge]; });
        if (move == moves.end()) move = moves.insert(move, {position, {}, nfa.target[edge]});
        for (std::size_t cls = 0; cls < representative_.size(); ++cls)
            if (nfa.low[edge] <= representative_[cls] && representative_[cls] <= nfa.high[edge])
                move->classes.set(cls);
    }
}

const LookaheadCycles::Arrival& LookaheadCycles::arrival(std::int32_t target) {
    const auto [known, added] = arrivals_.try_emplace(target);
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
        const auto& node = nodes_[static_cast<std::size_t>(at)];
        if (node.parent < 0) {
            std::reverse(text.begin(), text.end());
            return matches_[static_cast<std::size_t>(-1 - node.parent)].text + text;
        }
        text.push_back(static_cast<char>(representative_[static_cast<std::size_t>(node.byte_class)]));
        at = node.parent;
    }
}

// The shortest text that leads from a node of a loop back to it.
std::string LookaheadCycles::shortest_loop(std::int32_t start,
                                           std::span<const std::int32_t> component) const {
    struct Visit {
        std::int32_t node;
        std::size_t before;
        std::int32_t byte_class;
    };
    std::vector<Visit> visits{{start, 0, 0}};
    std::unordered_set<std::int32_t> seen;
    for (std::size_t i = 0; i < visits.size(); ++i) {
        for (const auto& edge : edges_[static_cast<std::size_t>(visits[i].node)]) {
            if (component[static_cast<std::size_t>(edge.target)] !=
                component[static_cast<std::size_t>(start)])
                continue;
            if (edge.target != start) {
                if (seen.insert(edge.target).second) visits.push_back({edge.target, i, edge.byte_class});
                continue;
            }
            std::string text{static_cast<char>(representative_[static_cast<std::size_t>(edge.byte_class)])};
            for (auto at = i; at > 0; at = visits[at].before)
                text.push_back(
                    static_cast<char>(representative_[static_cast<std::size_t>(visits[at].byte_class)]));
            std::reverse(text.begin(), text.end());
            return text;
        }
    }
    return {};
}

}  // namespace pdacon
