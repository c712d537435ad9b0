// Patterns as ECMA-262 writes them, as far as they are plain: characters, sets, groups, alternatives, counts
// and anchors -> the least automaton of the strings that have a match.
//
// What is not read here: look-ahead, borders of words, properties of Unicode, names of groups, what is no
// pattern, and what would be large. pdacon/regular/ecma.py reads all patterns and says what is wrong with
// them; for those that both read, the automata are the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "regular/character_dfa.hpp"

namespace pdacon {

class PlainPattern {
  public:
    // A pattern in UTF-8; nothing: it is not plain. O(length).
    static std::optional<PlainPattern> read(std::string_view pattern);

    // Whether it is plain that some string matches: there are no anchors but at both ends, and all sets have
    // characters.
    bool certainly_matches() const;
    // The strings in which the pattern matches somewhere; nothing: there would be many positions. Throws
    // LimitExceeded("states").
    std::optional<CharacterDfa> strings(Budget& budget) const;

  private:
    enum class Kind : std::uint8_t { kSet, kSequence, kAlternatives, kRepeat, kStart, kEnd };
    static constexpr std::int32_t kEndless = -1;
    // A syntax tree: the root is the last node.
    struct Node {
        Kind kind;
        std::int32_t set = -1;
        std::vector<std::int32_t> parts;
        std::int32_t least = 0, most = 0;  // of kRepeat; most may be kEndless
    };
    friend class PlainPatternReader;
    friend class PatternPositions;

    std::vector<std::vector<std::int32_t>> sets_;
    std::vector<Node> nodes_;
};

}  // namespace pdacon
