// Futures in an artifact. What residues scan to is not written: it only tells which residues are in one
// class, and classes save work, no more.
#include <algorithm>

#include "base/flat.hpp"
#include "liveness/futures.hpp"

namespace pdacon {

namespace {

// A lexer configuration with columns, or within a token, and its future.
struct FutureNode {
    std::int32_t state, speller_state, now, matched, set;
};
// A raw emission and the emission that it is, or -1.
struct RawEmission {
    std::int32_t label, residue, column, emission;
};

// Adds the rows that were written to an interner that is empty, so that each has its number again.
void intern_all(const Rows<std::int32_t>& rows, Interner& interner, const char* what) {
    for (std::size_t at = 0; at < rows.size(); ++at)
        require_artifact(static_cast<std::size_t>(interner.intern(rows[static_cast<std::int32_t>(at)])) == at,
                         what);
}

}  // namespace

void Futures::save(ArtifactWriter& artifact, std::int32_t start) const {
    std::vector<std::int32_t> sets;  // by lexer state; -1: not known
    for (const auto node : plain_nodes_)
        sets.push_back(node < kUnvisited ? kUnvisited - 1 - node : node < 0 ? -1 : nodes_[node].set);
    std::vector<FutureNode> nodes;
    for (std::size_t at = 0; at < other_nodes_.size(); ++at) {
        const auto key = other_nodes_.key(static_cast<std::int32_t>(at));
        const auto set = nodes_[other_nodes_[static_cast<std::int32_t>(at)]].set;
        if (set >= 0) nodes.push_back({key[0], key[1], key[2], key[3], set});
    }
    std::vector<Emission> emissions;
    for (std::size_t at = 0; at < emissions_.size(); ++at)
        emissions.push_back(emissions_[static_cast<std::int32_t>(at)]);
    std::vector<RawEmission> raw;
    for (std::size_t at = 0; at < raw_emissions_.size(); ++at) {
        const auto key = raw_emissions_.key(static_cast<std::int32_t>(at));
        const auto emission = raw_emissions_[static_cast<std::int32_t>(at)];
        if (emission != kUnclassified) raw.push_back({key[0], key[1], key[2], emission});
    }
    const auto all_sets = Rows<std::int32_t>::of(sets_);
    const auto residues = Rows<std::int32_t>::of(residues_);
    artifact.add_packed(Part::kFutureStates, start, Packed(std::move(sets)));
    artifact.add(Part::kFutureNodes, start, std::span<const FutureNode>(nodes));
    artifact.add(Part::kFutureOffsets, start, all_sets.offsets().view());
    artifact.add_packed(Part::kFutureEmissions, start,
                        Packed({all_sets.values().begin(), all_sets.values().end()}));
    artifact.add(Part::kEmissions, start, std::span<const Emission>(emissions));
    artifact.add(Part::kRawEmissions, start, std::span<const RawEmission>(raw));
    artifact.add(Part::kResidueOffsets, start, residues.offsets().view());
    artifact.add(Part::kResidues, start, residues.values().view());
}

void Futures::save_none(ArtifactWriter& artifact, std::int32_t start) {
    for (const auto part :
         {Part::kFutureStates, Part::kFutureNodes, Part::kFutureOffsets, Part::kFutureEmissions,
          Part::kEmissions, Part::kRawEmissions, Part::kResidueOffsets, Part::kResidues})
        artifact.add(part, start, std::span<const std::int32_t>());
}

bool Futures::are_in(const ArtifactReader& artifact, std::int32_t start) {
    return !artifact.array<std::int32_t>(Part::kFutureOffsets, start).empty();
}

Futures::Futures(const LexingAutomaton& lexer, const VocabularyStar& speller, std::int32_t newline,
                 ColumnClasses classes, Budget& budget, const ArtifactReader& artifact, std::int32_t start)
    : Futures(lexer, speller, newline, classes, budget, Unread()) {
    load_emissions(artifact, start);
    load_sets(artifact, start);
}

void Futures::load_emissions(const ArtifactReader& artifact, std::int32_t start) {
    auto offsets = artifact.array<std::int32_t>(Part::kResidueOffsets, start);
    auto values = artifact.array<std::int32_t>(Part::kResidues, start);
    require_artifact(are_rows(offsets, values.size()), "residues of lexemes");
    const Rows<std::int32_t> residues(std::move(offsets), std::move(values));
    const auto spellers = static_cast<std::int64_t>(moves_.size());
    const auto is_residue = [&](std::span<const std::int32_t> residue) {
        return residue.size() >= 3 && residue.size() - 3 <= LexingAutomaton::kLongestPushback &&
               residue[0] >= 0 && residue[0] < spellers && all_within(residue.subspan(1, 1), 0, 2) &&
               all_within(residue.subspan(2, 1), 0, lexer_.num_look_behind()) &&
               all_within(residue.subspan(3), 0, lexer_.num_classes());
    };
    for (std::size_t at = 0; at < residues.size(); ++at)
        require_artifact(is_residue(residues[static_cast<std::int32_t>(at)]), "a residue of a lexeme");
    intern_all(residues, residues_, "a residue of a lexeme twice");
    const auto is_committed = [&](const auto& emission) {
        return emission.label >= 0 && emission.label <= lexer_.ignored_label() && emission.residue >= 0 &&
               static_cast<std::size_t>(emission.residue) < residues.size() && emission.column >= -1 &&
               emission.column <= Column::kMost;
    };
    const auto emissions = artifact.array<Emission>(Part::kEmissions, start);
    for (const auto& emission : emissions) {
        require_artifact(is_committed(emission) && emission.residue_class >= 0, "what a lexeme leaves");
        num_loaded_classes_ = std::max(num_loaded_classes_, emission.residue_class + 1);
        const std::int32_t key[] = {emission.residue_class, emission.column};
        const auto known = emissions_.size();
        emissions_.find_or_make(key, [&] { return emission; });
        require_artifact(emissions_.size() > known, "what a lexeme leaves, twice");
    }
    for (const auto& raw : artifact.array<RawEmission>(Part::kRawEmissions, start)) {
        require_artifact(is_committed(raw) && raw.emission >= -1 &&
                             raw.emission < static_cast<std::int64_t>(emissions.size()),
                         "a commit of a lexeme");
        const std::int32_t key[] = {raw.label, raw.residue, raw.column};
        raw_emissions_.find_or_make(key, [&] { return raw.emission; });
    }
}

void Futures::load_sets(const ArtifactReader& artifact, std::int32_t start) {
    auto offsets = artifact.array<std::int32_t>(Part::kFutureOffsets, start);
    require_artifact(!offsets.empty() && offsets[offsets.size() - 1] >= 0, "futures");
    const auto count = static_cast<std::size_t>(offsets[offsets.size() - 1]);
    const auto packed = artifact.packed(Part::kFutureEmissions, start, count);
    require_artifact(
        are_rows(offsets, count) && all_within(packed, 0, static_cast<std::int64_t>(emissions_.size())),
        "futures");
    std::vector<std::int32_t> values;
    packed.visit([&](auto view) { values.assign(view.begin(), view.end()); });
    const Rows<std::int32_t> sets(std::move(offsets), std::move(values));
    for (std::size_t at = 0; at < sets.size(); ++at)
        require_artifact(std::ranges::is_sorted(sets[static_cast<std::int32_t>(at)]),
                         "the order of a future");
    intern_all(sets, sets_, "a future twice");
    const auto num_sets = static_cast<std::int64_t>(sets.size());
    const auto states = artifact.packed(Part::kFutureStates, start, plain_nodes_.size());
    require_artifact(all_within(states, -1, num_sets), "the future of a lexer state");
    for (std::size_t state = 0; state < plain_nodes_.size(); ++state)
        if (states[state] >= 0) plain_nodes_[state] = kUnvisited - 1 - states[state];
    for (const auto& [state, speller_state, now, matched, set] :
         artifact.array<FutureNode>(Part::kFutureNodes, start)) {
        require_artifact(state >= 0 && state < lexer_.num_states() && speller_state >= 0 &&
                             static_cast<std::size_t>(speller_state) < moves_.size() && set >= 0 &&
                             set < num_sets,
                         "the future of a lexer configuration");
        node_at(node({state, Column{now}, Column{matched}}, speller_state)).set = set;
    }
}

}  // namespace pdacon
