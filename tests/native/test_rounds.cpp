// Fixpoints by rounds, beside rounds over all items.
#include <cstddef>
#include <utility>
#include <vector>

#include "base/rounds.hpp"
#include "check.hpp"

namespace {

// Each item is a path of some length from one value to another one; a value is how far it is from value 0.
struct Path {
    std::int32_t from, to, length;
};
constexpr std::int32_t kFar = 1 << 20;
// Of each value its distance, and the number of the path that it goes by: of equal ones the first that was
// tried.
using Distances = std::vector<std::pair<std::int32_t, std::int32_t>>;

bool improve(const std::vector<Path>& paths, std::int32_t at, Distances& distances) {
    const auto& path = paths[static_cast<std::size_t>(at)];
    const auto distance = distances[static_cast<std::size_t>(path.to)].first + path.length;
    auto& known = distances[static_cast<std::size_t>(path.from)];
    if (distance >= known.first) return false;
    known = {distance, at};
    return true;
}

Distances by_whole_rounds(const std::vector<Path>& paths, std::size_t values) {
    Distances distances(values, {kFar, -1});
    distances[0] = {0, -1};
    for (bool again = true; again;) {
        again = false;
        for (std::size_t at = 0; at < paths.size(); ++at)
            again |= improve(paths, static_cast<std::int32_t>(at), distances);
    }
    return distances;
}

std::pair<Distances, std::size_t> by_rounds(const std::vector<Path>& paths, std::size_t values) {
    Distances distances(values, {kFar, -1});
    distances[0] = {0, -1};
    std::vector<std::vector<std::int32_t>> readers(values);
    for (std::size_t at = 0; at < paths.size(); ++at)
        readers[static_cast<std::size_t>(paths[at].to)].push_back(static_cast<std::int32_t>(at));
    pdacon::Budget budget(0, 0);
    std::size_t evaluated = 0;
    pdacon::evaluate_in_rounds(paths.size(), readers, budget, [&](std::int32_t at, const auto& changed) {
        ++evaluated;
        if (improve(paths, at, distances)) changed(paths[static_cast<std::size_t>(at)].from);
    });
    return {std::move(distances), evaluated};
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 300; ++seed) {
        pdacon::test::Random random(seed);
        const auto values = 1 + random.below(12);
        std::vector<Path> paths(static_cast<std::size_t>(random.below(40)));
        for (auto& path : paths) path = {random.below(values), random.below(values), 1 + random.below(3)};
        const auto count = static_cast<std::size_t>(values);
        CHECK(by_rounds(paths, count).first == by_whole_rounds(paths, count));
    }
    // A chain in an unlucky order costs two visits of each item.
    std::vector<Path> chain;
    constexpr std::int32_t kLong = 20'000;
    for (std::int32_t value = kLong; value > 0; --value) chain.push_back({value, value - 1, 1});
    const auto [distances, evaluated] = by_rounds(chain, kLong + 1);
    CHECK(distances.back().first == kLong);
    CHECK(evaluated < 2 * chain.size());
    // The clock is looked at.
    pdacon::Budget late(0, 1e-9);
    const std::vector<std::vector<std::int32_t>> readers(1);
    bool is_met = false;
    try {
        pdacon::evaluate_in_rounds(1'000, readers, late, [](std::int32_t, const auto&) {});
    } catch (const pdacon::LimitExceeded&) {
        is_met = true;
    }
    CHECK(is_met);
}
