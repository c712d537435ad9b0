// All masks of a token-level pushdown automaton, before any text asks for them.
//
// A mask is filed under a lexer state and the LR states that its computation looked at. So each lexer state
// is asked with the lowest stack below each top; what the computation looked at below is then varied, state
// by state, until every stack is filed. Where that goes on for ever, because a token can end any number of
// rules, it is broken off. Where columns were looked at, all lines are tried up to a greatest column.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/budget.hpp"
#include "composition/eager/abstract_configurations.hpp"
#include "composition/token_pda.hpp"

namespace pdacon {

class EagerMasks {
  public:
    EagerMasks(TokenPda& pda, std::int32_t most_columns, Budget budget)
        : pda_(pda), machine_(pda.machine()), most_columns_(most_columns), budget_(budget) {}

    // Files all masks, or as many as there is time for; how many situations are left out, as far as they are
    // known. Throws LimitExceeded("states" | "bytes"), Cancelled.
    std::size_t run();

  private:
    // LR states of a stack that are varied, the topmost ones.
    static constexpr std::size_t kDeepest = 64;
    static constexpr std::size_t kMostOpen = 1 << 18;

    using States = std::vector<std::int32_t>;
    struct Open {
        LexerConfiguration lexing;
        States topmost;
        std::int32_t blocks = -1;  // which of blocks_ are open; -1: no column counts as far as is known
    };

    void file_all();
    void find_levels();
    void find_blocks();
    void open(Open next);
    void open_blocks(const Open& at);
    bool file(const Open& at);
    bool fits(const States& topmost, std::int32_t blocks) const;

    TokenPda& pda_;
    const Pushdown& machine_;
    std::int32_t most_columns_;
    Budget budget_;
    std::optional<AbstractConfigurations> configurations_;
    std::vector<std::int32_t>
        levels_;  // of each LR state: how many more blocks its symbol opens than it closes
    std::vector<std::vector<std::int32_t>>
        blocks_;  // columns from the outermost: all that fit into so many columns
    std::deque<Open> open_;
    std::size_t left_ = 0;
};

}  // namespace pdacon
