// Which tokens of a tree of classes a configuration allows.
//
// The parser takes the labels of the crossings, coaccessibility tells which of the tokens that stay lead on.
// What a node gives depends on the LR states that were looked at from there on, counted from the top of the
// stack at that node. It is remembered under these, as a mask is: other lexer states and other stacks come to
// the same nodes with the same states on top.
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

class Selection {
  public:
    Selection(const Pushdown& machine, Coaccessibility& coaccessibility, TokenClasses& classes,
              Budget& budget)
        : machine_(machine), coaccessibility_(coaccessibility), classes_(classes), budget_(budget) {}

    // Adds to a mask the tokens of a node that are allowed where the reading has come to it; what that
    // depended on is recorded.
    void add_allowed(const TokenClasses::Node& node, const Reading& start, const StackView& stack,
                     ReadSet& looked, std::span<std::int32_t> mask);

    // Of what is remembered; it can be forgotten, and has to be when the classes are.
    std::size_t bytes() const { return bytes_ + answer_of_.bytes(); }
    void forget();

  private:
    // What a node gives: tokens, and large sets of them that belong to nodes.
    struct Answer {
        std::vector<std::int32_t> tokens;
        std::vector<const TokenSet*> sets;

        void add(const TokenSet& set);
        void add(std::span<const std::int32_t> few);
        void add(const Answer& other);
        std::size_t bytes() const {
            return sizeof(Answer) + tokens.size() * sizeof(std::int32_t) + sets.size() * sizeof(TokenSet*);
        }
    };
    // A node on a stack, and what has been found of it. `popped` states of the stack of the node before are
    // gone, and these have been pushed.
    struct Open {
        const TokenClasses::Node* node;
        StackView stack;
        std::uint32_t popped = 0, pushed = 0;
        std::size_t next = 0;  // crossing
        ReadSet looked = {};
        Answer answer = {};
    };
    static constexpr std::size_t kMostBytes = std::size_t{16} << 20;

    void add_staying(Open& open, const Reading& start);
    bool add_crossing(Open& open, const Reading& start);
    // `states`: that the answer depended on.
    void add_answer(Open& to, const Answer& answer, std::uint32_t states, std::uint32_t popped,
                    std::uint32_t pushed);
    void file(Open open);

    const Pushdown& machine_;
    Coaccessibility& coaccessibility_;
    TokenClasses& classes_;
    Budget& budget_;
    std::vector<Open> open_;
    Overlay::Nodes made_;    // what the stacks of open_ have been made of
    PrefixCache answer_of_;  // of each node
    std::deque<Answer> answers_;
    std::size_t bytes_ = 0;
};

}  // namespace pdacon
