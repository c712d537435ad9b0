#include "liveness/liveness_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/memory.hpp"

namespace pdacon {

LivenessTable::LivenessTable(const Pushdown& machine, const ArtifactReader& artifact, std::int32_t start)
    : machine_(machine),
      origin_(artifact.origin()),
      rows_(artifact.array<std::int32_t>(Part::kLivenessRows, start)),
      first_of_state_(artifact.array<std::int32_t>(Part::kLivenessFirstColumns, start)),
      configurations_(artifact.array<ColumnConfiguration>(Part::kLivenessColumns, start)) {
    const auto states = static_cast<std::size_t>(machine.lexer.num_states());
    const bool layout = machine.layout.newline >= 0;
    // Each row is that of some lexer state or configuration, the last one too.
    const auto most_rows = static_cast<std::int64_t>(states + configurations_.size());
    require_artifact(rows_.size() == states, "liveness of other tables");
    require_artifact(all_within(rows_.view(), layout ? -1 : 0, most_rows), "a row of the liveness table");
    require_artifact(
        first_of_state_.size() == (layout ? states : 0) &&
            all_within(first_of_state_.view(), -1, static_cast<std::int64_t>(configurations_.size())),
        "lines of other lexer states");
    auto last_row = std::ranges::max(rows_);
    for (std::size_t at = 0; at < configurations_.size(); ++at) {
        const auto& configuration = configurations_[at];
        require_artifact(configuration.row >= 0 && configuration.row < most_rows &&
                             configuration.next >= -1 && configuration.next < static_cast<std::int64_t>(at),
                         "a line");
        last_row = std::max(last_row, configuration.row);
    }
    make_cells(static_cast<std::size_t>(last_row + 1));
    const auto known = artifact.array<Block>(Part::kLiveness, start);
    const auto places = artifact.array<std::int32_t>(Part::kLivenessBlocks, start);
    require_artifact(known.size() == places.size() &&
                         all_within(places.view(), 0, static_cast<std::int64_t>(num_blocks())),
                     "liveness of other tables");
    bool inside = true;
    for (std::size_t at = 0; at < known.size(); ++at) {
        inside &= all_within(std::span<const std::uint8_t>(known[at]), 0, kNumLivenessValues);
        std::memcpy(static_cast<void*>(&cells_[static_cast<std::size_t>(places[at]) * kBlock]), &known[at],
                    kBlock);
    }
    require_artifact(inside, "a value of liveness");
}

// Few cells are known, so only blocks with a known cell are saved.
void LivenessTable::save(ArtifactWriter& artifact, std::int32_t start) const {
    std::vector<Block> known;
    std::vector<std::int32_t> places;
    for (std::size_t at = 0; at < num_blocks(); ++at) {
        Block block;
        for (std::size_t cell = 0; cell < kBlock; ++cell)
            block[cell] =
                static_cast<std::uint8_t>(cells_[at * kBlock + cell].load(std::memory_order_acquire));
        if (block == Block{}) continue;
        known.push_back(block);
        places.push_back(static_cast<std::int32_t>(at));
    }
    artifact.add(Part::kLivenessRows, start, rows_.view());
    artifact.add(Part::kLivenessFirstColumns, start, first_of_state_.view());
    artifact.add(Part::kLivenessColumns, start, configurations_.view());
    artifact.add(Part::kLiveness, start, std::span<const Block>(known));
    artifact.add(Part::kLivenessBlocks, start, std::span<const std::int32_t>(places));
}

void LivenessTable::set_rows(std::vector<std::int32_t> rows, std::vector<std::int32_t> first_of_state,
                             std::vector<ColumnConfiguration> configurations, std::size_t num_rows) {
    make_cells(num_rows);  // first: it may fail
    rows_ = std::move(rows);
    first_of_state_ = std::move(first_of_state);
    configurations_ = std::move(configurations);
}

// Zeroed memory costs nothing until it is touched, which most of these never are.
void LivenessTable::make_cells(std::size_t num_rows) {
    static_assert(sizeof(std::atomic<Liveness>) == 1 && std::atomic<Liveness>::is_always_lock_free &&
                  static_cast<int>(Liveness::kUnknown) == 0);
    num_rows_ = num_rows;
    MemoryLimit::take(num_blocks() * kBlock);
    cells_.reset(static_cast<std::atomic<Liveness>*>(std::calloc(num_blocks(), kBlock)));
    if (!cells_) throw std::bad_alloc();
}

std::int32_t LivenessTable::configuration_of(const LexerConfiguration& lexing) const {
    const auto at =
        find_configuration(first_of_state_, configurations_, machine_.layout.classes.least(lexing));
    if (at < 0 && origin_)
        throw origin_->damage(
            ArtifactDamage("the artifact is damaged: no line of its lexer is like this one"));
    if (at < 0) throw std::logic_error("coaccessibility: a lexing that no text leads to");
    return at;
}

}  // namespace pdacon
