// Lexing transducer o detokenizer: for a lexer state, the tokens of the vocabulary fall into a tree of
// classes.
//
// A node stands for a set of token remainders read from one lexer state. Those that stay inside a lexeme are
// kept by the future they end in; those that end it are kept by the label they commit, and are classified
// further once per context that may follow. No parser is known here: which branches of the tree are open is
// for the stack to say.
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
#include "detokenizer/shared_trie.hpp"
#include "detokenizer/token_set.hpp"
#include "lexer/automaton.hpp"
#include "liveness/coaccessibility.hpp"

namespace pdacon {

class TokenClasses {
  public:
    // Where remainders begin: at a node of the trie (what is below it is still to be read), after a word of
    // byte classes that was read already and must be lexed again; before the word, what lies behind it.
    struct Root {
        std::int32_t trie_node, behind_and_word;
    };
    // What crosses the end of a lexeme: its label, and what is left of the tokens.
    struct Crossing {
        std::int32_t label;
        RelativeColumn column;    // of the layout's newline
        std::int32_t remainders;  // the id of their roots
    };
    // Tokens that end in lexer states of one future; where columns matter, in one state with these columns.
    struct Stay {
        std::int32_t future;
        std::int32_t lexer_state = -1;
        RelativeColumn now, matched;
        bool operator==(const Stay&) const = default;
    };
    struct Staying {
        Stay stay;
        std::shared_ptr<const TokenSet> tokens;
    };
    // The same of a few tokens, in a list that all such of a node share.
    struct Few {
        Stay stay;
        std::size_t begin, end;
    };
    struct Node {
        std::int32_t number;  // counts up from 0
        std::vector<Staying> staying;
        std::vector<Few> few;
        std::vector<std::int32_t> tokens;  // of those
        std::vector<Crossing> crossings;   // by label and column
    };

    TokenClasses(const Pushdown& machine, const Coaccessibility& futures, const SharedTrie& trie,
                 Budget& budget)
        : lexer_(machine.lexer),
          newline_(machine.layout.newline),
          futures_(futures),
          trie_(trie),
          budget_(budget),
          word_of_commit_(static_cast<std::size_t>(lexer_.num_commits()), -1),
          of_state_(static_cast<std::size_t>(lexer_.num_states()), nullptr),
          steps_(of_state_.size()) {}

    // Finds the leaves of loops before a mask needs them: a walk over the trie for each set of characters,
    // the first time that a constraint of the vocabulary has it.
    void find_loops();

    // The tokens read from a lexer state. Computed at first sight: O(nodes of the trie that are visited).
    Node& of_state(std::int32_t lexer_state);

    // The tokens below a node of the trie, without what leads to it, read from a lexer state. Not kept by it.
    Node& below(std::int32_t trie_node, std::int32_t lexer_state);

    // What the remainders of a crossing do in the context that follows it. `crossing` belongs to a node of
    // this object. Crossings with the same remainders share it.
    Node& after(const Crossing& crossing, std::int32_t context);

    // Of all nodes; they can be forgotten, with everything that came from them, and are made again then.
    std::size_t bytes() const { return bytes_; }
    void forget();

  private:
    // The characters that lead from a lexer state to the same next one, which is itself if any does; `next`
    // has the same future all along them.
    struct Step {
        std::int32_t next = LexingAutomaton::kDead;
        bool known = false;
        CharacterSet characters;
        // Of a loop of many characters, if anybody has asked: the nodes that leave it.
        const LoopExits* exits = nullptr;
    };
    class Walk;
    // A place of a walk. Its columns are relative to those of the lexing that it starts from.
    using Place = LexerConfigurationOf<RelativeColumn>;
    // Where a walk has put what has a number.
    class Index {
      public:
        // `add`: puts it somewhere, if this walk has not yet.
        template <class Add>
        std::size_t of(std::int32_t number, std::int64_t walk, Add add) {
            const auto at = static_cast<std::size_t>(number);
            if (at >= entries_.size()) entries_.resize(at + 1);
            if (entries_[at].walk != walk) entries_[at] = {walk, add()};
            return entries_[at].place;
        }

      private:
        struct Entry {
            std::int64_t walk = 0;
            std::size_t place = 0;
        };
        std::vector<Entry> entries_;
    };
    // Where a walk is at a node. In a loop: up to which node all that are not below its leaves are in it.
    struct At {
        Place place;
        const Step* loop = nullptr;
        std::int32_t loop_end = 0;
    };
    // What walks work with, one after another: they count up from 1.
    struct Desk {
        std::int64_t walk = 0;
        std::vector<At> path;  // at each depth
        Index stays, leaving;  // by future and by label
    };
    // Parts have parts, but not for ever.
    static constexpr int kLevels = 3;
    // What a walk found: the tokens of `stays`, in positions of the trie, and what it took from parts as it
    // is.
    struct Leaving {
        std::int32_t label;
        RelativeColumn column;
        std::vector<Root> roots;
    };
    struct Found {
        std::vector<Stay> stays;
        std::vector<std::vector<TokenRange>> ranges;
        std::vector<Leaving> leaving;
        std::vector<Staying> made;
    };
    Node* make(Found found);
    void add_set(Found& found, std::size_t at);
    std::int32_t intern(std::span<const Root> roots);
    // The tokens below a node of the trie, itself included, read from a lexer state behind it that keeps no
    // columns. Walks that start from different states, or in different contexts, mostly meet in such parts.
    const Found& part(std::int32_t trie_node, std::int32_t lexer_state, int level);
    const Step& step(std::int32_t lexer_state);
    // The same of a loop of many characters, with its leaves; or none.
    const Step* loop(std::int32_t lexer_state);
    std::int32_t next_of_most(std::int32_t lexer_state) const;
    bool steps_outside_ascii(std::int32_t lexer_state, std::int32_t target) const;
    bool forgets_columns(std::int32_t lexer_state) const;
    // How many characters of its step a lexer state takes one after another, as the cache of loops counts
    // them: 0 is any number. Nothing if it is not worth to keep what they are.
    std::optional<std::uint8_t> taken(std::int32_t lexer_state);

    const LexingAutomaton& lexer_;
    std::int32_t newline_;
    const Coaccessibility& futures_;
    const SharedTrie& trie_;
    Budget& budget_;
    Interner words_;
    std::vector<std::int32_t> word_of_commit_;  // where nothing else is left of what was being read; or -1
    Interner remainders_;                       // of roots, as pairs
    std::vector<std::vector<std::pair<std::int32_t, Node*>>> children_;  // of remainders, by context
    std::vector<std::unique_ptr<Node>> nodes_;
    std::vector<Node*> of_state_;
    std::vector<Step> steps_;  // of each lexer state
    std::map<CharacterSet, std::shared_ptr<const LoopExits>> loop_exits_;
    std::unordered_map<std::uint64_t, std::unique_ptr<const Found>> parts_;  // by trie node and lexer state
    std::array<Desk, kLevels + 1> desks_;                                    // of each level of parts
    std::size_t bytes_ = 0;
};

}  // namespace pdacon
