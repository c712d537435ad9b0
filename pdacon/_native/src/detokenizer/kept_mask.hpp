// A mask that is kept: as words, or, where few tokens are allowed, as these tokens.
//
// Most of the masks of a constraint allow some tokens, signs and names most of all. In a vocabulary of
// 131,072 they have 16 KiB of words each; as numbers they have some bytes, and are written in less time than
// words are copied.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "detokenizer/token_set.hpp"

namespace pdacon {

// A kept mask, borrowed from who keeps it; as large as an address.
class MaskView {
  public:
    MaskView() = default;  // of no mask
    static MaskView of_words(const std::int32_t* words) { return MaskView(words, 0); }
    // `counted`: how many tokens there are, and the tokens, ascending.
    static MaskView of_tokens(const std::int32_t* counted) { return MaskView(counted, kOfTokens); }

    explicit operator bool() const { return address_ != 0; }
    bool is_of_words() const { return (address_ & kOfTokens) == 0; }
    // Unless it is of tokens.
    const std::int32_t* words() const { return numbers(); }

    bool has(std::int32_t token) const {
        return is_of_words() ? has_bit(words(), token) : std::ranges::binary_search(tokens(), token);
    }
    // The rest is told how many words the mask has.
    bool is_empty(std::size_t count) const {
        if (!is_of_words()) return tokens().empty();
        return std::all_of(words(), words() + count, [](auto word) { return word == 0; });
    }
    // Writes all words, wherever that is.
    void write(void* target, std::size_t count) const {
        if (is_of_words()) {
            std::memcpy(target, words(), count * sizeof(std::int32_t));
            return;
        }
        std::memset(target, 0, count * sizeof(std::int32_t));
        for (const auto token : tokens()) {
            auto* const place =
                static_cast<char*>(target) + static_cast<std::size_t>(token) / 32 * sizeof(std::uint32_t);
            std::uint32_t word;
            std::memcpy(&word, place, sizeof word);
            word |= 1U << (token % 32);
            std::memcpy(place, &word, sizeof word);
        }
    }

    // The view as a number, and that of a number.
    std::uintptr_t number() const { return address_; }
    static MaskView of_number(std::uintptr_t number) {
        MaskView view;
        view.address_ = number;
        return view;
    }

  private:
    static constexpr std::uintptr_t kOfTokens = 1;

    MaskView(const std::int32_t* numbers, std::uintptr_t form)
        : address_(reinterpret_cast<std::uintptr_t>(numbers) | form) {}
    const std::int32_t* numbers() const {
        return reinterpret_cast<const std::int32_t*>(address_ & ~kOfTokens);
    }
    std::span<const std::int32_t> tokens() const {
        return {numbers() + 1, static_cast<std::size_t>(*numbers())};
    }

    std::uintptr_t address_ = 0;  // and kOfTokens
};

// The owner of one. It stays where it is while somebody has a view.
class KeptMask {
  public:
    // Of words in the form that is smaller, as far as it is as quick to write.
    static KeptMask of(std::span<const std::int32_t> words) {
        // Setting a bit takes the time of copying some words.
        const auto most = std::min(words.size() / 32 + 2, std::max<std::size_t>(words.size(), 2) - 2);
        std::vector<std::int32_t> counted{0};
        const auto add = [&](auto token) {
            counted.push_back(token);
            return counted.size() <= most + 1;
        };
        if (words.size() < 2 || !for_each_bit(words, add)) return of_words(words);
        counted.front() = static_cast<std::int32_t>(counted.size()) - 1;
        counted.shrink_to_fit();
        return KeptMask(std::move(counted), true);
    }
    static KeptMask of_words(std::span<const std::int32_t> words) {
        return KeptMask({words.begin(), words.end()}, false);
    }

    MaskView view() const {
        return is_of_tokens_ ? MaskView::of_tokens(numbers_.data()) : MaskView::of_words(numbers_.data());
    }
    std::size_t bytes() const { return numbers_.size() * sizeof(std::int32_t); }
    bool operator==(const KeptMask&) const = default;

  private:
    KeptMask(std::vector<std::int32_t> numbers, bool is_of_tokens)
        : numbers_(std::move(numbers)), is_of_tokens_(is_of_tokens) {}

    std::vector<std::int32_t> numbers_;
    bool is_of_tokens_;
};

}  // namespace pdacon
