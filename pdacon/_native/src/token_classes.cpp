#include "token_classes.hpp"

#include <algorithm>
#include <array>

namespace pdacon {

TokenSet::TokenSet(const Trie& trie, std::span<const std::pair<std::int32_t, std::int32_t>> ranges) {
    std::size_t count = 0;
    for (const auto& [begin, end] : ranges) count += static_cast<std::size_t>(end - begin);
    // OR-ing a mask costs about a sixteenth of setting as many single bits.
    const bool dense = count * 16 > trie.words();
    if (dense)
        mask_.assign(trie.words(), 0);
    else
        ids_.reserve(count);
    for (const auto& [begin, end] : ranges) {
        for (auto position = begin; position < end; ++position) {
            const auto token = trie.token(position);
            if (dense) {
                auto& word = mask_[static_cast<std::size_t>(token) / 32];
                word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | 1U << (token % 32));
            } else {
                ids_.push_back(token);
            }
        }
    }
}

void TokenSet::add_to(std::span<std::int32_t> mask) const {
    for (std::size_t at = 0; at < mask_.size(); ++at) mask[at] |= mask_[at];
    for (const auto token : ids_) {
        auto& word = mask[static_cast<std::size_t>(token) / 32];
        word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | 1U << (token % 32));
    }
}

// One walk over subtrees of the trie: collects what becomes a node.
class TokenClasses::Walk {
  public:
    explicit Walk(TokenClasses& classes)
        : classes_(classes),
          lexer_(classes.lexer_),
          trie_(classes.trie_),
          path_(static_cast<std::size_t>(trie_.max_depth()) + 1) {}

    // The remainders below one root, lexed from `state`: first the root's word, then the trie.
    void add(const Root& root, std::int32_t state) {
        const auto known = classes_.words_[root.word];
        const std::vector<std::int32_t> word(known.begin(), known.end());
        for (std::size_t at = 0; at < word.size(); ++at) {
            const auto next = lexer_.next(state, word[at]);
            if (next == LexingAutomaton::kDead) return;
            if (LexingAutomaton::is_commit(next)) {
                cross(next, root.trie_node, std::span(word).subspan(at + 1));
                return;
            }
            state = next;
        }
        stay(state, trie_.first_token(root.trie_node), trie_.first_token(root.trie_node + 1));
        walk_below(root.trie_node, state);
    }

    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>>
        ranges;  // of `futures`, in positions of the trie
    std::vector<std::int32_t> futures;
    std::vector<Crossing> crossings;

  private:
    void walk_below(std::int32_t top, std::int32_t state) {
        path_[static_cast<std::size_t>(trie_.depth(top))] = state;
        const auto end = trie_.subtree_end(top);
        if (end > top + 1 && classes_.swallows(state, trie_.below(top))) {
            stay(state, trie_.first_token(top + 1), trie_.first_token(end));
            return;
        }
        for (auto node = top + 1; node < end;) {
            classes_.budget_.tick();
            const auto depth = static_cast<std::size_t>(trie_.depth(node));
            const auto next = lexer_.next(path_[depth - 1], lexer_.byte_class(trie_.byte(node)));
            if (next < 0) {
                if (LexingAutomaton::is_commit(next)) cross(next, node, {});
                node = trie_.subtree_end(node);
            } else if (node + 1 < trie_.subtree_end(node) && classes_.swallows(next, trie_.below(node))) {
                stay(next, trie_.first_token(node), trie_.first_token(trie_.subtree_end(node)));
                node = trie_.subtree_end(node);
            } else {
                stay(next, trie_.first_token(node), trie_.first_token(node + 1));
                path_[depth] = next;
                ++node;
            }
        }
    }

    void stay(std::int32_t state, std::int32_t begin, std::int32_t end) {
        if (begin == end) return;
        const auto future = classes_.futures_.future(state);
        const auto known =
            static_cast<std::size_t>(std::find(futures.begin(), futures.end(), future) - futures.begin());
        if (known == futures.size()) {
            futures.push_back(future);
            ranges.emplace_back();
        }
        auto& list = ranges[known];
        if (!list.empty() && list.back().second == begin)
            list.back().second = end;
        else
            list.emplace_back(begin, end);
    }

    // The commit's own word comes before what was left of the word that was being read.
    void cross(std::int32_t next, std::int32_t trie_node, std::span<const std::int32_t> rest) {
        const auto& commit = lexer_.commit(next);
        const auto again = lexer_.word(commit.word);
        word_.assign(again.begin(), again.end());
        word_.insert(word_.end(), rest.begin(), rest.end());
        const Root root{trie_node, classes_.words_.intern(word_)};
        const auto known = std::find_if(crossings.begin(), crossings.end(), [&](const Crossing& crossing) {
            return crossing.label == commit.label;
        });
        if (known != crossings.end())
            known->roots.push_back(root);
        else
            crossings.push_back({commit.label, {root}, {}});
    }

    TokenClasses& classes_;
    const LexingAutomaton& lexer_;
    const Trie& trie_;
    std::vector<std::int32_t> path_;  // the lexer state at each depth
    std::vector<std::int32_t> word_;
};

// Whether every way down from a trie node stays in the lexer state, or between the characters of a loop on
// it.
bool TokenClasses::swallows(std::int32_t lexer_state, const Trie::Below& below) {
    if (!below.well_formed) return false;
    for (std::size_t half = 0; half < 2; ++half)
        for (auto rest = below.ascii[half]; rest != 0; rest &= rest - 1) {
            const auto byte =
                static_cast<std::uint8_t>(half * 64 + static_cast<std::size_t>(__builtin_ctzll(rest)));
            if (lexer_.next(lexer_state, lexer_.byte_class(byte)) != lexer_state) return false;
        }
    return !below.other || loops_on_characters(lexer_state);
}

// Whether every character outside ASCII leads back to the state, with the same future on the way.
bool TokenClasses::loops_on_characters(std::int32_t lexer_state) {
    const auto [known, added] = loops_on_characters_.try_emplace(lexer_state, false);
    if (!added) return known->second;
    const auto future = futures_.future(lexer_state);
    const auto step = [&](std::int32_t state, int byte) {
        return lexer_.next(state, lexer_.byte_class(static_cast<std::uint8_t>(byte)));
    };
    // From `state`, `left` continuation bytes, the first of them in low..high, lead back.
    const auto returns = [&](const auto& self, std::int32_t state, int left, int low, int high) -> bool {
        if (state < 0) return false;
        if (left == 0) return state == lexer_state;
        if (futures_.future(state) != future) return false;
        std::int32_t checked = -2;
        for (int byte = low; byte <= high; ++byte) {
            const auto next = step(state, byte);
            if (next != checked && !self(self, next, left - 1, 0x80, 0xBF)) return false;
            checked = next;
        }
        return true;
    };
    bool loops = true;
    for (int lead = 0xC2; loops && lead <= 0xF4; ++lead) {
        const int left = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
        const int low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const int high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        loops = returns(returns, step(lexer_state, lead), left, low, high);
    }
    return loops_on_characters_[lexer_state] = loops;
}

TokenClasses::Node* TokenClasses::make(Walk& walk) {
    auto node = std::make_unique<Node>();
    for (std::size_t at = 0; at < walk.futures.size(); ++at) {
        node->staying.emplace_back(walk.futures[at], TokenSet(trie_, walk.ranges[at]));
        bytes_ += node->staying.back().second.bytes();
    }
    node->crossings = std::move(walk.crossings);
    for (const auto& crossing : node->crossings) bytes_ += crossing.roots.size() * sizeof(Root);
    bytes_ += sizeof(Node);
    nodes_.push_back(std::move(node));
    return nodes_.back().get();
}

TokenClasses::Node& TokenClasses::of_state(std::int32_t lexer_state) {
    auto& known = of_state_[static_cast<std::size_t>(lexer_state)];
    if (known == nullptr) {
        Walk walk(*this);
        walk.add({0, words_.intern({})}, lexer_state);
        known = make(walk);
    }
    return *known;
}

TokenClasses::Node& TokenClasses::after(Crossing& crossing, std::int32_t context) {
    for (const auto& [known, node] : crossing.children)
        if (known == context) return *node;
    Walk walk(*this);
    for (const auto& root : crossing.roots) walk.add(root, lexer_.entry(context));
    auto* node = make(walk);
    crossing.children.emplace_back(context, node);
    return *node;
}

}  // namespace pdacon
