// Abstract configurations: a finite set that covers every configuration of a text, seen from the top of its
// stack.
//
// An abstract configuration is a lexer configuration with the topmost LR states of a stack. Stacks are
// approximated from above: every path from the start state through the LR automaton counts as one, whether a
// text leads to it or not, and a lexer configuration may have any top state from whose context it is reached.
// So every configuration of a text is covered. Computing masks for the others is wasted time and harmless: a
// mask depends on nothing but what it is kept under, so whichever stack looks it up gets the right one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "detokenizer/trie.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class AbstractConfigurations {
  public:
    // Lexer configurations with a column greater than `most_columns` are left out.
    AbstractConfigurations(const Pushdown& machine, const Trie& trie, std::int32_t most_columns,
                           Budget& budget);

    // A lexer configuration with the LR states that can be on top in it: the start state or targets of a
    // shift, from whose context bytes of the vocabulary lead to the configuration.
    struct WithTops {
        LexerConfiguration lexing;
        std::vector<std::int32_t> tops;
    };
    const std::vector<WithTops>& all() const { return all_; }

    // The LR states that can lie below one.
    const std::vector<std::int32_t>& below(std::int32_t state) const { return machine_.predecessors[state]; }
    // A shortest whole stack with the given topmost states; from its top to the start state.
    std::vector<std::int32_t> completed(std::span<const std::int32_t> topmost) const;

  private:
    std::vector<std::vector<std::int32_t>> tops_by_context() const;
    void find_shortest_stacks();
    void find_configurations(const Trie& trie, std::int32_t most_columns, Budget& budget);

    const Pushdown& machine_;
    std::vector<WithTops> all_;
    std::vector<std::int32_t>
        shortest_below_;  // of each LR state: the one below it on a shortest stack; or -1
};

}  // namespace pdacon
