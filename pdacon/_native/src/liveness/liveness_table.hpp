// The liveness table: what is known of each future of the lexer on each top of a stack.
//
// Rows are futures, columns LR states, and a cell says of all stacks with this state on top whether they are
// live. FutureRows finds the rows, Coaccessibility fills the cells, and every step of a matcher looks here
// first. Cells are read and written by many threads without a lock: one goes from unknown to its one answer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/flat.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

// What is known of all stacks with one state on top. kUnknown: not asked for yet. kUndecided: asked for, and
// neither all live nor all dead was proved; either may be true nevertheless.
enum class Liveness : std::uint8_t { kUnknown = 0, kLiveOnAll, kDeadOnAll, kUndecided };
constexpr std::int64_t kNumLivenessValues = 4;

// A lexer configuration within a newline, with columns; the least column of a class stands for all of it.
struct ColumnConfiguration {
    LexerConfiguration lexing;
    std::int32_t row;                 // of LivenessTable
    std::int32_t next;                // an earlier one with the same lexer state, or -1
    std::int32_t column_independent;  // whether its row holds whatever its columns are: see FutureRows
    bool operator==(const ColumnConfiguration&) const = default;
};

// The index of the configuration that a lexer configuration is like, or -1. `first`: by lexer state the last
// of its configurations, or -1.
template <class First, class Configurations>
std::int32_t find_configuration(const First& first, const Configurations& configurations,
                                const LexerConfiguration& lexing) {
    auto at = first[lexing.state];
    while (at >= 0 && configurations[at].lexing != lexing) at = configurations[at].next;
    return at;
}

class LivenessTable {
  public:
    explicit LivenessTable(const Pushdown& machine) : machine_(machine) {}
    // What `save` has written for the same machine. Throws ArtifactDamage.
    LivenessTable(const Pushdown& machine, const ArtifactReader& artifact, std::int32_t start);
    void save(ArtifactWriter& artifact, std::int32_t start) const;

    bool empty() const { return rows_.empty(); }
    // `rows`: by lexer state, -1 where columns decide. Makes `num_rows` rows of unknown cells; for an empty
    // table.
    void set_rows(std::vector<std::int32_t> rows, std::vector<std::int32_t> first_of_state,
                  std::vector<ColumnConfiguration> configurations, std::size_t num_rows);

    // The rows by lexer state, the last configuration of each or -1, and the configurations.
    std::span<const std::int32_t> rows() const { return rows_.view(); }
    std::span<const std::int32_t> first_of_state() const { return first_of_state_.view(); }
    std::span<const ColumnConfiguration> configurations() const { return configurations_.view(); }

    // The row of a lexer configuration between two tokens.
    std::int32_t row(const LexerConfiguration& lexing) const {
        const auto known = rows_[lexing.state];
        return known >= 0 ? known : configuration(lexing).row;
    }
    std::int32_t configuration_of(const LexerConfiguration& lexing) const;
    Liveness at(std::int32_t row, std::int32_t top) const {
        return cells_[index(row, top)].load(std::memory_order_acquire);
    }
    void set(std::int32_t row, std::int32_t top, Liveness liveness) {
        cells_[index(row, top)].store(liveness, std::memory_order_release);
    }

    // Whether a lexer state has one row: it keeps no columns, or all of its configurations are independent of
    // them and share a future.
    bool is_column_independent(std::int32_t lexer_state) const { return rows_[lexer_state] >= 0; }
    // Whether the row of a lexer configuration says exactly where it is live. If not, the row may claim too
    // much: futures take all columns of a class for reachable, and from here only some may be.
    bool is_column_independent(const LexerConfiguration& lexing) const {
        return is_column_independent(lexing.state) || any_column(machine_.lexer, lexing) ||
               configuration(lexing).column_independent != 0;
    }

  private:
    std::size_t index(std::int32_t row, std::int32_t top) const {
        return in_matrix(row, num_rows_, top, static_cast<std::size_t>(machine_.tables.num_states));
    }
    const ColumnConfiguration& configuration(const LexerConfiguration& lexing) const {
        return configurations_[configuration_of(lexing)];
    }
    // Makes the cells, all unknown.
    void make_cells(std::size_t num_rows);
    std::size_t num_blocks() const {
        return (num_rows_ * static_cast<std::size_t>(machine_.tables.num_states) + kBlock) / kBlock;
    }

    static constexpr std::size_t kBlock = 16;  // cells that are saved together
    using Block = std::array<std::uint8_t, kBlock>;

    const Pushdown& machine_;
    std::shared_ptr<const Origin> origin_;  // of what was loaded; none: built here
    Flat<std::int32_t> rows_, first_of_state_;
    Flat<ColumnConfiguration> configurations_;
    std::size_t num_rows_ = 0;
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::atomic<Liveness>[], Free> cells_;
};

}  // namespace pdacon
