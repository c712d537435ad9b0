// Characters of UTF-8 by their bytes, as filters read them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pdacon {

constexpr std::size_t kCodePoints = 0x110000;

constexpr bool continues_character(std::uint8_t byte) { return (byte & 0xC0U) == 0x80U; }

// The bytes of the character that a byte begins; 0: it begins none.
constexpr std::int32_t character_length(std::uint8_t first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) return 2;
    if (first >= 0xE0 && first < 0xF0) return 3;
    return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

// The character that some bytes spell; kCodePoints: none.
constexpr std::size_t character_of(std::uint32_t bytes, std::int32_t count) {
    constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    const auto byte = [&](std::int32_t at) { return bytes >> (8 * (count - 1 - at)) & 0xFFU; };
    if (count == 1) return byte(0);
    auto code = byte(0) & (0x7FU >> count);
    for (std::int32_t at = 1; at < count; ++at) {
        if (!continues_character(static_cast<std::uint8_t>(byte(at)))) return kCodePoints;
        code = code << 6 | (byte(at) & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return code < kLeast[count] || surrogate || code >= kCodePoints ? kCodePoints : code;
}

}  // namespace pdacon
