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

    // A place of the walk. Its columns are relative to those of the reading that it starts from.
    using Place = ReadingOf<RelativeColumn>;

    // The remainders below one root, lexed from the start of a context: first the root's word, then the trie.
    void add(const Root& root, std::int32_t context) {
        const auto known = classes_.words_[root.behind_and_word];
        Place place{lexer_.entry(context, known[0]), {}, {}};
        const std::vector<std::int32_t> word(known.begin() + 1, known.end());
        for (std::size_t at = 0; at < word.size(); ++at) {
            const auto next = lexer_.next(place.state, word[at]);
            if (next == LexingAutomaton::kDead) return;
            if (LexingAutomaton::is_commit(next)) {
                cross(place, next, word[at], root.trie_node, std::span(word).subspan(at + 1));
                return;
            }
            lexer_.move(place, next, word[at]);
        }
        add(root.trie_node, place);
    }

    // The remainders below a node of the trie, lexed from a place.
    void add(std::int32_t trie_node, const Place& place) {
        if (trie_node == 0 && classes_.loop(place.state).size() >= kSharedLoop &&
            (!lexer_.keeps_columns(place.state) || classes_.leaves_without_column(place.state))) {
            walk_exits(place.state);
            return;
        }
        stay(place, trie_.first_token(trie_node), trie_.first_token(trie_node + 1));
        walk_below(trie_node, place);
    }

    // Where a walk starts in a lexer state that was reached before.
    Place begin(std::int32_t lexer_state) const {
        Place place{lexer_state, {}, {}};
        if (lexer_.counts(lexer_state)) place.now = {RelativeColumn::kNow, 0};
        if (lexer_.keeps_match(lexer_state)) place.matched = {RelativeColumn::kMatched, 0};
        return place;
    }

    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>>
        ranges;  // of `stays`, in positions of the trie
    std::vector<Stay> stays;
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
        shared.push_back({{classes_.futures_.future(state), -1, {}, {}}, {tokens, &tokens->staying}});
        for (std::size_t byte = 0; byte < 256; ++byte) {
            if (tokens->exits[byte].empty()) continue;
            const auto byte_class = lexer_.byte_class(static_cast<std::uint8_t>(byte));
            const auto next = lexer_.next(state, byte_class);
            if (next == LexingAutomaton::kDead) continue;
            Place place{state, {}, {}};
            if (!LexingAutomaton::is_commit(next)) lexer_.move(place, next, byte_class);
            for (const auto node : tokens->exits[byte]) {
                if (LexingAutomaton::is_commit(next)) {
                    cross(place, next, byte_class, node, {});
                    continue;
                }
                stay(place, trie_.first_token(node), trie_.first_token(node + 1));
                walk_below(node, place);
            }
        }
    }

    void walk_below(std::int32_t top, const Place& start) {
        path_[static_cast<std::size_t>(trie_.depth(top))] = start;
        const auto end = trie_.subtree_end(top);
        if (end > top + 1 && swallows(start.state, top)) {
            stay(start, trie_.first_token(top + 1), trie_.first_token(end));
            return;
        }
        for (auto node = top + 1; node < end;) {
            classes_.budget_.tick();
            const auto depth = static_cast<std::size_t>(trie_.depth(node));
            const auto byte_class = lexer_.byte_class(trie_.byte(node));
            auto place = path_[depth - 1];
            const auto next = lexer_.next(place.state, byte_class);
            if (next < 0) {
                if (LexingAutomaton::is_commit(next)) cross(place, next, byte_class, node, {});
                node = trie_.subtree_end(node);
                continue;
            }
            lexer_.move(place, next, byte_class);
            if (node + 1 < trie_.subtree_end(node) && swallows(next, node)) {
                stay(place, trie_.first_token(node), trie_.first_token(trie_.subtree_end(node)));
                node = trie_.subtree_end(node);
            } else {
                stay(place, trie_.first_token(node), trie_.first_token(node + 1));
                path_[depth] = place;
                ++node;
            }
        }
    }

    // Whether every way down from a node stays in the lexer state, or between the characters of a loop on it.
    bool swallows(std::int32_t state, std::int32_t node) {
        const auto& below = trie_.below(node);
        if (!classes_.futures_.column_free(state)) return false;
        if (!trie_.is_text_below(node, kUtf8Boundary)) return false;
        const auto& loop = classes_.loop(state);
        return !(below.ascii[0] & ~loop.ascii[0]) && !(below.ascii[1] & ~loop.ascii[1]) &&
               (!below.other || loop.other);
    }

    void stay(const Place& place, std::int32_t begin, std::int32_t end) {
        if (begin == end) return;
        Stay stay{classes_.futures_.future(place.state), -1, {}, {}};
        if (stay.future < 0) stay = {-1, place.state, place.now, place.matched};
        const auto known =
            static_cast<std::size_t>(std::find(stays.begin(), stays.end(), stay) - stays.begin());
        if (known == stays.size()) {
            stays.push_back(stay);
            ranges.emplace_back();
        }
        auto& list = ranges[known];
        if (!list.empty() && list.back().second == begin)
            list.back().second = end;
        else
            list.emplace_back(begin, end);
    }

    // The commit's own word comes before what was left of the word that was being read.
    void cross(const Place& place, std::int32_t next, std::int32_t byte_class, std::int32_t trie_node,
               std::span<const std::int32_t> rest) {
        const auto& commit = lexer_.commit(next);
        RelativeColumn column;
        if (commit.label == classes_.newline_) column = lexer_.committed_column(commit, place, byte_class);
        const auto again = lexer_.word(commit.word);
        word_.assign(1, commit.behind);
        word_.insert(word_.end(), again.begin(), again.end());
        word_.insert(word_.end(), rest.begin(), rest.end());
        const Root root{trie_node, classes_.words_.intern(word_)};
        const auto known = std::find_if(crossings.begin(), crossings.end(), [&](const Crossing& crossing) {
            return crossing.label == commit.label && crossing.column == column;
        });
        if (known != crossings.end())
            known->roots.push_back(root);
        else
            crossings.push_back({commit.label, column, {root}, {}});
    }

    TokenClasses& classes_;
    const LexingAutomaton& lexer_;
    const Trie& trie_;
    std::vector<Place> path_;  // at each depth
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

// Whether the columns that a lexer state keeps can be forgotten: nothing reads them before the next line
// break.
bool TokenClasses::leaves_without_column(std::int32_t lexer_state) const {
    std::vector<std::int32_t> open{lexer_state};
    for (std::size_t i = 0; i < open.size(); ++i) {
        if (!futures_.column_free(open[i])) return false;
        for (std::int32_t cls = 0; cls < lexer_.num_classes(); ++cls) {
            const auto next = lexer_.next(open[i], cls);
            if (LexingAutomaton::is_commit(next) && lexer_.commit(next).label == newline_) return false;
            if (next < 0 || !lexer_.keeps_columns(next) || lexer_.is_line_break(cls)) continue;
            if (std::find(open.begin(), open.end(), next) == open.end()) open.push_back(next);
        }
    }
    return true;
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
    for (std::size_t at = 0; at < walk.stays.size(); ++at) {
        node->staying.push_back({walk.stays[at], std::make_shared<const TokenSet>(trie_, walk.ranges[at])});
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
        walk.add(0, walk.begin(lexer_state));
        known = make(walk);
    }
    return *known;
}

TokenClasses::Node& TokenClasses::below(std::int32_t trie_node, std::int32_t lexer_state) {
    Walk walk(*this);
    walk.add(trie_node, walk.begin(lexer_state));
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
