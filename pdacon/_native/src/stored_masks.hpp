// The masks of an artifact: rows that are used where they lie, each checked when it is first asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "artifact.hpp"
#include "checksum.hpp"

namespace pdacon {

class StoredMasks {
  public:
    StoredMasks() = default;
    // Of so many words each. Throws ArtifactDamage.
    StoredMasks(const ArtifactReader& artifact, std::int32_t start, std::size_t words)
        : words_(words),
          rows_(artifact.unchecked<std::int32_t>(Part::kMasks, start)),
          checksums_(artifact.array<std::uint64_t>(Part::kMaskChecksums, start)),
          is_checked_(checksums_.size(), 0) {
        require_artifact(rows_.size() == checksums_.size() * words && rows_.size() < (std::size_t{1} << 40),
                         "masks of another vocabulary");
    }

    std::size_t size() const { return checksums_.size(); }
    std::size_t words() const { return words_; }
    // Throws ArtifactDamage. The caller holds the lock that guards this object.
    const std::int32_t* row(std::size_t id) const {
        const auto* words = rows_.data() + id * words_;
        if (is_checked_[id] == 0) {
            require_artifact(checksum(words, words_ * sizeof(std::int32_t)) == checksums_[id],
                             "a mask has another checksum than when it was written");
            is_checked_[id] = 1;
        }
        return words;
    }

  private:
    std::size_t words_ = 0;
    Flat<std::int32_t> rows_;
    Flat<std::uint64_t> checksums_;
    mutable std::vector<std::uint8_t> is_checked_;
};

}  // namespace pdacon
