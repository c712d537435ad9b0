#include "detokenizer/tokens.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "detokenizer/labels.hpp"

namespace pdacon {

Tokens::Tokens(Flat<char> text, Flat<std::int32_t> offsets, Flat<std::int32_t> end_tokens,
               std::size_t num_labels)
    : text_(std::move(text)),
      offsets_(std::move(offsets)),
      end_tokens_(std::move(end_tokens)),
      num_labels_(num_labels) {
    if (const auto* wrong = mistake()) throw std::invalid_argument(std::string("vocabulary: ") + wrong);
    find_kinds();
}

Tokens::Tokens(const ArtifactReader& artifact)
    : text_(artifact.array<char>(Part::kTokenText, ArtifactReader::kShared)),
      offsets_(artifact.array<std::int32_t>(Part::kTokenOffsets, ArtifactReader::kShared)),
      end_tokens_(artifact.array<std::int32_t>(Part::kEndTokens, ArtifactReader::kShared)),
      num_labels_(Labels::count(artifact)) {
    const auto* wrong = mistake();
    require_artifact(wrong == nullptr, wrong);
    find_kinds();
}

void Tokens::save(ArtifactWriter& artifact) const {
    artifact.add(Part::kTokenText, ArtifactWriter::kShared, text_.view());
    artifact.add(Part::kTokenOffsets, ArtifactWriter::kShared, offsets_.view());
    artifact.add(Part::kEndTokens, ArtifactWriter::kShared, end_tokens_.view());
}

bool Tokens::operator==(const Tokens& other) const {
    return num_labels_ == other.num_labels_ && std::ranges::equal(offsets_, other.offsets_) &&
           std::ranges::equal(end_tokens_, other.end_tokens_) && std::ranges::equal(text_, other.text_);
}

const char* Tokens::mistake() const {
    if (offsets_.size() < 2 || offsets_.size() - 2 < num_labels_ || !are_rows(offsets_, text_.size()))
        return "offsets do not cover the text";
    if (text_.size() > (1U << 30)) return "more than 1 GiB of text";
    if (!all_within(end_tokens_.view(), 0, static_cast<std::int64_t>(size())))
        return "an end token is not in it";
    return nullptr;
}

void Tokens::find_kinds() {
    const auto is_kept = [](char byte) { return static_cast<std::uint8_t>(byte) >= Labels::kFirstByte; };
    kinds_.assign(num_texts(), kNothing);
    for (std::size_t token = 0; token < num_texts(); ++token) {
        const auto bytes = bytes_of(static_cast<std::int32_t>(token));
        const bool is_text = token >= size() || num_labels_ == 0 || std::ranges::none_of(bytes, is_kept);
        if (is_text && !bytes.empty()) kinds_[token] = kText;
    }
    for (const auto token : end_tokens_) kinds_[token] = kEnd;
}

}  // namespace pdacon
