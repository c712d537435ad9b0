// Budgets under a filter: ways to the end of a text that grammar and tokenizer both take.
//
// How few tokens a text still takes if all of them are the tokenizer's own depends on the stack, the place
// and the last token together; tables of that would be as large as all of these. So ways are looked for, and
// the shortest that is found is a *plan*: an upper bound, and a promise, since whoever follows it ends within
// it.
//
// A plan is found by A*. What is left is estimated by the distance without the filter, which is never more
// (TokenDistances; in a large grammar, of which these are not known, ByteDistances by the longest token). At
// each configuration on the way the shortest completion in bytes is tried, as the tokens that the tokenizer
// makes of it. If that is as short as the estimate, nothing shorter exists, and the search ends.
//
// The tokens that a configuration allows are classed by where they lead: the lexer, the stack, the places.
// Those of a class have plans in common: one that goes on across a mark whatever the last token is, or one
// whose first token merges with none of them. So a configuration has a table of the tokens by the lengths of
// plans after them, once for all tokens before it.
//
// Bounded: kMostPops configurations for a plan, kMostAsked tokens of a class with plans of their own. It only
// makes plans longer, or leaves out tokens after which none is known. The answers do not depend on what was
// asked before.
//
// Cost: a plan O(kMostPops) masks and completions; a table one plan or two for each class.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/interned_map.hpp"
#include "completion/stack_cells.hpp"
#include "composition/canonical_search.hpp"
#include "composition/mask_engine.hpp"
#include "composition/mask_set.hpp"
#include "detokenizer/trie.hpp"
#include "filters/canonical_filter.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class CanonicalPlans {
  public:
    // Where a text stands, for grammar and filter.
    struct Spot {
        LexerConfiguration lexing;
        PersistentStack stack;
        std::int32_t state;    // of the filter
        bool leading = false;  // one leading space of the next token is none of the text
        bool hollow = false;   // all there is so far is such a space, so that the text may not end
    };
    static constexpr std::int64_t kNone = TokenDistances::kNone;
    // A way to the end; `cost`: its tokens or bytes of text; kNone: none is known.
    struct Plan {
        std::int64_t cost = kNone;
        std::vector<std::int32_t> tokens;
    };
    // What it asks its owner for; all of it within the owner's lock.
    struct Sources {
        std::function<MaskEngine&()> engine;
        // What the filter allows at a spot, whatever the last token was.
        std::function<CanonicalSearch::Found(const Spot&)> live;
        std::function<std::vector<CanonicalSearch::Successors>(const Spot&)> successors;
    };
    CanonicalPlans(const Pushdown& machine, const Trie& trie, CanonicalFilter& filter, StackCells& cells,
                   Budget& budget, Sources sources)
        : machine_(machine),
          trie_(trie),
          tokens_(*trie.tokens()),
          filter_(filter),
          cells_(cells),
          budget_(budget),
          sources_(std::move(sources)),
          guided_by_tokens_(TokenDistances::are_exact(machine)),
          rows_(tokens_.words()) {}

    // A plan; the reference is valid until something is forgotten.
    const Plan& find(const Spot& spot, bool in_bytes) { return plans_[find_id(spot, in_bytes)]; }
    // The plan by which the token that leads from one spot to another is allowed; none if that is the next
    // one of a plan, and no other reason is known.
    Plan after(const Spot& from, const Spot& to, bool in_bytes);

    // What is left of a budget: as TokenPda::Allowance.
    struct Room {
        bool in_bytes;
        std::int64_t most;   // tokens, or bytes
        std::int64_t after;  // the most that may be left to do after a token
    };
    // Writes the tokens after which a plan fits into what is left, and the end tokens where the text may end.
    void write(const Spot& spot, const Room& room, std::span<std::int32_t> mask);
    // The same where it takes no computation; false: it does.
    bool write_known(const Spot& spot, const Room& room, std::span<std::int32_t> mask);

    // A measure of memory; the owner lets it become no more than kMostBytes.
    std::size_t bytes() const {
        return rows_.bytes() + (plans_.size() + completions_.size()) * kPlanBytes +
               tables_.size() * kTableBytes;
    }
    static constexpr std::size_t kMostBytes = std::size_t{96} << 20;
    void forget();

  private:
    static constexpr std::size_t kPlanBytes = 160, kTableBytes = 2000;
    static constexpr std::int32_t kMostPops = 16, kMostBetter = 4;
    static constexpr std::int32_t kMostChildren = 32;
    static constexpr std::int32_t kMostAsked = 6;
    static constexpr std::int32_t kUnknown = -2;
    static constexpr std::size_t kMostText = 1 << 14;

    // The tokens after which a plan costs at most so much. `cut`: bytes of each that are no text.
    struct Level {
        std::int64_t cost, cut;
        std::int32_t within, across;
    };
    // Where tokens of a class lead, and the plan from there.
    struct Way {
        LexerConfiguration lexing;
        std::int32_t cell;
        bool hollow;
        std::int32_t plan;
    };
    struct Table {
        std::vector<Level> levels;  // by ascending cost; the first one has the end tokens only
        std::vector<Way> ways;      // by ascending cost
    };
    struct Classified;
    using Key = std::vector<std::int32_t>;
    Key key(const Spot& spot, std::int32_t state, bool in_bytes);
    Key table_key(const Spot& spot, bool in_bytes);
    std::int32_t find_id(const Spot& spot, bool in_bytes);
    Plan search(const Spot& start, bool in_bytes);
    // The least that a spot can cost, without the filter.
    std::int64_t estimate(const Spot& spot, bool in_bytes);
    bool ends_here(const Spot& spot);
    bool read_token(Spot& spot, std::int32_t token) const;
    std::int64_t cost_of(const Spot& before, std::int32_t token, bool in_bytes) const;
    // The tokens that the tokenizer makes of the shortest completion; nothing: others, or it is too long.
    std::optional<Plan> spelled_completion(const Spot& spot, bool in_bytes);
    const std::string& completion(const Spot& spot);
    // Whether the filter takes some tokens, and the text may end after them.
    bool leads_to_end(std::int32_t state, std::span<const std::int32_t> tokens);
    std::optional<std::vector<std::int32_t>> spell(std::int32_t state, std::string_view text);
    std::vector<std::int32_t> next_tokens(const Spot& spot);

    std::int32_t make_table(const Spot& spot, bool in_bytes);
    void classify(const Spot& spot, std::span<const CanonicalSearch::Successors> successors, bool marked,
                  std::span<const std::int32_t> live, bool in_bytes, Classified& found);
    void plan_class(const Spot& to, CanonicalFilter::Situation situation, bool anew, bool in_bytes,
                    std::span<const std::int32_t> tokens, std::vector<std::int32_t>& plans);
    void write(const Table& table, const Spot& spot, const Room& room, std::span<std::int32_t> mask);

    const Pushdown& machine_;
    const Trie& trie_;
    const Tokens& tokens_;
    CanonicalFilter& filter_;
    StackCells& cells_;
    Budget& budget_;
    Sources sources_;
    bool guided_by_tokens_;  // else by bytes
    MaskSet rows_;
    InternedMap<Plan, std::deque<Plan>> plans_;
    InternedMap<Table> tables_;
    InternedMap<std::string, std::deque<std::string>> completions_;  // the shortest ones in bytes
    std::vector<std::int32_t> within_, across_;
};

}  // namespace pdacon
