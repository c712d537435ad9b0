// The masks that are in use for one vocabulary, whoever uses them: equal masks are one row of memory.
//
// Constraints of all grammars have masks in common, such as those within strings, and a mask of 131,072
// tokens takes 16 KiB unless it allows few of them. A mask goes when the last one who holds it does. Safe
// from any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "detokenizer/kept_mask.hpp"

namespace pdacon {

struct PooledMask {
    std::uint64_t hash;  // of the words (MaskWords)
    KeptMask mask;
};

class MaskPool {
  public:
    // A row, which counts against no limit on memory; `is_new`: nobody had it before, so that who asked for
    // it is who has to count it.
    struct Found {
        std::shared_ptr<const PooledMask> row;
        bool is_new;
    };

    // The row that is equal to a mask: token t is bit t % 32 of word t / 32.
    Found of(std::span<const std::int32_t> words) { return kept(words, false); }
    // The same of a row that has words, for who reads these.
    Found of_words(std::span<const std::int32_t> words) { return kept(words, true); }

  private:
    Found kept(std::span<const std::int32_t> words, bool as_words) {
        const MemoryLimit::Pause pause;
        const MaskWords read(words);
        const auto hash = read.hash();
        std::shared_ptr<const PooledMask> other;  // outlives the lock
        const std::lock_guard hold(lock_);
        const auto [begin, end] = known_.equal_range(hash);
        for (auto at = begin; at != end; ++at)
            if (other = at->second.lock(); other && other->mask.is_of(read, as_words)) return {other, false};
        if (known_.size() >= next_sweep_) {
            std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
            next_sweep_ = std::max(kLeastSwept, 2 * known_.size());
        }
        auto made = std::make_shared<const PooledMask>(
            PooledMask{hash, as_words ? KeptMask::of_words(words) : KeptMask::of(read)});
        known_.emplace(hash, made);
        return {std::move(made), true};
    }

    static constexpr std::size_t kLeastSwept = 256;

    std::mutex lock_;
    std::unordered_multimap<std::uint64_t, std::weak_ptr<const PooledMask>> known_;
    std::size_t next_sweep_ = kLeastSwept;
};

}  // namespace pdacon
