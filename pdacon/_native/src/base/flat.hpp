// Read-only arrays whose memory is their own, or shared with others, such as a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/in_range.hpp"

namespace pdacon {

template <class T>
class Flat {
  public:
    Flat() = default;
    Flat(std::vector<T> values) : own_(std::move(values)), view_(own_) {}
    // `owner` keeps the memory of the view.
    Flat(std::span<const T> view, std::shared_ptr<const void> owner)
        : view_(view), owner_(std::move(owner)) {}
    // A vector that is moved keeps its memory.
    Flat(Flat&& other) noexcept { *this = std::move(other); }
    Flat& operator=(Flat&& other) noexcept {
        own_ = std::move(other.own_);
        view_ = std::exchange(other.view_, {});
        owner_ = std::move(other.owner_);
        return *this;
    }
    Flat(const Flat&) = delete;
    Flat& operator=(const Flat&) = delete;

    const T& operator[](std::size_t at) const { return view_[in_range(at, size())]; }
    const T* data() const { return view_.data(); }
    std::size_t size() const { return view_.size(); }
    bool empty() const { return view_.empty(); }
    auto begin() const { return view_.begin(); }
    auto end() const { return view_.end(); }
    std::span<const T> view() const { return view_; }

  private:
    std::vector<T> own_;
    std::span<const T> view_;
    std::shared_ptr<const void> owner_;
};

// Numbers of 32 bits, as they are built, or of 16 bits, as they are stored where all of them fit.
class Packed {
  public:
    Packed() = default;
    Packed(std::vector<std::int32_t> values) : wide_(std::move(values)) {}
    explicit Packed(Flat<std::int32_t> values) : wide_(std::move(values)) {}
    explicit Packed(Flat<std::int16_t> values) : narrow_(std::move(values)) {}

    std::int32_t operator[](std::size_t at) const {
        const auto* narrow = narrow_.data();
        return narrow != nullptr ? narrow[in_range(at, size())] : wide_[at];
    }
    std::size_t size() const { return narrow_.size() + wide_.size(); }
    // Calls a function with a view of the numbers, in either width.
    template <class Function>
    auto visit(Function function) const {
        return narrow_.empty() ? function(wide_.view()) : function(narrow_.view());
    }
    // The numbers of an object that was not loaded; otherwise empty.
    std::span<const std::int32_t> built() const { return wide_.view(); }

  private:
    Flat<std::int32_t> wide_;
    Flat<std::int16_t> narrow_;
};

// Sequences of different lengths, one after the other.
template <class T>
class Rows {
  public:
    Rows() = default;
    // Row i is values[offsets[i] .. offsets[i + 1]]; the caller has checked that.
    Rows(Flat<std::int32_t> offsets, Flat<T> values)
        : offsets_(std::move(offsets)), values_(std::move(values)) {}
    // From anything that has a `size` and whose operator[] takes an int32 and gives a span.
    template <class Sequences>
    static Rows of(const Sequences& sequences) {
        std::vector<std::int32_t> offsets{0};
        std::vector<T> values;
        for (std::size_t at = 0; at < sequences.size(); ++at) {
            const std::span<const T> row = sequences[static_cast<std::int32_t>(at)];
            values.insert(values.end(), row.begin(), row.end());
            offsets.push_back(static_cast<std::int32_t>(values.size()));
        }
        return {std::move(offsets), std::move(values)};
    }

    std::size_t size() const { return offsets_.empty() ? 0 : offsets_.size() - 1; }
    std::span<const T> operator[](std::int32_t row) const {
        const auto begin = offsets_[in_range(row, size())];
        const auto end = offsets_[row + 1];
        ensure(begin >= 0 && begin <= end && static_cast<std::size_t>(end) <= values_.size());
        return {values_.data() + begin, static_cast<std::size_t>(end - begin)};
    }
    const Flat<std::int32_t>& offsets() const { return offsets_; }
    const Flat<T>& values() const { return values_; }

  private:
    Flat<std::int32_t> offsets_;
    Flat<T> values_;
};

}  // namespace pdacon
