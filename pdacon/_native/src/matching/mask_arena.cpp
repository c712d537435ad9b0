#include "matching/mask_arena.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "base/checksum.hpp"
#include "matching/matcher.hpp"

namespace pdacon {

MaskArena::MaskArena(std::size_t words, std::size_t rows, std::size_t most_rows)
    : words_(words), most_rows_(std::max<std::size_t>(most_rows, 1)) {
    grow(std::clamp<std::size_t>(rows, 1, most_rows_));
}

std::int32_t MaskArena::row(std::span<const std::int32_t> mask) {
    return row(MaskView::of_words(mask.data()), mask.size());
}

std::int32_t MaskArena::row(MaskView mask, std::size_t count) {
    if (mask.is_of_words() && count == words_) return interned(mask.words());
    widened_.resize(words_);
    mask.write(widened_.data(), count);
    std::fill(widened_.begin() + static_cast<std::ptrdiff_t>(count), widened_.end(), 0);
    return interned(widened_.data());
}

std::int32_t MaskArena::row(std::uint64_t owner, const Mask& mask, std::size_t count) {
    if (mask.id == Matcher::kNoNumber) return row(mask.view, count);
    auto& entries = entries_for(owner, mask.id);
    if (const auto known = known_row(entries, mask.id); known >= 0) return known;
    auto& entry = entries[static_cast<std::size_t>(mask.id)];
    const auto found = row(mask.view, count);
    entry = {found, rows_[static_cast<std::size_t>(found)].generation};
    return found;
}

MaskArena::Entries& MaskArena::entries_for(std::uint64_t owner, std::int32_t id) {
    const auto size = static_cast<std::size_t>(id) + 1;
    if (entries_ > kMostEntries) {  // of constraints that are gone, most of them
        owners_.clear();
        ++times_forgotten_;
        entries_ = 0;
    }
    auto& entries = owners_[owner];
    if (entries.size() < size) {
        const auto before = entries.size();
        entries.resize(std::max(size, 2 * before));
        entries_ += entries.size() - before;
    }
    return entries;
}

std::int32_t MaskArena::interned(const std::int32_t* words) {
    const auto size = words_ * sizeof(std::int32_t);
    const auto hash = checksum(words, size);
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto known = begin; known != end; ++known)
        if (std::memcmp(at(known->second), words, size) == 0) {
            rows_[static_cast<std::size_t>(known->second)].used = step_;
            return known->second;
        }
    const auto row = free_row();
    try {
        written_.push_back(row);
        by_hash_.emplace(hash, row);
    } catch (...) {  // there is no memory: the row is nobody's again
        if (!written_.empty() && written_.back() == row) written_.pop_back();
        free_.push_back(row);
        throw;
    }
    std::memcpy(at(row), words, size);
    auto& taken = rows_[static_cast<std::size_t>(row)];
    taken.used = step_;
    taken.hash = hash;
    taken.is_empty = std::ranges::all_of(std::span(words, words_), [](auto word) { return word == 0; });
    return row;
}

std::int32_t MaskArena::free_row() {
    if (free_.empty() && rows_.size() == capacity_) {
        if (capacity_ < most_rows_)
            grow(std::min(2 * capacity_, most_rows_));
        else
            evict();
    }
    if (!free_.empty()) {
        const auto row = free_.back();
        free_.pop_back();
        return row;
    }
    rows_.emplace_back();
    free_.reserve(rows_.size());  // so that giving rows back never fails
    return static_cast<std::int32_t>(rows_.size()) - 1;
}

void MaskArena::grow(std::size_t capacity) {
    std::shared_ptr<std::int32_t[]> larger(new std::int32_t[capacity * words_]);
    if (table_) std::memcpy(larger.get(), table_.get(), rows_.size() * words_ * sizeof(std::int32_t));
    table_ = std::move(larger);
    capacity_ = capacity;
}

// A quarter of the rows that this step does not use, so that they are looked through once for many.
void MaskArena::evict() {
    std::vector<std::int32_t> unused;
    for (std::size_t row = 0; row < rows_.size(); ++row)
        if (rows_[row].used != step_) unused.push_back(static_cast<std::int32_t>(row));
    if (unused.empty())
        throw std::length_error("a step has more different masks than max_bytes has room for, which is " +
                                std::to_string(most_rows_) + "; tokens that came with it have been taken");
    const auto few = std::max<std::size_t>(unused.size() / 4, 1);
    const auto used_of = [&](std::int32_t row) { return rows_[static_cast<std::size_t>(row)].used; };
    std::ranges::nth_element(unused, unused.begin() + static_cast<std::ptrdiff_t>(few - 1), {}, used_of);
    for (const auto row : std::span(unused).first(few)) {
        auto& old = rows_[static_cast<std::size_t>(row)];
        const auto [begin, end] = by_hash_.equal_range(old.hash);
        by_hash_.erase(std::find_if(begin, end, [&](const auto& known) { return known.second == row; }));
        ++old.generation;
        free_.push_back(row);
    }
}

}  // namespace pdacon
