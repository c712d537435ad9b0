#include "composition/canonical_spelling.hpp"

#include <algorithm>
#include <ranges>

namespace pdacon {

namespace {

struct Point {
    std::int32_t state, token;
    std::size_t before, index;  // where the token begins, and the point there that it leads from
    std::int32_t count;
};
using Points = std::vector<std::vector<Point>>;

// Adds what the tokens at a place lead to. Returns whether a longer text could have a token more there.
bool add_tokens(const Trie& trie, CanonicalFilter& filter, std::string_view text, std::size_t at,
                Points& points) {
    std::int32_t node = 0;
    for (auto end = at; end < text.size();) {
        node = trie.child(node, static_cast<std::uint8_t>(text[end++]));
        if (node < 0) return false;
        for (auto position = trie.first_token(node); position < trie.first_token(node + 1); ++position) {
            const auto token = trie.token(position);
            if (static_cast<std::size_t>(token) >= trie.tokens()->size()) continue;  // a label
            for (std::size_t index = 0; index < points[at].size(); ++index) {
                const auto from = points[at][index];
                const auto to = filter.step(from.state, token);
                if (to < 0) continue;
                const auto same = std::ranges::find(points[end], to, &Point::state);
                if (same == points[end].end())
                    points[end].push_back({to, token, at, index, from.count + 1});
                else if (from.count + 1 < same->count)
                    *same = {to, token, at, index, from.count + 1};
            }
        }
    }
    return !points[at].empty();
}

std::vector<SpelledToken> path_to(const Points& points, std::size_t end, const Point& last) {
    std::vector<SpelledToken> path;
    for (const auto* point = &last; point->token >= 0; point = &points[point->before][point->index]) {
        path.push_back({point->token, end, point->state});
        end = point->before;
    }
    std::ranges::reverse(path);
    return path;
}

}  // namespace

Spelling spell(const Trie& trie, CanonicalFilter& filter, Budget& budget, std::int32_t state,
               std::string_view text, const std::function<bool(std::size_t, std::int32_t)>& may_end) {
    Points points(text.size() + 1);
    points[0].push_back({state, -1, 0, 0, 0});
    bool goes_on = false;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        budget.tick();
        const Point* best = nullptr;
        for (const auto& point : points[at])
            if (at > 0 && (best == nullptr || point.count < best->count) && may_end(at, point.state))
                best = &point;
        if (best != nullptr) return {path_to(points, at, *best), false};
        if (!points[at].empty() && add_tokens(trie, filter, text, at, points)) goes_on = true;
    }
    return {{}, goes_on};
}

}  // namespace pdacon
