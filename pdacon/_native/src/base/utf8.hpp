// The automaton of well-formed UTF-8 (The Unicode Standard, table 3-7).
#pragma once

#include <cstdint>

namespace pdacon {

constexpr int kUtf8Boundary = 0;  // between characters
constexpr int kUtf8Error = 8;     // and the number of states

constexpr int utf8_step(int state, std::uint8_t byte) {
    const auto in = [byte](int low, int high) { return low <= byte && byte <= high; };
    switch (state) {
        case kUtf8Boundary:
            if (byte < 0x80) return kUtf8Boundary;
            if (in(0xC2, 0xDF)) return 1;
            if (byte == 0xE0) return 4;
            if (byte == 0xED) return 5;
            if (in(0xE1, 0xEF)) return 2;
            if (byte == 0xF0) return 6;
            if (in(0xF1, 0xF3)) return 3;
            if (byte == 0xF4) return 7;
            return kUtf8Error;
        case 1:
        case 2:
        case 3:  // so many continuation bytes are left
            return in(0x80, 0xBF) ? state - 1 : kUtf8Error;
        case 4:
            return in(0xA0, 0xBF) ? 1 : kUtf8Error;
        case 5:
            return in(0x80, 0x9F) ? 1 : kUtf8Error;
        case 6:
            return in(0x90, 0xBF) ? 2 : kUtf8Error;
        case 7:
            return in(0x80, 0x8F) ? 2 : kUtf8Error;
        default:
            return kUtf8Error;
    }
}

// Of characters outside ASCII with a first byte: how many bytes follow it, and which ones come second.
struct Utf8Rest {
    int bytes, first, last;
};
constexpr Utf8Rest utf8_rest(int lead) {
    return {lead < 0xE0   ? 1
            : lead < 0xF0 ? 2
                          : 3,
            lead == 0xE0   ? 0xA0
            : lead == 0xF0 ? 0x90
                           : 0x80,
            lead == 0xED   ? 0x9F
            : lead == 0xF4 ? 0x8F
                           : 0xBF};
}

}  // namespace pdacon
