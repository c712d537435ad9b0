// What tokens do from the positions of a terminal, beside a model that reads each token by itself. Positions
// are asked for one after another, so that walks take over what others have found.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "detokenizer/shared_trie.hpp"
#include "nested/character_counts.hpp"
#include "nested/terminal_automaton.hpp"

namespace {

using pdacon::NestedTerminal, pdacon::SharedTrie, pdacon::TerminalAutomaton, pdacon::test::Random;

// A terminal that is written state by state.
class Writer {
  public:
    std::int32_t state(NestedTerminal::Kind kind = NestedTerminal::kBytes) {
        kinds_.push_back(kind);
        edges_.emplace_back();
        return static_cast<std::int32_t>(kinds_.size()) - 1;
    }
    void lead(std::int32_t from, int lo, int hi, std::int32_t to) {
        edges_[static_cast<std::size_t>(from)].push_back({lo, hi, to});
    }
    void lead(std::int32_t from, const std::string& bytes, std::int32_t to) {
        for (const char byte : bytes)
            lead(from, static_cast<std::uint8_t>(byte), static_cast<std::uint8_t>(byte), to);
    }
    // All characters outside ASCII, but for those of four bytes and some of three.
    void lead_outside(std::int32_t from, std::int32_t to) {
        const auto two = state(), last = state();
        lead(from, 0xC2, 0xDF, last);
        lead(from, 0xE1, 0xEC, two);
        lead(two, 0x80, 0xBF, last);
        lead(last, 0x80, 0xBF, to);
    }
    std::shared_ptr<const NestedTerminal> made(std::int32_t start) const {
        auto made = std::make_shared<NestedTerminal>();
        made->start = start;
        made->offset.push_back(0);
        for (std::size_t at = 0; at < kinds_.size(); ++at) {
            made->kind.push_back(kinds_[at]);
            for (const auto& [lo, hi, to] : edges_[at]) {
                made->lo.push_back(static_cast<std::uint8_t>(lo));
                made->hi.push_back(static_cast<std::uint8_t>(hi));
                made->target.push_back(to);
            }
            made->offset.push_back(static_cast<std::int32_t>(made->target.size()));
        }
        return made;
    }

  private:
    struct Edge {
        int lo, hi;
        std::int32_t to;
    };
    std::vector<std::uint8_t> kinds_;
    std::vector<std::vector<Edge>> edges_;
};

template <class Item>
void shuffle(std::span<Item> items, Random& random) {
    for (std::size_t k = items.size(); k > 1; --k)
        std::swap(items[k - 1], items[static_cast<std::size_t>(random.below(static_cast<int>(k)))]);
}

const std::string kLetters = "abcdefghijklmnopqrstuvwxyz", kDigits = "0123456789";
const std::string kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", kSigns = " _-/:.,{}[]'!?";
const std::string kAll = kLetters + kDigits + kUpper + kSigns;

// `(\S+ +){0,n}\S+"`, or with any characters outside ASCII in place of words.
std::shared_ptr<const NestedTerminal> words(Random& random) {
    Writer writer;
    const auto number = 1 + random.below(40);
    const bool is_outside = random.below(2) == 0;
    const auto end = writer.state(NestedTerminal::kMatch);
    const auto start = writer.state();
    auto before = start;
    for (int k = 0; k < number; ++k) {
        const auto within = writer.state();
        for (const auto from : {before, within}) {
            writer.lead(from, kLetters + kUpper + kDigits + "_-/:.,", within);
            if (is_outside) writer.lead_outside(from, within);
        }
        writer.lead(within, "\"", end);
        if (k + 1 == number) break;
        const auto behind = writer.state();
        writer.lead(within, " ", behind);
        writer.lead(behind, " ", behind);
        before = behind;
        if (random.below(8) == 0) writer.lead(behind, "!", end);
    }
    return writer.made(start);
}

// Some letters or digits, a sign, and so on.
std::shared_ptr<const NestedTerminal> parts(Random& random) {
    Writer writer;
    const auto start = writer.state();
    auto at = start;
    for (int part = 1 + random.below(4); part > 0; --part) {
        const auto characters = random.below(2) > 0 ? kLetters + kDigits : kLetters + kUpper + kDigits + "_";
        for (int length = 1 + random.below(24); length > 0; --length) {
            const auto next = writer.state();
            writer.lead(at, characters, next);
            at = next;
        }
        const auto next = writer.state(part == 1 ? NestedTerminal::kMatch : NestedTerminal::kBytes);
        writer.lead(at, part == 1 ? "\"" : random.below(4) > 0 ? "-" : "-a", next);
        at = next;
    }
    return writer.made(start);
}

// All names but some, or all texts with one of some texts in them, or without.
std::shared_ptr<const NestedTerminal> others(Random& random) {
    Writer writer;
    const auto end = writer.state(NestedTerminal::kMatch);
    const auto any = writer.state();
    writer.lead(any, kAll, any);
    writer.lead_outside(any, any);
    writer.lead(any, "\"", end);
    const bool is_anywhere = random.below(2) == 0, is_wanted = random.below(2) == 0;
    std::set<std::string> names;
    for (int k = 1 + random.below(6); k > 0; --k) {
        std::string name;
        for (int length = 1 + random.below(5); length > 0; --length)
            name += kLetters[static_cast<std::size_t>(random.below(random.below(2) > 0 ? 3 : 26))];
        names.insert(name);
    }
    // By what has been read: of all texts that are the beginning of a name, the longest one at its end.
    std::map<std::string, std::int32_t> states{{"", writer.state()}};
    for (const auto& name : names)
        for (std::size_t length = 1; length <= name.size(); ++length)
            if (!states.contains(name.substr(0, length)))
                states.emplace(name.substr(0, length), writer.state());
    const auto has_name = [&](const std::string& text) {
        return std::ranges::any_of(names, [&](const auto& name) { return text.ends_with(name); });
    };
    for (const auto& [text, state] : states) {
        if (is_anywhere && has_name(text)) {
            writer.lead(state, kAll, any);
            writer.lead(state, "\"", end);
            continue;
        }
        if (is_anywhere ? !is_wanted : !names.contains(text)) writer.lead(state, "\"", end);
        for (const char byte : kAll) {
            auto behind = text + byte;
            while (is_anywhere && !states.contains(behind)) behind.erase(0, 1);
            if (is_anywhere && !is_wanted && has_name(behind)) continue;
            const auto to = states.find(behind);
            writer.lead(state, std::string(1, byte), to == states.end() ? any : to->second);
        }
        writer.lead_outside(state, is_anywhere ? states.at("") : any);
    }
    return writer.made(states.at(""));
}

// States that lead to one another by whatever bytes, several of them by one.
std::shared_ptr<const NestedTerminal> any_states(Random& random) {
    Writer writer;
    const auto end = writer.state(NestedTerminal::kMatch);
    const auto number = 2 + random.below(8);
    for (int k = 1; k < number; ++k) writer.lead(writer.state(), "\"", end);
    for (int k = 1; k < number; ++k)
        for (int edges = 1 + random.below(4); edges > 0; --edges) {
            const auto to = random.below(number);
            const auto first = random.below(static_cast<int>(kAll.size()));
            if (random.below(3) == 0)
                writer.lead(k, kAll, to);
            else
                writer.lead(k,
                            kAll.substr(static_cast<std::size_t>(first),
                                        1 + static_cast<std::size_t>(random.below(30))),
                            to);
        }
    return writer.made(1);
}

std::vector<std::string> random_tokens(Random& random) {
    std::set<std::string> tokens;
    for (const char byte : kAll + "\"") tokens.insert(std::string(1, byte));
    const std::vector<std::string> outside{"\xC3\xA9", "\xCE\xB1", "\xE4\xB8\xAD", "\xE3\x81\x82",
                                           "\xC3",     "\xE4\xB8", "\xA9"};
    for (const auto& piece : outside) tokens.insert(piece);
    while (tokens.size() < 6000) {
        std::string token;
        const auto few = random.below(2) > 0 ? 3 : 26;
        for (int length = 1 + random.below(random.below(8) == 0 ? 40 : 6); length > 0; --length) {
            const auto kind = random.below(20);
            if (kind < 15)
                token += kLetters[static_cast<std::size_t>(random.below(few))];
            else if (kind < 19)
                token += (kAll +
                          "\"  ")[static_cast<std::size_t>(random.below(static_cast<int>(kAll.size()) + 3))];
            else
                token += outside[static_cast<std::size_t>(random.below(static_cast<int>(outside.size())))];
        }
        tokens.insert(token);
    }
    std::vector<std::string> listed{""};  // token 0 ends a text, and has none itself
    listed.insert(listed.end(), tokens.begin(), tokens.end());
    shuffle(std::span(listed).subspan(1), random);
    return listed;
}

std::shared_ptr<const SharedTrie> trie_of(const std::vector<std::string>& tokens) {
    std::vector<char> text;
    std::vector<std::int32_t> offsets{0}, ends{0};
    for (const auto& token : tokens) {
        text.insert(text.end(), token.begin(), token.end());
        offsets.push_back(static_cast<std::int32_t>(text.size()));
    }
    return std::make_shared<const SharedTrie>(
        std::make_shared<const pdacon::Tokens>(std::move(text), std::move(offsets), std::move(ends)));
}

using Beyond = std::map<std::int32_t, std::string>;  // by token: its rest

Beyond beyond_of(const pdacon::TerminalTokens& found, const SharedTrie& trie,
                 const std::vector<std::string>& tokens) {
    Beyond beyond;
    const auto add = [&](std::int32_t token, std::size_t length) {
        const auto& bytes = tokens[static_cast<std::size_t>(token)];
        CHECK(beyond.emplace(token, bytes.substr(bytes.size() - length)).second);
    };
    for (const auto node : found.large)
        for (auto at = trie.first_token(node + 1); at < trie.first_token(trie.subtree_end(node)); ++at)
            add(trie.token(at), tokens[static_cast<std::size_t>(trie.token(at))].size() -
                                    static_cast<std::size_t>(trie.depth(node)));
    std::vector<std::pair<std::int32_t, std::size_t>> open{{0, 0}};  // nodes of the rests, and their depths
    while (!open.empty()) {
        const auto [node, depth] = open.back();
        open.pop_back();
        for (auto at = found.beyond->first_token(node); at < found.beyond->first_token(node + 1); ++at)
            add(found.beyond->token(at), depth);
        for (auto child = node + 1; child < found.beyond->subtree_end(node);
             child = found.beyond->subtree_end(child))
            open.emplace_back(child, depth + 1);
    }
    return beyond;
}

void check_position(TerminalAutomaton& automaton, std::int32_t position, const SharedTrie& trie,
                    const std::vector<std::string>& tokens, pdacon::StateLimit& limit) {
    const auto found = automaton.tokens(position, {}, trie, limit);
    std::vector<std::int32_t> mask(trie.words(), 0);
    found->add_to(mask);
    const auto beyond = beyond_of(*found, trie, tokens);
    for (std::size_t token = 1; token < tokens.size(); ++token) {
        auto at = position;
        std::size_t read = 0;
        for (; read < tokens[token].size(); ++read) {
            const auto to = automaton.row(at, limit).next[static_cast<std::uint8_t>(tokens[token][read])];
            if (to == TerminalAutomaton::kDead) break;
            at = to;
        }
        const auto number = static_cast<std::int32_t>(token);
        const bool is_within = read == tokens[token].size();
        CHECK(pdacon::has_bit(mask.data(), number) == is_within);
        const bool is_beyond = !is_within && read > 0 && TerminalAutomaton::matches(at);
        const auto rest = beyond.find(number);
        CHECK((rest != beyond.end()) == is_beyond);
        if (is_beyond) CHECK(rest->second == tokens[token].substr(read));
    }
}

// Returns how many positions had the tokens of another one.
std::size_t check_terminal(const std::shared_ptr<const NestedTerminal>& terminal, const SharedTrie& trie,
                           const std::vector<std::string>& tokens, Random& random) {
    TerminalAutomaton automaton(terminal);
    pdacon::StateLimit limit(0);
    std::vector<std::int32_t> positions{automaton.start()};
    for (std::size_t k = 0; k < positions.size() && positions.size() < 60; ++k)
        for (const auto to : automaton.row(positions[k], limit).next)
            if (to != TerminalAutomaton::kDead && std::ranges::find(positions, to) == positions.end())
                positions.push_back(to);
    if (random.below(2) > 0) shuffle(std::span(positions), random);
    if (positions.size() > 16) positions.resize(16);
    std::set<const pdacon::TerminalTokens*> different;
    for (const auto position : positions) {
        check_position(automaton, position, trie, tokens, limit);
        different.insert(automaton.tokens(position, {}, trie, limit).get());
    }
    return positions.size() - different.size();
}

// Tokens of a set with at most so many characters.
void check_few(const SharedTrie& trie, const std::vector<std::string>& tokens, Random& random) {
    const pdacon::CharacterCounts counts(trie);
    const auto first = random.below(trie.num_texts());
    const pdacon::TokenSet set(trie, {{first, first + random.below(trie.num_texts() - first)}});
    std::vector<std::int32_t> all(trie.words(), 0);
    set.add_to(all);
    for (const int most : {-1, 0, 1, 2, 5, 16, 17, 20, 100}) {
        const auto few = counts.few(trie, set, most);
        for (std::size_t token = 1; token < tokens.size(); ++token) {
            const auto characters =
                std::ranges::count_if(tokens[token], [](char byte) { return (byte & 0xC0) != 0x80; });
            const auto number = static_cast<std::int32_t>(token);
            CHECK(pdacon::has_bit(few.data(), number) ==
                  (pdacon::has_bit(all.data(), number) && characters <= most));
        }
    }
}

}  // namespace

int main() {
    Random random(3);
    std::size_t taken_over = 0;
    for (int round = 0; round < 4; ++round) {
        const auto tokens = random_tokens(random);
        const auto trie = trie_of(tokens);
        check_few(*trie, tokens, random);
        for (int k = 0; k < 6; ++k)
            for (const auto make : {words, parts, others, any_states})
                taken_over += check_terminal(make(random), *trie, tokens, random);
    }
    CHECK(taken_over > 50);
}
