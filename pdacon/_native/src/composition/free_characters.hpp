// The characters that certainly begin a pretoken, by how the lexer reads them.
//
// A search for canonical tokens asks whether any of them may follow, and characters that are the same byte
// classes one by one are the same to it. So each place has a list of *spellings*, sequences of byte classes,
// mostly a few dozens for all characters there are. Of characters beyond ASCII the samples of each class of
// the pretokenizer stand for the others.
//
// Cost: O(samples) once, and O(classes of the pretokenizer) for each place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hpp"
#include "filters/pretokens.hpp"
#include "lexer/automaton.hpp"

namespace pdacon {

class FreeCharacters {
  public:
    // `pretokens`: always the same ones, whose lock the caller holds.
    FreeCharacters(const LexingAutomaton& lexer, const Pretokens& pretokens);

    // The spellings of the characters before which a pretoken ends, and after which any text may follow.
    std::span<const std::int32_t> after(const Pretokens& pretokens, std::int32_t place);
    // The byte classes of a spelling, from the last one to the first.
    std::span<const std::int32_t> reversed(std::int32_t spelling) const { return spellings_[spelling]; }
    std::size_t size() const { return spellings_.size(); }

  private:
    Interner spellings_;
    std::vector<std::vector<std::int32_t>> of_class_;  // of the pretokenizer: the spellings of its characters
    Interner lists_;
    std::vector<std::int32_t> list_of_;  // by place; -1: not known
};

}  // namespace pdacon
