// The history of a matcher: its positions before each accept, for rollback.
//
// Values are kept in parts of 32. Full parts are immutable and shared by copies, so a fork costs the copy of
// one part and of a pointer for each other one.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace pdacon {

template <class Value>
class History {
  public:
    std::size_t size() const { return (full_.size() - forgotten_) * kPart + latest_.size(); }

    void push(Value value) {
        if (latest_.size() == kPart) {
            full_.push_back(std::make_shared<const Part>(latest_));
            latest_.clear();  // keeps its capacity, so nothing below can fail
        }
        latest_.push_back(std::move(value));
    }

    // Takes back the last `count` values, at least one and at most size(); returns the first of them.
    Value pop(std::size_t count) {
        for (; count > latest_.size(); full_.pop_back()) {
            count -= latest_.size();
            latest_ = *full_.back();
        }
        const auto first = latest_.end() - static_cast<std::ptrdiff_t>(count);
        auto value = std::move(*first);
        latest_.erase(first, latest_.end());
        return value;
    }

    // Forgets values that are older than the last `kept`, in whole parts.
    void forget_before(std::size_t kept) {
        for (; full_.size() > forgotten_ && size() - kPart >= kept; ++forgotten_) full_[forgotten_].reset();
        if (forgotten_ == 0 || 2 * forgotten_ < full_.size()) return;
        full_.erase(full_.begin(), full_.begin() + static_cast<std::ptrdiff_t>(forgotten_));
        forgotten_ = 0;
    }

    // Cannot fail, so that a matcher is reset as a whole or not at all.
    void clear() noexcept {
        full_.clear();
        forgotten_ = 0;
        latest_.clear();
    }

    // The memory of this copy, with what it shares.
    std::size_t bytes() const {
        return ((full_.size() - forgotten_) * kPart + latest_.capacity()) * sizeof(Value) +
               full_.capacity() * sizeof(full_[0]);
    }

  private:
    static constexpr std::size_t kPart = 32;
    using Part = std::vector<Value>;

    // Parts of kPart values, the oldest of which may be forgotten. A vector, since a std::deque has half a
    // kilobyte from its beginning.
    std::vector<std::shared_ptr<const Part>> full_;
    std::size_t forgotten_ = 0;  // the first parts of full_, which are null
    Part latest_;
};

}  // namespace pdacon
