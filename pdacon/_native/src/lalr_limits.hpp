// Limits on the construction: what is made or waited for is paid for here first.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace pdacon::lalr {

struct Limits {
    int64_t states;
    int64_t bytes;
    double seconds;
};

// Becomes pdacon.errors.LimitExceededError(what, given, limit).
struct LimitExceeded : std::runtime_error {
    LimitExceeded(const char* what_, double given_, double limit_)
        : std::runtime_error(what_), given(given_), limit(limit_) {}
    double given;
    double limit;
};

class Meter {
  public:
    // Whatever the caller allows, no array gets more entries than 32 bits can count.
    explicit Meter(const Limits& limits)
        : states_(limits.states),
          bytes_(std::min(limits.bytes, 4 * int64_t{std::numeric_limits<int32_t>::max()})),
          seconds_(limits.seconds) {}

    void check_states(int64_t made) const { check("states", made, states_); }
    void spend_bytes(int64_t bytes) { check("bytes", spent_bytes_ += bytes, bytes_); }

    // Looks at the clock at every 64th call.
    void tick() {
        if ((++ticks_ & 63U) != 0) return;
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
        if (spent.count() > seconds_) throw LimitExceeded("seconds", spent.count(), seconds_);
    }

  private:
    static void check(const char* what, int64_t given, int64_t limit) {
        if (given > limit) throw LimitExceeded(what, static_cast<double>(given), static_cast<double>(limit));
    }

    int64_t states_;
    int64_t bytes_;
    double seconds_;
    int64_t spent_bytes_ = 0;
    uint32_t ticks_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace pdacon::lalr
