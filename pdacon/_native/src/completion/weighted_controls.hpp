// Pending controls with costs: (label, set of residues), and how many bytes it takes to come there.
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
// left behind the commit (TokenSpeller). Of two residues that differ only by that, the one that is left with
// less, at no less cost, is dropped: whatever it leads to the other one does.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/interner.hpp"
#include "completion/lexeme_lengths.hpp"
#include "completion/token_speller.hpp"
#include "liveness/pending_controls.hpp"

namespace pdacon {

class WeightedControls final : public PendingControls {
  public:
    // `tokens`: the speller of `futures`, if costs are tokens; null: they are bytes.
    WeightedControls(Futures& futures, const Layout& layout, const LexemeLengths& lengths, Budget& budget,
                     TokenSpeller* tokens = nullptr)
        : PendingControls(futures, layout),
          lengths_(lengths),
          budget_(budget),
          tokens_(tokens),
          has_layout_(layout.newline >= 0),
          plain_(!has_layout_ && futures.num_speller_states() == 1) {}

    // What can be pending after a lexer configuration and a speller state: a list of successors, and a number
    // to add to their costs, which is negative where part of a lexeme has been read. Blanks at the begin of a
    // line are free.
    struct Following {
        std::int32_t list = -1;
        std::int32_t cost = 0;
    };
    Following following(const LexerConfiguration& reading, std::int32_t speller_state);
    // For each label and class of columns a control with all residues that a lexeme can leave which begins
    // between two tokens. What can follow any control can follow one of these, for at most `error_bound`
    // bytes more.
    const std::vector<std::int32_t>& any();
    // How much too high a cost from `any` can be. With layout, blanks are free in a residue but cost a byte
    // each where they are read; else it is 0.
    std::int32_t error_bound() const { return error_bound_; }
    // The bytes of the shortest lexeme of a label.
    std::int32_t length(std::int32_t label) const { return lengths_.of(label); }

  private:
    using EmissionCosts = std::unordered_map<std::int32_t, std::int32_t>;  // by emission

    struct State {
        LexerConfiguration reading;
        std::int32_t speller_state;
    };
    // Costs are computed first for states at every so many bytes ahead, so that no search looks further than
    // that. Else a literal would cost the square of its length.
    static constexpr std::int32_t kSpan = 64;
    std::int32_t number(const State& state) {
        if (plain_) return state.reading.state;
        const std::int32_t key[] = {state.reading.state, state.reading.now.value, state.reading.matched.value,
                                    state.speller_state};
        return numbers_.intern(key);
    }
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
    // What a lexer configuration can do before the token ends that is under way: emit, at a cost of 1 if the
    // token ends with the emission's last byte, or come to the token's end within a lexeme.
    struct WithinToken {
        EmissionCosts emissions;
        std::vector<LexerConfiguration> ends;
    };
    template <class Visit>
    void search(const State& from, Visit visit);
    const WithinToken& within_token(const State& from);
    EmissionCosts token_costs_from(const State& from);
    void drop_covered(EmissionCosts& costs) const;
    const EmissionCosts& emission_costs(State from);
    EmissionCosts costs_from(const State& from);
    std::vector<Successor> by_label(const EmissionCosts& costs);

    const LexemeLengths& lengths_;
    Budget& budget_;
    TokenSpeller* tokens_;
    bool has_layout_;
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
