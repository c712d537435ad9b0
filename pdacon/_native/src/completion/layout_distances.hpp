// Upper bounds of the fewest tokens, or bytes, to acceptance in a grammar with layout.
//
// A bound is the price of a completion that is as short as can be, where blanks that begin a line do not
// count; of these completions the cheapest, as far as that is known (Weights). It is found by the pushdown
// automaton over classes of columns, as ByteDistances and TokenDistances have it. That does not know how
// many blanks a line needs. So it pays for the blanks of each line as for any column up to a ceiling, in
// advance (LineCosts). A line break ends a token there, and blanks are tokens of their own. A newline that
// has been begun is looked at as it is: for each column that it may still get, the blanks are counted, and
// the parser reads the newline.
//
// The bound is safe. A run of that automaton is one of texts if its columns are below the ceiling; they are,
// if the innermost block is and there is room for the INDENTs, which are counted.
//
// The bound is consistent: of each configuration, unless it is 0, some token leads to one whose bound is less
// by what the token costs. For what is left of a run is a run under the same ceiling, and as short as can be:
// an INDENT takes the innermost block further in by one step, and leaves room for one less. So where a text
// is kept within its bound, it can be kept there until it is complete. The last line costs nothing, unless it
// begins a block: the end of the text closes all of them.
//
// A line may be read further than its newline goes, as where ignored text begins with blanks: then the
// newline has the column of the match that is its fallback. So an end of a line is looked for in each column
// that the newline may get, by columns themselves rather than by their classes.
//
// Cost: as of ByteDistances, for each ceiling that is met.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/interned_map.hpp"
#include "completion/least_yields.hpp"
#include "completion/lexeme_lengths.hpp"
#include "completion/line_costs.hpp"
#include "completion/stack_cells.hpp"
#include "completion/stack_search.hpp"
#include "completion/weighted_controls.hpp"
#include "completion/weights.hpp"
#include "detokenizer/trie.hpp"
#include "liveness/coaccessibility.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

// What a grammar's costs are counted by: of ByteDistances or TokenDistances.
struct Measure {
    Futures& futures;
    const LexemeLengths& lengths;
    TokenSpeller* tokens;       // null: blanks are counted one by one
    StackSearch* bytes;         // where blanks are free
    Coaccessibility* liveness;  // null: tokens do not spell every text
    Weights weights() const {
        return tokens != nullptr ? Weights::bytes_then_tokens() : Weights::bytes_then_blanks();
    }
};

class LayoutDistances {
  public:
    static constexpr std::int64_t kNone = StackSearch::kNone;

    LayoutDistances(const Pushdown& machine, const Trie& trie, const Measure& measure, Budget& budget,
                    StackCells& cells);

    // kNone: no run is known that ends the text. `speller_state`: between two tokens.
    std::int64_t least(const LexerConfiguration& reading, std::int32_t speller_state, const StackView& stack);
    void forget();
    std::size_t size() const;

  private:
    // The automaton that pays for columns up to a ceiling.
    struct Ceiling {
        Ceiling(const Pushdown& machine, const Measure& measure, LeastYields& yields, Budget& budget,
                const StackCells& cells, std::int32_t column_, std::int32_t placing_)
            : column(column_),
              placing(placing_),
              costs{placing == BlankCosts::kNever ? LineCosts::kNever : placing * measure.weights().unit},
              controls(measure.futures, machine.layout, measure.lengths, measure.weights(), budget,
                       measure.tokens, &costs),
              search(machine, controls, yields, budget, cells, false, measure.bytes) {}
        std::int32_t column, placing;  // what the blanks of a line up to the column take, in units
        LineCosts costs;
        WeightedControls controls;
        StackSearch search;
        // After a newline: by its end, its label and the context behind it.
        InternedMap<WeightedControls::Following> after_line;
    };
    // Columns that are looked at first, and the last one under a ceiling.
    static constexpr std::int32_t kTable = 64, kHighest = 1 << 11;

    Ceiling* ceiling(std::size_t number);
    void add_ceiling(std::int32_t column, std::int32_t placing);
    // Where a line has its column: what can be committed with that.
    struct LineEnd {
        const WeightedControls::EmissionCosts& emissions;
        std::int32_t key[4];
        Column column;
    };
    bool is_below(const Ceiling& ceiling, std::int32_t column, std::int64_t cost) const;
    template <class Cost>
    std::int64_t under_ceilings(std::int32_t column, std::int64_t limit, Cost cost);
    std::int64_t cost(const LexerConfiguration& reading, std::int32_t speller_state, const StackView& stack);
    std::int64_t cost_of_line(const LexerConfiguration& reading, const StackView& stack);
    template <class Visit>
    void for_each_end(const BlankCosts::Placed& placed, Visit visit);
    WeightedControls::Following after_line(Ceiling& ceiling, const LineEnd& end, std::int32_t label,
                                           std::int32_t context);
    bool leads_on(const LineEnd& end, std::int32_t label, const Overlay& after);
    std::int64_t cost_placed(const LineEnd& end, const StackView& stack, std::int64_t limit);
    // Where a next line of the same newline begins.
    struct NextLine {
        LexerConfiguration reading;
        std::int64_t cost;
    };
    const std::vector<NextLine>& next_lines(const LexerConfiguration& reading);
    std::vector<std::int32_t> columns_of(const LexerConfiguration& reading, const StackView& stack) const;

    const Pushdown& machine_;
    Measure measure_;
    Weights weights_;
    Budget& budget_;
    StackCells& cells_;
    LeastYields yields_;
    BlankCosts blanks_;
    std::int32_t step_;             // an INDENT leads no further in than that
    std::int32_t overhang_ = 0;     // so many columns may be read behind a match that is the fallback
    std::int32_t lines_begun_ = 0;  // lexer states in which the line of a newline begins
    bool lines_fall_back_ = false;  // whether one of these has a fallback in a line before
    InternedMap<WeightedControls::EmissionCosts> last_blanks_;  // by commit, byte class and column
    std::vector<std::int32_t> up_to_;  // by column: what blanks up to it take at most, in units
    std::vector<std::unique_ptr<Ceiling>> ceilings_;  // ascending
    InternedMap<std::vector<NextLine>> next_lines_;   // by lexer configuration
};

}  // namespace pdacon
