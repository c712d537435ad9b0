// What is known of readings on tops of stacks: alive on every stack, on none, or on those that a look further
// down tells.
//
// Rows are futures of the lexer, columns LR states; Coaccessibility finds the rows and fills the cells, and
// every step of a matcher looks here first.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/flat.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

enum class Liveness : std::uint8_t { kUnknown = 0, kMustLive, kDead, kMayLive };
constexpr std::int64_t kNumLivenessValues = 4;

// What can be read of a newline in a lexer state, with the least columns of their classes.
struct Line {
    Reading reading;
    std::int32_t row;      // of LivenessTable
    std::int32_t further;  // another one in the same state, before this one; or -1
    std::int32_t free;     // whether its future has all that its columns can lead to
    bool operator==(const Line&) const = default;
};

// The line of a reading, or -1. `first`: of each lexer state one of its lines, or -1.
template <class First, class Lines>
std::int32_t find_line(const First& first, const Lines& lines, const Reading& reading) {
    auto at = first[static_cast<std::size_t>(reading.state)];
    while (at >= 0 && lines[static_cast<std::size_t>(at)].reading != reading)
        at = lines[static_cast<std::size_t>(at)].further;
    return at;
}

class LivenessTable {
  public:
    explicit LivenessTable(const Pushdown& machine) : machine_(machine) {}
    // What `save` has written for the same machine. Throws ArtifactDamage.
    LivenessTable(const Pushdown& machine, const ArtifactReader& artifact, std::int32_t start);
    void save(ArtifactWriter& artifact, std::int32_t start) const;

    bool empty() const { return rows_.empty(); }
    // `rows`: of each lexer state, -1: columns decide. The first call makes so many rows of unknown cells;
    // a later one, or one after loading, only compares: false where it has other rows.
    bool set_rows(std::vector<std::int32_t> rows, std::vector<std::int32_t> first_line,
                  std::vector<Line> lines, std::size_t num_rows);

    // The row of a reading between two tokens.
    std::int32_t row(const Reading& reading) const {
        const auto known = rows_[static_cast<std::size_t>(reading.state)];
        return known >= 0 ? known : line(reading).row;
    }
    std::int32_t line_of(const Reading& reading) const;
    Liveness at(std::int32_t row, std::int32_t top) const {
        return cells_[index(row, top)].load(std::memory_order_acquire);
    }
    void set(std::int32_t row, std::int32_t top, Liveness liveness) {
        cells_[index(row, top)].store(liveness, std::memory_order_release);
    }

    // Whether a lexer state is alive on the same stacks whatever its columns are, because it keeps none, or
    // another line of the same newline can begin. Its future is that of the state then.
    bool column_free(std::int32_t lexer_state) const {
        return rows_[static_cast<std::size_t>(lexer_state)] >= 0;
    }
    // Whether a reading has all of its future, whatever its columns are beyond their classes. If not, its
    // future has what it has, and perhaps more.
    bool is_free(const Reading& reading) const {
        return column_free(reading.state) || any_column(machine_.lexer, reading) || line(reading).free != 0;
    }

  private:
    std::size_t index(std::int32_t row, std::int32_t top) const {
        return in_matrix(row, num_rows_, top, static_cast<std::size_t>(machine_.tables.num_states));
    }
    const Line& line(const Reading& reading) const {
        return lines_[static_cast<std::size_t>(line_of(reading))];
    }
    // All unknown.
    void make_cells(std::size_t num_rows);
    std::size_t num_blocks() const {
        return (num_rows_ * static_cast<std::size_t>(machine_.tables.num_states) + kBlock) / kBlock;
    }

    static constexpr std::size_t kBlock = 16;  // cells that are saved together
    using Block = std::array<std::uint8_t, kBlock>;

    const Pushdown& machine_;
    std::shared_ptr<const Origin> origin_;  // of what was loaded
    Flat<std::int32_t> rows_, first_line_;
    Flat<Line> lines_;
    std::size_t num_rows_ = 0;
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::atomic<Liveness>[], Free> cells_;
};

}  // namespace pdacon
