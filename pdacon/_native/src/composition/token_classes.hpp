// The lexing transducer composed with the detokenizer: token classes, as a tree for each lexer state.
//
// Reading a token from a lexer state, the first commit, if there is one, does not depend on the parser. What
// is left of the token is read in a context that does. So two suffixes of tokens are in the same class of a
// lexer state if both stay inside a lexeme and end in the same future; or if both commit the same label
// first, and then, in each context that can follow, what is left of them is in the same class. Whatever the
// stack, it allows all tokens of a class or none.
//
// A node of the tree stands for a set of suffixes that are read from one lexer state, or from the start of
// one context. Its inner edges lead to no node: they are the suffixes that commit nothing, by the future in
// which they end. (Two may have one future, since the tokens of a loop are taken over as they are.) Its
// emitting edges are the suffixes that end a lexeme, by the label of the first commit. Such an edge leads to
// one more node for each context that the parser may be in after the commit. Edges that leave the same
// remainders share these nodes, so that the tree is stored as a directed acyclic graph. Example: from the
// start of a JSON value, `12` and `7` are on one inner edge, `1,` and `1,"` on the emitting edge of NUMBER.
// No parser is known here: which edges a stack allows is decided by MaskAssembly.
//
// Cost: nodes are made on demand. A node takes one visit of each trie node at or below its suffixes from
// which the lexer goes on, and at most one scan of a pushback for each remainder. That can be the whole trie
// for each lexer state. Self-loops of the lexer (CharacterSteps), which are looked up instead of walked, and
// the kept results of large subtrees keep it far below.
// Source: Koo, Liu and He 2024, "Automata-based constraints for language model decoding", for the
// composition.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "composition/character_steps.hpp"
#include "detokenizer/shared_trie.hpp"
#include "detokenizer/token_set.hpp"
#include "lexer/automaton.hpp"
#include "liveness/coaccessibility.hpp"

namespace pdacon {

class TokenClasses {
  public:
    // What is left of some tokens after a commit: first the pushback is lexed, then the suffixes from a trie
    // node on, the empty one included. `pushback`: the id of the look-behind state and the byte classes that
    // are to be lexed again.
    struct Remainder {
        std::int32_t trie_node, pushback;
    };
    // The suffixes whose first commit has one label.
    struct EmittingEdge {
        std::int32_t label;
        RelativeColumn column;    // if the label is the layout's newline: the column that it commits
        std::int32_t remainders;  // the id of the list of remainders after the commit
    };
    // Where tokens end inside a lexeme: a future; or, where columns decide or with `by_state`, future -1 and
    // the lexer state with its columns.
    struct InnerEnd {
        std::int32_t future;
        std::int32_t lexer_state = -1;
        RelativeColumn now, matched;
        bool operator==(const InnerEnd&) const = default;
    };
    struct InnerEdge {
        InnerEnd end;
        std::shared_ptr<const TokenSet> tokens;
    };
    // An inner edge with few tokens: those at first .. last of the node's token list.
    struct ListedEdge {
        InnerEnd end;
        std::size_t first, last;
    };
    struct Node {
        std::int32_t number;  // counts up from 0
        std::vector<InnerEdge> inner;
        std::vector<ListedEdge> listed;
        std::vector<std::int32_t> tokens;    // of the listed edges
        std::vector<EmittingEdge> emitting;  // one for each label and column
    };

    // `by_state`: the inner edges are told apart by the lexer state in which tokens end, not by its future.
    // Then nothing is looked up that holds only of futures, and a walk takes longer.
    TokenClasses(const Pushdown& machine, const Coaccessibility& futures, const SharedTrie& trie,
                 Budget& budget, bool by_state = false)
        : by_state_(by_state),
          lexer_(machine.lexer),
          newline_(machine.layout.newline),
          futures_(futures),
          trie_(trie),
          budget_(budget),
          of_state_(static_cast<std::size_t>(lexer_.num_states()), nullptr),
          steps_(machine, futures, trie, budget) {}

    // Does beforehand what each mask in a string or a name needs: see CharacterSteps::find_loops.
    void find_loops() { steps_.find_loops(); }

    // The node of all tokens, read from a lexer state. Made once.
    Node& of_state(std::int32_t lexer_state);

    // The node of the suffixes below a trie node, read from a lexer state. Each call makes a new one, which
    // `forget` frees with all others.
    Node& below(std::int32_t trie_node, std::int32_t lexer_state);

    // The node after an emitting edge of one of the nodes, in a lexical context. Made once; edges with equal
    // remainders share it.
    Node& after(const EmittingEdge& edge, std::int32_t context);

    // Memory that `forget` gives back. It invalidates all nodes; they are made again on demand.
    std::size_t bytes() const { return bytes_ + steps_.bytes(); }
    void forget();

  private:
    class Walk;
    // A lexer configuration whose columns are relative to those at the start of the walk.
    using RelativeConfiguration = LexerConfigurationOf<RelativeColumn>;
    // Maps small numbers to positions in what a walk has found. A new walk empties it in O(1).
    class PositionMap {
      public:
        // `add` appends the number to what the walk has found, and returns where.
        template <class Add>
        std::size_t find_or_add(std::int32_t number, std::int64_t walk, Add add) {
            const auto at = static_cast<std::size_t>(number);
            if (at >= entries_.size()) entries_.resize(at + 1);
            if (entries_[at].walk != walk) entries_[at] = {walk, add()};
            return entries_[at].position;
        }

      private:
        struct Entry {
            std::int64_t walk = 0;
            std::size_t position = 0;
        };
        std::vector<Entry> entries_;
    };
    // The state of a walk at a trie node. In a self-loop, all nodes before `loop_end` are in the loop too,
    // except its exits and what is below them.
    struct PathEntry {
        RelativeConfiguration lexing;
        const CharacterSteps::Step* loop = nullptr;
        std::int32_t loop_end = 0;
    };
    // Storage that walks reuse, one after another. Walks are numbered from 1.
    struct Scratch {
        std::int64_t walk = 0;
        std::vector<PathEntry> path;        // by depth
        PositionMap inner_at, emitting_at;  // by future, by label
    };
    // A walk uses the kept results of subtrees, and the walk of such a subtree uses those of smaller ones, up
    // to this depth. Below it nodes are walked one by one, so that the recursion is bounded.
    static constexpr int kMostNested = 3;
    struct EmittingRemainders {
        std::int32_t label;
        RelativeColumn column;
        std::vector<Remainder> remainders;
    };
    // What a walk has found. `ranges[i]` are the tokens that end in `ends[i]`, as positions of the trie;
    // `edges`: the tokens of a loop, which others share; in a subtree there are none.
    struct WalkResult {
        std::vector<InnerEnd> ends;
        std::vector<std::vector<TokenRange>> ranges;
        std::vector<InnerEdge> edges;
        std::vector<EmittingRemainders> emitting;
    };
    Node* make(WalkResult found);
    std::int32_t intern(std::span<const Remainder> remainders);
    // The kept result of a walk over a subtree, its root included. `lexer_state` is the state after the
    // root's byte; it keeps no columns. Walks from different states and contexts mostly meet in such pairs.
    const WalkResult& subtree(std::int32_t trie_node, std::int32_t lexer_state, int nesting);

    bool by_state_;
    const LexingAutomaton& lexer_;
    std::int32_t newline_;
    const Coaccessibility& futures_;
    const SharedTrie& trie_;
    Budget& budget_;
    Interner pushbacks_;   // look-behind states, each followed by byte classes
    Interner remainders_;  // lists of remainders, as pairs
    std::vector<std::vector<std::pair<std::int32_t, Node*>>> children_;  // of remainders: context, node
    std::vector<std::unique_ptr<Node>> nodes_;
    std::vector<Node*> of_state_;
    CharacterSteps steps_;
    std::unordered_map<std::uint64_t, std::unique_ptr<const WalkResult>>
        subtrees_;                                  // by trie node and lexer state
    std::array<Scratch, kMostNested + 1> scratch_;  // by depth of nesting
    std::size_t bytes_ = 0;
};

}  // namespace pdacon
