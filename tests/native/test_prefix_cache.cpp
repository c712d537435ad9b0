// Answers about stacks beside a plain map from a key and the topmost states to an answer: what was added is
// found for every stack with these states on top, however deep, and nothing else is.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "check.hpp"
#include "liveness/prefix_cache.hpp"
#include "pda/stack.hpp"

namespace {

using pdacon::PersistentStack, pdacon::PrefixCache;
using Question = std::pair<std::int32_t, std::vector<std::int32_t>>;  // a key, and states from the top

PersistentStack random_stack(pdacon::test::Random& random) {
    PersistentStack stack(random.below(3));
    for (auto pushes = random.below(6); pushes > 0; --pushes) stack.push(random.below(3));
    return stack;
}

// What the model has for a stack: the answer that depends on the fewest states.
PrefixCache::Entry expected(const std::map<Question, std::int32_t>& known, std::int32_t key,
                            const PersistentStack& stack) {
    Question question{key, {}};
    for (const auto* node = stack.node(); node != nullptr; node = node->below) {
        question.second.push_back(node->state);
        if (const auto answer = known.find(question); answer != known.end())
            return {answer->second, static_cast<std::uint32_t>(question.second.size())};
    }
    return {};
}

void compare(pdacon::test::Random& random, int keys) {
    PrefixCache cache;
    std::map<Question, std::int32_t> known;
    for (int step = 0; step < 5'000; ++step) {
        if (random.below(1'000) == 0) {
            cache.forget();
            known.clear();
            CHECK(cache.bytes() == 0);
        }
        const auto key = random.below(keys);
        const auto stack = random_stack(random);
        const auto found = cache.find(key, stack.node());
        const auto wanted = expected(known, key, stack);
        CHECK(found.answer == wanted.answer && found.states == wanted.states);
        if (found.answer >= 0) continue;
        const auto states = static_cast<std::uint32_t>(random.below(static_cast<int>(stack.depth()) + 1));
        const auto answer = random.below(1'000);
        cache.add(key, stack.node(), {answer, states});
        Question question{key, {}};
        const auto* node = stack.node();
        for (auto left = std::max(states, 1U); left > 0; --left, node = node->below)
            question.second.push_back(node->state);
        known[question] = answer;
        CHECK(cache.find(key, stack.node()).answer == answer);
        CHECK(cache.bytes() > 0);
    }
}

}  // namespace

int main() {
    pdacon::test::Random random(1);
    for (const auto keys : {1, 5, 300}) compare(random, keys);
}
