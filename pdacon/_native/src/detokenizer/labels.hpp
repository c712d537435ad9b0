// Labels: sets of tokens that a grammar asks for by a name, such as all images, or one special token.
//
// A label is one symbol to a grammar. Its spelling is a pair of bytes that no text has, so that lexers,
// parsers and liveness need not know it; the trie has the spellings after the tokens of the vocabulary, with
// ids from the vocabulary's size on. Here is what they stand for: a label that may come next is a mask, added
// as a whole to that of the tokens that spell text.
//
// Source: Koo, Liu and He 2024, "Automata-based constraints for language model decoding", section 2.5.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "artifact/artifact.hpp"

namespace pdacon {

class Labels {
  public:
    // The bytes from here on occur in no UTF-8.
    static constexpr std::uint8_t kFirstByte = 0xF5;
    static bool is_of_spelling(char byte) { return static_cast<std::uint8_t>(byte) >= kFirstByte; }

    // `masks`: that of each label in turn, ceil(tokens / 32) words each. Throws std::invalid_argument.
    Labels(std::size_t tokens, std::vector<std::int32_t> masks);
    // What `save` has written, for a vocabulary of so many tokens. Throws ArtifactDamage.
    Labels(const ArtifactReader& artifact, std::size_t tokens);
    void save(ArtifactWriter& artifact) const;
    // How many there are in an artifact. Throws ArtifactDamage.
    static std::size_t count(const ArtifactReader& artifact);

    std::size_t size() const { return words_ == 0 ? 0 : masks_.size() / words_; }
    bool has(std::size_t label, std::int32_t token) const;
    // Whether any label has a token.
    bool any_has(std::int32_t token) const;
    // A mask of the vocabulary's tokens, made of one that has the labels after them.
    std::vector<std::int32_t> resolve(std::vector<std::int32_t> mask) const;

  private:
    std::span<const std::int32_t> mask(std::size_t label) const {
        return std::span(masks_).subspan(label * words_, words_);
    }
    // What is wrong with the masks, or nullptr.
    const char* mistake() const;

    std::size_t tokens_, words_;
    std::vector<std::int32_t> masks_, union_;
};

}  // namespace pdacon
