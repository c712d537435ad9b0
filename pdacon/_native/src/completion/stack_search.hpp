// The cost of a completion from a configuration: a best-first search down its stack that adds up weighted
// summaries, and asks each for no more than it needs.
//
// What is found about a cell of a stack is kept until `forget`.
//
// Cost: O(cells that nothing is known of x edges), and what the summaries need.
// Source: recursive best-first search (Korf 1993), with an explicit stack.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/interner.hpp"
#include "completion/least_yields.hpp"
#include "completion/stack_cells.hpp"
#include "completion/weighted_controls.hpp"
#include "completion/weighted_summaries.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class StackSearch {
  public:
    static constexpr std::int64_t kNone = LeastYields::kNever;

    // `tightens`: lower bounds are raised from the bottom of the stack; only if costs are bytes, and tokens
    // spell each byte. `bytes`: a search in bytes over the same stacks, whose bounds are raised instead,
    // since costs are bytes first; null: none.
    StackSearch(const Pushdown& machine, WeightedControls& controls, LeastYields& yields, Budget& budget,
                const StackCells& cells, bool tightens, StackSearch* bytes = nullptr)
        : controls_(controls),
          yields_(yields),
          summaries_(machine, controls, yields, budget),
          cells_(cells),
          step_(controls.weights().step()),
          tightens_(tightens),
          bytes_(bytes != nullptr && bytes->tightens_ ? bytes : nullptr) {}

    // What is missing from a lexer configuration on. Exact if it is no more than the limit; else some number
    // beyond it, or kNone.
    std::int64_t cost(const LexerConfiguration& lexing, std::int32_t speller_state, std::int32_t cell,
                      std::int64_t limit);
    // The same where any one of a list of controls is pending.
    std::int64_t cost(const WeightedControls::Following& following, std::int32_t cell, std::int64_t limit);
    // Forgets what is known of cells; the summaries stay.
    void forget();
    // What is known of cells: a measure of memory.
    std::size_t size() const { return search_nodes_.size() + least_after_.size() + settled_.size(); }

  private:
    // A node of the search: on a cell, either any one of a list of controls is pending, or the reduction to
    // `lhs` is complete above it and one control is pending.
    struct SearchNode {
        std::int32_t lhs;      // -1: no reduction is complete
        std::int32_t pending;  // a list of controls; after a reduction a control, or kAny
        std::int32_t cell;
        std::int64_t least;  // a lower bound of the cost from here
        bool exact = false;  // whether the bound is reached
    };
    // The best edge of a search node, by what is known, and the cost of the second best.
    struct Choice {
        std::int64_t cost = kNone, second = kNone;
        bool exact = false;
        std::int32_t node_id = -1, summary = -1;  // where to look for more: a search node, or a summary
        std::int32_t reduction = -1;              // the kernel reduction on this edge
    };

    // In steps (Weights::step): a summary that has no result within kFew is explored without a bound, and
    // tighten_below searches no further than kTighteningMargin beyond the lower bound.
    static constexpr std::int64_t kFew = 64, kTighteningMargin = 8;
    static constexpr std::int32_t kAny = -2;     // in place of a control: any may be pending
    static constexpr std::int32_t kLevels = 32;  // of a stack, that are searched together

    std::int32_t state(std::int32_t cell) const { return cells_[cell].state; }
    std::int32_t below(std::int32_t cell, const LeastYields::KernelReduction& reduction) const;
    std::int32_t root(std::int32_t list, std::int32_t cell);
    void settle_below(std::int32_t list, std::int32_t cell, std::int64_t limit);
    void refine(std::int32_t root, std::int64_t limit);
    Choice choose(const SearchNode& from);
    std::int32_t search_node(std::int32_t lhs, std::int32_t pending, std::int32_t cell, std::int64_t least);
    std::int32_t known_search_node(std::int32_t lhs, std::int32_t pending, std::int32_t cell);
    std::int64_t least_from(const SearchNode& from, std::int32_t reduction);
    std::int64_t least_below(std::int32_t cell, const LeastYields::KernelReduction& reduction);
    using CostByReduction = std::unordered_map<std::uint64_t, std::int64_t>;  // by left-hand side and cell
    std::int64_t least_after(std::int32_t lhs, std::int32_t cell);
    bool tighten_below(std::int32_t cell, const LeastYields::KernelReduction& reduction);
    void tighten(std::int32_t lhs, std::int32_t cell);
    template <class Find>
    void fold_from_bottom(std::int32_t lhs, std::int32_t cell, CostByReduction& found, Find find);
    static std::uint64_t key_of(std::int32_t lhs, std::int32_t cell) {
        return static_cast<std::uint64_t>(cell) << 32 | static_cast<std::uint32_t>(lhs);
    }

    WeightedControls& controls_;
    LeastYields& yields_;
    WeightedSummaries summaries_;
    const StackCells& cells_;
    std::int64_t step_;
    bool tightens_;
    StackSearch* bytes_;
    CostByReduction least_after_;  // lower bounds where a reduction is complete above a cell
    CostByReduction tightened_;    // of these, the ones that have been raised as far as they can be
    std::unordered_set<std::int32_t> settled_;  // cells that were searched from
    Interner search_node_ids_;
    std::vector<SearchNode> search_nodes_;
};

}  // namespace pdacon
