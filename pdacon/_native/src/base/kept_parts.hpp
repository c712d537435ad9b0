// What is kept with an object for as long as it lives: what others have made of it, by what it was made for.
//
// The parts that were used last are kept, as many as take so many bytes together; whoever holds a part that
// is no longer kept goes on to use it. Safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "base/memory.hpp"

namespace pdacon {

class KeptPart {
  public:
    virtual ~KeptPart() = default;
    // Bytes of memory. Takes no lock.
    virtual std::int64_t held() const = 0;
};

class KeptParts {
  public:
    explicit KeptParts(std::int64_t most_bytes = std::int64_t{1} << 27) : most_bytes_(most_bytes) {}

    // The part of a key, an address at which nothing else lies as long as the part lives. `make` returns a
    // new one, and does not take long.
    template <class Part, class Make>
    std::shared_ptr<Part> of(const void* key, Make make) {
        const MemoryLimit::Pause pause;
        std::list<Entry> dropped;  // outlives the lock: what ends with a part may take long
        const std::lock_guard hold(lock_);
        const auto known = std::ranges::find(entries_, key, &Entry::first);
        if (known != entries_.end())
            entries_.splice(entries_.begin(), entries_, known);
        else
            entries_.emplace_front(key, make());
        std::int64_t bytes = 0;
        auto at = entries_.begin();
        while (at != entries_.end() && (bytes += at->second->held()) <= most_bytes_) ++at;
        if (at == entries_.begin()) ++at;  // what was asked for stays, however large it is
        dropped.splice(dropped.end(), entries_, at, entries_.end());
        return std::static_pointer_cast<Part>(entries_.front().second);
    }

  private:
    using Entry = std::pair<const void*, std::shared_ptr<KeptPart>>;

    const std::int64_t most_bytes_;
    std::mutex lock_;
    std::list<Entry> entries_;  // the last used first
};

}  // namespace pdacon
