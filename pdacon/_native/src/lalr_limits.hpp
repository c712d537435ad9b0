// A Budget that also counts bytes: what the construction makes is paid for here first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "budget.hpp"

namespace pdacon::lalr {

// As in Budget, zero is no limit.
struct Limits {
    int64_t states;
    int64_t bytes;
    double seconds;
    Canceller* canceller = nullptr;
};

class Meter : public Budget {
  public:
    explicit Meter(const Limits& limits)
        : Budget(limits.states, limits.seconds, limits.canceller),
          bytes_(limits.bytes > 0 ? std::min(limits.bytes, most) : most) {}

    void spend_bytes(size_t bytes) {
        spent_ += static_cast<int64_t>(bytes);
        if (spent_ > bytes_)
            throw LimitExceeded("bytes", static_cast<double>(spent_), static_cast<double>(bytes_));
    }

  private:
    // Whatever the caller allows, no array gets more entries than 32 bits can count.
    static constexpr int64_t most = 4 * int64_t{std::numeric_limits<int32_t>::max()};

    int64_t bytes_;
    int64_t spent_ = 0;
};

}  // namespace pdacon::lalr
