// Pending controls with costs: (label, set of residues), and how many bytes, or tokens, it takes to come
// there.
//
// A control has all residues that its label may leave at one cost. A control for each single emission would
// be one for each text of the lookahead.
//
// A cost counts only bytes beyond the least yield of the grammar. Each byte is counted with the lexeme that
// it ends up in: a label costs the bytes of its own lexeme less those of the shortest one, and bytes that it
// pushes back are counted where they are read again. So costs are 0 along a shortest path, and small numbers
// elsewhere.
//
// Costs may also be tokens: then each is counted where it ends, and residues know which part of a token is
// left after the commit (TokenSpeller). Of two residues that differ only by that, the one that is left with
// less, at no less cost, is dropped: whatever it leads to the other one does.
//
// With LineCosts the blanks that begin a line count, too, and costs are upper bounds: see LayoutDistances.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "completion/lexeme_lengths.hpp"
#include "completion/line_costs.hpp"
#include "completion/token_speller.hpp"
#include "completion/weights.hpp"
#include "liveness/pending_controls.hpp"

namespace pdacon {

class WeightedControls final : public PendingControls {
  public:
    using EmissionCosts = std::unordered_map<std::int32_t, std::int64_t>;  // by emission

    // `tokens`: the speller of `futures`, if tokens count; else null. `lines`: what the blanks cost that
    // begin a line; null: they are free.
    WeightedControls(Futures& futures, const Layout& layout, const LexemeLengths& lengths,
                     const Weights& weights, Budget& budget, TokenSpeller* tokens = nullptr,
                     const LineCosts* lines = nullptr)
        : PendingControls(futures, layout),
          lengths_(lengths),
          weights_(weights),
          budget_(budget),
          tokens_(tokens),
          lines_(lines),
          newline_(layout.newline),
          plain_(layout.newline < 0 && futures.num_speller_states() == 1) {}

    // What can be pending after a lexer configuration and a speller state: a list of successors, and a number
    // to add to their costs, which is negative where part of a lexeme has been read. Blanks at the begin of a
    // line are free.
    struct Following {
        std::int32_t list = -1;
        std::int64_t cost = 0;
    };
    Following following(const LexerConfiguration& lexing, std::int32_t speller_state);
    // The same after a commit that may leave any one of some residues, each at its cost, in a context.
    Following following(std::int32_t context,
                        std::span<const std::pair<std::int32_t, std::int64_t>> residues);
    // With LineCosts: what a newline can still emit with a column, or another lexeme with any, where no more
    // blanks follow. Columns stand for themselves, not for their classes.
    const EmissionCosts& emissions_in_column(const LexerConfiguration& placed, std::int32_t column) {
        return emission_costs({placed, kBetweenTokens, Line::kExact, column});
    }
    // For each label and class of columns a control with all residues that a lexeme can leave which begins
    // between two tokens. What can follow any control can follow one of these, for at most `error_bound`
    // bytes more.
    const std::vector<std::int32_t>& any();
    // How much too high a cost from `any` can be. With layout, blanks are free in a residue but cost a byte
    // each where they are read; else it is 0.
    std::int32_t error_bound() const { return error_bound_; }
    // What the shortest lexeme of a label costs.
    std::int64_t length(std::int32_t label) const { return weights_.of_bytes(lengths_.of(label)); }
    const Weights& weights() const { return weights_; }

  private:
    // With LineCosts, of a lexeme that may be a newline: whether the blanks of its last line are still to
    // come, or what stands for them has been paid; or that no more come, and a newline in one column only is
    // looked for. A line begins between two tokens, with the column 0.
    enum class Line : std::int32_t { kNone, kBegun, kPlaced, kExact };
    struct State {
        LexerConfiguration lexing;
        std::int32_t speller_state;
        Line line = Line::kNone;
        std::int32_t column = -1;  // of kExact
    };
    static constexpr std::int32_t kBetweenTokens = 0;  // a speller state
    // With LineCosts one search serves so many residues or more: a line can begin with any byte.
    static constexpr std::size_t kManyResidues = 8;
    // Costs are computed first for states at every so many bytes ahead, so that no search looks further than
    // that. Else a literal would cost the square of its length.
    static constexpr std::int32_t kSpan = 64;
    std::int32_t number(const State& state) {
        if (plain_) return state.lexing.state;
        const std::int32_t key[] = {state.lexing.state,
                                    state.lexing.now.value,
                                    state.lexing.matched.value,
                                    state.speller_state,
                                    static_cast<std::int32_t>(state.line),
                                    state.column};
        return numbers_.intern(key);
    }
    std::int64_t cost_of_indent(std::int32_t column, std::span<const std::int32_t> residues) const override;
    std::vector<Successor> lexed(std::int32_t context, std::span<const std::int32_t> residues) override;
    // The states that a search has visited.
    class Visited {
      public:
        explicit Visited(WeightedControls& controls);
        bool add(const State& state);  // whether it is new

      private:
        std::vector<std::uint32_t>* marks_;  // null: `states_` are used
        std::uint32_t mark_ = 0;
        Interner states_;
    };
    // What a lexer configuration can do before the token ends that is under way: emit, where the token may
    // end with the emission's last byte, or come to the token's end within a lexeme.
    struct TokenEnd {
        LexerConfiguration lexing;
        Line line;
        std::int32_t column;
        std::int64_t cost;
    };
    struct WithinToken {
        EmissionCosts emissions;
        std::vector<TokenEnd> ends;
    };
    template <class Visit>
    void search(const State& from, Visit visit);
    const WithinToken& within_token(const State& from);
    void drop_covered(EmissionCosts& costs) const;
    const EmissionCosts& emission_costs(State from);
    EmissionCosts costs_from(const State& from);
    EmissionCosts least_costs(std::vector<std::pair<std::int64_t, State>> open);
    // Whether a column is 0 and alone in its class, so that nothing has to be paid for it.
    bool is_first(Column column) const { return column.value == 0 && futures_.classes().single > 0; }
    // Whether a byte ends a newline that it is the last blank of, as where a line has no more than so many.
    bool is_last_blank(std::int32_t next, std::int32_t byte_class) const;
    template <class Emit, class Go>
    void for_each_move(const State& from, Emit emit, Go go);
    std::vector<Successor> by_label(const EmissionCosts& costs);
    EmissionCosts lexed_costs(std::int32_t context,
                              std::span<const std::pair<std::int32_t, std::int64_t>> residues);
    Following following(const EmissionCosts& costs);

    const LexemeLengths& lengths_;
    Weights weights_;
    Budget& budget_;
    TokenSpeller* tokens_;
    const LineCosts* lines_;
    std::int32_t newline_;
    bool plain_;  // whether a lexer state is all there is to a state, as in most grammars
    std::vector<std::uint32_t> marks_;  // by lexer state, if plain: the last search that has visited it
    std::uint32_t searches_ = 0;
    std::vector<std::int32_t> any_;
    std::int32_t error_bound_ = 0;
    Interner numbers_;  // by state: (lexer configuration, speller state)
    std::unordered_map<std::int32_t, Following> following_;
    std::unordered_map<std::int32_t, EmissionCosts> emission_costs_;
    std::unordered_map<std::int32_t, WithinToken> within_token_;
};

}  // namespace pdacon
