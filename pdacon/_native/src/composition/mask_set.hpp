// The interned masks of a constraint: equal masks are one row, and an id is the number of a row.
//
// Promised: ids count up from 0 in the order in which masks are first interned; an id, once given, keeps its
// row; a row neither moves nor changes while this object lives. So a copy of rows 0 .. n stays right and is
// topped up from row n. The owner's lock guards all members; what `row` returned may be read without it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "composition/stored_masks.hpp"

namespace pdacon {

class MaskSet {
  public:
    using Words = std::vector<std::int32_t>;  // token t is bit t % 32 of word t / 32

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
    std::size_t row_bytes() const { return words_ * sizeof(std::int32_t); }
    std::size_t bytes() const { return size() * row_bytes(); }

    // Throws ArtifactDamage.
    const std::int32_t* row(std::int32_t id) const {
        const auto* row = rows_[in_range(id, size())];
        return row != nullptr ? row : stored_.row(static_cast<std::size_t>(id));
    }

    // The id of a mask of words() words. A new one gets the next id, or -1 if all masks would take more than
    // `most_bytes` with it.
    std::int32_t intern(Words mask, std::size_t most_bytes = std::numeric_limits<std::size_t>::max()) {
        const auto hash = hash_of(mask);
        if (const auto known = find(mask, hash); known >= 0) return known;
        if (bytes() + row_bytes() > most_bytes) return -1;
        const auto id = static_cast<std::int32_t>(size());
        const auto filed = ids_.emplace(hash, id);
        try {
            own_.push_back(std::move(mask));
            rows_.push_back(own_.back().data());
        } catch (...) {  // out of memory: all members are as they were
            own_.resize(rows_.size() - stored_.size());
            ids_.erase(filed);
            throw;
        }
        return id;
    }

  private:
    std::int32_t find(const Words& mask, std::uint64_t hash) {
        for (; hashed_ < stored_.size(); ++hashed_)
            ids_.emplace(stored_.checksum_of(hashed_), static_cast<std::int32_t>(hashed_));
        const auto [begin, end] = ids_.equal_range(hash);
        for (auto known = begin; known != end; ++known)
            if (std::equal(mask.begin(), mask.end(), row(known->second))) return known->second;
        return -1;
    }

    // The same checksum as that of stored masks.
    static std::uint64_t hash_of(const Words& mask) {
        return checksum(mask.data(), mask.size() * sizeof(std::int32_t));
    }

    std::size_t words_;
    StoredMasks stored_;      // the first ids
    std::size_t hashed_ = 0;  // how many of those are in ids_; `intern` adds the rest
    std::deque<Words> own_;
    std::vector<const std::int32_t*> rows_;                     // by id; null: a stored one
    std::unordered_multimap<std::uint64_t, std::int32_t> ids_;  // by hash
};

}  // namespace pdacon
