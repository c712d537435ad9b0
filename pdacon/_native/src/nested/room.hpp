// Whether there is room for more, asked before anything is begun that makes states.
//
// An allocation that meets a limit in the midst of work leaves things half made, so that the automaton is
// given up. Where a limit is met before, all that is made stays good: texts can be read where they were read
// before, and a matcher can go back.
#pragma once

#include <cstddef>

#include "base/budget.hpp"

namespace pdacon {

// A limit on bytes that was met before anything was begun.
struct NoRoom : LimitExceeded {
    using LimitExceeded::LimitExceeded;
};

// While one lives, so many bytes of its thread's limit are kept for work that has begun: for storage that
// grows by doubling, most of all.
class Reserve {
  public:
    explicit Reserve(std::size_t bytes) noexcept;
    ~Reserve();
    Reserve(const Reserve&) = delete;
    Reserve& operator=(const Reserve&) = delete;

  private:
    const std::size_t outer_;
};

// A state and what comes with it take less, as a rule.
constexpr std::size_t kRoomOfState = 4096;

// Throws NoRoom where so many bytes more, and the reserve, would be beyond the limit of the work at hand.
void require_room(std::size_t bytes);

}  // namespace pdacon
