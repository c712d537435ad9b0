// A number from a table, whose numbers have 32 bits and a sign, as an index. It was validated where it came
// in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pdacon {

constexpr std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace pdacon
