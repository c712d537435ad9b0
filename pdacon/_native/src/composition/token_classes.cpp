#include "composition/token_classes.hpp"

#include <algorithm>
#include <bit>

#include "base/utf8.hpp"

namespace pdacon {

namespace {

// The characters that a loop has at least for what is known of it to be worth keeping: smaller ones are left
// too often, and are walked anew each time.
constexpr int kLeastInLoop = 16;

}  // namespace

// One walk over subtrees of the trie: collects what becomes a node.
class TokenClasses::Walk {
  public:
    explicit Walk(TokenClasses& classes, int level = 0)
        : classes_(classes),
          lexer_(classes.lexer_),
          trie_(classes.trie_),
          level_(level),
          desk_(classes.desks_[static_cast<std::size_t>(level)]) {
        ++desk_.walk;
        desk_.path.resize(static_cast<std::size_t>(trie_.max_depth()) + 1);
    }

    // The remainders below one root, lexed from the start of a context: first the root's word, then the trie.
    void add(const Root& root, std::int32_t context) {
        if (root.behind_and_word != landing_.word || context != landing_.context)
            land(root.behind_and_word, context);
        if (landing_.dead) return;
        if (landing_.crossing.word >= 0)
            cross(landing_.crossing, root.trie_node);
        else
            add(root.trie_node, landing_.place);
    }

    // The remainders below a node of the trie, lexed from a place.
    void add(std::int32_t trie_node, const Place& place) {
        if (trie_node == 0) {
            if (const auto most = classes_.taken(place.state)) {
                walk_exits(place.state, *most);
                return;
            }
        }
        if (trie_node != 0 && is_part(trie_node, place.state)) {
            add_part(trie_node, place.state);
            return;
        }
        add_anew(trie_node, place);
    }

    // The same for a part: nothing is known of it yet.
    void add_anew(std::int32_t trie_node, const Place& place) {
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

    Found found;

  private:
    // What a commit leads to: the crossing, and the word that its roots have.
    struct Ahead {
        std::int32_t label = 0;
        RelativeColumn column;
        std::int32_t word = -1;
    };
    // Where a root's word leads to from the start of a context: most roots of a crossing have the same.
    struct Landing {
        std::int32_t word = -1, context = -1;
        bool dead = false;
        Place place;
        Ahead crossing;
    };
    // Subtrees of the trie that are walked once for each lexer state, in nodes; smaller ones cost less than
    // keeping them.
    static constexpr std::int32_t kLeastPart = 64;

    // The whole trie from a state that takes so many characters of a loop, 0: any number. What stays is
    // known, what leaves is walked from where it leaves.
    void walk_exits(std::int32_t first, std::uint8_t most) {
        const auto tokens = trie_.loops().of(classes_.step(first).characters, most);
        std::vector<std::int32_t> states{first};  // after so many characters
        while (states.size() <= most) states.push_back(classes_.step(states.back()).next);
        const auto future = classes_.futures_.future(classes_.step(first).next);
        found.made.push_back({{future, -1, {}, {}}, {tokens, &tokens->staying}});
        for (const auto& [byte, characters, nodes] : tokens->exits) {
            Place place{states[characters], {}, {}};
            const auto byte_class = lexer_.byte_class(byte);
            const auto next = lexer_.next(place.state, byte_class);
            if (next == LexingAutomaton::kDead) continue;
            if (LexingAutomaton::is_commit(next)) {
                const auto ahead = commit(place, next, byte_class, {});
                for (const auto node : nodes) cross(ahead, node);
                continue;
            }
            lexer_.move(place, next, byte_class);
            for (const auto node : nodes) {
                stay(place, trie_.first_token(node), trie_.first_token(node + 1));
                walk_below(node, place);
            }
        }
    }

    void walk_below(std::int32_t top, const Place& start) {
        const auto end = trie_.subtree_end(top);
        if (end > top + 1 && swallows(start.state, top)) {
            stay(start, trie_.first_token(top + 1), trie_.first_token(end));
            return;
        }
        desk_.path[static_cast<std::size_t>(trie_.depth(top))] = {start};
        for (auto node = top + 1; node < end;) {
            classes_.budget_.tick();
            const auto& above = desk_.path[static_cast<std::size_t>(trie_.depth(node)) - 1];
            if (above.loop != nullptr && !above.loop->leaves->has(node)) {
                node = walk_loop(node, *above.loop, above.loop_end);
                continue;
            }
            const auto below = trie_.subtree_end(node);
            const auto byte_class = lexer_.byte_class(trie_.byte(node));
            auto place = above.place;
            const auto next = lexer_.next(place.state, byte_class);
            if (next < 0) {
                if (LexingAutomaton::is_commit(next)) cross(commit(place, next, byte_class, {}), node);
                node = below;
                continue;
            }
            lexer_.move(place, next, byte_class);
            if (const auto* loop = loop_behind(next, node)) {
                node = walk_loop(node, *loop, below);
            } else if (node + 1 < below && swallows(next, node)) {
                stay(place, trie_.first_token(node), trie_.first_token(below));
                node = below;
            } else if (is_part(node, next)) {
                add_part(node, next);
                node = below;
            } else {
                stay(place, trie_.first_token(node), trie_.first_token(node + 1));
                desk_.path[static_cast<std::size_t>(trie_.depth(node))] = {place};
                ++node;
            }
        }
    }

    // The loop that a lexer state is, if it takes the ASCII byte of a node once more.
    const Step* loop_behind(std::int32_t state, std::int32_t node) {
        const auto byte = trie_.byte(node);
        if (byte >= 0x80 || lexer_.next(state, lexer_.byte_class(byte)) != state) return nullptr;
        return classes_.loop(state);
    }

    // From a node in a loop to the next one that leaves it, or to the end of what is in it but for its
    // leaves.
    std::int32_t walk_loop(std::int32_t node, const Step& loop, std::int32_t end) {
        const auto leaving = loop.leaves->first(node + 1, end);
        const Place place{loop.next, {}, {}};
        stay(place, trie_.first_token(node), trie_.first_token(leaving));
        if (leaving < end)
            for (auto depth = trie_.depth(node); depth < trie_.depth(leaving); ++depth)
                desk_.path[static_cast<std::size_t>(depth)] = {place, &loop, end};
        return leaving;
    }

    // Whether every way down from a node stays in the lexer state, or between the characters of a loop on it.
    bool swallows(std::int32_t state, std::int32_t node) {
        const auto& below = trie_.below(node);
        const auto first = trie_.byte(node + 1);  // most states leave on it
        if (first < 0x80 && lexer_.next(state, lexer_.byte_class(first)) != state) return false;
        if (!classes_.futures_.is_column_independent(state)) return false;
        if (!trie_.is_text_below(node, kUtf8Boundary)) return false;
        const auto& step = classes_.step(state);
        return step.next == state && step.characters.contains(below.ascii, below.other);
    }

    void stay(const Place& place, std::int32_t begin, std::int32_t end) {
        if (begin == end) return;
        Stay stay{classes_.futures_.future(place.state), -1, {}, {}};
        if (stay.future < 0) stay = {-1, place.state, place.now, place.matched};
        auto& list = ranges_of(stay);
        if (!list.empty() && list.back().second == begin)
            list.back().second = end;
        else
            list.emplace_back(begin, end);
    }

    std::vector<TokenRange>& ranges_of(const Stay& stay) {
        const auto add = [&] {
            found.stays.push_back(stay);
            found.ranges.emplace_back();
            return found.ranges.size() - 1;
        };
        if (stay.future >= 0) return found.ranges[desk_.stays.of(stay.future, desk_.walk, add)];
        const auto known =
            static_cast<std::size_t>(std::ranges::find(found.stays, stay) - found.stays.begin());
        return found.ranges[known == found.stays.size() ? add() : known];
    }

    bool is_part(std::int32_t node, std::int32_t state) const {
        return level_ < kLevels && trie_.subtree_end(node) - node >= kLeastPart &&
               !lexer_.keeps_columns(state);
    }

    void add_part(std::int32_t node, std::int32_t state) {
        const auto& part = classes_.part(node, state, level_);
        for (std::size_t at = 0; at < part.stays.size(); ++at) {
            auto& list = ranges_of(part.stays[at]);
            list.insert(list.end(), part.ranges[at].begin(), part.ranges[at].end());
        }
        found.made.insert(found.made.end(), part.made.begin(), part.made.end());
        for (const auto& leaving : part.leaving) {
            auto& roots = roots_of(leaving.label, leaving.column);
            roots.insert(roots.end(), leaving.roots.begin(), leaving.roots.end());
        }
    }

    // The commit's own word comes before what was left of the word that was being read.
    Ahead commit(const Place& place, std::int32_t next, std::int32_t byte_class,
                 std::span<const std::int32_t> rest) {
        const auto& commit = lexer_.commit(next);
        Ahead ahead;
        ahead.label = commit.label;
        if (commit.label == classes_.newline_)
            ahead.column = lexer_.committed_column(commit, place, byte_class);
        auto& known = classes_.word_of_commit_[static_cast<std::size_t>(LexingAutomaton::kDead - 1 - next)];
        if (rest.empty() && known >= 0) {
            ahead.word = known;
            return ahead;
        }
        const auto again = lexer_.word(commit.word);
        word_.assign(1, commit.behind);
        word_.insert(word_.end(), again.begin(), again.end());
        word_.insert(word_.end(), rest.begin(), rest.end());
        ahead.word = classes_.words_.intern(word_);
        if (rest.empty()) known = ahead.word;
        return ahead;
    }

    void cross(const Ahead& ahead, std::int32_t trie_node) {
        roots_of(ahead.label, ahead.column).push_back({trie_node, ahead.word});
    }

    std::vector<Root>& roots_of(std::int32_t label, const RelativeColumn& column) {
        const auto add = [&] {
            found.leaving.push_back({label, column, {}});
            return found.leaving.size() - 1;
        };
        if (label != classes_.newline_) return found.leaving[desk_.leaving.of(label, desk_.walk, add)].roots;
        const auto known = std::ranges::find_if(found.leaving, [&](const Leaving& leaving) {
            return leaving.label == label && leaving.column == column;
        });
        return known == found.leaving.end() ? found.leaving[add()].roots : known->roots;
    }

    void land(std::int32_t behind_and_word, std::int32_t context) {
        const auto known = classes_.words_[behind_and_word];
        const auto entry = lexer_.entry(context, known[0]);
        landing_ = {behind_and_word, context, entry < 0, {entry, {}, {}}, {}};
        if (landing_.dead) return;
        const std::vector<std::int32_t> word(known.begin() + 1, known.end());
        auto& place = landing_.place;
        for (std::size_t at = 0; at < word.size(); ++at) {
            const auto next = lexer_.next(place.state, word[at]);
            if (LexingAutomaton::is_commit(next)) {
                landing_.crossing = commit(place, next, word[at], std::span(word).subspan(at + 1));
                return;
            }
            landing_.dead = next == LexingAutomaton::kDead;
            if (landing_.dead) return;
            lexer_.move(place, next, word[at]);
        }
    }

    TokenClasses& classes_;
    const LexingAutomaton& lexer_;
    const Trie& trie_;
    int level_;  // of the part that is walked; 0: none
    Desk& desk_;
    Landing landing_;
    std::vector<std::int32_t> word_;
};

const TokenClasses::Step& TokenClasses::step(std::int32_t lexer_state) {
    auto& step = steps_[static_cast<std::size_t>(lexer_state)];
    if (step.known) return step;
    step.known = true;
    step.next = next_of_most(lexer_state);
    if (step.next < 0) return step;
    for (std::size_t byte = 0; byte < 128; ++byte)
        if (lexer_.next(lexer_state, lexer_.byte_class(static_cast<std::uint8_t>(byte))) == step.next)
            step.characters.ascii[byte / 64] |= std::uint64_t{1} << (byte % 64);
    step.characters.other = steps_outside_ascii(lexer_state, step.next);
    return step;
}

const TokenClasses::Step* TokenClasses::loop(std::int32_t lexer_state) {
    step(lexer_state);
    auto& step = steps_[static_cast<std::size_t>(lexer_state)];
    if (step.leaves != nullptr) return &step;
    if (step.next != lexer_state || step.characters.size() < kLeastInLoop ||
        lexer_.keeps_columns(lexer_state))
        return nullptr;
    auto& leaves = leaves_[step.characters];
    if (!leaves) {
        leaves = trie_.loops().leaves(step.characters);
        bytes_ += leaves->bytes();
    }
    step.leaves = leaves.get();
    return &step;
}

void TokenClasses::find_loops() {
    constexpr std::size_t kMostSets = 32;
    // By byte classes: most states are no loop, and are not described for that.
    std::vector<int> ascii(static_cast<std::size_t>(lexer_.num_classes()), 0);
    for (std::uint8_t byte = 0; byte < 128; ++byte)
        ++ascii[static_cast<std::size_t>(lexer_.byte_class(byte))];
    for (std::int32_t state = 0; state < lexer_.num_states() && leaves_.size() < kMostSets; ++state) {
        budget_.tick();
        int characters = 0;
        for (std::size_t cls = 0; cls < ascii.size(); ++cls)
            if (lexer_.next(state, static_cast<std::int32_t>(cls)) == state) characters += ascii[cls];
        if (characters >= kLeastInLoop) loop(state);
    }
}

// Itself if it loops, else the state that most ASCII bytes lead to, or what is none.
std::int32_t TokenClasses::next_of_most(std::int32_t lexer_state) const {
    std::vector<std::pair<std::int32_t, int>> counts;
    for (std::size_t byte = 0; byte < 128; ++byte) {
        const auto next = lexer_.next(lexer_state, lexer_.byte_class(static_cast<std::uint8_t>(byte)));
        if (next == lexer_state) return next;
        if (next < 0) continue;
        const auto known = std::ranges::find(counts, next, &std::pair<std::int32_t, int>::first);
        if (known == counts.end())
            counts.emplace_back(next, 1);
        else
            ++known->second;
    }
    const auto most = std::ranges::max_element(counts, {}, &std::pair<std::int32_t, int>::second);
    return most == counts.end() ? LexingAutomaton::kDead : most->first;
}

std::optional<std::uint8_t> TokenClasses::taken(std::int32_t lexer_state) {
    // Less often is walked anew for each state: that costs less than keeping it.
    constexpr std::uint8_t kLeastTaken = 4, kMostTaken = 16;
    const auto first = step(lexer_state);
    if (first.characters.size() < kLeastInLoop) return std::nullopt;
    if (first.next == lexer_state) {
        if (lexer_.keeps_columns(lexer_state) && !leaves_without_column(lexer_state)) return std::nullopt;
        return 0;
    }
    if (lexer_.keeps_columns(lexer_state)) return std::nullopt;
    // One character before a loop: what leaves that is walked in parts, which both share.
    if (first.next >= 0 && step(first.next).next == first.next) return std::nullopt;
    std::uint8_t count = 0;
    for (auto here = first; count < kMostTaken; here = step(here.next)) {
        if (here.next < 0 || here.characters != first.characters || lexer_.keeps_columns(here.next) ||
            futures_.future(here.next) != futures_.future(first.next))
            break;
        ++count;
    }
    if (count < kLeastTaken) return std::nullopt;
    return std::bit_floor(count);
}

// Whether the columns that a lexer state keeps can be forgotten: nothing reads them before the next line
// break.
bool TokenClasses::leaves_without_column(std::int32_t lexer_state) const {
    std::vector<std::int32_t> open{lexer_state};
    for (std::size_t i = 0; i < open.size(); ++i) {
        if (!futures_.is_column_independent(open[i])) return false;
        for (std::int32_t cls = 0; cls < lexer_.num_classes(); ++cls) {
            const auto next = lexer_.next(open[i], cls);
            if (LexingAutomaton::is_commit(next) && lexer_.commit(next).label == newline_) return false;
            if (next < 0 || !lexer_.keeps_columns(next) || lexer_.is_line_break(cls)) continue;
            if (std::find(open.begin(), open.end(), next) == open.end()) open.push_back(next);
        }
    }
    return true;
}

bool TokenClasses::steps_outside_ascii(std::int32_t lexer_state, std::int32_t target) const {
    const auto future = futures_.future(target);
    const auto step = [&](std::int32_t state, int byte) {
        return lexer_.next(state, lexer_.byte_class(static_cast<std::uint8_t>(byte)));
    };
    // From `state`, `left` continuation bytes, the first of them in low..high, lead back.
    const auto returns = [&](const auto& self, std::int32_t state, int left, int low, int high) -> bool {
        if (state < 0) return false;
        if (left == 0) return state == target;
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

void TokenClasses::add_set(Found& found, std::size_t at) {
    found.made.push_back(
        {found.stays[at], std::make_shared<const TokenSet>(trie_, std::move(found.ranges[at]))});
    bytes_ += found.made.back().tokens->bytes();
}

TokenClasses::Node* TokenClasses::make(Found found) {
    nodes_.push_back(std::make_unique<Node>());
    auto& node = *nodes_.back();
    node.number = static_cast<std::int32_t>(nodes_.size()) - 1;
    for (std::size_t at = 0; at < found.stays.size(); ++at) {
        const auto& ranges = found.ranges[at];
        if (!are_few(trie_, ranges)) {
            add_set(found, at);
            continue;
        }
        const auto begin = node.tokens.size();
        append_tokens(trie_, ranges, node.tokens);
        node.few.push_back({found.stays[at], begin, node.tokens.size()});
    }
    node.staying = std::move(found.made);
    for (const auto& leaving : found.leaving)
        node.crossings.push_back({leaving.label, leaving.column, intern(leaving.roots)});
    bytes_ += sizeof(Node) + node.crossings.size() * sizeof(Crossing) + node.few.size() * sizeof(Few) +
              node.tokens.size() * sizeof(std::int32_t);
    return &node;
}

std::int32_t TokenClasses::intern(std::span<const Root> roots) {
    std::vector<std::int32_t> key;
    key.reserve(roots.size() * 2);
    for (const auto& root : roots) key.insert(key.end(), {root.trie_node, root.behind_and_word});
    const auto id = remainders_.intern(key);
    if (static_cast<std::size_t>(id) == children_.size()) {
        children_.emplace_back();
        bytes_ += key.size() * sizeof(std::int32_t);
    }
    return id;
}

const TokenClasses::Found& TokenClasses::part(std::int32_t trie_node, std::int32_t lexer_state, int level) {
    // So many tokens are kept as a mask, which all who use the part share.
    constexpr std::int32_t kLarge = 4096;
    const auto key =
        std::uint64_t(static_cast<std::uint32_t>(trie_node)) << 32 | static_cast<std::uint32_t>(lexer_state);
    if (const auto known = parts_.find(key); known != parts_.end()) return *known->second;
    Walk walk(*this, level + 1);
    walk.add_anew(trie_node, walk.begin(lexer_state));
    auto& found = walk.found;
    if (trie_.first_token(trie_.subtree_end(trie_node)) - trie_.first_token(trie_node) >= kLarge) {
        for (std::size_t at = 0; at < found.stays.size(); ++at) add_set(found, at);
        found.stays.clear();
        found.ranges.clear();
    }
    for (const auto& ranges : found.ranges) bytes_ += ranges.size() * sizeof(TokenRange);
    for (const auto& leaving : found.leaving) bytes_ += leaving.roots.size() * sizeof(Root);
    bytes_ += sizeof(Found);
    return *parts_.emplace(key, std::make_unique<const Found>(std::move(found))).first->second;
}

void TokenClasses::forget() {
    std::fill(of_state_.begin(), of_state_.end(), nullptr);
    nodes_.clear();
    remainders_ = Interner();
    children_.clear();
    parts_.clear();
    std::ranges::fill(steps_, Step{});
    leaves_.clear();
    bytes_ = 0;
}

TokenClasses::Node& TokenClasses::of_state(std::int32_t lexer_state) {
    auto& known = of_state_[static_cast<std::size_t>(lexer_state)];
    if (known == nullptr) {
        Walk walk(*this);
        walk.add(0, walk.begin(lexer_state));
        known = make(std::move(walk.found));
    }
    return *known;
}

TokenClasses::Node& TokenClasses::below(std::int32_t trie_node, std::int32_t lexer_state) {
    Walk walk(*this);
    walk.add(trie_node, walk.begin(lexer_state));
    return *make(std::move(walk.found));
}

TokenClasses::Node& TokenClasses::after(const Crossing& crossing, std::int32_t context) {
    const auto remainders = crossing.remainders;
    for (const auto& [known, node] : children_[static_cast<std::size_t>(remainders)])
        if (known == context) return *node;
    Walk walk(*this);
    const auto roots = remainders_[remainders];
    for (std::size_t at = 0; at < roots.size(); at += 2) walk.add({roots[at], roots[at + 1]}, context);
    auto* node = make(std::move(walk.found));
    children_[static_cast<std::size_t>(remainders)].emplace_back(context, node);
    return *node;
}

}  // namespace pdacon
