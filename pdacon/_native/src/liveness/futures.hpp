// What can become of a lexeme: for each reading, the commits that some spellable text leads to.
//
// This is the quotient by which coaccessibility looks at the lexer: readings with the same future are alive
// on the same stacks. It knows no parser beyond the contexts that a commit may lead to. What follows a
// newline can depend on the column that it leaves, so a newline's commits are told apart by the class of that
// column.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hpp"
#include "detokenizer/speller.hpp"
#include "lexer/automaton.hpp"

namespace pdacon {

// A commit seen from before: the label; the pushback: what lies behind its end, what has been read since and
// must be lexed again, where the speller stands, and whether the input ended there; of a newline the least
// column of the class of its own, -1: it has no line break.
struct Emission {
    std::int32_t label, pushback, column;
    std::int32_t pushback_class;  // the same for emissions that differ in their columns alone
};

class Futures {
  public:
    // `newline`: the terminal whose columns count, -1: none.
    Futures(const LexingAutomaton& lexer, const Speller& speller, std::int32_t newline, ColumnClasses classes,
            Budget& budget);
    // What is known already, to go on from with another budget.
    Futures(const Futures& known, Budget& budget) : Futures(known) { budget_ = &budget; }

    // The set of emissions that can follow a reading, as the id of a sorted sequence of emission ids; as if
    // every column of a class could be reached if one can. Computes what is missing: amortised one visit of
    // each (reading, speller state) and its edges.
    std::int32_t of(const Reading& reading, std::int32_t speller_state);

    std::span<const std::int32_t> emissions(std::int32_t set) const { return sets_[set]; }
    const Emission& emission(std::int32_t id) const { return emissions_[static_cast<std::size_t>(id)]; }
    std::int32_t intern_set(std::span<const std::int32_t> sorted_emissions) {
        return sets_.intern(sorted_emissions);
    }
    // The pushback at the start of a text: nothing has been read.
    std::int32_t beginning() { return pushback(0, false, 0, {}); }
    // What a pushback has to be lexed again, as byte classes.
    std::span<const std::int32_t> bytes_of(std::int32_t pushback) const {
        return pushbacks_[pushback].subspan(3);
    }
    // What can be committed first in a context, after a pushback.
    std::vector<Emission> after(std::int32_t context, std::int32_t pushback);
    // Where a pushback leads when it is lexed from the start of a context: to at most one emission that is
    // certain, with its very column, or to a reading and a speller state.
    struct ScanResult {
        std::int32_t emission = -1;
        Column column;
        Reading reading{-1, {}, {}};
        std::int32_t speller_state = 0;
        bool dead() const { return emission < 0 && reading.state < 0; }
    };
    ScanResult scan(std::int32_t context, std::int32_t pushback);

    // The distinct moves of a speller state: a byte class of the lexer, and the speller state after it.
    struct Move {
        std::int32_t byte_class, speller_state;
    };
    std::span<const Move> moves(std::int32_t speller_state) const {
        return moves_[static_cast<std::size_t>(speller_state)];
    }
    // The emission at the end of input, or -1.
    std::int32_t end_emission(const Reading& reading);
    // The emission of a commit that a move from here makes, or -1; `next` is the lexer's transition.
    std::int32_t commit_emission(std::int32_t next, const Reading& reading, const Move& move);
    // The column of a commit, if it is the newline's.
    Column column_of(const Commit& commit, const Reading& reading, std::int32_t byte_class) const {
        return commit.label == newline_ ? lexer_.committed_column(commit, reading, byte_class) : Column{};
    }
    // Where a move within a lexeme leads to; columns stand for their classes.
    Reading moved(const Reading& reading, std::int32_t next, std::int32_t byte_class) const {
        Reading to{next, {}, {}};
        if (newline_ < 0 || !lexer_.keeps_columns(next)) return to;
        to.now = reading.now;
        to.matched = reading.matched;
        lexer_.move(to, next, byte_class);
        return classes_.least(to);
    }
    // Where pushbacks led with columns of their own.
    const std::vector<ScanResult>& results_with_columns() const { return results_with_columns_; }
    bool may_end(std::int32_t speller_state) const {
        return boundary_[static_cast<std::size_t>(speller_state)];
    }

    const LexingAutomaton& lexer() const { return lexer_; }
    std::int32_t num_speller_states() const { return static_cast<std::int32_t>(moves_.size()); }
    const ColumnClasses& classes() const { return classes_; }

  private:
    Futures(const Futures&) = default;

    static constexpr std::int32_t kUnasked = -2;

    struct Node {
        Reading reading;
        std::int32_t speller_state;
        std::int32_t set = -1;    // the answer
        std::int32_t place = -1;  // among those that are answered together
    };
    // A result up to the first commit: the question for the emission of that, kNone: there is none.
    struct Lexed {
        ScanResult result;
        std::int32_t question = kNone;
    };
    static constexpr std::int32_t kNone = -1;
    Lexed lex(std::int32_t context, std::int32_t pushback_id);
    // The question for an emission, as a number: of a label that leaves a pushback, and of a newline that
    // leaves a column.
    std::int32_t ask(std::int32_t label, std::int32_t pushback, Column column);
    std::int32_t ask_end(const Reading& reading);
    // The emission, or -1: the pushback cannot be lexed in any context after the label.
    std::int32_t answer(std::int32_t question);
    bool answer_or_ask(std::int32_t question, std::vector<std::int32_t>& open);
    ScanResult result_of(const Lexed& lexed) const;
    std::int32_t node(const Reading& reading, std::int32_t speller_state);
    void expand(std::int32_t at, std::vector<std::int32_t>& successors, std::vector<std::int32_t>& own);
    void close_over(std::int32_t start);
    std::int32_t join(std::vector<std::int32_t>& emissions, std::span<const std::int32_t> sets);
    static void add_result(const ScanResult& result, std::vector<std::int32_t>& key);
    void drop_covered(std::vector<std::int32_t>& emissions) const;
    std::int32_t pushback(std::int32_t speller_state, bool ended, std::int32_t behind,
                          std::span<const std::int32_t> word);

    const LexingAutomaton& lexer_;
    std::int32_t newline_;
    ColumnClasses classes_;
    Budget* budget_;
    std::vector<std::vector<Move>> moves_;
    std::vector<std::uint8_t> boundary_;
    std::vector<std::int32_t> plain_nodes_;  // of each lexer state between two tokens, without columns
    Interner node_ids_, pushbacks_, questions_, pushback_classes_, emission_ids_, sets_;
    std::vector<Node> nodes_;
    std::vector<ScanResult> results_with_columns_;
    std::vector<std::int32_t> plain_emissions_;  // of each commit between two tokens that has no column
    std::vector<Emission> emissions_;            // by their results and columns
    std::vector<std::int32_t> emission_of_;      // of each question
    static constexpr std::int32_t kBits = 64;
    std::vector<std::uint64_t> marks_;  // scratch space: of each emission, all 0
};

}  // namespace pdacon
