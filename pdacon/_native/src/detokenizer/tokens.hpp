// A vocabulary: what each token id stands for, as bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/flat.hpp"

namespace pdacon {

class Tokens {
  public:
    // `text` holds all tokens' bytes one after another, token t at offsets[t] .. offsets[t + 1]; a token
    // without bytes stands for no text. End tokens have no text either. Throws std::invalid_argument.
    Tokens(Flat<char> text, Flat<std::int32_t> offsets, Flat<std::int32_t> end_tokens);
    // What `save` has written. Throws ArtifactDamage.
    explicit Tokens(const ArtifactReader& artifact);
    void save(ArtifactWriter& artifact) const;

    std::size_t size() const { return offsets_.size() - 1; }  // in tokens
    std::size_t words() const { return (size() + 31) / 32; }  // of a mask, in int32
    const Flat<std::int32_t>& end_tokens() const { return end_tokens_; }
    bool is_end(std::int32_t token) const { return is_end_[in_range(token, size())] != 0; }
    bool has_text(std::int32_t token) const { return !is_end(token) && !bytes_of(token).empty(); }
    std::string_view bytes_of(std::int32_t token) const {
        const auto at = in_range(token, size());
        return {text_.data() + offsets_[at], static_cast<std::size_t>(offsets_[at + 1] - offsets_[at])};
    }
    const Flat<char>& text() const { return text_; }
    const Flat<std::int32_t>& offsets() const { return offsets_; }
    bool operator==(const Tokens& other) const;

  private:
    // What is wrong with the arrays, or nullptr.
    const char* mistake() const;
    void mark_ends();

    Flat<char> text_;
    Flat<std::int32_t> offsets_, end_tokens_;
    std::vector<std::uint8_t> is_end_;
};

}  // namespace pdacon
