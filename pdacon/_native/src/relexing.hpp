// Whether bytes can be lexed at all after a terminal: the residual of a fallback, seen without order.
//
// A set of NFA positions in which every match may end its lexeme and every context that can follow may begin.
// What is not viable here is not viable in any real run; what is may still be refused by the parser. That is
// enough to drop fallbacks early, and to tell which residuals have no bound.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "interner.hpp"
#include "lexing.hpp"

namespace pdacon {

class Relexing {
  public:
    explicit Relexing(const LexerSpec& spec)
        : spec_(spec), starts_(spec.nfa.entry.size() + 2, -1), match_starts_(spec.nfa.entry.size(), -1) {}

    // The set in which lexing goes on after a label.
    std::int32_t after(std::int32_t label);
    // The set after one more byte.
    std::int32_t step(std::int32_t set, std::uint8_t byte);
    bool viable(std::int32_t set) const { return !sets_[set].empty(); }

  private:
    std::int32_t after_match(std::int32_t terminal);
    bool close(std::int32_t position, std::set<std::int32_t>& out) const;
    void add_entries(const LexicalContext& context, std::set<std::int32_t>& out) const;
    std::int32_t intern(const std::set<std::int32_t>& positions);

    const LexerSpec& spec_;
    Interner sets_;
    std::vector<std::int32_t> starts_;        // after each label; -1: not computed
    std::vector<std::int32_t> match_starts_;  // after a match of each terminal; -1: not computed
    std::map<std::pair<std::int32_t, std::uint8_t>, std::int32_t> steps_;
};

}  // namespace pdacon
