// The tokens that a tokenizer makes of a text, found by the automaton over its tokens.
//
// They are unique, but beginnings of the text can have several tokenizations that may still go on, so all of
// them are followed at once. Cost: O(length of the text x tokens at a place x states there).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "detokenizer/trie.hpp"
#include "filters/canonical_filter.hpp"

namespace pdacon {

// A token, where it ends in the text, and the state of the filter there.
struct SpelledToken {
    std::int32_t token;
    std::size_t end;
    std::int32_t state;
};

// Where nothing is spelled the path is empty, and `goes_on` says whether the text is but too short for it.
struct Spelling {
    std::vector<SpelledToken> path;
    bool goes_on;
};

// From a state of the filter on. `may_end`: asked in the order of places whether a text may end at a place
// behind the first one in a state, or surely goes on: there it is over. If several do at the end of the text,
// it is the one with the fewest tokens.
Spelling spell(const Trie& trie, CanonicalFilter& filter, Budget& budget, std::int32_t state,
               std::string_view text, const std::function<bool(std::size_t, std::int32_t)>& may_end);

}  // namespace pdacon
