// The fuzzer's bytes as numbers: small inputs become small tables that mostly fit together, so that the
// search gets behind the checks of the constructors; a wild input has any number anywhere, and goes for the
// checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace fuzzing {

class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) { wild_ = byte() % 4 == 3; }

    bool wild() const { return wild_; }
    bool empty() const { return rest_.empty(); }
    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        const auto value = rest_.front();
        rest_ = rest_.subspan(1);
        return value;
    }
    bool flag() { return byte() % 2 == 1; }
    // One of so many; of a wild input now and then none of them.
    std::int32_t below(std::int32_t count) {
        const auto value = byte();
        if (wild_ && value >= 240) return wild(value, count);
        return count > 0 ? value % count : 0;
    }
    std::int32_t between(std::int32_t least, std::int32_t most) {
        return sum(least, below(most - least + 1));
    }
    // Any numbers may meet.
    static std::int32_t sum(std::int32_t a, std::int32_t b) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    }
    // A count, which is never wild: what it counts is made by the harness.
    std::int32_t count(std::int32_t least, std::int32_t most) { return least + byte() % (most - least + 1); }
    std::vector<std::int32_t> list(std::int32_t least, std::int32_t most, std::int32_t below_this) {
        std::vector<std::int32_t> found(static_cast<std::size_t>(count(least, most)));
        for (auto& value : found) value = below(below_this);
        return found;
    }
    std::string text(std::int32_t most) {
        std::string found(static_cast<std::size_t>(count(0, most)), '\0');
        for (auto& letter : found) letter = this->letter();
        return found;
    }
    // Few letters, so that texts meet what automata read; now and then any byte.
    char letter() {
        constexpr char kLetters[] = "aab \n\tc(";
        const auto value = byte();
        return value < 192 ? kLetters[value % (sizeof(kLetters) - 1)] : static_cast<char>(byte());
    }

  private:
    std::int32_t wild(std::uint8_t kind, std::int32_t count) {
        switch (kind % 8) {
            case 0:
                return -1;
            case 1:
                return -2;
            case 2:
                return count;
            case 3:
                return INT32_MAX;
            case 4:
                return INT32_MIN;
            case 5:
                return 1 << 30;
            default: {
                std::uint32_t value = 0;
                for (int at = 0; at < 4; ++at) value = value << 8 | byte();
                return static_cast<std::int32_t>(value);
            }
        }
    }

    std::span<const std::uint8_t> rest_;
    bool wild_ = false;
};

}  // namespace fuzzing
