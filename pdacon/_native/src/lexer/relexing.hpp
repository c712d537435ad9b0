// Whether a pushback can be lexed at all: the subset construction without priorities.
//
// A set has every NFA position at which the lexer can be in a pushback, if every match, pending ones
// included, may end its lexeme, and every context that can follow may begin. This is an approximation from
// above: a pushback whose set is empty cannot be lexed in any real run; one whose set is not may still be
// refused by priorities or the parser. That is enough to drop fallbacks early. Sets are made on demand; there
// can be exponentially many.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/interner.hpp"
#include "lexer/automaton.hpp"

namespace pdacon {

class Relexing {
  public:
    explicit Relexing(const LexerSpec& spec)
        : spec_(spec),
          starts_((static_cast<std::size_t>(spec.num_terminals()) + 2) * num_look_behind(), -1),
          match_starts_(starts_.size(), -1) {}

    // The set at the start of a lexeme that can follow a label, with a look-behind state.
    std::int32_t after(std::int32_t label, std::int32_t look_behind);
    // The set after one more byte.
    std::int32_t step(std::int32_t set, std::uint8_t byte);
    // The positions of a set, and kBetween if a lexeme may have ended.
    static constexpr std::int32_t kBetween = -1;
    std::span<const std::int32_t> positions(std::int32_t set) const { return sets_[set].subspan(1); }
    // The set after a match of `terminal`, whatever keyword it may be renamed to.
    std::int32_t after_match(std::int32_t terminal, std::int32_t look_behind);
    // Adds the byte positions in the epsilon closure of a position. Returns whether a match is in it.
    bool close(std::int32_t position, std::set<std::int32_t>& out) const;
    bool viable(std::int32_t set) const { return sets_[set].size() > 1; }

  private:
    std::size_t num_look_behind() const { return static_cast<std::size_t>(spec_.nfa.num_look_behind()); }
    std::size_t index(std::int32_t label, std::int32_t look_behind) const {
        return in_matrix(label, starts_.size() / num_look_behind(), look_behind, num_look_behind());
    }
    void add_entries(const LexicalContext& context, std::int32_t look_behind,
                     std::set<std::int32_t>& out) const;
    std::int32_t intern(std::int32_t look_behind, const std::set<std::int32_t>& positions);

    const LexerSpec& spec_;
    Interner sets_;  // the look-behind state, then the positions
    // Behind each label, and behind a match of each terminal, by look-behind state; -1: not computed.
    std::vector<std::int32_t> starts_, match_starts_;
    std::vector<std::array<std::int32_t, 256>> steps_;  // of each set, by byte; -1: not computed
};

}  // namespace pdacon
