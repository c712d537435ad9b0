// A checksum at the speed of memory: several 64-bit lanes, each a chain of multiplications.
//
// Every step is a bijection of its lane for a given word, and of the word for a given lane. So a change
// within one word of eight bytes always changes the sum; other damage goes unnoticed with a probability of
// 2^-64. It does not protect against an attacker, who can compute it too.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pdacon {

inline std::uint64_t checksum(const void* data, std::size_t size) {
    constexpr std::uint64_t kFactor = 0x9fb21c651e98df25ULL;
    constexpr std::size_t kLanes = 8, kWord = sizeof(std::uint64_t);
    const auto* bytes = static_cast<const unsigned char*>(data);
    const auto word_at = [&](std::size_t at) {
        std::uint64_t word;
        std::memcpy(&word, bytes + at, kWord);
        return word;
    };
    const auto mix = [](std::uint64_t lane, std::uint64_t word) {
        return std::rotl((lane ^ word) * kFactor, 31);
    };
    std::uint64_t lanes[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = kFactor * (lane + 1);
    std::size_t at = 0;
    for (; at + kLanes * kWord <= size; at += kLanes * kWord)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] = mix(lanes[lane], word_at(at + lane * kWord));
    std::uint64_t sum = size;
    for (const auto lane : lanes) sum = mix(sum, lane);
    for (; at + kWord <= size; at += kWord) sum = mix(sum, word_at(at));
    std::uint64_t rest = 0;
    for (std::size_t byte = 0; at + byte < size; ++byte)
        rest |= static_cast<std::uint64_t>(bytes[at + byte]) << (8 * byte);
    sum = mix(sum, rest);
    return sum ^ (sum >> 32);
}

}  // namespace pdacon
