// What tokens do in a self-loop, beside a model that reads each token by itself.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/utf8.hpp"
#include "check.hpp"
#include "detokenizer/loops.hpp"
#include "detokenizer/trie.hpp"

namespace {

using pdacon::CharacterSet, pdacon::LoopCharacters, pdacon::Trie, pdacon::test::Random;

// ASCII characters, characters of two to four bytes, and pieces of such.
const std::vector<std::string> kPieces = {"a",
                                          "b",
                                          "c",
                                          " ",
                                          "\"",
                                          "\xC3\xA9",
                                          "\xCE\xB1",
                                          "\xE4\xB8\xAD",
                                          "\xE3\x81\x82",
                                          "\xF0\x9F\x98\x80",
                                          "\xC3",
                                          "\xE4\xB8",
                                          "\xF0\x9F",
                                          "\xA9",
                                          "\xFF"};

std::vector<std::string> random_tokens(Random& random, int size) {
    std::vector<std::string> tokens{""};  // token 0 ends a text, and has none itself
    while (static_cast<int>(tokens.size()) < size) {
        const int whole = random.below(3) > 0 ? 5 : 0;  // most tokens are made of whole characters
        std::string token;
        for (int length = 1 + random.below(4); length > 0; --length)
            token +=
                kPieces[static_cast<std::size_t>(random.below(static_cast<int>(kPieces.size()) - whole))];
        tokens.push_back(token);
    }
    return tokens;
}

Trie trie_of(const std::vector<std::string>& tokens) {
    std::vector<char> text;
    std::vector<std::int32_t> offsets{0}, ends{0};
    for (const auto& token : tokens) {
        text.insert(text.end(), token.begin(), token.end());
        offsets.push_back(static_cast<std::int32_t>(text.size()));
    }
    return Trie(std::make_shared<const pdacon::Tokens>(std::move(text), std::move(offsets), std::move(ends)));
}

CharacterSet random_set(Random& random) {
    CharacterSet set;
    const int all = 2 << random.below(5);  // few characters, or many
    for (auto& word : set.ascii)
        for (int bit = 0; bit < 64; ++bit)
            if (random.below(all) == 0) word |= std::uint64_t{1} << bit;
    for (auto lead = CharacterSet::kFirstLead; lead <= CharacterSet::kLastLead; ++lead)
        if (random.below(all) == 0) set.leads |= CharacterSet::lead(lead);
    if (random.below(3) == 0) set.leads = CharacterSet::kAllLeads;
    return set;
}

bool is_utf8(std::string_view bytes) {
    int state = pdacon::kUtf8Boundary;
    for (const char byte : bytes)
        if (state != pdacon::kUtf8Error) state = pdacon::utf8_step(state, static_cast<std::uint8_t>(byte));
    return state != pdacon::kUtf8Error;
}

// The bytes of a token's character, which the token may end within.
std::string character_at(const std::string& token, std::size_t begin) {
    int state = pdacon::kUtf8Boundary;
    auto at = begin;
    do state = pdacon::utf8_step(state, static_cast<std::uint8_t>(token[at++]));
    while (state != pdacon::kUtf8Boundary && at < token.size());
    return token.substr(begin, at - begin);
}

// Whether a loop reads all characters with which tokens go on that begin with some bytes. A beginning of a
// character is one by itself only where no token goes on in it.
bool reads_all(const std::vector<std::string>& tokens, const std::string& beginning,
               const std::vector<std::string>& others) {
    const auto at = beginning.size() - 1;
    return std::ranges::all_of(tokens, [&](const std::string& token) {
        if (!token.starts_with(beginning)) return true;
        const auto one = token.substr(0, at + character_at(token, at).size());
        int state = pdacon::kUtf8Boundary;
        for (const char byte : one.substr(at))
            state = pdacon::utf8_step(state, static_cast<std::uint8_t>(byte));
        const bool goes_on = std::ranges::any_of(tokens, [&](const std::string& other) {
            return other.size() > one.size() && other.starts_with(one);
        });
        if (state != pdacon::kUtf8Boundary && goes_on) return true;
        return std::ranges::find(others, one.substr(at)) != others.end();
    });
}

// Where a token leaves a loop: how many of its bytes and characters are read in it; all bytes: nowhere.
std::pair<std::size_t, std::size_t> model(const std::vector<std::string>& tokens, const std::string& token,
                                          const CharacterSet& loop, const std::vector<std::string>& others,
                                          std::size_t most) {
    std::size_t at = 0, characters = 0;
    while (at < token.size()) {
        const auto byte = static_cast<std::uint8_t>(token[at]);
        bool inside =
            loop.contains(byte) || (byte >= CharacterSet::kFirstLead && byte <= CharacterSet::kLastLead &&
                                    !others.empty() && reads_all(tokens, token.substr(0, at + 1), others));
        inside &= most == 0 || characters < most;
        for (const auto& other : tokens)
            if (byte >= 0x80 && other.starts_with(token.substr(0, at + 1)))
                inside &= is_utf8(other.substr(at));
        if (!inside) break;
        at += character_at(token, at).size();
        characters += most > 0;
    }
    return {at, characters};
}

// Returns how many tokens stay in the loop.
std::size_t check_one(Random& random) {
    const auto tokens = random_tokens(random, 2 + random.below(60));
    const auto trie = trie_of(tokens);
    LoopCharacters read{random_set(random), {}};
    const auto& loop = read.set;
    const auto most = static_cast<std::uint8_t>(random.below(4));
    pdacon::LoopCache cache(trie);
    const auto& all = cache.characters().characters();
    std::vector<std::string> others;
    if (random.below(2) == 0) read.others.resize((all.size() + 63) / 64);
    for (std::size_t at = 0; at < all.size() && !read.others.empty(); ++at) {
        if (random.below(4) == 0) continue;
        read.others[at / 64] |= std::uint64_t{1} << (at % 64);
        const auto bytes = all[at].view();
        if (most == 0 && loop.size() > 24) others.emplace_back(bytes.begin(), bytes.end());
    }
    const auto found = cache.tokens(read, most);
    std::vector<std::int32_t> mask(trie.words(), 0);
    found->staying.add_to(mask);
    std::vector<std::size_t> left(tokens.size(), 0);
    for (const auto& [byte, characters, nodes] : found->exits)
        for (const auto node : nodes) {
            CHECK(trie.byte(node) == byte);
            for (auto at = trie.first_token(node); at < trie.first_token(trie.subtree_end(node)); ++at) {
                const auto token = static_cast<std::size_t>(trie.token(at));
                ++left[token];
                CHECK(model(tokens, tokens[token], loop, others, most) ==
                      std::pair(static_cast<std::size_t>(trie.depth(node)) - 1, std::size_t{characters}));
            }
        }
    std::size_t staying = 0;
    for (std::size_t token = 1; token < tokens.size(); ++token) {
        const bool stays = model(tokens, tokens[token], loop, others, most).first == tokens[token].size();
        CHECK(pdacon::has_bit(mask.data(), static_cast<std::int32_t>(token)) == stays);
        CHECK(left[token] == (stays ? 0 : 1));
        staying += stays;
    }
    return staying;
}

}  // namespace

int main() {
    Random random(1);
    std::size_t staying = 0;
    for (int round = 0; round < 3000; ++round) staying += check_one(random);
    CHECK(staying > 3000);
}
