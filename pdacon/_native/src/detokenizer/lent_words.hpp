// Words in which masks are made: lent to one at a time, all 0, for all who use a vocabulary.
//
// A mask of 131,072 tokens has 16 KiB of words. Where these are allocated for each mask anew, the allocator
// consolidates its small free blocks each time (glibc's malloc does so before each large block), which takes
// longer than to clear the words. Safe from any thread; there are as many rows as were ever lent at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.hpp"

namespace pdacon {

class LentWords {
  public:
    // So many words, until the object is gone. They count against no limit on memory.
    class Row {
      public:
        Row(LentWords& owner, std::size_t words) : owner_(owner), words_(owner.taken(words)) {}
        ~Row() { owner_.give_back(std::move(words_)); }
        Row(const Row&) = delete;
        Row& operator=(const Row&) = delete;
        std::span<std::int32_t> words() { return words_; }

      private:
        LentWords& owner_;
        std::vector<std::int32_t> words_;
    };

  private:
    std::vector<std::int32_t> taken(std::size_t words) {
        const MemoryLimit::Pause everybodys;
        {
            const std::lock_guard hold(lock_);
            if (!free_.empty()) {
                auto row = std::move(free_.back());
                free_.pop_back();
                return row;
            }
            free_.reserve(++lent_);  // so that nothing fails where one is given back
        }
        return std::vector<std::int32_t>(words);
    }
    void give_back(std::vector<std::int32_t> row) noexcept {
        std::ranges::fill(row, 0);
        const std::lock_guard hold(lock_);
        free_.push_back(std::move(row));
    }

    std::mutex lock_;
    std::size_t lent_ = 0;
    std::vector<std::vector<std::int32_t>> free_;
};

}  // namespace pdacon
