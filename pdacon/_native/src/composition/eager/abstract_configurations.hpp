// Every situation that masks are told apart by: a lexer state, and the topmost states of a stack.
//
// A stack of LR states is a path from the start state; which paths a text leads to is not asked, so that
// there are more situations here than texts reach, never fewer. In the ones that no text reaches, nothing is
// allowed or it is as if a text had.
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
    // `most_columns`: readings with a greater column are left out.
    AbstractConfigurations(const Pushdown& machine, const Trie& trie, std::int32_t most_columns,
                           Budget& budget);

    // A lexing, and the LR states that can be on top in it: of the start state and those that a terminal is
    // shifted into, the ones from whose contexts bytes of the vocabulary lead to it.
    struct Place {
        LexerConfiguration lexing;
        std::vector<std::int32_t> tops;
    };
    const std::vector<Place>& places() const { return places_; }

    // What can lie below an LR state.
    const std::vector<std::int32_t>& below(std::int32_t state) const {
        return machine_.predecessors[static_cast<std::size_t>(state)];
    }
    // A whole stack, from its top, whose topmost states are these: the lowest such one.
    std::vector<std::int32_t> completed(std::span<const std::int32_t> topmost) const;

  private:
    std::vector<std::vector<std::int32_t>> tops_by_context() const;
    void find_ways_down();
    void find_places(const Trie& trie, std::int32_t most_columns, Budget& budget);

    const Pushdown& machine_;
    std::vector<Place> places_;
    std::vector<std::int32_t> way_down_;  // of each LR state: the one below it on the lowest stack; -1: none
};

}  // namespace pdacon
