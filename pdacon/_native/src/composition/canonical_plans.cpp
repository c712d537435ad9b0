#include "composition/canonical_plans.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <ranges>
#include <tuple>
#include <utility>

#include "composition/canonical_spelling.hpp"
#include "detokenizer/token_set.hpp"

namespace pdacon {

void CanonicalPlans::forget() {
    rows_.forget();
    plans_ = {};
    tables_ = {};
    completions_ = {};
}

CanonicalPlans::Key CanonicalPlans::key(const FilteredConfiguration& here, std::int32_t state,
                                        bool in_bytes) {
    return {here.lexing.state,
            here.lexing.now.value,
            here.lexing.matched.value,
            cells_.of(here.stack.node()),
            state,
            (in_bytes ? 4 : 0) + (here.leading ? 2 : 0) + (here.only_space ? 1 : 0)};
}

// A table is the same for all last tokens, so its key has the filter's situation in place of its state.
CanonicalPlans::Key CanonicalPlans::table_key(const FilteredConfiguration& here, bool in_bytes) {
    const auto [set, text] = filter_.situation(here.state);
    auto made = key(here, set, in_bytes);
    made.push_back(text);
    return made;
}

bool CanonicalPlans::ends_here(const FilteredConfiguration& here) {
    if (here.only_space || !filter_.ends(here.state)) return false;
    ReadSet read_set;
    Overlay stack(here.stack.view(), read_set);
    return ends(machine_, stack, here.lexing);
}

bool CanonicalPlans::read_token(FilteredConfiguration& here, std::int32_t token) const {
    auto text = tokens_.bytes_of(token);
    if (here.leading && text.front() == ' ') text.remove_prefix(1);
    here.only_space = text.empty();
    here.leading = false;
    std::vector<std::int32_t> pending;
    for (const char byte : text | std::views::reverse)
        pending.push_back(machine_.lexer.byte_class(static_cast<std::uint8_t>(byte)));
    return read(machine_, here.stack, here.lexing, pending);
}

std::int64_t CanonicalPlans::cost_of(const FilteredConfiguration& before, std::int32_t token,
                                     bool in_bytes) const {
    if (!in_bytes) return 1;
    const auto text = tokens_.bytes_of(token);
    return std::ssize(text) - (before.leading && text.front() == ' ' ? 1 : 0);
}

std::int64_t CanonicalPlans::estimate(const FilteredConfiguration& here, bool in_bytes) {
    if (ends_here(here)) return 0;
    auto& engine = resources_.engine();
    const auto cell = cells_.of(here.stack.node());
    if (in_bytes || !guided_by_tokens_) {
        const auto bytes = here.leading ? 0 : engine.byte_distances().least(here.lexing, 0, cell);
        if (in_bytes || bytes == kNone) return bytes;
        const auto longest = std::int64_t{resources_.trie().max_depth()};
        return std::max<std::int64_t>((bytes + longest - 1) / longest, 1);
    }
    const auto least = engine.token_distances().least(here.lexing, here.leading, here.stack.view());
    // It is 0 where only the filter keeps the text from ending.
    return least == kNone ? kNone : std::max<std::int64_t>(least, 1);
}

std::int32_t CanonicalPlans::find_id(const FilteredConfiguration& here, bool in_bytes) {
    if (const auto known = plans_.find(key(here, here.state, in_bytes)); known >= 0) return known;
    auto found = search(here, in_bytes);
    return plans_.find_or_make(key(here, here.state, in_bytes), [&] { return std::move(found); });
}

CanonicalPlans::Plan CanonicalPlans::search(const FilteredConfiguration& start, bool in_bytes) {
    struct Node {
        FilteredConfiguration here;
        std::int64_t cost;
        std::vector<std::int32_t> tokens;
    };
    struct Waiting {
        std::int64_t total;
        std::size_t node;
        // The least first, and of these the last, which is the nearest to an end.
        bool operator<(const Waiting& other) const {
            return std::tie(other.total, node) < std::tie(total, other.node);
        }
    };
    std::deque<Node> nodes;
    std::priority_queue<Waiting> waiting;
    std::map<Key, std::int64_t> costs;
    Plan best;
    const auto add = [&](FilteredConfiguration here, std::int64_t cost, std::vector<std::int32_t> path) {
        const auto rest = estimate(here, in_bytes);
        if (rest == kNone || cost + rest >= best.cost) return;
        const auto [known, is_new] = costs.emplace(key(here, here.state, in_bytes), cost);
        if (!is_new && known->second <= cost) return;
        known->second = cost;
        waiting.push({cost + rest, nodes.size()});
        nodes.push_back({std::move(here), cost, std::move(path)});
    };
    add(start, 0, {});
    for (std::int32_t pops = 0; pops < (best.cost == kNone ? kMostPops : kMostBetter) && !waiting.empty();
         ++pops) {
        budget_.tick();
        const auto [total, at] = waiting.top();
        waiting.pop();
        if (total >= best.cost) break;
        const auto& [here, cost, path] = nodes[at];
        if (auto rest = spelled_completion(here, in_bytes); rest && cost + rest->cost < best.cost) {
            best = {cost + rest->cost, path};
            best.tokens.insert(best.tokens.end(), rest->tokens.begin(), rest->tokens.end());
        }
        if (best.cost <= total) break;
        for (const auto token : next_tokens(here)) {
            auto next = here;
            next.state = filter_.step(here.state, token);
            if (next.state < 0 || !read_token(next, token)) continue;
            auto longer = path;
            longer.push_back(token);
            add(std::move(next), cost + cost_of(here, token, in_bytes), std::move(longer));
        }
    }
    return best;
}

// Of the allowed tokens those after which the fewest tokens, or bytes, are missing without the filter.
std::vector<std::int32_t> CanonicalPlans::next_tokens(const FilteredConfiguration& here) {
    auto live = live_tokens(here);
    std::vector<std::int32_t> allowed(tokens_.words());
    filter_.combine(here.state, live.within.data(), live.across.data(), allowed);
    for (const auto token : tokens_.end_tokens()) clear_bit(allowed, token);
    std::vector<std::int32_t> found;
    std::vector<std::int32_t> taken(tokens_.words());
    const auto take = [&](std::span<const std::int32_t> mask) {
        for (std::size_t word = 0; word < allowed.size(); ++word) {
            taken[word] = allowed[word] & mask[word];
            allowed[word] &= ~mask[word];
        }
        return for_each_bit(taken, [&](std::int32_t token) {
            if (found.size() == kMostChildren) return false;
            found.push_back(token);
            return true;
        });
    };
    auto& engine = resources_.engine();
    if (guided_by_tokens_) {
        for (const auto& [distance, mask] :
             engine.compute_by_distance(here.lexing, here.leading, here.stack.view()))
            if (!take(mask)) break;
        return found;
    }
    const auto by_bytes = engine.assemble_by_bytes(here.lexing, here.leading, here.stack.view());
    const auto enough = by_bytes.enough();
    for (std::int64_t after = 1;; after *= 2) {
        std::vector<std::int32_t> mask(tokens_.words(), 0);
        by_bytes.write(enough, after, mask);
        if (!take(mask) || after >= enough) return found;
    }
}

std::optional<CanonicalPlans::Plan> CanonicalPlans::spelled_completion(const FilteredConfiguration& here,
                                                                       bool in_bytes) {
    if (ends_here(here)) return Plan{0, {}};
    const auto& text = completion(here);
    if (text.empty()) return std::nullopt;
    const auto spelled = [&](const std::string& whole) {
        return spell(
            resources_.trie(), filter_, budget_, here.state, whole,
            [&](std::size_t at, std::int32_t state) { return at == whole.size() && filter_.ends(state); });
    };
    auto path = spelled(here.leading ? " " + text : text).path;
    // If the text itself begins with a space, the first token would lose that one.
    if (path.empty() && here.leading && !text.starts_with(' ')) path = spelled(text).path;
    if (path.empty()) return std::nullopt;
    std::vector<std::int32_t> tokens;
    for (const auto& each : path) tokens.push_back(each.token);
    return Plan{in_bytes ? std::ssize(text) : std::ssize(tokens), std::move(tokens)};
}

// The shortest completion in bytes; empty: it is too long.
const std::string& CanonicalPlans::completion(const FilteredConfiguration& here) {
    const auto id = completions_.find_or_make(key(here, 0, false), [&] {
        std::string text;
        const auto length =
            resources_.engine().shortest_completion(here.lexing, here.stack, &text, kMostText);
        return length > static_cast<std::int64_t>(kMostText) ? std::string() : text;
    });
    return completions_[id];
}

// The allowed tokens of a configuration, by the plans after them.
struct CanonicalPlans::Classified {
    struct Part {
        std::int64_t cost, stripped;  // as of Level
        bool marked;
        std::vector<std::int32_t> tokens;
    };
    std::vector<Part> parts;
    // Where they lead, and the plan there.
    std::vector<std::pair<FilteredConfiguration, std::int32_t>> reached;
};

// The plan after each token of a class; -1: none is known. `anew`: a text begins anew after each of them, so
// that none is a last token.
void CanonicalPlans::plan_class(const FilteredConfiguration& to, CanonicalFilter::Situation situation,
                                bool anew, bool in_bytes, std::span<const std::int32_t> tokens,
                                std::vector<std::int32_t>& plans) {
    const auto with = [&](std::int32_t last) {
        auto here = to;
        here.state = filter_.state_with(last, situation);
        const auto id = find_id(here, in_bytes);
        return plans_[id].cost == kNone ? -1 : id;
    };
    plans.assign(tokens.size(), kUnknown);
    const auto plan_others = [&](std::int32_t plan) { std::ranges::replace(plans, kUnknown, plan); };
    if (anew) return plan_others(with(CanonicalFilter::kNothing));
    const auto whatever = filter_.state_with(CanonicalFilter::kMergesWithAll, situation);
    std::size_t next = 0;
    for (std::int32_t asked = 0; asked < kMostAsked; ++asked) {
        while (next < tokens.size() && plans[next] != kUnknown) ++next;
        if (next == tokens.size()) return;
        const auto own = plans[next] = with(tokens[next]);
        if (own < 0) continue;
        const auto& planned = plans_[own].tokens;
        if (leads_to_end(whatever, planned)) return plan_others(own);
        if (filter_.merges().merges(tokens[next], planned.front())) continue;
        for (auto other = next + 1; other < tokens.size(); ++other)
            if (plans[other] == kUnknown && !filter_.merges().merges(tokens[other], planned.front()))
                plans[other] = own;
    }
    if (std::ranges::find(plans, kUnknown) != plans.end()) plan_others(with(CanonicalFilter::kMergesWithAll));
}

bool CanonicalPlans::leads_to_end(std::int32_t state, std::span<const std::int32_t> tokens) {
    for (const auto token : tokens)
        if (state = filter_.step(state, token); state < 0) return false;
    return filter_.ends(state);
}

void CanonicalPlans::classify(const FilteredConfiguration& here,
                              std::span<const CanonicalSearch::Successors> successors, bool marked,
                              std::span<const std::int32_t> live, bool in_bytes, Classified& found) {
    const auto situation = filter_.situation(here.state);
    for (const auto& [configuration, leading_there] : successors) {
        std::map<std::tuple<std::int32_t, std::int32_t, bool, std::int64_t>, std::vector<std::int32_t>>
            classes;
        for (const auto token : leading_there) {
            budget_.tick();
            if (!has_bit(live.data(), token)) continue;
            const auto after = filter_.after(situation, token, marked);
            if (!after) continue;
            const auto stripped =
                in_bytes ? std::ssize(tokens_.bytes_of(token)) - cost_of(here, token, true) : 0;
            classes[{after->set, after->text, filter_.begins_anew(token), stripped}].push_back(token);
        }
        for (auto& [kind, tokens] : classes) {
            const auto [set, text, anew, stripped] = kind;
            auto to = here;
            if (!read_token(to, tokens.front())) continue;
            std::vector<std::int32_t> plans;
            plan_class(to, {set, text}, anew, in_bytes, tokens, plans);
            std::map<std::int32_t, std::vector<std::int32_t>> by_plan;
            for (std::size_t at = 0; at < tokens.size(); ++at)
                if (plans[at] >= 0) by_plan[plans[at]].push_back(tokens[at]);
            for (auto& [plan, of_plan] : by_plan) {
                found.parts.push_back({plans_[plan].cost, stripped, marked, std::move(of_plan)});
                found.reached.emplace_back(to, plan);
            }
        }
    }
}

std::int32_t CanonicalPlans::make_table(const FilteredConfiguration& here, bool in_bytes) {
    if (const auto known = tables_.find(table_key(here, in_bytes)); known >= 0) return known;
    const auto live = live_tokens(here);
    Classified found;
    const auto successors = masks_.search().successors(here.lexing, here.stack.view(), here.leading);
    classify(here, successors, false, live.within, in_bytes, found);
    classify(here, successors, true, live.across, in_bytes, found);
    Table table;
    const auto& parts = found.parts;
    std::ranges::sort(found.parts, {}, [](const auto& part) { return std::pair(part.stripped, part.cost); });
    auto& pool = resources_.trie().masks();
    std::vector<std::int32_t> within(tokens_.words(), 0), across(tokens_.words(), 0);
    for (const auto token : tokens_.end_tokens())
        if (has_bit(live.across.data(), token)) set_bit(across, token);
    table.levels.push_back({-1, 0, rows_.intern(pool.of_words(within)), rows_.intern(pool.of_words(across))});
    for (std::size_t at = 0; at < parts.size();) {
        const auto cost = parts[at].cost, stripped = parts[at].stripped;
        for (; at < parts.size() && parts[at].cost == cost && parts[at].stripped == stripped; ++at)
            for (const auto token : parts[at].tokens) set_bit(parts[at].marked ? across : within, token);
        table.levels.push_back(
            {cost, stripped, rows_.intern(pool.of_words(within)), rows_.intern(pool.of_words(across))});
        if (at < parts.size() && parts[at].stripped != stripped) {
            within.assign(within.size(), 0);
            across.assign(across.size(), 0);
        }
    }
    std::ranges::sort(found.reached, {}, [&](const auto& reached) { return plans_[reached.second].cost; });
    for (const auto& [to, plan] : found.reached)
        table.reached.push_back({to.lexing, cells_.of(to.stack.node()), to.only_space, plan});
    return tables_.find_or_make(table_key(here, in_bytes), [&] { return std::move(table); });
}

void CanonicalPlans::begin() {
    require_measurable(machine_, true);
    resources_.measuring_engine();  // forgets what is known of stacks if it is much
    if (bytes() > std::min(kMostBytes, resources_.guarded().max_bytes() / 4)) forget();
}

CanonicalPlans::Plan CanonicalPlans::plan(const FilteredConfiguration& here, Allowance::Unit unit) {
    return resources_.guarded().run_for_caller([&] {
        begin();
        return plans_[find_id(here, unit == Allowance::Unit::kBytes)];
    });
}

CanonicalPlans::Plan CanonicalPlans::plan_after(const FilteredConfiguration& from,
                                                const FilteredConfiguration& to, Allowance::Unit unit) {
    return resources_.guarded().run_for_caller([&] {
        begin();
        const auto cell = cells_.of(to.stack.node());
        for (const auto& reached : tables_[make_table(from, unit == Allowance::Unit::kBytes)].reached) {
            if (reached.lexing != to.lexing || reached.cell != cell || reached.only_space != to.only_space)
                continue;
            if (const auto& plan = plans_[reached.plan]; leads_to_end(to.state, plan.tokens)) return plan;
        }
        return Plan();
    });
}

void CanonicalPlans::write(const FilteredConfiguration& here, const Allowance& allowance, std::int64_t least,
                           std::span<std::int32_t> mask) {
    resources_.guarded().run([&] {
        begin();
        const auto table = make_table(here, allowance.unit == Allowance::Unit::kBytes);
        write(tables_[table], here, allowance, least, mask);
        return true;
    });
}

bool CanonicalPlans::write_known(const FilteredConfiguration& here, const Allowance& allowance,
                                 std::int64_t least, std::span<std::int32_t> mask) {
    return resources_.guarded().look([&] {
        if (cells_.remembered(*here.stack.node()) == StackCells::kBottom) return false;
        const auto known = tables_.find(table_key(here, allowance.unit == Allowance::Unit::kBytes));
        if (known >= 0) write(tables_[known], here, allowance, least, mask);
        return known >= 0;
    });
}

void CanonicalPlans::write(const Table& table, const FilteredConfiguration& here, const Allowance& allowance,
                           std::int64_t least, std::span<std::int32_t> mask) {
    const bool in_bytes = allowance.unit == Allowance::Unit::kBytes;
    const auto after = allowance.after(least);
    const auto combine = [&](const Level& level) {
        filter_.combine(here.state, rows_.row(level.within).words(), rows_.row(level.across).words(), mask);
    };
    const auto& last = table.levels.back();
    const auto longest = in_bytes ? std::int64_t{resources_.trie().max_depth()} : 1;
    // All tokens fit: mostly so, until a text is about to end.
    if (last.stripped == 0 && last.cost <= after && last.cost <= allowance.most - longest)
        return combine(last);
    if (!in_bytes) {
        const auto* found = &table.levels.front();
        for (const auto& level : table.levels)
            if (level.cost <= std::min(allowance.most - 1, after)) found = &level;
        return combine(*found);
    }
    within_.assign(tokens_.words(), 0);
    across_.assign(tokens_.words(), 0);
    auto& lengths = resources_.engine().lengths();
    for (const auto& level : table.levels) {
        const auto* within = rows_.row(level.within).words();
        const auto* across = rows_.row(level.across).words();
        if (level.cost < 0) {
            std::copy_n(across, across_.size(), across_.data());
            continue;
        }
        const auto fits = allowance.most - level.cost + level.stripped;
        if (fits <= 0 || level.cost > after) continue;
        const auto short_enough = lengths.up_to(std::min(fits, lengths.longest()));
        for (std::size_t word = 0; word < across_.size(); ++word) {
            within_[word] |= within[word] & short_enough[word];
            across_[word] |= across[word] & short_enough[word];
        }
    }
    filter_.combine(here.state, within_.data(), across_.data(), mask);
}

}  // namespace pdacon
