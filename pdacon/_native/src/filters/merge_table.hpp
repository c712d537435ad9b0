// Room `filters`: which sequences of tokens a tokenizer itself would produce.
//
// In: what a tokenizer is made of, as flat arrays, and the tokens. Out: an automaton over tokens that runs
// beside any constraint. It knows no grammar.
//
// MergeTable: the pairs that a byte-pair encoding merges, and which token may follow which within a pretoken.
// The encoding begins with the bytes of a text, or, as SentencePiece's does, with its characters; there a
// character that is no token is spelled by tokens for its bytes, which never merge.
// A sequence of tokens is what the encoding makes of their bytes if and only if that holds of each token
// alone and of each two neighbours (the bigram criterion), because merges run in the order of their ranks,
// left to right: until the first merge across a border, what happens on its two sides does not depend on
// anything else.
//
// The derivation of a token is the binary tree of the merges that make it. Two tokens merge across their
// border if a token x on the right spine of the first one's derivation and a token y on the left spine of the
// second one's are neighbours at some time, and their pair is merged before either is merged with others. A
// token on a spine is there from the rank that makes it to the rank of the merge that uses it.
//
// For one token the tokens that may not follow are a union of intervals in the preorder of a tree. In it each
// token hangs below the left one of the pair that makes it, so the way up from a token is its left spine; the
// children of a token are in descending order of the ranks that make them. A pair (x, y) forbids y itself and
// the subtrees of those children of y whose ranks are lower neither than x's nor than the pair's: the first
// ones.
//
// All of that takes it that ranks do not fall within a derivation. Where they do, two tokens are compared by
// encoding their bytes.
//
// Source: Vieira et al. 2025, "Language models over canonical byte-pair encodings" (the criterion); Berglund,
// Martens and van der Merwe 2024, "Constructing a BPE tokenization DFA".
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/in_range.hpp"
#include "detokenizer/tokens.hpp"

namespace pdacon {

class MergeTable {
  public:
    // Two neighbours and the token that they become; lower ranks first, and of equal ones the leftmost pair.
    struct Pair {
        std::int32_t left, right, rank, made;
    };
    // The pairs of an encoding by ranks, as in tiktoken: any two tokens become the one that spells both.
    // `ranks`: of each token, negative for what takes no part.
    static std::vector<Pair> by_rank(const Tokens& tokens, std::span<const std::int32_t> ranks);

    // A token is never produced; or is a unit or made by merges; or, where texts begin as characters, spells
    // one byte of a character that is no token; or, in models that do not merge, is produced without merges.
    enum Role : std::uint8_t { kUnused, kUsed, kByte, kUnmerged };
    // `roles`: of each token. Throws std::invalid_argument if they do not fit together, or texts begin as
    // bytes and some byte has no token.
    MergeTable(std::shared_ptr<const Tokens> tokens, std::vector<Pair> pairs, std::vector<std::uint8_t> roles,
               bool by_character);

    const Tokens& tokens() const { return *tokens_; }
    // Whether the encoding makes just this token of its bytes.
    bool is_reachable(std::int32_t token) const { return at(token).reachable; }
    // Tokens that have a role and that the encoding does not make of their bytes.
    std::size_t num_unreachable() const { return num_unreachable_; }
    // Whether the encoding splits the bytes of two reachable tokens in any other way than between them.
    bool merges(std::int32_t first, std::int32_t second) const;
    // Sets the bits of the reachable tokens that may follow a reachable token within a pretoken. Cost:
    // O(pairs on its right spine + tokens).
    void add_followers(std::int32_t token, std::span<std::int32_t> mask) const;
    // The tokens that the encoding makes of some bytes; none if it has no token for some of them.
    std::vector<std::int32_t> encode(std::string_view bytes) const;

  private:
    static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();
    struct Token {
        std::int32_t left = -1, right = -1;  // the pair that makes it; -1: none does, or it is not reachable
        std::int32_t rank = -1;              // of that pair
        bool reachable = false;
        bool ordered = false;               // no merge of its derivation has a lower rank than one before it
        std::int32_t begin = -1, end = -1;  // its subtree in `order_`; -1: it is not in the tree
    };
    struct Partner {
        std::int32_t right, rank, made;
    };
    const Token& at(std::int32_t token) const { return entries_[in_range(token, entries_.size())]; }
    Token& at(std::int32_t token) { return entries_[in_range(token, entries_.size())]; }
    const Partner* find(std::int32_t left, std::int32_t right) const;
    std::span<const Partner> partners(std::int32_t left) const {
        const auto row = in_range(left, entries_.size());
        return std::span(partners_).subspan(offsets_[row], offsets_[row + 1] - offsets_[row]);
    }
    std::span<const std::int32_t> children(std::int32_t token) const {
        const auto row = in_range(token, entries_.size());
        return std::span(children_).subspan(child_offsets_[row],
                                            child_offsets_[row + 1] - child_offsets_[row]);
    }
    struct Derivation {
        std::vector<std::int32_t> parts;  // the tokens at the end
        Partner last{-1, -1, -1};         // the last merge, and its left token
        std::int32_t last_left = -1;
        bool ordered = true;  // see Token
    };
    // Merges by definition, one pair after another. Cost: the square of the length.
    Derivation derive(std::string_view bytes) const;
    void find_units(std::span<const std::uint8_t> roles);
    // The tokens that spell a text before anything is merged; empty: some of it has none.
    std::vector<std::int32_t> units(std::string_view bytes) const;
    void derive_all(std::span<const std::uint8_t> roles);
    void build_tree();

    std::shared_ptr<const Tokens> tokens_;
    bool by_character_;
    std::array<std::int32_t, 256> byte_tokens_;
    std::unordered_map<std::string_view, std::int32_t> characters_;
    std::vector<std::size_t> offsets_;  // of the partners of each token
    std::vector<Partner> partners_;     // by left token, then by right one
    std::vector<Token> entries_;
    std::vector<std::size_t> child_offsets_;
    std::vector<std::int32_t> children_;  // in the tree, by descending ranks
    std::vector<std::int32_t> order_;     // the tokens of the tree in preorder
    std::size_t num_unreachable_ = 0;
    std::vector<std::int32_t> unordered_;  // reachable tokens that are not in the tree
};

}  // namespace pdacon
