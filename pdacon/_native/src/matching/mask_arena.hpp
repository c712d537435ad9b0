// The masks that batches have used last, whichever constraints they are of, as rows of one table.
//
// A device has a copy of the table, so that a step sends it the number of a row for each sequence, and the
// rows that are new. Constraints number their masks each for itself; equal masks of all of them are one row
// here. The rows of a step stay until the next step; where there is no room for more rows, those that were
// not used for the longest time are given to others.
//
// Cost: a row that is known is two look-ups; a new one is hashed and copied. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/in_range.hpp"
#include "composition/mask_resources.hpp"

namespace pdacon {

class MaskArena {
  public:
    // `words`: of a mask. There is room for `rows` masks at first, at least one, and for `most_rows` at most.
    MaskArena(std::size_t words, std::size_t rows, std::size_t most_rows);

    // The rows that were asked for before may be given to other masks from here on.
    void begin_step() {
        ++step_;
        written_.clear();
    }
    // The row of a mask of `count` words, at most words(); those after them are 0. `owner`: the serial number
    // of whoever gave the mask its id; masks with ids of one owner have equally many words. Throws
    // std::length_error if this step has asked for `most_rows` others.
    std::int32_t row(std::uint64_t owner, const Mask& mask, std::size_t count);
    struct Entry {
        std::int32_t row = -1;
        std::uint32_t generation =
            0;  // of the row when the entry was made; it is another mask's if it differs
    };
    using Entries = std::vector<Entry>;  // by id of a mask
    // The entries of an owner; null if it has none. Valid until `times_forgotten` changes.
    const Entries* entries_of(std::uint64_t owner) const {
        const auto known = owners_.find(owner);
        return known == owners_.end() ? nullptr : &known->second;
    }
    std::uint64_t times_forgotten() const { return times_forgotten_; }
    // The row of a mask that these have; else -1. Throws nothing.
    std::int32_t known_row(const Entries& entries, std::int32_t id) {
        if (static_cast<std::size_t>(id) >= entries.size()) return -1;
        const auto& entry = entries[static_cast<std::size_t>(id)];
        if (entry.row < 0) return -1;
        auto& known = rows_[static_cast<std::size_t>(entry.row)];
        if (known.generation != entry.generation) return -1;
        known.used = step_;
        return entry.row;
    }
    // The row of a mask that nobody has numbered.
    std::int32_t row(std::span<const std::int32_t> mask);
    // Whether the mask of a row allows nothing.
    bool is_empty(std::int32_t row) const { return rows_[in_range(row, rows_.size())].is_empty; }
    // The rows that this step has written.
    const std::vector<std::int32_t>& written() const { return written_; }

    std::size_t words() const { return words_; }
    std::size_t capacity() const { return capacity_; }
    // The table, of capacity() rows. It is another one after it has grown; the old one does not change then.
    const std::shared_ptr<std::int32_t[]>& table() const { return table_; }

  private:
    std::int32_t row(MaskView mask, std::size_t count);
    struct Row {
        std::uint64_t used = 0;  // the last step that asked for it
        std::uint64_t hash = 0;
        std::uint32_t generation = 0;
        bool is_empty = false;
    };

    Entries& entries_for(std::uint64_t owner, std::int32_t id);
    std::int32_t interned(const std::int32_t* words);  // of words_
    std::int32_t free_row();
    void grow(std::size_t capacity);
    void evict();
    std::int32_t* at(std::int32_t row) const { return table_.get() + static_cast<std::size_t>(row) * words_; }

    static constexpr std::size_t kMostEntries = std::size_t{1} << 20;

    std::size_t words_, capacity_ = 0, most_rows_;
    std::shared_ptr<std::int32_t[]> table_;
    std::vector<Row> rows_;           // those that were ever used
    std::vector<std::int32_t> free_;  // of these, those that are nobody's
    std::vector<std::int32_t> written_;
    std::vector<std::int32_t> widened_;  // a mask that had fewer words, or none
    std::unordered_multimap<std::uint64_t, std::int32_t> by_hash_;
    std::unordered_map<std::uint64_t, Entries> owners_;  // forgotten at times
    std::uint64_t times_forgotten_ = 0;
    std::size_t entries_ = 0;
    std::uint64_t step_ = 1;
};

}  // namespace pdacon
