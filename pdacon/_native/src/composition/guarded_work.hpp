// Work behind one lock that fills caches, and what is left of them where it fails.
//
// The owner's answers never depend on its caches. So where work meets a limit or runs out of memory, the
// caches are emptied and the work is done once more, unless they were empty to begin with: then the work is
// too large by itself. After any other exception the caches are emptied, too, but nothing is done again: a
// cancellation, or a std::logic_error, which tells a mistake of the core. Only the damage of an artifact
// lasts: all later work throws it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "artifact/artifact.hpp"
#include "base/memory.hpp"

namespace pdacon {

class GuardedWork {
  public:
    // `origin`: of the artifact that the owner was loaded from, if any. `forget` empties the owner's caches,
    // some of which may be half filled; it allocates nothing.
    GuardedWork(std::size_t max_bytes, std::shared_ptr<const Origin> origin, std::function<void()> forget)
        : max_bytes_(max_bytes), origin_(std::move(origin)), forget_(std::move(forget)) {}

    // Does the work behind the lock; a second time, with empty caches, if it meets a limit. What it
    // allocates, and what earlier work has left, counts against the limit, so what it returns must own no
    // memory. Throws what the work throws, LimitExceeded("bytes") in place of OutOfBytes, or the damage that
    // earlier work has met: to work on an artifact, a std::logic_error is damage.
    template <class Work>
    auto run(Work work) {
        const std::lock_guard hold(lock_);
        const Publishing publishing(*this);
        return attempt(work);
    }

    // The same for work whose result owns memory: the caller gets a copy that does not count, because it will
    // be freed where nobody counts.
    template <class Work>
    auto run_for_caller(Work work) {
        const std::lock_guard hold(lock_);
        const Publishing publishing(*this);
        auto result = attempt([&] { return std::make_unique<decltype(work())>(work()); });
        auto copy = *result;
        const MemoryLimit memory(0, held_);
        result.reset();
        return copy;
    }

    // The same for work that fills no cache and whose result may be large: all that is left is the caller's.
    template <class Work>
    auto run_without_caches(Work work) {
        const std::lock_guard hold(lock_);
        std::int64_t before = 0;
        auto result = attempt([&] {
            before = held_;
            return work();
        });
        held_ = before;
        return result;
    }

    // Does what only looks at caches, and never waits: an empty result while another thread has the lock.
    template <class Look>
    auto look(Look look) const {
        const std::unique_lock hold(lock_, std::try_to_lock);
        return hold.owns_lock() ? look() : decltype(look()){};
    }

    // Counts the caches as empty. What they hold now was needed to begin with, so emptying them would not
    // make room.
    void mark_fresh() { is_fresh_ = true; }
    void set_max_bytes(std::size_t bytes) { max_bytes_ = bytes; }
    std::size_t max_bytes() const { return max_bytes_; }
    // The bytes in the caches, as they were when the last work ended. Takes no lock.
    std::int64_t held() const { return published_.load(std::memory_order_relaxed); }
    const std::shared_ptr<const Origin>& origin() const { return origin_; }
    std::mutex& lock() const { return lock_; }

  private:
    // Copies `held_` to where `held` reads it without the lock, at the end of a scope.
    struct Publishing {
        explicit Publishing(GuardedWork& work) : work_(work) {}
        ~Publishing() { work_.published_.store(work_.held_, std::memory_order_relaxed); }
        Publishing(const Publishing&) = delete;
        Publishing& operator=(const Publishing&) = delete;
        GuardedWork& work_;
    };

    // What `run` promises, for a caller that holds the lock.
    template <class Work>
    auto attempt(Work work) {
        throw_damage();
        const MemoryLimit memory(static_cast<std::int64_t>(max_bytes_), held_);
        for (;;) {
            try {
                auto result = work();
                is_fresh_ = false;
                return result;
            } catch (...) {
                if (!recovers()) throw;
            }
        }
    }

    void throw_damage() const;
    bool recovers();

    mutable std::mutex lock_;
    std::size_t max_bytes_;
    std::shared_ptr<const Origin> origin_;
    std::function<void()> forget_;
    std::int64_t held_ = 0;  // bytes that all work so far has left
    std::atomic<std::int64_t> published_{0};
    bool is_fresh_ = true;  // no work has been done since the caches were empty
    std::optional<ArtifactDamage> damage_;
};

}  // namespace pdacon
