// Budgets under a filter: sequences of tokens to the end of a text that grammar and tokenizer both take.
//
// The fewest tokens of the tokenizer's own that end a text depend on the stack, the place and the last token
// together, so that a table of them would have a row for each such triple. Instead such a sequence is
// searched for. The shortest one that is found is a *plan*: its length is an upper bound, and also a promise,
// since a text that follows the plan ends within it.
//
// A plan is found by A* (Hart, Nilsson and Raphael 1968). The estimate is the distance without the filter,
// which is never more than what is left (TokenDistances; in a large grammar, where those are not exact,
// ByteDistances divided by the length of the longest token). At each configuration of the search the shortest
// completion in bytes is tried, as the tokens that the tokenizer makes of it. If that is as short as the
// estimate, nothing shorter exists, and the search ends.
//
// The tokens that a configuration allows are classed by the configuration that they lead to: lexer, stack,
// places. Those of a class have plans in common: one that goes on across a mark serves them all, and one that
// goes on within the pretoken those with which its first token does not merge. So the tokens of a
// configuration are tabulated by the costs of the plans after them, once for all tokens before it.
//
// Bounded: a search looks at kMostPops configurations, and tries plans of their own for kMostAsked tokens of
// a class. The bounds only make plans longer, or leave out tokens after which some sentence would go on. The
// answers do not depend on what was asked before.
//
// Cost: a plan O(kMostPops) masks and completions; a table one plan or two for each class.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interned_map.hpp"
#include "completion/stack_cells.hpp"
#include "composition/allowance.hpp"
#include "composition/canonical_masks.hpp"
#include "composition/canonical_search.hpp"
#include "composition/mask_resources.hpp"
#include "composition/mask_set.hpp"
#include "detokenizer/tokens.hpp"
#include "filters/canonical_filter.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class CanonicalPlans final : public MaskCache {
  public:
    // A configuration of grammar and filter together.
    struct FilteredConfiguration {
        LexerConfiguration lexing;
        PersistentStack stack;
        std::int32_t state;       // of the filter
        bool leading = false;     // one leading space of the next token is not part of the text
        bool only_space = false;  // such a space is all there is so far, so that the text may not end
    };
    static constexpr std::int64_t kNone = TokenDistances::kNone;
    static constexpr std::size_t kMostText = 1 << 14;  // bytes of a completion that is tried
    // `cost`: how many tokens, or bytes of text, the tokens have; kNone: no plan is known.
    struct Plan {
        std::int64_t cost = kNone;
        std::vector<std::int32_t> tokens;
    };
    CanonicalPlans(MaskResources& resources, CanonicalMasks& masks)
        : MaskCache(resources),
          machine_(resources.machine()),
          tokens_(resources.tokens()),
          masks_(masks),
          filter_(masks.filter()),
          cells_(resources.cells()),
          budget_(resources.budget()),
          guided_by_tokens_(TokenDistances::are_exact(machine_)),
          rows_(tokens_.words()) {}

    // All of them throw as require_measurable. The plan of a configuration.
    Plan plan(const FilteredConfiguration& here, Allowance::Unit unit);
    // The plan by which the table allows a token that leads from one configuration to another; none, if it
    // does not: then a token is allowed only as the next one of a plan.
    Plan plan_after(const FilteredConfiguration& from, const FilteredConfiguration& to, Allowance::Unit unit);
    // Writes the tokens after which a plan fits into what is left, and the end tokens where the text may end.
    // `least`: the cost of the plan that the text follows.
    void write(const FilteredConfiguration& here, const Allowance& allowance, std::int64_t least,
               std::span<std::int32_t> mask);
    // The same if the table is known, and no other thread has the lock; else nothing is written, and the
    // result is false.
    bool write_known(const FilteredConfiguration& here, const Allowance& allowance, std::int64_t least,
                     std::span<std::int32_t> mask);

    // A measure of memory.
    std::size_t bytes() const override {
        return rows_.bytes() + (plans_.size() + completions_.size()) * kPlanBytes +
               tables_.size() * kTableBytes;
    }
    void forget_cells() override { forget(); }
    void forget() override;

  private:
    static constexpr std::size_t kMostBytes = std::size_t{96} << 20;
    static constexpr std::size_t kPlanBytes = 160, kTableBytes = 2000;
    // A search looks at so many configurations, at no more than kMostBetter once it has a plan, and takes so
    // many tokens from each.
    static constexpr std::int32_t kMostPops = 16, kMostBetter = 4, kMostChildren = 32;
    // So many tokens of a class are asked for a plan of their own.
    static constexpr std::int32_t kMostAsked = 6;
    static constexpr std::int32_t kUnknown = -2;  // the plan of a token that has not been asked yet

    // The tokens after which a plan costs at most `cost`, as rows. `stripped`: how many bytes of each token
    // are not part of the text.
    struct Level {
        std::int64_t cost, stripped;
        std::int32_t within, across;
    };
    // A configuration that tokens of a class lead to, and the plan from there.
    struct Reached {
        LexerConfiguration lexing;
        std::int32_t cell;
        bool only_space;
        std::int32_t plan;
    };
    struct Table {
        std::vector<Level> levels;     // by `stripped`, then by cost; the first one has the end tokens only
        std::vector<Reached> reached;  // by ascending cost
    };
    struct Classified;
    void begin();  // guarded work
    using Key = std::vector<std::int32_t>;
    // Of a configuration, with `state` in place of its filter's state.
    Key key(const FilteredConfiguration& here, std::int32_t state, bool in_bytes);
    Key table_key(const FilteredConfiguration& here, bool in_bytes);
    std::int32_t find_id(const FilteredConfiguration& here, bool in_bytes);
    Plan search(const FilteredConfiguration& start, bool in_bytes);
    // A lower bound of the cost of a plan: the distance without the filter.
    std::int64_t estimate(const FilteredConfiguration& here, bool in_bytes);
    bool ends_here(const FilteredConfiguration& here);
    bool read_token(FilteredConfiguration& here, std::int32_t token) const;
    std::int64_t cost_of(const FilteredConfiguration& before, std::int32_t token, bool in_bytes) const;
    // The shortest completion, as the tokens that the tokenizer makes of it; nothing: it makes none that may
    // follow the last token, or the completion is too long.
    std::optional<Plan> spelled_completion(const FilteredConfiguration& here, bool in_bytes);
    const std::string& completion(const FilteredConfiguration& here);
    // Whether the filter takes the tokens, and lets the text end after them.
    bool leads_to_end(std::int32_t state, std::span<const std::int32_t> tokens);
    std::vector<std::int32_t> next_tokens(const FilteredConfiguration& here);

    std::int32_t make_table(const FilteredConfiguration& here, bool in_bytes);
    void classify(const FilteredConfiguration& here, std::span<const CanonicalSearch::Successors> successors,
                  bool marked, std::span<const std::int32_t> live, bool in_bytes, Classified& found);
    void plan_class(const FilteredConfiguration& to, CanonicalFilter::Situation situation, bool anew,
                    bool in_bytes, std::span<const std::int32_t> tokens, std::vector<std::int32_t>& plans);
    CanonicalSearch::Found live_tokens(const FilteredConfiguration& here) {
        return masks_.live(here.lexing, here.stack.view(), here.state, here.leading);
    }
    void write(const Table& table, const FilteredConfiguration& here, const Allowance& allowance,
               std::int64_t least, std::span<std::int32_t> mask);

    const Pushdown& machine_;
    const Tokens& tokens_;
    CanonicalMasks& masks_;
    CanonicalFilter& filter_;
    StackCells& cells_;
    Budget& budget_;
    bool guided_by_tokens_;  // else by bytes
    MaskSet rows_;
    InternedMap<Plan, std::deque<Plan>> plans_;
    InternedMap<Table> tables_;
    InternedMap<std::string, std::deque<std::string>> completions_;  // the shortest ones in bytes
    std::vector<std::int32_t> within_, across_;
};

}  // namespace pdacon
