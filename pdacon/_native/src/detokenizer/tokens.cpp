#include "detokenizer/tokens.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace pdacon {

Tokens::Tokens(Flat<char> text, Flat<std::int32_t> offsets, Flat<std::int32_t> end_tokens)
    : text_(std::move(text)), offsets_(std::move(offsets)), end_tokens_(std::move(end_tokens)) {
    if (const auto* wrong = mistake()) throw std::invalid_argument(std::string("vocabulary: ") + wrong);
    mark_ends();
}

Tokens::Tokens(const ArtifactReader& artifact)
    : text_(artifact.array<char>(Part::kTokenText, ArtifactReader::kShared)),
      offsets_(artifact.array<std::int32_t>(Part::kTokenOffsets, ArtifactReader::kShared)),
      end_tokens_(artifact.array<std::int32_t>(Part::kEndTokens, ArtifactReader::kShared)) {
    const auto* wrong = mistake();
    require_artifact(wrong == nullptr, wrong);
    mark_ends();
}

void Tokens::save(ArtifactWriter& artifact) const {
    artifact.add(Part::kTokenText, ArtifactWriter::kShared, text_.view());
    artifact.add(Part::kTokenOffsets, ArtifactWriter::kShared, offsets_.view());
    artifact.add(Part::kEndTokens, ArtifactWriter::kShared, end_tokens_.view());
}

bool Tokens::operator==(const Tokens& other) const {
    return std::ranges::equal(offsets_, other.offsets_) &&
           std::ranges::equal(end_tokens_, other.end_tokens_) && std::ranges::equal(text_, other.text_);
}

const char* Tokens::mistake() const {
    if (offsets_.size() < 2 || !are_rows(offsets_, text_.size())) return "offsets do not cover the text";
    if (text_.size() > (1U << 30)) return "more than 1 GiB of text";
    if (!all_within(end_tokens_.view(), 0, static_cast<std::int64_t>(size())))
        return "an end token is not in it";
    return nullptr;
}

void Tokens::mark_ends() {
    is_end_.assign(size(), 0);
    for (const auto token : end_tokens_) is_end_[static_cast<std::size_t>(token)] = 1;
}

}  // namespace pdacon
