#include "lexer/legibility.hpp"

#include <string_view>

namespace pdacon {

int legibility(std::uint8_t byte) {
    constexpr std::string_view first = "a0A ";
    if (const auto at = first.find(static_cast<char>(byte)); at != std::string_view::npos)
        return static_cast<int>(at);
    const auto lower = static_cast<std::uint8_t>(byte | 0x20);
    const bool alphanumeric = (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
    const bool printable = byte > 0x20 && byte < 0x7F;
    const int group = alphanumeric   ? 1
                      : printable    ? 2
                      : byte == '\n' ? 3
                      : byte == '\t' ? 4
                      : byte >= 0x80 ? 5
                                     : 6;
    return group * 256 + byte;
}

std::vector<std::uint8_t> most_legible(const std::array<std::uint8_t, 256>& class_of, int classes) {
    std::vector<int> found(static_cast<std::size_t>(classes), -1);
    for (int byte = 0; byte < 256; ++byte) {
        auto& best = found[class_of[byte]];
        if (best < 0 ||
            legibility(static_cast<std::uint8_t>(byte)) < legibility(static_cast<std::uint8_t>(best)))
            best = byte;
    }
    std::vector<std::uint8_t> bytes;
    for (const auto byte : found) bytes.push_back(static_cast<std::uint8_t>(byte));
    return bytes;
}

}  // namespace pdacon
