// Whether lexing can keep a text from what the parser would take: the search for lexical dead ends.
//
// In tables without conflicts whose nonterminals all derive some string of terminals, every stack of LR
// states has a sequence of terminals that the parser takes to acceptance (the viable-prefix property of LR).
// What may be missing is a text: a lexeme can swallow the next one, a vocabulary can lack what a lexeme
// needs. If the lexer can write every sequence of terminals that the tables have an action for, nothing is
// missing, and every start of a lexeme is live on every stack. That is a question about lexical contexts
// alone. It needs no stack, and so no summaries, of which large grammars have too many to tabulate.
//
// A choice is a context with the pending controls that can come next in it. It is free if for each
// terminal of the context, and for the end where a text may end, one of its controls is free. A control is
// free if the choices are free in which its label leaves the lexer, one for each context in which a shift of
// it can leave the parser. Both are taken as a greatest fixpoint. An ignored lexeme leaves the context as it
// is: the controls after it belong to the same choice.
//
// Terminals that the lexer cannot commit at some start of a lexeme, such as those that a vocabulary cannot
// spell, need not be written if what is on a stack can be brought to its end without them: if all
// nonterminals derive strings of the others, and no rule has one of them behind its first symbol.
//
// What is not free may be live nevertheless, on some stacks or on all. Only for grammars without layout.
//
// Cost: O(choices x terminals of their contexts), once for each use of a choice that is refuted.
// Source: viable prefixes as in Aho, Sethi and Ullman 1986, section 4.7.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "base/interner.hpp"
#include "liveness/quotient_controls.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class LexicalDeadEnds {
  public:
    // Cost: one visit of the tables.
    LexicalDeadEnds(const Pushdown& machine, QuotientControls& controls, Budget& budget);

    // The contexts in which a lexeme can start: of the start state, and of those that a shift leads to.
    const std::vector<std::int32_t>& contexts() const { return contexts_; }
    // Leaves out the terminals that cannot be committed where lexing starts in a context with some pending
    // controls. To be called for all starts first. Returns false if the end of the text is among them.
    bool leave_out(std::int32_t context, std::span<const std::int32_t> controls);
    // Whether what is on a stack can be brought to its end without the terminals that are left out. Cost: one
    // visit of the tables, and of each production when one of its symbols derives something.
    bool can_do_without();
    // Whether lexing that starts in a context with any one of some pending controls may meet one; also where
    // the nodes of the search, and the residues that their controls may leave, are more than the budget has
    // states: a terminal of k bytes that may all be read again leaves k residues at each of k controls.
    bool may_follow(std::int32_t context, std::span<const std::int32_t> controls);

  private:
    // A choice, or a pending control as far as it is asked for.
    struct Node {
        // Groups, each a number of nodes and then these nodes: of each group one has to be free.
        std::vector<std::int32_t> groups;
        std::vector<std::int32_t> users;
        bool is_refuted = false;
    };
    std::int32_t choice(std::int32_t context, std::span<const std::int32_t> controls);
    std::int32_t node(std::span<const std::int32_t> key);
    std::vector<std::int32_t> reached(std::int32_t context, std::vector<std::int32_t> controls);
    void expand(std::int32_t at);
    void expand_choice(std::int32_t at, std::int32_t context, std::vector<std::int32_t> controls);
    void add_group(std::int32_t at, std::span<const std::int32_t> nodes);
    bool is_refutable(const Node& node) const;
    void refute(std::vector<std::int32_t> refutable);

    const Pushdown& machine_;
    QuotientControls& controls_;
    Budget& budget_;
    std::vector<std::int32_t> contexts_;
    std::vector<std::vector<std::int32_t>> labels_;   // by context: what some state of it has an action for
    std::vector<std::uint8_t> left_out_;              // by label
    std::vector<std::vector<std::int32_t>> targets_;  // by terminal: the contexts that a shift of it leads to
    Interner ids_;             // (context, controls in ascending order), or a control alone
    std::vector<Node> nodes_;  // by id
    std::size_t expanded_ = 0;
    std::size_t residues_ = 0;  // of the controls that are expanded
};

}  // namespace pdacon
