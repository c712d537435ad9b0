// A mask that is kept: as words, or, where few tokens are allowed, as these tokens.
//
// Most of the masks of a constraint allow some tokens, signs and names most of all. In a vocabulary of
// 131,072 they have 16 KiB of words each; as numbers they have some bytes, and are written in less time than
// words are copied.
#pragma once

#include <algorithm>
#include <array>
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

// The words of a mask, as they are read once before it is kept. Blocks in which no token is allowed are
// passed, which are most blocks of most masks.
class MaskWords {
  public:
    explicit MaskWords(std::span<const std::int32_t> words) : words_(words) {
        // Setting a bit takes the time of copying some words.
        const auto most = std::min(words.size() / 32 + 2, std::max<std::size_t>(words.size(), 2) - 2);
        counted_.reserve(most + 1);
        if (words.size() >= 2) counted_.push_back(0);
        std::size_t begin = 0;
        for (; begin + kBlock <= words.size(); begin += kBlock) {
            if (begin % kBlocks == 0 && is_empty<kBlocks>(begin)) begin += kBlocks - kBlock;
            if (is_empty<kBlock>(begin)) continue;
            place_ = mixed(place_, begin);
            const auto block = block_at(begin);
            for (std::size_t lane = 0; lane < block.size(); ++lane)
                lanes_[lane] = mixed(lanes_[lane], block[lane]);
            count(begin, begin + kBlock, most);
        }
        for (auto at = begin; at < words.size(); ++at)
            place_ = mixed(place_, static_cast<std::uint32_t>(words[at]));
        count(begin, words.size(), most);
        if (!counted_.empty()) counted_.front() = static_cast<std::int32_t>(counted_.size()) - 1;
    }

    std::span<const std::int32_t> words() const { return words_; }
    std::uint64_t hash() const {
        auto sum = mixed(place_, words_.size());
        for (const auto lane : lanes_) sum = mixed(sum, lane);
        return sum ^ sum >> 32;
    }
    // How many tokens there are, and these, ascending; empty where words are smaller, or quicker to write.
    const std::vector<std::int32_t>& counted() const { return counted_; }

  private:
    static constexpr std::size_t kBlock = 16, kBlocks = 128;  // words
    using Block = std::array<std::uint64_t, kBlock / 2>;

    static std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
        return std::rotl((sum ^ word) * 0x9fb21c651e98df25ULL, 31);
    }
    // Whether there are so many words, none with a token.
    template <std::size_t count>
    bool is_empty(std::size_t begin) const {
        if (begin + count > words_.size()) return false;
        std::int32_t any = 0;
        for (const auto word : words_.subspan(begin).template first<count>()) any |= word;
        return any == 0;
    }
    Block block_at(std::size_t begin) const {
        Block block;
        std::memcpy(block.data(), words_.data() + begin, sizeof block);
        return block;
    }
    void count(std::size_t begin, std::size_t end, std::size_t most) {
        for (auto at = begin; at < end && !counted_.empty(); ++at) {
            auto rest = static_cast<std::uint32_t>(words_[at]);
            for (; rest != 0 && counted_.size() <= most; rest &= rest - 1)
                counted_.push_back(static_cast<std::int32_t>(at) * 32 + std::countr_zero(rest));
            if (rest != 0) counted_.clear();
        }
    }

    std::span<const std::int32_t> words_;
    std::uint64_t place_ = 0;  // of the blocks that are not empty
    Block lanes_{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<std::int32_t> counted_;
};

// The owner of one. It stays where it is while somebody has a view.
class KeptMask {
  public:
    // Of words in the form that is smaller, as far as it is as quick to write.
    static KeptMask of(const MaskWords& read) {
        const auto& counted = read.counted();
        return counted.empty() ? of_words(read.words()) : KeptMask({counted.begin(), counted.end()}, true);
    }
    static KeptMask of(std::span<const std::int32_t> words) { return of(MaskWords(words)); }
    static KeptMask of_words(std::span<const std::int32_t> words) {
        return KeptMask({words.begin(), words.end()}, false);
    }
    // Whether this is what is kept of words, in the form that is chosen for them, or as words.
    bool is_of(const MaskWords& read, bool as_words) const {
        const bool of_tokens = !as_words && !read.counted().empty();
        return is_of_tokens_ == of_tokens &&
               std::ranges::equal(numbers_, of_tokens ? std::span(read.counted()) : read.words());
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
