// The masks of an artifact. Masks have most of their words in common, so a mask is stored as the numbers of
// its blocks, and each distinct block once. A mask is put together, and its checksum compared, when it is
// first asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/checksum.hpp"
#include "base/interner.hpp"
#include "detokenizer/kept_mask.hpp"

namespace pdacon {

class StoredMasks {
  public:
    static constexpr std::size_t kBlock = 32;  // words

    StoredMasks() = default;
    // Masks of `words` words each. Throws ArtifactDamage.
    StoredMasks(const ArtifactReader& artifact, std::int32_t start, std::size_t words)
        : words_(words),
          origin_(artifact.origin()),
          per_mask_((words + kBlock - 1) / kBlock),
          blocks_(artifact.unchecked<std::int32_t>(Part::kMaskBlocks, start)),
          checksums_(artifact.array<std::uint64_t>(Part::kMaskChecksums, start)),
          numbers_(artifact.packed(Part::kMasks, start, checksums_.size() * per_mask_)),
          rows_(checksums_.size()) {
        const auto blocks = static_cast<std::int64_t>(blocks_.size() / kBlock);
        require_artifact(blocks_.size() % kBlock == 0 && all_within(numbers_, 0, blocks),
                         "masks of another vocabulary");
    }
    // `row(id)`: a view of each of `masks` masks.
    template <class Row>
    static void save(ArtifactWriter& artifact, std::int32_t start, std::size_t words, std::size_t masks,
                     Row row) {
        Interner blocks;
        std::vector<std::int32_t> numbers, flat, mask(words);
        std::vector<std::uint64_t> checksums;
        for (std::size_t id = 0; id < masks; ++id) {
            row(id).write(mask.data(), words);
            for (std::size_t at = 0; at < words; at += kBlock) {
                std::vector<std::int32_t> block(kBlock, 0);
                std::copy_n(mask.data() + at, std::min(words - at, kBlock), block.begin());
                numbers.push_back(blocks.intern(block));
            }
            checksums.push_back(checksum(mask.data(), words * sizeof(std::int32_t)));
        }
        for (std::size_t at = 0; at < blocks.size(); ++at) {
            const auto block = blocks[static_cast<std::int32_t>(at)];
            flat.insert(flat.end(), block.begin(), block.end());
        }
        artifact.add(Part::kMaskBlocks, start, std::span<const std::int32_t>(flat));
        artifact.add_packed(Part::kMasks, start, Packed(std::move(numbers)));
        artifact.add(Part::kMaskChecksums, start, std::span<const std::uint64_t>(checksums));
    }

    std::size_t size() const { return rows_.size(); }
    std::size_t words() const { return words_; }
    // The checksum of a row, without a look at it.
    std::uint64_t checksum_of(std::size_t id) const { return checksums_[id]; }
    // Throws ArtifactDamage. The caller holds the lock that guards this object.
    const KeptMask& row(std::size_t id) const {
        ensure(id < rows_.size());
        if (!rows_[id])
            rows_[id] = origin_->watch([&] { return std::make_unique<const KeptMask>(make(id)); });
        return *rows_[id];
    }

  private:
    KeptMask make(std::size_t id) const {
        std::vector<std::int32_t> row(per_mask_ * kBlock);
        for (std::size_t at = 0; at < per_mask_; ++at) {
            const auto block = in_range(numbers_[id * per_mask_ + at], blocks_.size() / kBlock) * kBlock;
            std::copy_n(blocks_.data() + block, kBlock, row.data() + at * kBlock);
        }
        require_artifact(checksum(row.data(), words_ * sizeof(std::int32_t)) == checksums_[id],
                         "a mask has another checksum than when it was written");
        return KeptMask::of(std::span(row).first(words_));
    }

    std::size_t words_ = 0;
    std::shared_ptr<const Origin> origin_;
    std::size_t per_mask_ = 0;
    Flat<std::int32_t> blocks_;
    Flat<std::uint64_t> checksums_;
    Packed numbers_;                                             // of the blocks of each mask
    mutable std::vector<std::unique_ptr<const KeptMask>> rows_;  // null: not asked for yet
};

}  // namespace pdacon
