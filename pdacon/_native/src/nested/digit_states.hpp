// States that read digits, as a terminal of numbers has them. They need not be deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nested/schemas.hpp"

namespace pdacon {

class DigitStates {
  public:
    static constexpr std::int32_t kStart = 0, kEnd = 1;

    DigitStates() { states_.resize(2); }
    std::int32_t state() {
        states_.emplace_back();
        return static_cast<std::int32_t>(states_.size()) - 1;
    }
    void edge(std::int32_t from, int lo, int hi, std::int32_t to) {
        if (lo <= hi)
            states_[static_cast<std::size_t>(from)].push_back(
                {static_cast<std::uint8_t>(lo), static_cast<std::uint8_t>(hi), to});
    }
    // Whole numbers from one to another, both greater than 0, behind a state, to the end; no `most`: all from
    // `least` on.
    void add(std::int32_t from, const std::string& least, const std::optional<std::string>& most);
    // The states that lead to the end; without any text there is no terminal.
    std::optional<NestedTerminal> terminal() const;

  private:
    struct Edge {
        std::uint8_t lo, hi;
        std::int32_t target;
    };
    // The state from which so many digits lead to the end.
    std::int32_t digits(std::size_t count);
    // The same of so many digits or more, one at least.
    std::int32_t digits_from(std::size_t count);
    void at_least(std::int32_t from, const std::string& low);
    void at_most(std::int32_t from, const std::string& high, char first);
    void same_length(std::int32_t from, const std::string& low, const std::string& high);

    std::vector<std::vector<Edge>> states_;
    // By count: the state from which so many digits lead to the end.
    std::vector<std::int32_t> exactly_{kEnd};
};

}  // namespace pdacon
