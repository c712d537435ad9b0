// Sets of tokens, as ids and as masks, beside a set of numbers.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "detokenizer/token_set.hpp"
#include "detokenizer/trie.hpp"

namespace {

using pdacon::TokenRange, pdacon::TokenSet, pdacon::Trie;

Trie trie_of(pdacon::test::Random& random, int size) {
    std::vector<char> text;
    std::vector<std::int32_t> offsets{0}, ends{0};
    for (int token = 0; token < size; ++token) {
        if (token > 0)  // token 0 ends a text, and has none itself
            for (int length = random.below(5); length > 0; --length)
                text.push_back(static_cast<char>('a' + random.below(26)));
        offsets.push_back(static_cast<std::int32_t>(text.size()));
    }
    return Trie(std::make_shared<const pdacon::Tokens>(std::move(text), std::move(offsets), std::move(ends)));
}

std::vector<TokenRange> random_ranges(pdacon::test::Random& random, int end) {
    std::vector<TokenRange> ranges;
    const int width = 1 << random.below(14);
    for (int at = random.below(width); at < end;) {
        const int until = std::min(end, at + 1 + random.below(width));
        ranges.push_back({at, until});
        at = until + 1 + random.below(1 << random.below(14));
    }
    for (std::size_t left = ranges.size(); left > 1; --left)  // in any order
        std::swap(ranges[left - 1], ranges[static_cast<std::size_t>(random.below(static_cast<int>(left)))]);
    return ranges;
}

// Returns whether the set was kept as a mask.
bool check_one(pdacon::test::Random& random, const Trie& trie) {
    const auto ranges = random_ranges(random, trie.num_texts());
    std::set<std::int32_t> model;
    for (const auto& [begin, end] : ranges)
        for (auto position = begin; position < end; ++position) model.insert(trie.token(position));
    const TokenSet tokens(trie, ranges);
    CHECK(tokens.empty() == model.empty());
    CHECK(tokens.is_mask() == !pdacon::are_few(trie, ranges));
    if (!tokens.is_mask()) CHECK(std::set(tokens.ids().begin(), tokens.ids().end()) == model);

    const auto before = random.below(static_cast<int>(trie.size()));
    std::vector<std::int32_t> mask(trie.words(), 0);
    pdacon::set_bit(mask, before);
    tokens.add_to(mask);
    model.insert(before);
    for (std::size_t token = 0; token < trie.words() * 32; ++token)
        CHECK(pdacon::has_bit(mask.data(), static_cast<std::int32_t>(token)) ==
              (model.count(static_cast<std::int32_t>(token)) == 1));
    return tokens.is_mask();
}

}  // namespace

int main() {
    pdacon::test::Random random(1);
    int masks = 0, lists = 0;
    for (const int size : {1, 31, 32, 33, 1000, 4097, 20000}) {
        const auto trie = trie_of(random, size);
        for (int round = 0; round < 30; ++round) ++(check_one(random, trie) ? masks : lists);
    }
    CHECK(masks > 20 && lists > 20);
}
