// Mask assembly: which tokens of a class tree a configuration allows.
//
// A depth-first walk over the tree of TokenClasses. An emitting edge is open if the parser takes its label on
// the stack; the tokens of an inner edge are allowed if liveness says that its future is coaccessible there.
// No token is looked at by itself.
//
// The tokens that a node contributes depend on the topmost LR states of the stack at that node. They are kept
// under just those states (PrefixCache), since other lexer states and stacks lead to the same nodes with the
// same states on top.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "composition/token_classes.hpp"
#include "detokenizer/token_set.hpp"
#include "liveness/coaccessibility.hpp"
#include "liveness/prefix_cache.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class MaskAssembly {
  public:
    MaskAssembly(const Pushdown& machine, Coaccessibility& coaccessibility, TokenClasses& classes,
                 Budget& budget)
        : machine_(machine), coaccessibility_(coaccessibility), classes_(classes), budget_(budget) {}

    // Adds to a mask the allowed tokens of a node of a lexer state, in a configuration with that state.
    // Records in `read_set` what the answer depended on.
    void add_allowed(const TokenClasses::Node& node, const LexerConfiguration& start, const StackView& stack,
                     ReadSet& read_set, std::span<std::int32_t> mask);

    // Memory that `forget` gives back. To be forgotten whenever the classes are: it refers to their nodes.
    std::size_t bytes() const { return bytes_ + kept_.bytes(); }
    void forget();

  private:
    // The allowed tokens of a node and all nodes below it; the large sets belong to nodes.
    struct Contribution {
        std::vector<std::int32_t> tokens;
        std::vector<const TokenSet*> sets;

        void add(const TokenSet& set);
        void add(std::span<const std::int32_t> listed);
        void add(const Contribution& other);
        std::size_t bytes() const {
            return sizeof(Contribution) + tokens.size() * sizeof(std::int32_t) +
                   sets.size() * sizeof(TokenSet*);
        }
    };
    // A node on the path of the walk. Its stack is that of the node above less `popped` states, plus `pushed`
    // ones.
    struct Frame {
        const TokenClasses::Node* node;
        StackView stack;
        std::uint32_t popped = 0, pushed = 0;
        std::size_t next = 0;  // emitting edge
        ReadSet read_set = {};
        Contribution found = {};
    };
    static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

    void add_inner(Frame& frame, const LexerConfiguration& start);
    bool enter_next(Frame& frame, const LexerConfiguration& start);
    // Adds what a node below has contributed; it depended on the topmost `states` of the stack there.
    void add_found(Frame& to, const Contribution& found, std::uint32_t states, std::uint32_t popped,
                   std::uint32_t pushed);
    void keep(Frame frame);

    const Pushdown& machine_;
    Coaccessibility& coaccessibility_;
    TokenClasses& classes_;
    Budget& budget_;
    std::vector<Frame> path_;
    Overlay::Nodes stack_nodes_;  // storage of the stacks on the path
    PrefixCache kept_;            // indices of contributions, by node
    std::deque<Contribution> contributions_;
    std::size_t bytes_ = 0;
};

}  // namespace pdacon
