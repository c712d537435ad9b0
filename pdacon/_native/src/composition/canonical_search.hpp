// Which tokens a configuration allows so that the text's own tokenization can still go on and end.
//
// A node is a configuration, a place in the automaton of pretokens and, if the tokenizer changes some texts,
// a state of the automaton of those that it leaves as they are. Its tokens are those that all of these allow,
// each within the pretoken or across a mark. Whether one is live does not depend on the token before it, so a
// node is searched once for all of them. A token is live
//   at once, if after it the text may end as grammar and tokenizer want, or a character may follow, as the
//     grammar wants, before which a pretoken ends for certain and after which any text may follow: then
//     all that follows has a tokenization of its own. Where the tokenizer changes texts, such a character
//     counts only if a text goes on from it that is left as it is, whatever stands before;
//   else if a live token of the node after it follows across a mark, or within the pretoken without merging
//     with it: a least fixpoint, over the nodes level by level, until no token of the first node is open,
//     that is, neither known to be live nor to be dead.
//
// Stacks are overlays on the first configuration's stack, so that the answer holds for all stacks with the
// states that were read.
//
// The states of the texts differ only in where delicate tokens lead. What the other tokens do is taken from
// the start of texts (`from_start`).
//
// A language may have no such character, and no end nearby: where the tokenizer does not split texts, `[[[[`
// could be followed to all its ends, which are exponentially many. So a search that is not over soon asks for
// the shortest completion of each node that it would look at next, and follows the tokens that the tokenizer
// makes of that to where they are live at once, or the text ends. The first one is live then, which mostly
// settles what led to the node: a token is dead only if it merges with all that can follow. Where nothing
// ever splits, the whole stack is read, so that what has been followed once is known by its stack (`Proven`).
//
// Bounded: after as many nodes as the budget has states (at least kLeastNodes, and fewer if they are large)
// the tokens that are open count as dead, and `cut` says so. Then tokens may be missing, and a mask that has
// none at all is an error; but no token is allowed that should not be.
//
// What a long search has found out about the nodes on its way is an answer, too: `for_each_answer`. Else a
// word of n tokens would be followed to its end from each of them.
//
// Cost: the token classes of each lexer state; for each token and place O(1), and O(tokens of the next node)
// where a pretoken cannot end after it. Linear in the length of a word that goes on without a choice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "completion/stack_cells.hpp"
#include "composition/canonical_spelling.hpp"
#include "composition/free_characters.hpp"
#include "composition/token_classes.hpp"
#include "detokenizer/tokens.hpp"
#include "detokenizer/trie.hpp"
#include "filters/canonical_filter.hpp"
#include "liveness/coaccessibility.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class CanonicalSearch {
  public:
    // `settled`: liveness if only texts may follow that the tokenizer leaves as they are, whatever stands
    // before them; the same as `coaccessibility` if it changes none. `classes`: by the lexer states in which
    // tokens end.
    // The shortest text that ends a sentence, or a beginning of it with so many bytes or more.
    struct CompletionText {
        std::string text;
        bool is_whole;
    };
    using Completions =
        std::function<CompletionText(const LexerConfiguration&, const PersistentStack&, std::size_t)>;
    // Configurations, by their stacks, with states of the filter from which a text goes on to its end.
    struct Proven {
        StackCells& cells;
        Interner keys;
    };
    CanonicalSearch(const Pushdown& machine, Coaccessibility& coaccessibility, Coaccessibility& settled,
                    TokenClasses& classes, const Trie& trie, CanonicalFilter& filter,
                    FreeCharacters& characters, Completions completion, Proven& proven, Budget& budget)
        : machine_(machine),
          coaccessibility_(coaccessibility),
          settled_(settled),
          classes_(classes),
          trie_(trie),
          tokens_(*trie.tokens()),
          filter_(filter),
          characters_(characters),
          completion_(std::move(completion)),
          proven_(proven),
          merges_(filter.merges()),
          spaced_(filter.spaced()),
          use_(filter),
          budget_(budget) {}

    // The live tokens: those that go on within the pretoken, if they do not merge with the token before them,
    // and those that begin one, the end tokens among them if the text may end.
    struct Found {
        std::vector<std::int32_t> within, across;
        bool cut = false;
    };
    // `text`: a state of the texts. `from_start`: the result for the start of texts, with its read set in
    // `read_set`; null: `text` is the start. `leading`: the first token's leading space is not part of the
    // text.
    Found find(const LexerConfiguration& lexing, const StackView& stack, std::span<const std::int32_t> places,
               std::int32_t text, bool leading, const Found* from_start, ReadSet& read_set);

    // Whether `find` went so far that others would do the same again.
    bool is_long() const { return levels_ > kShortSearch; }
    // After `find` from the start of texts, without a leading space, that was not cut: visit(lexing, stack,
    // read set, place, text, found) of each node for which nothing is left to explore, those near the
    // beginning first, while it returns true and no columns are looked at. `read_set`: that of `find`, which
    // goes on counting. Cost: O(open edges), and O(tokens) for each node.
    template <class Visit>
    void for_each_answer(const ReadSet& read_set, Visit visit);

    // The tokens that the grammar allows, by the configurations that they lead to, which are numbered.
    struct Successors {
        std::int32_t configuration;
        std::vector<std::int32_t> tokens;
    };
    std::vector<Successors> successors(const LexerConfiguration& lexing, const StackView& stack,
                                       bool leading);

  private:
    static constexpr std::size_t kLeastNodes = 2000;
    static constexpr std::size_t kNodeNumbers = 160;  // a node with more in its keys and edges counts as more
    static constexpr std::size_t kShortSearch = 64;   // up to so many levels, edges are closed after each one
    // A search asks for completions after so many steps, of which a node takes some beside its tokens.
    static constexpr std::size_t kFewSteps = 1 << 14, kNodeSteps = 1 << 10;
    // What is known of a configuration.
    struct Known {
        LexerConfiguration lexing;
        Overlay stack;
        bool live;
        bool expanded = false;
        std::vector<Successors> successors;
        std::int8_t may_end = -1;          // -1: not known
        std::vector<std::int8_t> follows;  // by spelling: whether such a character may follow; -1: not known
        std::vector<std::int8_t> settled;  // by place: see is_settled; -1: not known
        std::optional<CompletionText> completion;
    };
    // A token that is open, and the node that it leads to.
    struct Edge {
        std::int32_t token, node;
        bool marked;
        bool restarts;           // the token is an added word, and another text begins after it
        std::int32_t round = 0;  // the last round of `wanted` that visited this edge
        std::size_t tested = 0;  // so many of the node's tokens within the pretoken merge with this one
    };
    struct Node {
        std::int32_t configuration = -1, place = -1, text = -1;
        bool explored = false, is_completed = false;  // see `explore` and `complete`
        std::vector<std::int32_t> within, across;     // the tokens that are known to be live
        std::vector<Edge> open;
    };
    std::int32_t configuration(const LexerConfiguration& lexing, const Overlay& stack);
    // The configuration before the first token, if that loses a leading space.
    std::int32_t leading_configuration(std::int32_t start, bool spaced);
    void expand(std::int32_t configuration);
    void add(const TokenSet& set, std::vector<std::int32_t>& tokens) const;
    bool is_live(Coaccessibility& coaccessibility, const LexerConfiguration& lexing, const Overlay& stack);
    bool may_end(Known& known);
    template <class Stack>
    bool read_text(LexerConfiguration& lexing, Stack& stack, std::string_view bytes) {
        std::vector<std::int32_t> pending;  // read from the back
        for (const char byte : bytes | std::views::reverse)
            pending.push_back(machine_.lexer.byte_class(static_cast<std::uint8_t>(byte)));
        return read(machine_, stack, lexing, pending);
    }
    // Whether a character that is spelled so may follow, and then a text that is left as it is.
    bool may_follow(Known& known, std::int32_t spelling);
    // Whether a token that leads here is live at once: the first of the two ways to be live.
    bool is_settled(std::int32_t configuration, std::int32_t place, std::int32_t text);
    // The same after an added word.
    bool is_settled_anew(std::int32_t configuration, std::int32_t text);
    bool follows(const Edge& edge, const Edge& next) const {
        return edge.restarts || next.marked || !merges_.merges(edge.token, next.token);
    }
    // A root whose delicate tokens alone are asked for is a node of its own: an edge that leads back to its
    // configuration, place and text wants the others, too.
    std::int32_t node(std::int32_t configuration, std::int32_t place, std::int32_t text,
                      bool delicate_only = false);
    // Finds the tokens of a node, live or open; `delicate_only`: only those that are delicate in its text.
    void explore(std::int32_t node, bool delicate_only);
    // Finds a live token of a node or two: the first ones of its shortest completion. False: none is found.
    bool complete(std::int32_t node);
    // The same for the nodes that open tokens of the roots lead to and the roots, and if nothing is found
    // there for other ones.
    bool complete_some(std::span<const std::int32_t> roots, std::span<const std::int32_t> others);
    std::optional<std::int32_t> first_live_token(Known& known, std::int32_t state);
    // The beginning of a completion up to where all is live, or where the rest has been followed before.
    Spelling spell_to_settled(Known& known, std::int32_t state);
    Spelling spell_to_proven(Known& known, std::int32_t state);
    bool is_settled_in(std::int32_t configuration, std::int32_t state);
    // The second way to be live.
    bool has_live_successor(Edge& edge);
    // Closes every edge whose token is live by now: the least fixpoint over the nodes explored so far.
    void close_all();
    std::vector<std::int32_t> wanted(std::span<const std::int32_t> roots);
    std::vector<std::int32_t> wanted_further();
    std::vector<std::int32_t> wanted_after(std::vector<Edge*> todo);
    bool is_too_large(std::size_t explored) const;
    bool is_over_soon() const { return use_.pretokens.is_ever_free() && steps_ <= kFewSteps; }
    void add_to(Found& found, const Node& node);
    // By node: whether it and all nodes that its open tokens lead to are explored, so that these are dead.
    std::vector<bool> answered() const;

    const Pushdown& machine_;
    Coaccessibility& coaccessibility_;
    Coaccessibility& settled_;
    TokenClasses& classes_;
    const Trie& trie_;
    const Tokens& tokens_;
    CanonicalFilter& filter_;
    FreeCharacters& characters_;
    Completions completion_;
    Proven& proven_;
    const MergeTable& merges_;
    bool spaced_;
    CanonicalFilter::Use use_;
    Budget& budget_;
    Interner configuration_ids_;
    std::int32_t leading_ = -1;     // the configuration before a first token that loses a leading space
    std::int32_t only_space_ = -1;  // the configuration after a first token that is all leading space
    std::vector<std::unique_ptr<Known>> known_;
    Interner node_ids_;
    std::vector<Node> nodes_;
    std::int32_t round_ = 0;
    std::vector<Edge*> frontier_;  // the edges of the last round that lead to nodes not explored then
    std::size_t numbers_ = 0;      // how many numbers are in keys of configurations and in open edges
    std::size_t levels_ = 0;       // how many levels `find` has explored
    std::size_t steps_ = 0;        // a measure of the time that it took
};

template <class Visit>
void CanonicalSearch::for_each_answer(const ReadSet& read_set, Visit visit) {
    const auto known = answered();
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
        if (!known[at]) continue;
        const auto& node = nodes_[at];
        Found found{std::vector<std::int32_t>(tokens_.words(), 0),
                    std::vector<std::int32_t>(tokens_.words(), 0)};
        add_to(found, node);
        if (read_set.columns) return;
        const auto& from = *known_[node.configuration];
        // All that the search has read of the first configuration's stack, as far as it is left.
        const auto left = read_set.states - std::min(read_set.states, from.stack.popped());
        Overlay::Nodes nodes;
        if (!visit(from.lexing, from.stack.view(nodes), ReadSet{from.stack.pushed() + left, false},
                   node.place, node.text, std::move(found)))
            return;
    }
}

}  // namespace pdacon
