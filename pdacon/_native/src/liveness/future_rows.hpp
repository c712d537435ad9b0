// The rows of the liveness table: one for each future that a lexer configuration between two tokens can have.
//
// Without layout a lexer state is a lexer configuration. With it, a state within a newline has one
// configuration for each class of columns, and these may have futures, and so rows, of their own.
//
// A configuration is independent of its columns if it is live on the same stacks whatever its columns are, so
// that its row says all. Futures take every column of a class for reachable. That is exact before the line
// has begun, and where a line break can still be read after which the same future holds: from there each
// column of each class can be reached. On all paths to such a line break the future is the same, because a
// future can only lose emissions along a path.
//
// Cost: the futures; where the table is empty, also one visit of each configuration and its edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "liveness/futures.hpp"
#include "liveness/liveness_table.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class FutureRows {
  public:
    // Gives the table its rows if it is empty; else looks up the futures of the rows that it has. Throws
    // ArtifactDamage if one row has two futures, or one future two rows.
    FutureRows(const Pushdown& machine, Futures& futures, LivenessTable& table);

    std::int32_t future(const LexerConfiguration& lexing) const {
        const auto known = future_[lexing.state];
        if (known >= 0) return known;
        return configuration_future_[table_.configuration_of(lexing)];
    }
    // -1: its configurations have different ones.
    std::int32_t future(std::int32_t lexer_state) const { return future_[lexer_state]; }
    // The row of a future that has one.
    std::int32_t row(std::int32_t future) const { return row_of_[future]; }
    bool has_row(std::int32_t future) const {
        return static_cast<std::size_t>(future) < row_of_.size() && row_of_[future] >= 0;
    }

    // Whether the table was empty before, so that it knows nothing of them yet.
    bool are_new() const { return are_new_; }

  private:
    void find_rows();
    void read_rows();
    void find_configurations(std::vector<std::int32_t>& first_of_state,
                             std::vector<ColumnConfiguration>& configurations);
    void find_independent_states(const std::vector<std::int32_t>& first_of_state,
                                 const std::vector<ColumnConfiguration>& configurations);

    const Pushdown& machine_;
    Futures& futures_;
    LivenessTable& table_;
    bool are_new_;
    std::vector<std::int32_t> future_;                // by lexer state; -1: it depends on the columns
    std::vector<std::int32_t> configuration_future_;  // by configuration with columns
    std::vector<std::int32_t> row_of_;                // by future, or -1
};

}  // namespace pdacon
