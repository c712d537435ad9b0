// The tokens that a configuration allows, by how many bytes a sentence takes with them.
//
// As DistanceAssembly a walk over the open nodes of the tree of token classes by lexer states. But the tokens
// of an inner edge differ by their own bytes: so its parts are kept, and a mask is written for a number of
// bytes.
//
// Cost: O(nodes on the way x their edges) stacks and distances; a mask O(parts x words).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "completion/byte_distances.hpp"
#include "composition/token_classes.hpp"
#include "detokenizer/token_set.hpp"
#include "detokenizer/trie.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

// The tokens of a vocabulary with at most so many bytes, as masks.
class TokensByLength {
  public:
    explicit TokensByLength(const Trie& trie) : trie_(trie) {}

    std::int64_t longest() const { return trie_.max_depth(); }
    // `most`: 0 .. longest(). Made once: O(tokens).
    std::span<const std::int32_t> up_to(std::int64_t most);

  private:
    const Trie& trie_;
    std::vector<std::vector<std::int32_t>> masks_;
};

class ByteAssembly {
  public:
    ByteAssembly(const Pushdown& machine, ByteDistances& distances, TokenClasses& classes, const Trie& trie,
                 TokensByLength& lengths, Budget& budget)
        : machine_(machine),
          distances_(distances),
          classes_(classes),
          trie_(trie),
          lengths_(lengths),
          budget_(budget) {}

    // Adds the tokens of a lexer configuration. `leading`: at the start of a text where a token loses one
    // leading space, which is no byte of the text.
    void add(const LexerConfiguration& start, bool leading, const StackView& stack);
    // The fewest bytes of a token and what is missing after it; kNone: there is none.
    std::int64_t least() const;
    // With so many bytes all tokens of the configuration are allowed.
    std::int64_t enough() const;
    // Adds the tokens that a sentence has within `most` bytes, of which at most `after` follow the token.
    void write(std::int64_t most, std::int64_t after, std::span<std::int32_t> mask) const;

  private:
    // Tokens after which as many bytes are missing.
    struct Part {
        std::int64_t distance;
        std::int64_t cut;  // bytes of each token that are no text: 1 for a leading space
        std::shared_ptr<const TokenSet> tokens;
        std::vector<std::int32_t> listed;  // in place of these
    };
    void add_nodes(const TokenClasses::Node& root, const LexerConfiguration& start, std::int64_t cut,
                   const StackView& stack);
    void add_part(const TokenClasses::InnerEnd& end, const LexerConfiguration& start, const StackView& stack,
                  Part part);
    // Those of the part with at most so many bytes of text.
    void select(const Part& part, std::int64_t most, std::vector<std::int32_t>& selected) const;

    const Pushdown& machine_;
    ByteDistances& distances_;
    TokenClasses& classes_;
    const Trie& trie_;
    TokensByLength& lengths_;
    Budget& budget_;
    bool leading_ = false;
    std::vector<Part> parts_;
};

}  // namespace pdacon
