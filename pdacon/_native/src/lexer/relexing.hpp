// Whether bytes can be lexed at all after a terminal: the pushback of a fallback, seen without order.
//
// A set of NFA positions in which every match, pending ones included, may end its lexeme and every context
// that can follow may begin.
// What is not viable here is not viable in any real run; what is may still be refused by the parser. That is
// enough to drop fallbacks early.
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

    // The set in which lexing goes on after a label, with that behind it.
    std::int32_t after(std::int32_t label, std::int32_t look_behind);
    // The set after one more byte.
    std::int32_t step(std::int32_t set, std::uint8_t byte);
    // The positions of a set; kBetween where a lexeme may have ended.
    static constexpr std::int32_t kBetween = -1;
    std::span<const std::int32_t> positions(std::int32_t set) const { return sets_[set].subspan(1); }
    // The set after a match of `terminal`, whatever keyword it may be renamed to.
    std::int32_t after_match(std::int32_t terminal, std::int32_t look_behind);
    // Adds the byte positions behind `position`, of every priority; whether a match is among them.
    bool close(std::int32_t position, std::set<std::int32_t>& out) const;
    bool viable(std::int32_t set) const { return sets_[set].size() > 1; }

  private:
    std::size_t num_look_behind() const { return static_cast<std::size_t>(spec_.nfa.num_look_behind()); }
    std::size_t place(std::int32_t label, std::int32_t look_behind) const {
        return in_matrix(label, starts_.size() / num_look_behind(), look_behind, num_look_behind());
    }
    void add_entries(const LexicalContext& context, std::int32_t look_behind,
                     std::set<std::int32_t>& out) const;
    std::int32_t intern(std::int32_t look_behind, const std::set<std::int32_t>& positions);

    const LexerSpec& spec_;
    Interner sets_;  // what lies behind, then the positions
    // After each label, and after a match of each terminal, by what lies behind; -1: not computed.
    std::vector<std::int32_t> starts_, match_starts_;
    std::vector<std::array<std::int32_t, 256>> steps_;  // of each set, by byte; -1: not computed
};

}  // namespace pdacon
