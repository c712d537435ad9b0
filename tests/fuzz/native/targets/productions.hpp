// Productions by the fuzzer's bytes.
#pragma once

#include "input.hpp"
#include "lalr/tables.hpp"

namespace fuzzing {

inline pdacon::lalr::Productions productions(Input& input, std::int32_t terminals, std::int32_t nonterminals,
                                             std::int32_t most) {
    pdacon::lalr::Productions made;
    made.num_terminals = input.wild() ? input.below(terminals + 1) : terminals;
    made.num_nonterminals = input.wild() ? input.below(nonterminals + 1) : nonterminals;
    const auto symbol = [&] {
        const auto found = input.below(terminals + nonterminals);
        return found >= terminals ? Input::sum(found, 1) : found;
    };
    made.rhs_offset.push_back(0);
    for (auto left = input.count(1, most); left > 0; --left) {
        // The first ones are of a nonterminal each, so that most have one.
        const auto number = static_cast<std::int32_t>(made.lhs.size());
        made.lhs.push_back(
            Input::sum(terminals + 1, number < nonterminals ? number : input.below(nonterminals)));
        for (auto length = input.count(0, 3); length > 0; --length) made.rhs.push_back(symbol());
        made.rhs_offset.push_back(
            input.wild() && input.byte() > 250 ? input.below(8) : static_cast<std::int32_t>(made.rhs.size()));
        made.priority.push_back(input.below(3));
    }
    for (auto left = input.count(1, 2); left > 0; --left)
        made.starts.push_back(Input::sum(terminals + 1, input.below(nonterminals)));
    return made;
}

}  // namespace fuzzing
