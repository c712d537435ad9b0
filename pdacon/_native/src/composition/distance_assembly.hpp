// The tokens that a configuration allows, by how many tokens are needed after them.
//
// A walk over the open nodes of the tree of token classes, here classes by lexer states. After the tokens of
// an inner edge the same number of tokens is needed, and TokenDistances knows it.
//
// Cost: O(nodes on the way x their edges) stacks and distances.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "completion/token_distances.hpp"
#include "composition/token_classes.hpp"
#include "detokenizer/trie.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class DistanceAssembly {
  public:
    DistanceAssembly(const Pushdown& machine, TokenDistances& distances, TokenClasses& classes,
                     std::size_t words, Budget& budget)
        : machine_(machine), distances_(distances), classes_(classes), words_(words), budget_(budget) {}

    // Adds the tokens of a node of a lexer state, in a configuration with that state.
    void add(const TokenClasses::Node& root, const LexerConfiguration& start, const StackView& stack);
    // Adds all tokens at the start of a text where a token loses one leading space.
    void add_leading(const Trie& trie, const LexerConfiguration& start, const StackView& stack);
    // For each distance, ascending, the mask of all tokens with no more than that. Each has the end tokens.
    std::vector<std::pair<std::int64_t, std::vector<std::int32_t>>> by_distance(
        std::span<const std::int32_t> end_tokens) const;

  private:
    void add_inner(const TokenClasses::Node& node, const LexerConfiguration& start, const StackView& stack);
    std::vector<std::int32_t>* mask_of(const TokenClasses::InnerEnd& end, const LexerConfiguration& start,
                                       const StackView& stack);

    const Pushdown& machine_;
    TokenDistances& distances_;
    TokenClasses& classes_;
    std::size_t words_;
    Budget& budget_;
    std::map<std::int64_t, std::vector<std::int32_t>> masks_;
};

}  // namespace pdacon
