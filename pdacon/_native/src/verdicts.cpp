#include "verdicts.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace pdacon {

Verdicts::Verdicts(const Pushdown& machine, const ArtifactReader& artifact, std::int32_t start)
    : machine_(machine),
      stored_(true),
      rows_(artifact.array<std::int32_t>(Part::kVerdictRows, start)),
      first_line_(artifact.array<std::int32_t>(Part::kFirstLines, start)),
      lines_(artifact.array<Line>(Part::kLines, start)) {
    const auto cells = artifact.array<std::uint8_t>(Part::kVerdicts, start);
    const auto states = static_cast<std::size_t>(machine.lexer.num_states());
    const auto tops = static_cast<std::size_t>(machine.tables.num_states);
    const bool layout = machine.layout.newline >= 0;
    make_cells(cells.size() / tops);
    const auto num_rows = static_cast<std::int64_t>(num_rows_);
    require_artifact(cells.size() % tops == 0 && rows_.size() == states, "verdicts of other tables");
    require_artifact(all_within(rows_.view(), layout ? -1 : 0, num_rows), "a row of the verdicts");
    require_artifact(first_line_.size() == (layout ? states : 0) &&
                         all_within(first_line_.view(), -1, static_cast<std::int64_t>(lines_.size())),
                     "lines of other lexer states");
    for (std::size_t at = 0; at < lines_.size(); ++at) {
        const auto& line = lines_[at];
        require_artifact(line.row >= 0 && line.row < num_rows && line.further >= -1 &&
                             line.further < static_cast<std::int64_t>(at),
                         "a line");
    }
    require_artifact(all_within(cells.view(), 0, static_cast<std::int64_t>(Verdict::kDepends) + 1),
                     "a verdict");
    static_assert(sizeof(std::atomic<Verdict>) == 1 && std::atomic<Verdict>::is_always_lock_free);
    std::memcpy(static_cast<void*>(cells_.get()), cells.data(), cells.size());
}

void Verdicts::save(ArtifactWriter& artifact, std::int32_t start) const {
    const auto tops = static_cast<std::size_t>(machine_.tables.num_states);
    std::vector<std::uint8_t> cells(num_rows_ * tops);
    for (std::size_t at = 0; at < cells.size(); ++at)
        cells[at] = static_cast<std::uint8_t>(cells_[at].load(std::memory_order_acquire));
    artifact.add(Part::kVerdictRows, start, rows_.view());
    artifact.add(Part::kFirstLines, start, first_line_.view());
    artifact.add(Part::kLines, start, lines_.view());
    artifact.add(Part::kVerdicts, start, std::span<const std::uint8_t>(cells));
}

bool Verdicts::set_rows(std::vector<std::int32_t> rows, std::vector<std::int32_t> first_line,
                        std::vector<Line> lines, std::size_t num_rows) {
    if (!empty())
        return num_rows == num_rows_ && std::ranges::equal(rows, rows_) &&
               std::ranges::equal(first_line, first_line_) && std::ranges::equal(lines, lines_);
    rows_ = std::move(rows);
    first_line_ = std::move(first_line);
    lines_ = std::move(lines);
    make_cells(num_rows);
    return true;
}

void Verdicts::make_cells(std::size_t num_rows) {
    num_rows_ = num_rows;
    cells_ = std::make_unique<std::atomic<Verdict>[]>(num_rows *
                                                      static_cast<std::size_t>(machine_.tables.num_states));
}

std::int32_t Verdicts::line_of(const Reading& reading) const {
    const auto at = find_line(first_line_, lines_, machine_.layout.classes.least(reading));
    if (at < 0 && stored_)
        throw ArtifactDamage("the artifact is damaged: no line of its lexer is like this one");
    if (at < 0) throw std::logic_error("coaccessibility: a reading that no text leads to");
    return at;
}

}  // namespace pdacon
