// A number that no other object of the process has, nor had: what addresses are not.
#pragma once

#include <atomic>
#include <cstdint>

namespace pdacon {

class Serial {
  public:
    Serial() : value_(next()) {}
    std::uint64_t value() const { return value_; }

  private:
    static std::uint64_t next() {
        static std::atomic<std::uint64_t> last{0};
        return last.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    std::uint64_t value_;
};

}  // namespace pdacon
