#include "token_classes.hpp"

#include <algorithm>

#include "utf8.hpp"

namespace pdacon {

// One walk over subtrees of the trie: collects what becomes a node.
class TokenClasses::Walk {
  public:
    explicit Walk(TokenClasses& classes)
        : classes_(classes),
          lexer_(classes.lexer_),
          trie_(classes.trie_),
          path_(static_cast<std::size_t>(trie_.max_depth()) + 1) {}

    // The remainders below one root, lexed from the start of a context: first the root's word, then the trie.
    void add(const Root& root, std::int32_t context) {
        const auto known = classes_.words_[root.behind_and_word];
        auto state = lexer_.entry(context, known[0]);
        const std::vector<std::int32_t> word(known.begin() + 1, known.end());
        for (std::size_t at = 0; at < word.size(); ++at) {
            const auto next = lexer_.next(state, word[at]);
            if (next == LexingAutomaton::kDead) return;
            if (LexingAutomaton::is_commit(next)) {
                cross(next, root.trie_node, std::span(word).subspan(at + 1));
                return;
            }
            state = next;
        }
        add(root.trie_node, state);
    }

    // The remainders below a node of the trie, lexed from `state`.
    void add(std::int32_t trie_node, std::int32_t state) {
        if (trie_node == 0 && classes_.loop(state).size() >= kSharedLoop) {
            walk_exits(state);
            return;
        }
        stay(state, trie_.first_token(trie_node), trie_.first_token(trie_node + 1));
        walk_below(trie_node, state);
    }

    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>>
        ranges;  // of `futures`, in positions of the trie
    std::vector<std::int32_t> futures;
    std::vector<Crossing> crossings;

    // By future: what was found by another walk over the whole vocabulary.
    std::vector<Staying> shared;

  private:
    // Loops of fewer characters are walked anew for each state: that costs less than keeping them.
    static constexpr int kSharedLoop = 16;

    // The whole trie from a state that loops: what stays is known, what leaves is walked from where it
    // leaves.
    void walk_exits(std::int32_t state) {
        const auto tokens = trie_.loops().of(classes_.loop(state));
        shared.push_back({classes_.futures_.future(state), {tokens, &tokens->staying}});
        for (std::size_t byte = 0; byte < 256; ++byte) {
            if (tokens->exits[byte].empty()) continue;
            const auto next = lexer_.next(state, lexer_.byte_class(static_cast<std::uint8_t>(byte)));
            if (next == LexingAutomaton::kDead) continue;
            for (const auto node : tokens->exits[byte]) {
                if (LexingAutomaton::is_commit(next)) {
                    cross(next, node, {});
                    continue;
                }
                stay(next, trie_.first_token(node), trie_.first_token(node + 1));
                walk_below(node, next);
            }
        }
    }

    void walk_below(std::int32_t top, std::int32_t state) {
        path_[static_cast<std::size_t>(trie_.depth(top))] = state;
        const auto end = trie_.subtree_end(top);
        if (end > top + 1 && swallows(state, top)) {
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
            } else if (node + 1 < trie_.subtree_end(node) && swallows(next, node)) {
                stay(next, trie_.first_token(node), trie_.first_token(trie_.subtree_end(node)));
                node = trie_.subtree_end(node);
            } else {
                stay(next, trie_.first_token(node), trie_.first_token(node + 1));
                path_[depth] = next;
                ++node;
            }
        }
    }

    // Whether every way down from a node stays in the lexer state, or between the characters of a loop on it.
    bool swallows(std::int32_t state, std::int32_t node) {
        const auto& below = trie_.below(node);
        if (!trie_.is_text_below(node, kUtf8Boundary)) return false;
        const auto& loop = classes_.loop(state);
        return !(below.ascii[0] & ~loop.ascii[0]) && !(below.ascii[1] & ~loop.ascii[1]) &&
               (!below.other || loop.other);
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
        word_.assign(1, commit.behind);
        word_.insert(word_.end(), again.begin(), again.end());
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

const LoopSet& TokenClasses::loop(std::int32_t lexer_state) {
    auto& [known, characters] = loops_[static_cast<std::size_t>(lexer_state)];
    if (!known) {
        known = true;
        for (std::size_t byte = 0; byte < 128; ++byte)
            if (lexer_.next(lexer_state, lexer_.byte_class(static_cast<std::uint8_t>(byte))) == lexer_state)
                characters.ascii[byte / 64] |= std::uint64_t{1} << (byte % 64);
        characters.other = loops_outside_ascii(lexer_state);
    }
    return characters;
}

bool TokenClasses::loops_outside_ascii(std::int32_t lexer_state) const {
    const auto future = futures_.future(lexer_state);
    const auto step = [&](std::int32_t state, int byte) {
        return lexer_.next(state, lexer_.byte_class(static_cast<std::uint8_t>(byte)));
    };
    // From `state`, `left` continuation bytes, the first of them in low..high, lead back.
    const auto returns = [&](const auto& self, std::int32_t state, int left, int low, int high) -> bool {
        if (state < 0) return false;
        if (left == 0) return state == lexer_state;
        if (futures_.future(state) != future) return false;
        std::int32_t checked = LexingAutomaton::kDead;
        for (int byte = low; byte <= high; ++byte) {
            const auto next = step(state, byte);
            if (next != checked && !self(self, next, left - 1, 0x80, 0xBF)) return false;
            checked = next;
        }
        return true;
    };
    for (int lead = 0xC2; lead <= 0xF4; ++lead) {
        const int left = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
        const int low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const int high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (!returns(returns, step(lexer_state, lead), left, low, high)) return false;
    }
    return true;
}

TokenClasses::Node* TokenClasses::make(Walk& walk) {
    auto node = std::make_unique<Node>();
    for (std::size_t at = 0; at < walk.futures.size(); ++at) {
        node->staying.push_back({walk.futures[at], std::make_shared<const TokenSet>(trie_, walk.ranges[at])});
        bytes_ += node->staying.back().tokens->bytes();
    }
    node->staying.insert(node->staying.end(), walk.shared.begin(), walk.shared.end());
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
        walk.add(0, lexer_state);
        known = make(walk);
    }
    return *known;
}

TokenClasses::Node& TokenClasses::below(std::int32_t trie_node, std::int32_t lexer_state) {
    Walk walk(*this);
    walk.add(trie_node, lexer_state);
    return *make(walk);
}

TokenClasses::Node& TokenClasses::after(Crossing& crossing, std::int32_t context) {
    for (const auto& [known, node] : crossing.children)
        if (known == context) return *node;
    Walk walk(*this);
    for (const auto& root : crossing.roots) walk.add(root, context);
    auto* node = make(walk);
    crossing.children.emplace_back(context, node);
    return *node;
}

}  // namespace pdacon
