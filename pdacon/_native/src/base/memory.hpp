// Limits on memory, held at the allocator: whatever is allocated counts, whoever allocates it.
//
// While a MemoryLimit lives, all that its thread takes from `operator new` in this module counts against it,
// and what the thread gives back no longer does. The allocation that would hold too much fails, as it would
// if memory had run out, so that a structure that no other limit foresees cannot take all of it either.
// Storage that other modules allocate does not count: Python's objects, and strings that the standard library
// makes longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace pdacon {

// Becomes pdacon.errors.LimitExceededError("bytes", given, limit).
struct OutOfBytes : std::bad_alloc {
    OutOfBytes(std::int64_t given_, std::int64_t limit_) : given(given_), limit(limit_) {}
    const char* what() const noexcept override { return "bytes"; }
    std::int64_t given, limit;
};

class MemoryLimit {
  public:
    // While one lives, what its thread allocates is somebody else's: it counts against no limit.
    class Pause {
      public:
        Pause() noexcept;
        ~Pause();
        Pause(const Pause&) = delete;
        Pause& operator=(const Pause&) = delete;

      private:
        MemoryLimit* const outer_;
    };

    // While one lives, nothing that its thread allocates fails: it counts, and the next allocation after it
    // fails in its place. For calls of Python, whose arguments and results are converted by functions that
    // must not throw. A limit that is set within it holds.
    class Lenient {
      public:
        Lenient() noexcept;
        ~Lenient();
        Lenient(const Lenient&) = delete;
        Lenient& operator=(const Lenient&) = delete;

      private:
        MemoryLimit* const limit_;
        const bool before_;
    };

    // At most so many bytes more than are held now; 0: no limit. What counts against a limit counts against
    // those around it as well.
    explicit MemoryLimit(std::int64_t most) noexcept : MemoryLimit(most, own_) {}
    // The same for work that goes on from earlier work: `held` is what that holds, and in the end what both
    // do.
    MemoryLimit(std::int64_t most, std::int64_t& held) noexcept;
    ~MemoryLimit();
    MemoryLimit(const MemoryLimit&) = delete;
    MemoryLimit& operator=(const MemoryLimit&) = delete;

    // Counts storage that does not come from `operator new`, and stays. Throws OutOfBytes, then it must not
    // be taken.
    static void take(std::size_t bytes);
    // Of what was taken so, what does not stay after all.
    static void give_back(std::size_t bytes) noexcept;

    // Called by the allocator before it takes bytes, and with what was really taken or given back.
    void require(std::size_t bytes) const;
    void count(std::int64_t bytes) noexcept {
        for (auto* limit = this; limit != nullptr; limit = limit->outer_) limit->held_ += bytes;
    }

  private:
    MemoryLimit* const outer_;
    const std::int64_t most_;
    bool is_lenient_ = false;
    std::int64_t own_ = 0;
    std::int64_t& held_;  // less than 0 where older storage was given back
};

}  // namespace pdacon
