// Hash-consing: sequences of int32 become dense ids, equal sequences the same id.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/in_range.hpp"

namespace pdacon {

class Interner {
  public:
    Interner() : slots_(8, -1) {}

    // The id of the sequence; ids count up from 0 in the order of first occurrence. Amortised O(length).
    // Where memory runs out, all is as it was.
    std::int32_t intern(std::span<const std::int32_t> sequence) {
        if ((size() + 1) * 2 > slots_.size()) grow();
        std::size_t slot = hash(sequence) & (slots_.size() - 1);
        for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
            const auto known = (*this)[slots_[slot]];
            if (known.size() == sequence.size() && std::equal(known.begin(), known.end(), sequence.begin()))
                return slots_[slot];
        }
        const auto id = static_cast<std::int32_t>(size());
        offsets_.push_back(data_.size() + sequence.size());
        try {
            data_.insert(data_.end(), sequence.begin(), sequence.end());
        } catch (...) {
            offsets_.pop_back();
            throw;
        }
        slots_[slot] = id;
        return id;
    }

    // The id of a sequence, or -1.
    std::int32_t find(std::span<const std::int32_t> sequence) const { return find(*this, slots_, sequence); }
    // The same among sequences that are kept elsewhere, in the order of their ids, with the slots of an
    // Interner that has them.
    template <class Sequences>
    static std::int32_t find(const Sequences& sequences, std::span<const std::int32_t> slots,
                             std::span<const std::int32_t> sequence) {
        for (std::size_t slot = hash(sequence) & (slots.size() - 1); slots[slot] >= 0;
             slot = (slot + 1) & (slots.size() - 1))
            if (std::ranges::equal(sequences[slots[slot]], sequence)) return slots[slot];
        return -1;
    }
    std::span<const std::int32_t> slots() const { return slots_; }
    // Whether `find` can do with such slots for so many sequences.
    static bool are_slots(std::span<const std::int32_t> slots, std::size_t sequences) {
        if (!std::has_single_bit(slots.size())) return false;
        bool inside = true, free = false;
        for (const auto id : slots) {
            inside &= id >= -1 && id < static_cast<std::int64_t>(sequences);
            free |= id < 0;
        }
        return inside && free;
    }

    // The sequence of an id; valid until the next call of intern.
    std::span<const std::int32_t> operator[](std::int32_t id) const {
        const auto begin = offsets_[in_range(id, size())];
        return {data_.data() + begin, offsets_[id + 1] - begin};
    }

    std::size_t size() const { return offsets_.size() - 1; }

    // Forgets all sequences. Takes no memory, and keeps what there is.
    void clear() {
        data_.clear();
        offsets_.resize(1);
        std::ranges::fill(slots_, -1);
    }

  private:
    static std::size_t hash(std::span<const std::int32_t> sequence) {
        std::uint64_t h = 0x9e3779b97f4a7c15ULL + sequence.size();
        for (const auto value : sequence) {
            h = (h ^ static_cast<std::uint32_t>(value)) * 0xff51afd7ed558ccdULL;
            h ^= h >> 32;
        }
        return static_cast<std::size_t>(h);
    }

    void grow() {
        std::vector<std::int32_t>(slots_.size() * 2, -1).swap(slots_);
        for (std::size_t id = 0; id < size(); ++id) {
            std::size_t slot = hash((*this)[static_cast<std::int32_t>(id)]) & (slots_.size() - 1);
            while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = static_cast<std::int32_t>(id);
        }
    }

    std::vector<std::int32_t> data_;
    std::vector<std::size_t> offsets_{0};
    std::vector<std::int32_t> slots_;
};

}  // namespace pdacon
