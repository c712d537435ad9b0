// Upper bounds of the fewest tokens, or bytes, to acceptance in a grammar with layout.
//
// A bound is what the cheapest completion takes that is known, where costs count bytes first, and blanks that
// begin a line are no bytes (Weights). As in ByteDistances and TokenDistances, it is found by the pushdown
// automaton over classes of columns, which does not know how many blanks a line needs. So a line pays in
// advance for the dearest column up to a *ceiling* (LineCosts). A line break ends a token there, and blanks
// are tokens of their own. Only a newline that has been begun is looked at as it is: for each column that it
// may still get, the blanks are counted, and the parser reads the newline.
//
// The bound is safe. A run of that automaton is one of a text if its columns are below the ceiling. They are,
// if the innermost block is, and if there is room for the INDENTs of the run, which its cost counts.
//
// The bound is consistent: from each configuration, unless its bound is 0, some token leads to one whose
// bound is less by what the token costs. For the rest of a cheapest run is a cheapest run under the same
// ceiling: an INDENT takes the innermost block further in by one step at most, and there is room for one less
// to come. So a text that is within its bound can be kept there until it is complete. The last line costs
// nothing, unless it begins a block: the end of the text closes all blocks.
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

// What costs are computed with: by ByteDistances in bytes, by TokenDistances in tokens.
struct Measure {
    Futures& futures;
    const LexemeLengths& lengths;
    TokenSpeller* tokens;       // null: costs are bytes, and blanks are counted one by one
    StackSearch* bytes;         // the search in bytes in which blanks are free: a lower bound
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
    std::int64_t least(const LexerConfiguration& lexing, std::int32_t speller_state, const StackView& stack);
    void forget();
    std::size_t size() const;

  private:
    // The automaton that pays for columns up to a ceiling.
    struct Ceiling {
        Ceiling(const Pushdown& machine, const Measure& measure, LeastYields& yields, Budget& budget,
                const StackCells& cells, std::int32_t column_, std::int32_t line_units_)
            : column(column_),
              line_units(line_units_),
              costs{line_units == BlankCosts::kNever ? LineCosts::kNever
                                                     : line_units * measure.weights().unit},
              controls(measure.futures, machine.layout, measure.lengths, measure.weights(), budget,
                       measure.tokens, &costs),
              search(machine, controls, yields, budget, cells, false, measure.bytes) {}
        std::int32_t column, line_units;  // line_units: what the blanks of a line up to the column take
        LineCosts costs;
        WeightedControls controls;
        StackSearch search;
        // What follows a newline: by its LineEnd, its label and the context after it.
        InternedMap<WeightedControls::Following> after_line;
    };
    // How many columns are tabulated at first, and the highest ceiling.
    static constexpr std::int32_t kTable = 64, kHighest = 1 << 11;

    Ceiling* ceiling(std::size_t number);
    void add_ceiling(std::int32_t column, std::int32_t line_units);
    // A line with its column: what it can emit with that. Equal keys have equal emissions.
    struct LineEnd {
        const WeightedControls::EmissionCosts& emissions;
        std::int32_t key[4];
        Column column;
    };
    bool is_below(const Ceiling& ceiling, std::int32_t column, std::int64_t cost) const;
    template <class Cost>
    std::int64_t under_ceilings(std::int32_t column, std::int64_t limit, Cost cost);
    std::int64_t cost(const LexerConfiguration& lexing, std::int32_t speller_state, const StackView& stack);
    std::int64_t cost_of_line(const LexerConfiguration& lexing, const StackView& stack);
    template <class Visit>
    void for_each_end(const BlankCosts::Placed& placed, Visit visit);
    WeightedControls::Following after_line(Ceiling& ceiling, const LineEnd& end, std::int32_t label,
                                           std::int32_t context);
    bool leads_on(const LineEnd& end, std::int32_t label, const Overlay& after);
    std::int64_t cost_placed(const LineEnd& end, const StackView& stack, std::int64_t limit);
    // The beginning of a further line of the same newline.
    struct NextLine {
        LexerConfiguration lexing;
        std::int64_t cost;
    };
    const std::vector<NextLine>& next_lines(const LexerConfiguration& lexing);
    std::vector<std::int32_t> columns_of(const LexerConfiguration& lexing, const StackView& stack) const;

    const Pushdown& machine_;
    Measure measure_;
    Weights weights_;
    Budget& budget_;
    StackCells& cells_;
    LeastYields yields_;
    BlankCosts blanks_;
    std::int32_t step_;             // an INDENT leads no further in than by so many columns
    std::int32_t overhang_ = 0;     // so many columns may be read after a match that is the fallback
    std::int32_t lines_begun_ = 0;  // how many lexer states the line of a newline begins in
    bool lines_fall_back_ = false;  // whether one of these has a fallback in a line before
    // Of a blank that commits a newline: by commit, byte class and column.
    InternedMap<WeightedControls::EmissionCosts> last_blanks_;
    std::vector<std::int32_t> up_to_;  // by column: what blanks up to it take at most, in units
    std::vector<std::unique_ptr<Ceiling>> ceilings_;  // ascending
    InternedMap<std::vector<NextLine>> next_lines_;   // by lexer configuration
};

}  // namespace pdacon
