// Which tokens a configuration allows so that the text's own tokenization can still go on and end.
//
// A node is a configuration, a place of the pretokens' automaton, and a state of that of the texts which the
// tokenizer leaves as they are, if it changes some. Its tokens are those that all allow,
// each within the pretoken or across a mark. Whether one is live does not depend on the token before it, so a
// node is found once for all of them. A token is live
//   at once, if after it the text may end as grammar and tokenizer want, or a character may follow, as the
//     grammar wants, before which a pretoken ends for certain and after which any text may follow: then
//     all that follows has a tokenization of its own. Where the tokenizer changes texts, such a character
//     counts only if a text goes on from it that is left as it is, whatever stands before;
//   else if a live token of the node after it follows across a mark, or within the pretoken without merging
//     with it: a least fixpoint, over the nodes level by level, until nothing of the first node is open.
//
// Stacks are overlays on the first configuration's stack, so that the answer holds for all stacks with the
// states that were read.
//
// From one state of the texts to another only what delicate tokens do changes: the others are taken from what
// was found of the start of texts.
//
// Bounded: after as many nodes as the budget has states (kLeastNodes at least, and fewer where they are
// large) what is open counts as dead, and `cut` says so. Then a token may be missing, and a mask that has
// none at all is an error; nothing that is wrong is allowed.
//
// Cost: the token classes of each lexer state; for each token and place O(1), and O(tokens of the next node)
// where a pretoken cannot end after it. Linear in the length of a word that goes on without a choice.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "composition/token_classes.hpp"
#include "detokenizer/tokens.hpp"
#include "filters/canonical_filter.hpp"
#include "liveness/coaccessibility.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class CanonicalSearch {
  public:
    // `settled`: what is live with the texts that are left as they are, whatever stands before; the same as
    // `coaccessibility` if all are. `classes`: by lexer states.
    CanonicalSearch(const Pushdown& machine, Coaccessibility& coaccessibility, Coaccessibility& settled,
                    TokenClasses& classes, const Tokens& tokens, CanonicalFilter& filter, Budget& budget)
        : machine_(machine),
          coaccessibility_(coaccessibility),
          settled_(settled),
          classes_(classes),
          tokens_(tokens),
          merges_(filter.merges()),
          spaced_(filter.spaced()),
          use_(filter),
          budget_(budget) {}

    // The live tokens: those that go on within a pretoken, unless they merge with the token before them, and
    // those that begin one; the latter with the end tokens, if the text may end.
    struct Found {
        std::vector<std::int32_t> within, across;
        bool cut = false;
    };
    // `leading`: the first token's leading space is none of the text.
    // `from_start`: the same for the start of texts, with what it read in `looked`; nothing: `text` is the
    // start.
    Found find(const LexerConfiguration& lexing, const StackView& stack, std::span<const std::int32_t> places,
               std::int32_t text, bool leading, const Found* from_start, ReadSet& looked);

    // The tokens that the grammar allows, by the configurations that they lead to, each with a number.
    struct Successors {
        std::int32_t configuration;
        std::vector<std::int32_t> tokens;
    };
    std::vector<Successors> successors(const LexerConfiguration& lexing, const StackView& stack,
                                       bool leading);

  private:
    static constexpr std::size_t kLeastNodes = 2000;
    static constexpr std::size_t kNodeNumbers = 160;  // a node with more in its keys and edges counts as more
    static constexpr std::size_t kShortSearch = 64;   // levels, after each of which edges are closed
    struct Known {
        LexerConfiguration lexing;
        Overlay stack;
        bool alive;
        bool expanded = false;
        std::vector<Successors> successors;
        std::int8_t may_end = -1;              // -1: not known
        std::vector<std::uint8_t> characters;  // by class: whether such a character may follow
        std::vector<std::int8_t> settled;      // by place: see is_settled; -1: not known
    };
    struct Edge {
        std::int32_t token, node;
        bool marked;
        bool restarts;           // the token is an added word, and another text begins after it
        std::int32_t round = 0;  // the last one of `wanted` that came by
        std::size_t tested = 0;  // how many of the node's tokens merge with this one
    };
    struct Node {
        std::int32_t configuration, place, text;
        bool explored = false;
        std::vector<std::int32_t> within, across;
        std::vector<Edge> open;
    };
    std::int32_t configuration(const LexerConfiguration& lexing, const Overlay& stack);
    // The configuration before the first token, if that loses a leading space.
    std::int32_t leading_configuration(std::int32_t start, bool spaced);
    void expand(std::int32_t configuration);
    void add(const TokenSet& set, std::vector<std::int32_t>& tokens) const;
    bool is_alive(Coaccessibility& coaccessibility, const LexerConfiguration& lexing, const Overlay& stack);
    bool may_end(Known& known);
    const std::vector<std::uint8_t>& characters(Known& known);
    bool read_text(LexerConfiguration& lexing, Overlay& stack, std::string_view bytes);
    bool may_follow(const Known& known, std::string_view bytes);
    // Whether the border after a configuration is settled: the first of the two ways to be live.
    bool is_settled(std::int32_t configuration, std::int32_t place, std::int32_t text);
    // The same after an added word.
    bool is_settled_anew(std::int32_t configuration, std::int32_t text);
    bool follows(const Edge& edge, const Edge& next) const {
        return edge.restarts || next.marked || !merges_.merges(edge.token, next.token);
    }
    std::int32_t node(std::int32_t configuration, std::int32_t place, std::int32_t text);
    void explore(std::int32_t node, bool delicate_only);
    bool close(Edge& edge);
    void close_all();
    std::vector<std::int32_t> wanted(std::span<const std::int32_t> roots);
    std::vector<std::int32_t> wanted_further();
    std::vector<std::int32_t> wanted_after(std::vector<Edge*> todo);
    bool is_too_large(std::size_t explored) const;

    const Pushdown& machine_;
    Coaccessibility& coaccessibility_;
    Coaccessibility& settled_;
    TokenClasses& classes_;
    const Tokens& tokens_;
    const MergeTable& merges_;
    bool spaced_;
    CanonicalFilter::Use use_;
    Budget& budget_;
    Interner configuration_ids_;
    std::int32_t hollow_ = -1;  // the configuration after a first token that is all leading space
    std::vector<std::unique_ptr<Known>> known_;
    Interner node_ids_;
    std::vector<Node> nodes_;
    std::int32_t round_ = 0;
    std::vector<Edge*> frontier_;  // those of the last round that lead to nodes which were not explored
    std::size_t numbers_ = 0;      // in keys of configurations and in open edges
};

}  // namespace pdacon
