// Which bytes to use in texts that people read: witnesses of reports.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace pdacon {

// The rank of a byte, the lower the better: letters, digits and a space, other printable characters, line
// ends, parts of longer characters, all others.
int legibility(std::uint8_t byte);

// The most legible byte of each class; every class has at least one.
std::vector<std::uint8_t> most_legible(const std::array<std::uint8_t, 256>& class_of, int classes);

}  // namespace pdacon
