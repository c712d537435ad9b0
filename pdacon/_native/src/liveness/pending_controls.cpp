#include "liveness/pending_controls.hpp"

#include <algorithm>

namespace pdacon {

bool PendingControls::keeps_block(std::int32_t control, std::int32_t block) const {
    if (is_closing(control)) return false;
    const auto name = label(control);
    return (name != layout_.newline && name != layout_.dedent) || column(control) == block;
}

std::int32_t PendingControls::after(std::int32_t context, std::int32_t block, std::int32_t control,
                                    bool skipped) {
    if (skipped) block = -1;
    const std::int32_t key[] = {context, block, control};
    return after_[after_.find_or_make(key, [&] {
        const auto known = ids_[control];
        const std::vector<std::int32_t> residues(known.begin() + 2, known.end());
        std::vector<Successor> successors;
        if (!skipped) add_blocks(control, block, successors);
        if (is_closing(control)) {
            std::vector<std::int32_t> closer{kClosing - column(control), -1};
            closer.insert(closer.end(), residues.begin(), residues.end());
            successors.push_back({ids_.intern(closer), 0});
        } else if (skipped || keeps_block(control, block)) {
            const auto more = lexed(context, residues);
            successors.insert(successors.end(), more.begin(), more.end());
        }
        return list(successors);
    })];
}

std::int32_t PendingControls::list(std::span<const Successor> successors) {
    std::vector<std::int32_t> flat;
    for (const auto& [control, cost] : successors)
        flat.insert(flat.end(),
                    {control, static_cast<std::int32_t>(cost >> 32), static_cast<std::int32_t>(cost)});
    return lists_.intern(flat);
}

std::vector<PendingControls::Successor> PendingControls::successors(std::int32_t list) const {
    const auto known = lists_[list];
    std::vector<Successor> found;
    for (std::size_t at = 0; at < known.size(); at += 3)
        found.push_back({known[at], std::int64_t{known[at + 1]} * (std::int64_t{1} << 32) +
                                        static_cast<std::uint32_t>(known[at + 2])});
    return found;
}

const std::vector<std::int32_t>& PendingControls::futures_after(std::int32_t context, std::int32_t control) {
    const std::int32_t key[] = {context, control};
    return entered_[entered_.find_or_make(key, [&] {
        std::vector<std::int32_t> found;
        const auto known = ids_[control];
        for (std::size_t at = 2; at < known.size() && !is_closing(control); ++at) {
            const auto result = futures_.scan(context, known[at]);
            if (result.lexing.state >= 0 && result.speller_state == 0)
                found.push_back(futures_.of(result.lexing, 0));
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    })];
}

// Blocks open or close between a newline and the next lexeme, and close before what ends an indented text.
// The control knows only the class of the newline's column. So INDENT is possible if some column of the class
// opens a block within this one; and DEDENT always, as often as the parser takes it, because the columns of
// the open blocks further out are not known here.
void PendingControls::add_blocks(std::int32_t control, std::int32_t block,
                                 std::vector<Successor>& successors) {
    if (label(control) == layout_.dedent) successors.push_back({control, 0});
    emit_blocks(control, [&](std::int32_t made) {
        if (label(made) == layout_.dedent) return successors.push_back({made, 0});
        if (!layout_.may_open(block, column(made))) return;
        const auto cost = cost_of_indent(column(made), ids_[made].subspan(2));
        if (cost != kNever) successors.push_back({made, cost});
    });
}

}  // namespace pdacon
