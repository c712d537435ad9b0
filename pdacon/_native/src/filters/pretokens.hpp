// Where a tokenizer splits texts beforehand: the automaton of pdacon.filters.splitting, over bytes.
//
// In: that automaton over classes of characters, and the tokens. Out: an automaton over groups of tokens,
// whose states, the *places*, are found as they are reached.
//
// A place is a state over characters and, within a character, also its bytes so far and whether a mark stands
// before it. Places within a character are merged if the same places follow, whatever the character turns out
// to be. Tokens form a group if their characters are of the same classes one by one, because they lead to the
// same places.
//
// Cost: the places after all groups are found once for each place and mark, some 10,000 steps for 131,072
// tokens.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "detokenizer/tokens.hpp"

namespace pdacon {

class Pretokens {
  public:
    // `classes`: of each code point; `next`: [states, classes, 2], the state after a character without a
    // mark before it and with one, or -1; `ends`, `free`: of each state, whether the text may end there, and
    // whether any text may follow. `bytewise`: of each class, whether its characters are spelled by one token
    // for each byte, which no character of another class is; empty: tokens may end within any character.
    // `settled`: of each code point, whether it is settled and so can be a sample; empty: all are.
    // Throws std::invalid_argument.
    Pretokens(std::shared_ptr<const Tokens> tokens, std::vector<std::uint8_t> classes,
              std::vector<std::int32_t> next, std::int32_t num_classes, std::vector<std::uint8_t> ends,
              std::vector<std::uint8_t> free, std::vector<std::uint8_t> bytewise,
              std::span<const std::uint8_t> settled);

    static constexpr std::int32_t kStart = 0;  // the place at the start of a text
    std::int32_t num_places() const { return static_cast<std::int32_t>(places_.size()); }
    // The group of a token with text; -1 for others.
    std::int32_t group(std::int32_t token) const { return group_of_[token]; }
    // For each group the place after its tokens, read without a mark before them or with one; -1: none. The
    // reference is valid as long as this object.
    const std::vector<std::int32_t>& after(std::int32_t place, bool marked);
    bool ends(std::int32_t place) const;
    // Whether a mark and a character of this class may follow, and then any text.
    bool is_free_after(std::int32_t place, std::uint8_t character_class) const;
    // Whether there is any such place: not if nothing splits texts.
    bool is_ever_free() const { return is_ever_free_; }
    std::uint8_t class_of(char32_t code) const { return classes_[code]; }
    // The first settled characters of each class beyond ASCII, in UTF-8, at most `kSamples`: a search that
    // asks whether a character of a class may follow tries these.
    const std::vector<std::vector<std::string>>& samples() const { return samples_; }
    std::size_t bytes() const { return bytes_; }

  private:
    struct Place {
        std::int32_t state;
        bool marked = false;      // whether a mark stands before the character that comes next
        std::uint32_t begun = 0;  // its bytes so far
        std::int32_t num_begun = 0;
    };
    static constexpr std::size_t kSamples = 16;
    // Goes on by a byte; false: no text goes on so. `is_alone`: the byte is a token.
    bool step(Place& place, std::uint8_t byte, bool is_alone) const;
    // Whether tokens may end within a character of a class.
    bool may_be_split(std::size_t character_class) const {
        return bytewise_.empty() || bytewise_[character_class] != 0;
    }
    // The state after a character in a state; -1: none.
    std::int32_t state_after(std::int32_t state, std::size_t character_class, bool marked) const {
        const auto row = static_cast<std::size_t>(state) * static_cast<std::size_t>(num_classes_);
        return next_[2 * (row + character_class) + (marked ? 1 : 0)];
    }
    // The classes of all characters that begin with the bits of `code`, of which `missing` more bytes follow,
    // ascending.
    std::span<const std::uint8_t> classes_of(std::int32_t missing, std::uint32_t code);
    std::vector<std::int32_t> key_of(const Place& place);
    std::int32_t intern(const Place& place);
    // The one state that each class leads to from all states and marks; empty: some class leads to several.
    std::vector<std::int32_t> targets() const;
    void make_groups();
    void make_samples(std::span<const std::uint8_t> settled);

    std::shared_ptr<const Tokens> tokens_;
    std::vector<std::uint8_t> classes_;
    std::vector<std::int32_t> next_;
    std::int32_t num_classes_;
    std::vector<std::uint8_t> ends_, free_, bytewise_;
    std::vector<std::int32_t> group_of_;
    std::vector<std::string_view> group_text_;  // of one token of each group
    std::vector<Place> places_;
    Interner place_ids_;
    std::vector<std::unique_ptr<const std::vector<std::int32_t>>> after_;  // by place and mark
    std::vector<std::vector<std::string>> samples_;
    // By how many bytes are missing, and the code without their bits.
    std::map<std::pair<std::int32_t, std::uint32_t>, std::vector<std::uint8_t>> classes_of_;
    std::size_t bytes_ = 0;
    bool is_ever_free_ = false;
};

}  // namespace pdacon
