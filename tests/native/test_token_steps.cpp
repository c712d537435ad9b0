// Steps that are kept: whatever is found is what was added for just this lexer state, token and stack, also
// while another thread adds.
#include <algorithm>
#include <atomic>
#include <span>
#include <thread>
#include <vector>

#include "check.hpp"
#include "composition/token_steps.hpp"

namespace {

using pdacon::PersistentStack, pdacon::TokenStep, pdacon::TokenSteps;

constexpr int kLexerStates = 5, kTokens = 40, kStates = 2;
constexpr std::size_t kRoom = std::size_t{1} << 22;

PersistentStack random_stack(pdacon::test::Random& random) {
    PersistentStack stack(0);
    for (auto depth = random.below(6); depth > 0; --depth) stack.push(1 + random.below(kStates));
    return stack;
}

// What a token does is a function of what its step reads. `count`: 0 where characters are not counted.
TokenStep step_of(std::int32_t lexer_state, std::int32_t token, const PersistentStack& stack,
                  std::int32_t count) {
    TokenStep step{.lexer_state = lexer_state, .token = token};
    std::vector<std::int32_t> read, to_push;
    auto hashed = static_cast<std::uint32_t>(lexer_state + 31 * token + 1009 * count);
    const auto* node = stack.node();
    const auto most_read = 1 + static_cast<std::size_t>(lexer_state + token) % 5;
    for (; read.size() < most_read && node != nullptr; node = node->below) {
        read.push_back(node->state);
        hashed = 31 * hashed + static_cast<std::uint32_t>(node->state);
    }
    const auto number = static_cast<std::int32_t>(hashed % 1'000'000);
    step.next_lexer_state = number;
    step.set_counts(count, count == 0 ? 0 : number % 3);
    // In half of the steps some states that are pushed need more than 16 bits, and half as many have room.
    const bool is_narrow = number % 2 == 0;
    const auto room = (TokenStep::kWords - 2 * std::size_t{step.counts}) << (is_narrow ? 1 : 0);
    const bool leaves_stack = number % 5 == 0;
    while (!leaves_stack && read.size() + to_push.size() < room)
        to_push.push_back((is_narrow ? number & 0x7FFF : number | 0x10000) +
                          static_cast<std::int32_t>(to_push.size()));
    CHECK(step.set_states(read, read.size(), to_push));
    step.mask_id = number % 9 == 0 ? TokenStep::kNotKept : number ^ 5;
    step.mask_view = 4 * std::uint64_t{hashed};
    step.length = static_cast<std::uint16_t>(number);
    step.popped = static_cast<std::uint8_t>(number % step.reads);
    step.rise = static_cast<std::uint8_t>(number % 7);
    CHECK(step.reads == read.size() && step.pushed == to_push.size());
    for (std::size_t at = 0; at < read.size(); ++at) CHECK(step.state_read(at) == read[at]);
    const auto pushed = step.states_pushed();
    CHECK(std::ranges::equal(std::span<const std::int32_t>(pushed), to_push));
    return step;
}

bool is_same(const TokenStep& one, const TokenStep& other) {
    return one.lexer_state == other.lexer_state && one.token == other.token &&
           one.next_lexer_state == other.next_lexer_state && one.mask_id == other.mask_id &&
           one.mask_view == other.mask_view && one.length == other.length && one.reads == other.reads &&
           one.popped == other.popped && one.pushed == other.pushed && one.rise == other.rise &&
           one.count_before() == other.count_before() && one.count_after() == other.count_after() &&
           one.narrow == other.narrow && one.words == other.words;
}

// Whether the step is found without all of it being read. That it is just such a step, and has the same in
// it.
bool is_simple(const TokenSteps& steps, const TokenStep& expected, const PersistentStack& stack) {
    const auto place = steps.place(expected.lexer_state, expected.token, stack.top(), 0);
    TokenSteps::Simple simple{};
    if (place.table == nullptr || expected.count_before() != 0 ||
        !TokenSteps::find_simple(simple, place, expected.lexer_state, expected.token, stack.top()))
        return false;
    CHECK(expected.reads == 1 && expected.popped == 0 && expected.pushed == 0);
    CHECK(expected.count_after() == 0 && expected.mask_id != TokenStep::kNotKept);
    CHECK(simple.next_lexer_state == expected.next_lexer_state && simple.mask_id == expected.mask_id);
    CHECK(simple.mask_view == expected.mask_view && simple.length == expected.length);
    CHECK(simple.rise == expected.rise);
    return true;
}

// Returns how many steps were found, and how many were added.
std::pair<int, int> use(TokenSteps& steps, unsigned seed, bool adds, int tokens, std::size_t room) {
    pdacon::test::Random random(seed);
    int found = 0, added = 0, simple = 0;
    for (int round = 0; round < 50'000; ++round) {
        const auto stack = random_stack(random);
        const auto lexer_state = random.below(kLexerStates), token = random.below(tokens);
        const auto count = lexer_state < 2 ? random.below(4) - 1 : 0;
        const auto known = steps.find(lexer_state, token, stack.node(), count);
        const auto expected = step_of(lexer_state, token, stack, count);
        simple += is_simple(steps, expected, stack) ? 1 : 0;
        if (known.reads > 0) {
            CHECK(is_same(known, expected));
            ++found;
        } else if (adds) {
            steps.add(expected, room);
            CHECK(steps.bytes() <= room);
            ++added;
            if (steps.bytes() > 0)
                CHECK(is_same(steps.find(lexer_state, token, stack.node(), count), expected));
        }
    }
    CHECK(steps.bytes() < kRoom / 4 || tokens > kTokens || simple > 500);
    return {found, added};
}

void check_threads() {
    TokenSteps steps;
    std::atomic<bool> done{false};
    std::thread reader([&] {
        for (unsigned seed = 100; !done.load(); ++seed) use(steps, seed, false, kTokens, 0);
    });
    for (unsigned seed = 0; seed < 4; ++seed) use(steps, seed, true, kTokens, kRoom);
    done = true;
    reader.join();
}

}  // namespace

int main() {
    {
        TokenSteps steps;
        CHECK(use(steps, 1, true, kTokens, 0).first == 0);  // no room for any
        use(steps, 2, true, kTokens, kRoom);
        CHECK(use(steps, 3, true, kTokens, kRoom).first > 35'000);  // most have been seen
    }
    {
        TokenSteps steps;  // room for few: they take each other's places
        const auto [found, added] = use(steps, 4, true, kTokens, 10'000);
        CHECK(found > 0 && added > 0);
    }
    {
        TokenSteps steps;  // more than there are places
        use(steps, 5, true, 100'000, kRoom);
        use(steps, 6, true, 100'000, kRoom);
    }
    check_threads();
}
