// The token-level pushdown automaton in an artifact.
#include "composition/stored_masks.hpp"
#include "composition/token_pda.hpp"

namespace pdacon {

namespace {

struct Numbers {
    std::int64_t max_states, max_depth, max_bytes, end_mask, leading_mask, left;
};

}  // namespace

void TokenPda::save(ArtifactWriter& whole, std::int32_t start) {
    // What is done twice, because a limit of memory was met the first time, must not be written twice.
    whole.take(guarded_.run_without_caches([&] {
        ArtifactWriter artifact;
        if (start == 0) {
            machine_.lexer.save(artifact);
            trie_->save(artifact);
            labels_->save(artifact);
            artifact.add(Part::kFilter, ArtifactWriter::kShared,
                         filter_ ? filter_->definition() : std::span<const std::int32_t>());
        }
        machine_.save(artifact, start);
        liveness_table_.save(artifact, start);
        mask_trie_.save(artifact, start);
        StoredMasks::save(artifact, start, masks_.words(), masks_.size(),
                          [&](std::size_t id) { return masks_.row(static_cast<std::int32_t>(id)); });
        const Numbers numbers{
            budget_.states(), max_depth_,    static_cast<std::int64_t>(guarded_.max_bytes()),
            end_mask_.id,     leading_mask_, left_};
        artifact.add(Part::kTokenPda, start, std::span(&numbers, 1));
        return artifact;
    }));
}

TokenPda::TokenPda(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const LazyTrie> trie,
                   std::shared_ptr<const Labels> labels, const ArtifactReader& artifact, std::int32_t start)
    : machine_(std::move(lexer), artifact, start),
      trie_(std::move(trie)),
      labels_(std::move(labels)),
      budget_(0, 0),
      guarded_(0, artifact.origin(), [this] { forget_caches(); }),
      liveness_table_(machine_, artifact, start),
      masks_(StoredMasks(artifact, start, tokens().words())),
      mask_trie_(static_cast<std::size_t>(machine_.lexer.num_states()), machine_.layout.newline >= 0,
                 masks_.size(), artifact, start),
      filtered_rows_(tokens().words()) {
    const auto given = artifact.array<Numbers>(Part::kTokenPda, start);
    require_artifact(given.size() == 1, "numbers of the constraint");
    const auto& numbers = given[0];
    const auto masks = static_cast<std::int64_t>(masks_.size());
    require_artifact(numbers.max_states >= 0 && numbers.max_depth >= 0 && numbers.max_bytes >= 0 &&
                         numbers.end_mask >= 0 && numbers.end_mask < masks && numbers.leading_mask >= -1 &&
                         numbers.leading_mask < masks,
                     "numbers of the constraint");
    budget_ = Budget(numbers.max_states, 0);
    max_depth_ = numbers.max_depth;
    guarded_.set_max_bytes(static_cast<std::size_t>(numbers.max_bytes));
    end_mask_ = at(static_cast<std::int32_t>(numbers.end_mask));
    leading_mask_ = static_cast<std::int32_t>(numbers.leading_mask);
    left_ = numbers.left;
}

}  // namespace pdacon
