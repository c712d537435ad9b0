// The way back of a matcher: what it was before each accept. Copies share all but the latest part.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace pdacon {

template <class Value>
class History {
  public:
    std::size_t size() const { return full_.size() * kPart + latest_.size(); }

    void push(Value value) {
        if (latest_.size() == kPart) {
            full_.push_back(std::make_shared<const Part>(latest_));
            latest_.clear();  // keeps its room: nothing below can fail
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

    // What is older than the last `kept` values may go, and mostly does.
    void forget_before(std::size_t kept) {
        while (!full_.empty() && size() - kPart >= kept) full_.pop_front();
    }

    void clear() { *this = History(); }

    // Of this copy and of what it shares with others.
    std::size_t bytes() const { return (full_.size() * kPart + latest_.capacity()) * sizeof(Value); }

  private:
    static constexpr std::size_t kPart = 32;
    using Part = std::vector<Value>;

    std::deque<std::shared_ptr<const Part>> full_;  // kPart values each
    Part latest_;
};

}  // namespace pdacon
