// Limits on work: every loop whose length the input controls spends from a Budget.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>

namespace pdacon {

// Becomes pdacon.errors.LimitExceededError(what, given, limit).
struct LimitExceeded : std::runtime_error {
    LimitExceeded(const char* what_, double given_, double limit_)
        : std::runtime_error(what_), given(given_), limit(limit_) {}
    double given, limit;
};

class Budget {
  public:
    // `states`: how many automaton states may be made; `seconds`: wall-clock time from now (<= 0: no limit).
    Budget(std::int64_t states, double seconds) : states_(states), seconds_(seconds) {}

    void check_states(std::size_t made) const {
        if (states_ > 0 && made > static_cast<std::size_t>(states_))
            throw LimitExceeded("states", static_cast<double>(made), static_cast<double>(states_));
    }

    // What is computed later, on demand, has no time limit.
    void stop_clock() { seconds_ = 0; }

    // Looks at the clock at every 1024th call.
    void tick() {
        if (seconds_ <= 0 || (++ticks_ & 1023U) != 0) return;
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
        if (spent.count() > seconds_) throw LimitExceeded("seconds", spent.count(), seconds_);
    }

  private:
    std::int64_t states_;
    double seconds_;
    std::uint32_t ticks_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace pdacon
