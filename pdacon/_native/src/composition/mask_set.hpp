// The interned masks of a constraint: equal masks are one row, and an id is the number of a row.
//
// Promised: ids count up from 0 in the order in which masks are first interned; an id, once given, keeps its
// row; a row neither moves nor changes while this object lives. So a copy of rows 0 .. n stays right and is
// topped up from row n. The owner's lock guards all members; what `row` returned may be read without it.
//
// Rows that no artifact has are those of the vocabulary's MaskPool, which other constraints may have, too.
// They count against limits on memory in full, so that it does not matter for these who else has them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/checksum.hpp"
#include "base/memory.hpp"
#include "composition/stored_masks.hpp"
#include "detokenizer/mask_pool.hpp"

namespace pdacon {

class MaskSet {
  public:
    using Words = std::vector<std::int32_t>;  // token t is bit t % 32 of word t / 32
    using Row = std::shared_ptr<const PooledMask>;

    explicit MaskSet(std::size_t words) : words_(words) {}
    // With the masks of an artifact, which have the first ids.
    explicit MaskSet(StoredMasks stored)
        : words_(stored.words()), stored_(std::move(stored)), rows_(stored_.size()) {}

    void save(ArtifactWriter& artifact, std::int32_t start) const {
        StoredMasks::save(artifact, start, words_, size(),
                          [&](std::size_t id) { return row(static_cast<std::int32_t>(id)); });
    }

    std::size_t size() const { return rows_.size(); }
    std::size_t words() const { return words_; }  // of each row
    // Of a row that has words.
    std::size_t row_bytes() const { return words_ * sizeof(std::int32_t); }
    // Of all rows; those of an artifact as if they had words.
    std::size_t bytes() const { return stored_.size() * row_bytes() + own_bytes_; }

    // Throws ArtifactDamage.
    MaskView row(std::int32_t id) const {
        const auto& own = rows_[in_range(id, size())];
        return own ? own->mask.view() : stored_.row(static_cast<std::size_t>(id)).view();
    }
    // None: the artifact has it.
    const Row& pooled(std::int32_t id) const { return rows_[in_range(id, size())]; }

    // The id of a mask of words() words, of the pool of the vocabulary, always the same one. A new one gets
    // the next id, or -1 if all masks would take more than `most_bytes` with it.
    std::int32_t intern(MaskPool::Found mask,
                        std::size_t most_bytes = std::numeric_limits<std::size_t>::max()) {
        const auto hash = hash_of(*mask.row);
        if (const auto known = find(*mask.row, hash); known >= 0) return known;
        const auto more = mask.row->mask.bytes();
        if (bytes() + more > most_bytes) return -1;
        const auto id = static_cast<std::int32_t>(size());
        const auto filed = ids_.emplace(hash, id);
        try {
            rows_.push_back(mask.row);
            MemoryLimit::take(more);
        } catch (...) {  // out of memory: all members are as they were
            rows_.resize(static_cast<std::size_t>(id));
            ids_.erase(filed);
            throw;
        }
        own_bytes_ += more;
        if (!mask.is_new) shared_bytes_.fetch_add(static_cast<std::int64_t>(more));
        return id;
    }

    // Of the bytes that count against limits, those of rows that others had before. Takes no lock.
    std::int64_t shared_bytes() const { return shared_bytes_.load(); }

    // Empties a set without an artifact, whose ids nobody has.
    void forget() {
        MemoryLimit::give_back(std::exchange(own_bytes_, 0));
        shared_bytes_ = 0;
        ids_.clear();
        const MemoryLimit::Pause pause;  // rows count otherwise
        for (auto& row : rows_) row.reset();
        rows_.clear();
    }

  private:
    // An artifact knows the checksums of its masks, which is another hash.
    std::uint64_t hash_of(const PooledMask& mask) const {
        if (stored_.size() == 0) return mask.hash;
        Words words(words_);
        mask.mask.view().write(words.data(), words_);
        return checksum(words.data(), row_bytes());
    }
    std::int32_t find(const PooledMask& mask, std::uint64_t hash) {
        for (; hashed_ < stored_.size(); ++hashed_)
            ids_.emplace(stored_.checksum_of(hashed_), static_cast<std::int32_t>(hashed_));
        const auto [begin, end] = ids_.equal_range(hash);
        for (auto known = begin; known != end; ++known) {
            const auto id = static_cast<std::size_t>(known->second);
            const auto& own = rows_[id];
            if (own ? own.get() == &mask : stored_.row(id) == mask.mask) return known->second;
        }
        return -1;
    }

    std::size_t words_;
    StoredMasks stored_;      // the first ids
    std::size_t hashed_ = 0;  // how many of those are in ids_; `intern` adds the rest
    std::vector<Row> rows_;   // by id; none: a stored one
    std::size_t own_bytes_ = 0;
    std::atomic<std::int64_t> shared_bytes_{0};
    std::unordered_multimap<std::uint64_t, std::int32_t> ids_;  // by hash
};

}  // namespace pdacon
