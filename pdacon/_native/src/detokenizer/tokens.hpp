// A vocabulary: what each token id stands for, as bytes.
//
// After the tokens there may be labels, with ids from size() on, each with its spelling (see Labels). A
// token whose bytes have one that is kept for labels spells no text then: it is in no UTF-8.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/flat.hpp"

namespace pdacon {

class Tokens {
  public:
    // `text` holds all tokens' bytes one after another, token t at offsets[t] .. offsets[t + 1], and then the
    // spellings of the labels; a token without bytes stands for no text. End tokens have no text either.
    // Throws std::invalid_argument.
    Tokens(Flat<char> text, Flat<std::int32_t> offsets, Flat<std::int32_t> end_tokens,
           std::size_t num_labels = 0);
    // What `save` has written. Throws ArtifactDamage.
    explicit Tokens(const ArtifactReader& artifact);
    void save(ArtifactWriter& artifact) const;

    std::size_t size() const { return num_texts() - num_labels_; }  // in tokens
    std::size_t num_labels() const { return num_labels_; }
    std::size_t num_texts() const { return offsets_.size() - 1; }  // of tokens and labels
    std::size_t words() const { return (size() + 31) / 32; }       // of a mask, in int32
    const Flat<std::int32_t>& end_tokens() const { return end_tokens_; }
    bool is_end(std::int32_t token) const { return kinds_[in_range(token, num_texts())] == kEnd; }
    bool has_text(std::int32_t token) const { return kinds_[in_range(token, num_texts())] == kText; }
    std::string_view bytes_of(std::int32_t token) const {
        const auto at = in_range(token, num_texts());
        return {text_.data() + offsets_[at], static_cast<std::size_t>(offsets_[at + 1] - offsets_[at])};
    }
    const Flat<char>& text() const { return text_; }
    const Flat<std::int32_t>& offsets() const { return offsets_; }
    bool operator==(const Tokens& other) const;

  private:
    static constexpr std::uint8_t kNothing = 0, kText = 1, kEnd = 2;
    // What is wrong with the arrays, or nullptr.
    const char* mistake() const;
    void find_kinds();

    Flat<char> text_;
    Flat<std::int32_t> offsets_, end_tokens_;
    std::size_t num_labels_ = 0;
    std::vector<std::uint8_t> kinds_;  // of each token and label
};

}  // namespace pdacon
