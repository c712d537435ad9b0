#include "composition/token_classes.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace pdacon {

// One walk over subtrees of the trie, each from a lexer configuration. It collects the edges of one node.
class TokenClasses::Walk {
  public:
    explicit Walk(TokenClasses& classes, int nesting = 0)
        : classes_(classes),
          lexer_(classes.lexer_),
          trie_(classes.trie_),
          nesting_(nesting),
          scratch_(classes.scratch_[nesting]) {
        ++scratch_.walk;
        scratch_.path.resize(static_cast<std::size_t>(trie_.max_depth()) + 1);
    }

    // Adds the suffixes of a remainder, read from the start of a context: first its pushback, then its
    // subtree.
    void add(const Remainder& remainder, std::int32_t context) {
        if (remainder.pushback != scan_.pushback || context != scan_.context)
            scan(remainder.pushback, context);
        if (scan_.dead) return;
        if (scan_.lexeme_end.pushback >= 0)
            emit(scan_.lexeme_end, remainder.trie_node);
        else
            add(remainder.trie_node, scan_.lexing);
    }

    // Adds the suffixes below a trie node, read from a lexer configuration.
    void add(std::int32_t trie_node, const RelativeConfiguration& lexing) {
        if (trie_node == 0 && !classes_.by_state_) {
            if (const auto most = classes_.steps_.loop_length(lexing.state)) {
                walk_exits(lexing.state, *most);
                return;
            }
        }
        if (trie_node != 0 && is_shared(trie_node, lexing.state)) {
            add_shared(trie_node, lexing.state);
            return;
        }
        add_subtree(trie_node, lexing);
    }

    // The same without looking for a kept result.
    void add_subtree(std::int32_t trie_node, const RelativeConfiguration& lexing) {
        end_at(lexing, trie_.first_token(trie_node), trie_.first_token(trie_node + 1));
        walk_below(trie_node, lexing);
    }

    // The configuration at the start of a walk. The columns that the state keeps are symbolic there: kNow + 0
    // and kMatched + 0 stand for those of the configuration that a mask is asked for.
    RelativeConfiguration begin(std::int32_t lexer_state) const {
        RelativeConfiguration lexing{lexer_state, {}, {}};
        if (lexer_.counts(lexer_state)) lexing.now = {RelativeColumn::kNow, 0};
        if (lexer_.keeps_match(lexer_state)) lexing.matched = {RelativeColumn::kMatched, 0};
        return lexing;
    }

    WalkResult found;

  private:
    // The end of a lexeme: the label and column of its commit, and the id of what that pushes back.
    struct LexemeEnd {
        std::int32_t label = 0;
        RelativeColumn column;
        std::int32_t pushback = -1;
    };
    // The result of lexing a pushback from the start of a context: dead, the end of a lexeme, or a
    // configuration. Most remainders of an edge have the same pushback, so the last result is kept.
    struct PushbackScan {
        std::int32_t pushback = -1, context = -1;
        bool dead = false;
        RelativeConfiguration lexing;
        LexemeEnd lexeme_end;
    };
    // Trie nodes in the smallest subtree whose result is kept; a smaller one is cheaper to walk again.
    static constexpr std::int32_t kLeastShared = 64;

    // Adds all tokens, read from a state that reads `most` characters of a loop, 0: any number. The tokens
    // inside the loop are looked up; the others are walked from where they leave it.
    void walk_exits(std::int32_t first, std::uint8_t most) {
        const auto* loop = most == 0 ? classes_.steps_.loop(first) : nullptr;
        const auto tokens = loop != nullptr
                                ? trie_.loops().tokens(*loop->loop)
                                : trie_.loops().tokens(classes_.steps_.of(first).characters, most);
        std::vector<std::int32_t> states{first};  // by the number of characters read
        while (states.size() <= most) states.push_back(classes_.steps_.of(states.back()).next);
        const auto future = classes_.futures_.future(classes_.steps_.of(first).next);
        found.edges.push_back({{future, -1, {}, {}}, {tokens, &tokens->staying}});
        for (const auto& [byte, characters, nodes] : tokens->exits) {
            RelativeConfiguration lexing{states[characters], {}, {}};
            const auto byte_class = lexer_.byte_class(byte);
            const auto next = lexer_.next(lexing.state, byte_class);
            if (next == LexingAutomaton::kDead) continue;
            if (LexingAutomaton::is_commit(next)) {
                const auto lexeme_end = commit(lexing, next, byte_class, {});
                for (const auto node : nodes) emit(lexeme_end, node);
                continue;
            }
            lexer_.move(lexing, next, byte_class);
            for (const auto node : nodes) {
                end_at(lexing, trie_.first_token(node), trie_.first_token(node + 1));
                walk_below(node, lexing);
            }
        }
    }

    // Walks all nodes below one, in preorder. `path` has the lexer configuration at each depth.
    void walk_below(std::int32_t top, const RelativeConfiguration& start) {
        const auto end = trie_.subtree_end(top);
        if (end > top + 1 && absorbs(start.state, top)) {
            end_at(start, trie_.first_token(top + 1), trie_.first_token(end));
            return;
        }
        scratch_.path[trie_.depth(top)] = {start};
        for (auto node = top + 1; node < end;) {
            classes_.budget_.tick();
            const auto& above = scratch_.path[static_cast<std::size_t>(trie_.depth(node)) - 1];
            if (above.loop != nullptr && !above.loop->exits->has(node)) {
                node = walk_loop(node, *above.loop, above.loop_end);
                continue;
            }
            const auto below = trie_.subtree_end(node);
            const auto byte_class = lexer_.byte_class(trie_.byte(node));
            auto lexing = above.lexing;
            if (const auto* loop = loop_of_character(lexing.state, node)) {
                node = walk_loop(node, *loop, below);
                continue;
            }
            const auto next = lexer_.next(lexing.state, byte_class);
            if (next < 0) {
                if (LexingAutomaton::is_commit(next)) emit(commit(lexing, next, byte_class, {}), node);
                node = below;
                continue;
            }
            lexer_.move(lexing, next, byte_class);
            if (const auto* loop = loop_after(next, node)) {
                node = walk_loop(node, *loop, below);
            } else if (node + 1 < below && absorbs(next, node)) {
                end_at(lexing, trie_.first_token(node), trie_.first_token(below));
                node = below;
            } else if (is_shared(node, next)) {
                add_shared(node, next);
                node = below;
            } else {
                end_at(lexing, trie_.first_token(node), trie_.first_token(node + 1));
                scratch_.path[trie_.depth(node)] = {lexing};
                ++node;
            }
        }
    }

    // The self-loop of the state after a node, if the node's byte is an ASCII character of the loop, or the
    // last byte of another character, below which there are whole characters only, but for the last one.
    const CharacterSteps::Step* loop_after(std::int32_t state, std::int32_t node) {
        const auto byte = trie_.byte(node);
        if (classes_.by_state_) return nullptr;
        if (byte >= 0x80) {
            if (trie_.subtree_end(node) == node + 1 || !trie_.is_utf8_below(node, kUtf8Boundary))
                return nullptr;
        } else if (lexer_.next(state, lexer_.byte_class(byte)) != state) {
            return nullptr;
        }
        return classes_.steps_.loop(state);
    }

    // The self-loop behind a node whose byte begins characters outside ASCII, if all of these lead to it, and
    // it reads them, too. Below the node there have to be whole characters only, but for the last one.
    const CharacterSteps::Step* loop_of_character(std::int32_t state, std::int32_t node) {
        const auto byte = trie_.byte(node);
        if (classes_.by_state_ || byte < CharacterSet::kFirstLead || byte > CharacterSet::kLastLead)
            return nullptr;
        const auto* loop = classes_.steps_.loop_after_lead(state, byte);
        return loop == nullptr || loop->exits->has(node) ? nullptr : loop;
    }

    // Adds the nodes from one in a loop up to the next exit, which it returns; all nodes before `end` are in
    // the loop, except those below its exits.
    std::int32_t walk_loop(std::int32_t node, const CharacterSteps::Step& loop, std::int32_t end) {
        const auto exit = loop.exits->first(node + 1, end);
        const RelativeConfiguration lexing{loop.next, {}, {}};
        end_at(lexing, trie_.first_token(node), trie_.first_token(exit));
        if (exit < end)
            for (auto depth = trie_.depth(node); depth < trie_.depth(exit); ++depth)
                scratch_.path[depth] = {lexing, &loop, end};
        return exit;
    }

    // Whether the state loops on all characters below a node, so that every token of the subtree ends in it,
    // or within a character of the loop, which has the same future.
    bool absorbs(std::int32_t state, std::int32_t node) {
        if (classes_.by_state_) return false;
        const auto& below = trie_.below(node);
        const auto first = trie_.byte(node + 1);  // the cheapest test: most states leave on it
        if (first < 0x80 && lexer_.next(state, lexer_.byte_class(first)) != state) return false;
        if (!classes_.futures_.is_column_independent(state)) return false;
        if (!trie_.is_utf8_below(node, kUtf8Boundary)) return false;
        const auto& step = classes_.steps_.of(state);
        return step.next == state && step.characters.contains(below.ascii, below.other);
    }

    // Records that the tokens at trie positions [begin, end) end in this configuration, inside a lexeme.
    void end_at(const RelativeConfiguration& lexing, std::int32_t begin, std::int32_t end) {
        if (begin == end) return;
        InnerEnd inner{classes_.by_state_ ? -1 : classes_.futures_.future(lexing.state), -1, {}, {}};
        if (inner.future < 0) inner = {-1, lexing.state, lexing.now, lexing.matched};
        auto& list = ranges_of(inner);
        if (!list.empty() && list.back().second == begin)
            list.back().second = end;
        else
            list.emplace_back(begin, end);
    }

    std::vector<TokenRange>& ranges_of(const InnerEnd& inner) {
        const auto add = [&] {
            found.ends.push_back(inner);
            found.ranges.emplace_back();
            return found.ranges.size() - 1;
        };
        if (inner.future >= 0)
            return found.ranges[scratch_.inner_at.find_or_add(inner.future, scratch_.walk, add)];
        if (classes_.by_state_ && !lexer_.keeps_columns(inner.lexer_state))
            return found.ranges[scratch_.inner_at.find_or_add(inner.lexer_state, scratch_.walk, add)];
        const auto known =
            static_cast<std::size_t>(std::ranges::find(found.ends, inner) - found.ends.begin());
        return found.ranges[known == found.ends.size() ? add() : known];
    }

    bool is_shared(std::int32_t node, std::int32_t state) const {
        return nesting_ < kMostNested && trie_.subtree_end(node) - node >= kLeastShared &&
               !lexer_.keeps_columns(state);
    }

    void add_shared(std::int32_t node, std::int32_t state) {
        const auto& subtree = classes_.subtree(node, state, nesting_);
        for (std::size_t at = 0; at < subtree.ends.size(); ++at) {
            auto& list = ranges_of(subtree.ends[at]);
            list.insert(list.end(), subtree.ranges[at].begin(), subtree.ranges[at].end());
        }
        for (const auto& [label, column, others] : subtree.emitting) {
            auto& remainders = remainders_of(label, column);
            remainders.insert(remainders.end(), others.begin(), others.end());
        }
    }

    // `rest` is what is left of a pushback that was being read. The commit's own pushback comes before it.
    LexemeEnd commit(const RelativeConfiguration& lexing, std::int32_t next, std::int32_t byte_class,
                     std::span<const std::int32_t> rest) {
        const auto& commit = lexer_.commit(next);
        LexemeEnd lexeme_end;
        lexeme_end.label = commit.label;
        if (commit.label == classes_.newline_)
            lexeme_end.column = lexer_.committed_column(commit, lexing, byte_class);
        const auto again = lexer_.pushback(commit.pushback);
        pushback_.assign(1, commit.look_behind);
        pushback_.insert(pushback_.end(), again.begin(), again.end());
        pushback_.insert(pushback_.end(), rest.begin(), rest.end());
        lexeme_end.pushback = classes_.pushbacks_.intern(pushback_);
        return lexeme_end;
    }

    void emit(const LexemeEnd& lexeme_end, std::int32_t trie_node) {
        remainders_of(lexeme_end.label, lexeme_end.column).push_back({trie_node, lexeme_end.pushback});
    }

    std::vector<Remainder>& remainders_of(std::int32_t label, const RelativeColumn& column) {
        const auto add = [&] {
            found.emitting.push_back({label, column, {}});
            return found.emitting.size() - 1;
        };
        if (label != classes_.newline_)
            return found.emitting[scratch_.emitting_at.find_or_add(label, scratch_.walk, add)].remainders;
        const auto known = std::ranges::find_if(found.emitting, [&](const EmittingRemainders& other) {
            return other.label == label && other.column == column;
        });
        return known == found.emitting.end() ? found.emitting[add()].remainders : known->remainders;
    }

    // Lexes a pushback from the start of a context, into `scan_`.
    void scan(std::int32_t pushback, std::int32_t context) {
        const auto known = classes_.pushbacks_[pushback];
        const auto entry = lexer_.entry(context, known[0]);
        scan_ = {pushback, context, entry < 0, {entry, {}, {}}, {}};
        if (scan_.dead) return;
        const std::vector<std::int32_t> bytes(known.begin() + 1, known.end());
        auto& lexing = scan_.lexing;
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            const auto next = lexer_.next(lexing.state, bytes[at]);
            if (LexingAutomaton::is_commit(next)) {
                scan_.lexeme_end = commit(lexing, next, bytes[at], std::span(bytes).subspan(at + 1));
                return;
            }
            scan_.dead = next == LexingAutomaton::kDead;
            if (scan_.dead) return;
            lexer_.move(lexing, next, bytes[at]);
        }
    }

    TokenClasses& classes_;
    const LexingAutomaton& lexer_;
    const SharedTrie& trie_;
    int nesting_;  // how many walks over kept subtrees this one is part of
    Scratch& scratch_;
    PushbackScan scan_;
    std::vector<std::int32_t> pushback_;
};

TokenClasses::Node* TokenClasses::make(WalkResult found) {
    nodes_.push_back(std::make_unique<Node>());
    auto& node = *nodes_.back();
    node.number = static_cast<std::int32_t>(nodes_.size()) - 1;
    for (std::size_t at = 0; at < found.ends.size(); ++at) {
        auto& ranges = found.ranges[at];
        if (!are_few(trie_, ranges)) {
            auto set = std::make_shared<const TokenSet>(trie_, std::move(ranges));
            bytes_ += set->bytes();
            found.edges.push_back({found.ends[at], std::move(set)});
            continue;
        }
        const auto begin = node.tokens.size();
        append_tokens(trie_, ranges, node.tokens);
        node.listed.push_back({found.ends[at], begin, node.tokens.size()});
    }
    node.inner = std::move(found.edges);
    for (const auto& [label, column, remainders] : found.emitting)
        node.emitting.push_back({label, column, intern(remainders)});
    bytes_ += sizeof(Node) + node.emitting.size() * sizeof(EmittingEdge) +
              node.listed.size() * sizeof(ListedEdge) + node.tokens.size() * sizeof(std::int32_t);
    return &node;
}

std::int32_t TokenClasses::intern(std::span<const Remainder> remainders) {
    std::vector<std::int32_t> key;
    key.reserve(remainders.size() * 2);
    for (const auto& remainder : remainders) key.insert(key.end(), {remainder.trie_node, remainder.pushback});
    const auto id = remainders_.intern(key);
    if (static_cast<std::size_t>(id) == children_.size()) {
        children_.emplace_back();
        bytes_ += key.size() * sizeof(std::int32_t);
    }
    return id;
}

const TokenClasses::WalkResult& TokenClasses::subtree(std::int32_t trie_node, std::int32_t lexer_state,
                                                      int nesting) {
    const auto key =
        std::uint64_t(static_cast<std::uint32_t>(trie_node)) << 32 | static_cast<std::uint32_t>(lexer_state);
    if (const auto known = subtrees_.find(key); known != subtrees_.end()) return *known->second;
    Walk walk(*this, nesting + 1);
    walk.add_subtree(trie_node, walk.begin(lexer_state));
    auto& found = walk.found;
    for (const auto& ranges : found.ranges) bytes_ += ranges.size() * sizeof(TokenRange);
    for (const auto& emitting : found.emitting) bytes_ += emitting.remainders.size() * sizeof(Remainder);
    bytes_ += sizeof(WalkResult);
    return *subtrees_.emplace(key, std::make_unique<const WalkResult>(std::move(found))).first->second;
}

void TokenClasses::forget() {
    std::fill(of_state_.begin(), of_state_.end(), nullptr);
    nodes_.clear();
    remainders_ = Interner();
    children_.clear();
    subtrees_.clear();
    steps_.forget();
    bytes_ = 0;
}

TokenClasses::Node& TokenClasses::of_state(std::int32_t lexer_state) {
    auto& known = of_state_[lexer_state];
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

TokenClasses::Node& TokenClasses::after(const EmittingEdge& edge, std::int32_t context) {
    const auto remainders = edge.remainders;
    for (const auto& [known, node] : children_[remainders])
        if (known == context) return *node;
    Walk walk(*this);
    const auto pairs = remainders_[remainders];
    for (std::size_t at = 0; at < pairs.size(); at += 2) walk.add({pairs[at], pairs[at + 1]}, context);
    auto* node = make(std::move(walk.found));
    children_[remainders].emplace_back(context, node);
    return *node;
}

}  // namespace pdacon
