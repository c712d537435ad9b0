// Room `base`: what every other room needs and that is about none of them.
//
// It depends on no other room. Out: limits of work and of memory (memory.hpp), interned values, flat arrays,
// strongly connected components, checksums, UTF-8. It does not know what a grammar, an automaton or a token
// is.
//
// Budget: a limit on states, and a clock and a canceller that the long loops of compilations and of masks ask
// now and then. For one thread; a copy counts for itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace pdacon {

// Becomes pdacon.errors.LimitExceededError(what, given, limit, detail); `what` is "states", "seconds",
// "bytes", "depth" or "columns".
struct LimitExceeded : std::runtime_error {
    LimitExceeded(const char* what_, double given_, double limit_, std::string detail_ = {})
        : std::runtime_error(what_), given(given_), limit(limit_), detail(std::move(detail_)) {}
    double given, limit;
    std::string detail;
};

// Becomes pdacon.errors.CancelledError.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("the compilation was cancelled") {}
};

// Lets a caller cancel running work. It is asked again when its patience is over, that is at most fifty times
// a second if it does not say otherwise, from the thread that does the work and from `tick` and `look` only;
// it may throw. Whoever asks holds no lock that another thread may wait for while it has what is_set() needs,
// such as Python's GIL.
class Canceller {
  public:
    virtual bool is_set() = 0;
    virtual std::chrono::duration<double> patience() const { return std::chrono::milliseconds(20); }

  protected:
    ~Canceller() = default;
};

class Budget {
  public:
    // `states`: how many one structure may have, `seconds`: wall-clock time from now; neither limits if it is
    // not positive. `canceller` has to outlive every copy whose clock was not stopped.
    Budget(std::int64_t states, double seconds, Canceller* canceller = nullptr)
        : states_(states), seconds_(seconds), canceller_(canceller) {}

    std::int64_t states() const { return states_; }
    void check_states(std::size_t made) const {
        if (states_ > 0 && made > static_cast<std::size_t>(states_))
            throw LimitExceeded("states", static_cast<double>(made), static_cast<double>(states_));
    }

    // From here on no time limit holds, and nobody can cancel: for work that is done later, on demand. The
    // limit on states stays.
    void stop_clock() {
        seconds_ = 0;
        canceller_ = nullptr;
    }

    // Looks at the clock at every 256th call.
    void tick() {
        if ((++ticks_ & 255U) == 0) look();
    }

    // Looks at the clock now, for steps that take long by themselves.
    void look() {
        if (seconds_ <= 0 && canceller_ == nullptr) return;
        const auto now = Clock::now();
        const std::chrono::duration<double> spent = now - start_;
        if (seconds_ > 0 && spent.count() > seconds_) throw LimitExceeded("seconds", spent.count(), seconds_);
        if (canceller_ == nullptr || now - asked_ < canceller_->patience()) return;
        asked_ = now;
        if (canceller_->is_set()) throw Cancelled();
    }

  private:
    using Clock = std::chrono::steady_clock;

    std::int64_t states_;
    double seconds_;
    Canceller* canceller_;
    std::uint32_t ticks_ = 0;
    Clock::time_point start_ = Clock::now(), asked_ = start_;
};

}  // namespace pdacon
