// Productions over symbols that are told apart by keys, and the grammar that a sentence of the start needs of
// them.
//
// Terminals are negative numbers, ~k is the k-th. Nonterminals count up from 0 in the order in which their
// keys come up; the first number of a key is the nonterminal's kind.
//
// Source: J. Hopcroft and J. Ullman, "Introduction to Automata Theory, Languages, and Computation" (1979),
// section 4.4, for useless symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hpp"

namespace pdacon {

// The productions of one grammar. Symbols are numbered as in a Grammar: T terminals, $END, nonterminals; the
// start is the first of these.
struct LoweredProductions {
    std::vector<std::int32_t> terminals;     // of each symbol the number of before
    std::vector<std::int32_t> nonterminals;  // the same
    std::vector<std::int32_t> lhs, rhs_offset{0}, rhs;
};

class Productions {
  public:
    // More productions than so many throw LimitExceeded("productions").
    explicit Productions(std::int64_t most) : most_(most) {}

    // The nonterminal of a key.
    std::int32_t nonterminal(std::span<const std::int32_t> key) { return keys_.intern(key); }
    std::int32_t kind(std::int32_t nonterminal) const;

    // Throws std::out_of_range where a nonterminal is none.
    void add(std::int32_t lhs, std::span<const std::int32_t> rhs);
    // Throws what `add` would throw for so many more.
    void require(std::size_t more) const;
    std::size_t size() const { return lhs_.size(); }
    // What is held of the memory of whoever writes objects and arrays into it, for a limit on all of them.
    std::int64_t& held() { return held_; }

    // Those productions that a sentence of the start can have, each once, where a nonterminal that stands for
    // one symbol is replaced by that; none if there is no sentence. Linear.
    LoweredProductions lowered(std::int32_t start) const;

  private:
    std::span<const std::int32_t> rhs_of(std::size_t production) const;
    std::vector<std::uint8_t> productive() const;

    std::int64_t most_, held_ = 0;
    Interner keys_;
    std::vector<std::int32_t> lhs_, rhs_;
    std::vector<std::size_t> offset_{0};
};

}  // namespace pdacon
