// Futures: for each lexer configuration the set of emissions that some spellable text still leads to.
//
// An emission is a commit as the parser will see it: its label and its residue. The residue is all that the
// rest of the text depends on beside the parser: the bytes that the commit pushes back, the look-behind state
// before them, the speller state after them, and whether the input has ended.
//
// The future of a configuration is the set of its reachable next outputs, and configurations with the same
// future are live on the same stacks. This quotient is coarser than the Myhill-Nerode equivalence, which also
// asks which text makes which output; coaccessibility asks only whether some text does.
//
// Emissions are classes, too. Residues that every context scans to the same results are in one residue class,
// and an emission stands for all residues of its class. Otherwise a lookahead of k bytes would give as many
// emissions as there are texts of k bytes.
//
// Only the contexts that a commit may lead to are known here, no parser. What follows a newline can depend on
// the column that it leaves, so the emissions of a newline are told apart by the class of that column.
//
// A limit that is met leaves all that was known as it was, and the same question can be asked again.
//
// Cost: each pair of a lexer configuration and a speller state is visited once, with its edges, except for
// the states of a large lexer that can emit by themselves all that any of their like can; and each residue is
// scanned once in each context that can follow its label. The sets of emissions are joined once
// for each strongly connected component (Tarjan 1972), in time linear in the sets that are joined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/interned_map.hpp"
#include "base/interner.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "lexer/automaton.hpp"

namespace pdacon {

// A commit that a lexer configuration can still make. `residue` is one of its class and stands for all of it.
// `column` is the least of its class where the label is the newline; -1: there is no line break in it.
struct Emission {
    std::int32_t label, residue, column;
    std::int32_t residue_class;  // of one label; emissions that differ only in columns share it
};

class Futures {
  public:
    // `newline`: the terminal whose columns count, -1: none.
    Futures(const LexingAutomaton& lexer, const VocabularyStar& speller, std::int32_t newline,
            ColumnClasses classes, Budget& budget);
    // What `save` has written for the same lexer and speller. Throws ArtifactDamage.
    Futures(const LexingAutomaton& lexer, const VocabularyStar& speller, std::int32_t newline,
            ColumnClasses classes, Budget& budget, const ArtifactReader& artifact, std::int32_t start);
    // Writes what has been computed. Whoever loads it answers what was asked here without a look at the
    // lexer.
    void save(ArtifactWriter& artifact, std::int32_t start) const;
    // Writes that nothing has been computed, and whether that was written.
    static void save_none(ArtifactWriter& artifact, std::int32_t start);
    static bool are_in(const ArtifactReader& artifact, std::int32_t start);
    // A copy of all that has been computed, to go on from with another budget.
    Futures(const Futures& known, Budget& budget) : Futures(known) { budget_ = &budget; }

    // The future of a lexer configuration: the id of a sorted sequence of emission ids. Where one column of a
    // class can be reached, all of that class are taken for reachable.
    std::int32_t of(const LexerConfiguration& lexing, std::int32_t speller_state);

    std::span<const std::int32_t> emissions(std::int32_t set) const { return sets_[set]; }
    const Emission& emission(std::int32_t id) const { return emissions_[id]; }
    std::int32_t intern_set(std::span<const std::int32_t> sorted_emissions) {
        return sets_.intern(sorted_emissions);
    }
    // The residue at the start of a text: there is nothing to be read again.
    std::int32_t beginning() { return residue(0, false, 0, {}); }
    // The bytes that a residue has to read again, as byte classes.
    std::span<const std::int32_t> bytes_of(std::int32_t residue) const {
        return residues_[residue].subspan(3);
    }
    // The speller state behind a residue, and the rest of it: whether the input has ended, the look-behind
    // state and the bytes.
    std::int32_t speller_state_of(std::int32_t residue) const { return residues_[residue][0]; }
    std::span<const std::int32_t> text_of(std::int32_t residue) const {
        return residues_[residue].subspan(1);
    }
    // The emissions that can come first when a residue has been read from the start of a context.
    std::vector<Emission> after(std::int32_t context, std::int32_t residue);
    // The result of reading a residue from the start of a context. It is the emission of the first commit on
    // the way, with the column itself rather than its class; or the lexer configuration and the speller state
    // at the end, where all bytes stay in one lexeme; or dead.
    struct ScanResult {
        std::int32_t emission = -1;
        Column column;
        LexerConfiguration lexing{-1, {}, {}};
        std::int32_t speller_state = 0;
        bool dead() const { return emission < 0 && lexing.state < 0; }
    };
    ScanResult scan(std::int32_t context, std::int32_t residue);

    // The distinct moves of a speller state: a byte class of the lexer, and the speller state after it.
    struct Move {
        std::int32_t byte_class, speller_state;
    };
    std::span<const Move> moves(std::int32_t speller_state) const { return moves_[speller_state]; }
    // The emission at the end of input, or -1.
    std::int32_t end_emission(const LexerConfiguration& lexing);
    // The emission of the commit `next`, which a move from a lexer configuration makes; -1 where its residue
    // is dead in every context.
    std::int32_t commit_emission(std::int32_t next, const LexerConfiguration& lexing, const Move& move);
    // The column of a commit, if it is the newline's.
    Column column_of(const Commit& commit, const LexerConfiguration& lexing, std::int32_t byte_class) const {
        return commit.label == newline_ ? lexer_.committed_column(commit, lexing, byte_class) : Column{};
    }
    // The lexer configuration after a move within a lexeme. Columns stand for their classes.
    LexerConfiguration moved(const LexerConfiguration& lexing, std::int32_t next,
                             std::int32_t byte_class) const {
        if (newline_ < 0 || !lexer_.keeps_columns(next)) return {next, {}, {}};
        auto to = lexing;
        lexer_.move(to, next, byte_class);
        return classes_.least(to);
    }
    // All scan results so far that have a column, or a lexer configuration with one.
    const std::vector<ScanResult>& results_with_columns() const { return results_with_columns_; }
    bool may_end(std::int32_t speller_state) const { return boundary_[speller_state]; }

    const LexingAutomaton& lexer() const { return lexer_; }
    std::int32_t num_speller_states() const { return static_cast<std::int32_t>(moves_.size()); }
    const ColumnClasses& classes() const { return classes_; }

  private:
    Futures(const Futures&) = default;

    static constexpr std::int32_t kUnclassified = -2;

    // Finds the moves, and nothing else.
    struct Unread {};
    Futures(const LexingAutomaton& lexer, const VocabularyStar& speller, std::int32_t newline,
            ColumnClasses classes, Budget& budget, Unread);
    void load_emissions(const ArtifactReader& artifact, std::int32_t start);
    void load_sets(const ArtifactReader& artifact, std::int32_t start);

    struct Node {
        LexerConfiguration lexing;
        std::int32_t speller_state;
        std::int32_t set = -1;    // its future, once known
        std::int32_t index = -1;  // among the nodes that close_over works on; -1 between its calls
    };
    // A scan of a residue up to the first commit, and the raw emission of that commit; kNone: there is none.
    struct FirstScan {
        ScanResult result;
        std::int32_t raw = kNone;
    };
    static constexpr std::int32_t kNone = -1;
    FirstScan first_scan(std::int32_t context, std::int32_t residue_id);
    // A raw emission is (label, residue, class of column) before its residue has been classified. Returns
    // its number.
    std::int32_t raw_emission(std::int32_t label, std::int32_t residue, Column column);
    std::int32_t raw_end_emission(const LexerConfiguration& lexing);
    std::int32_t plain_commit(std::int32_t next);
    static constexpr std::int32_t kCommits = std::numeric_limits<std::int32_t>::min();
    std::int32_t plain_scan(std::int32_t context, std::int32_t look_behind,
                            std::span<const std::int32_t> bytes) const;
    // The emission of a raw one, or -1: no context after the label can read the residue.
    std::int32_t classify(std::int32_t raw);
    bool classify_or_defer(std::int32_t raw, std::vector<std::int32_t>& open);
    ScanResult result_of(const FirstScan& first) const;
    class AlikeStates;
    void answer_alike_states();
    // The future of a lexer configuration that needs no node, or -1.
    std::int32_t set_without_node(const LexerConfiguration& lexing, std::int32_t speller_state) const {
        if (speller_state != 0 || lexing.now.known() || lexing.matched.known()) return -1;
        return kUnvisited - 1 - std::min(plain_nodes_[lexing.state], kUnvisited);
    }
    std::int32_t node(const LexerConfiguration& lexing, std::int32_t speller_state);
    std::int32_t add_node(const LexerConfiguration& lexing, std::int32_t speller_state);
    Node& node_at(std::int32_t id) { return nodes_[in_range(id, nodes_.size())]; }
    void expand(std::int32_t at, std::vector<std::int32_t>& successors, std::vector<std::int32_t>& sets,
                std::vector<std::int32_t>& own);
    void close_over(std::int32_t start);
    std::int32_t join(std::vector<std::int32_t>& emissions, std::span<const std::int32_t> sets);
    static void add_result(const ScanResult& result, std::vector<std::int32_t>& key);
    void drop_covered(std::vector<std::int32_t>& emissions) const;
    // `more`: bytes after the bytes.
    std::int32_t residue(std::int32_t speller_state, bool ended, std::int32_t look_behind,
                         std::span<const std::int32_t> bytes, std::span<const std::int32_t> more = {});

    const LexingAutomaton& lexer_;
    std::int32_t newline_;
    ColumnClasses classes_;
    Budget* budget_;
    std::vector<std::vector<Move>> moves_;
    std::vector<std::uint8_t> boundary_;
    // By lexer state: its node between two tokens without columns, kUnvisited, or, where it needs no node,
    // the future itself, counted down from below kUnvisited.
    static constexpr std::int32_t kUnvisited = -1;
    std::vector<std::int32_t> plain_nodes_;
    Interner residues_, residue_classes_, sets_;
    // Residue classes of emissions that were loaded have the numbers below this one; what their residues scan
    // to is not known, so that a residue classified later is in none of them.
    std::int32_t num_loaded_classes_ = 0;
    std::vector<Node> nodes_;
    InternedMap<std::int32_t>
        other_nodes_;                  // by lexer configuration and speller state, those that are not plain
    InternedMap<Emission> emissions_;  // by residue class and column
    InternedMap<std::int32_t> raw_emissions_;  // their emissions; kUnclassified: not known yet
    std::vector<ScanResult> results_with_columns_;
    // By commit, if it has no column and leaves no token under way, and by commit at the end of input: its
    // raw emission. Without them, a search would look up the whole pushback in each state.
    std::vector<std::int32_t> plain_commits_;
    std::vector<std::int32_t> plain_ends_;
    std::vector<std::int32_t> row_;          // scratch space: where a lexer state leads
    std::vector<std::int32_t> residue_key_;  // likewise
    static constexpr std::int32_t kBits = 64;
    std::vector<std::uint64_t> marks_;  // scratch space: a bit for each emission, all 0
};

// Futures that lie in an artifact, for one start symbol.
struct StoredFutures {
    ArtifactReader artifact;
    std::int32_t start;
};

}  // namespace pdacon
