// Eager masks: computes the masks of all abstract configurations before any text asks for them.
//
// A mask is kept under a lexer state and the LR states that its computation looked at. So each lexer state is
// asked with a shortest stack below each top state; then the states that the computation looked at are
// varied, one by one from the top, until every stack of the approximation has a mask. Where that does not
// end, because a token can end any number of rules, it stops at kDeepest. If the computation looked at
// columns, all columns of open blocks up to a greatest one are tried. Cost: one mask computation for each
// abstract configuration that is told apart.
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

    // Computes all masks, or as many as there is time for. Returns how many abstract configurations are known
    // to be left out. Throws LimitExceeded("states" | "bytes"), Cancelled.
    std::size_t run();

  private:
    static constexpr std::size_t kDeepest = 64;  // LR states that are varied, from the top
    static constexpr std::size_t kMostQueued = 1 << 18;

    using States = std::vector<std::int32_t>;
    struct Abstract {
        LexerConfiguration lexing;
        States topmost;
        std::int32_t blocks = -1;  // index in blocks_ of the open blocks; -1: columns have not been looked at
    };

    void compute_all();
    void find_levels();
    void find_blocks();
    void enqueue(Abstract next);
    void enqueue_with_blocks(const Abstract& at);
    bool compute(const Abstract& at);
    bool fits(const States& topmost, std::int32_t blocks) const;

    TokenPda& pda_;
    const Pushdown& machine_;
    std::int32_t most_columns_;
    Budget budget_;
    std::optional<AbstractConfigurations> configurations_;
    // Of each LR state: how many more blocks its symbol opens than it closes.
    std::vector<std::int32_t> levels_;
    // Columns of open blocks from the outermost in: every possible list up to the greatest column.
    std::vector<std::vector<std::int32_t>> blocks_;
    std::deque<Abstract> queue_;
    std::size_t left_ = 0;
};

}  // namespace pdacon
