#include "detokenizer/labels.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "detokenizer/token_set.hpp"

namespace pdacon {

namespace {

void add(std::span<const std::int32_t> from, std::span<std::int32_t> to) {
    for (std::size_t word = 0; word < from.size(); ++word) to[word] |= from[word];
}

}  // namespace

Labels::Labels(std::size_t tokens, std::vector<std::int32_t> masks)
    : tokens_(tokens), words_((tokens + 31) / 32), masks_(std::move(masks)), union_(words_, 0) {
    if (const auto* wrong = mistake()) throw std::invalid_argument(std::string("labels: ") + wrong);
    for (std::size_t label = 0; label < size(); ++label) add(mask(label), union_);
}

Labels::Labels(const ArtifactReader& artifact, std::size_t tokens)
    : tokens_(tokens), words_((tokens + 31) / 32), union_(words_, 0) {
    const auto stored = artifact.array<std::int32_t>(Part::kLabels, ArtifactReader::kShared);
    masks_.assign(stored.begin() + 1, stored.end());
    require_artifact(masks_.size() == count(artifact) * words_, "labels of another vocabulary");
    const auto* wrong = mistake();
    require_artifact(wrong == nullptr, wrong);
    for (std::size_t label = 0; label < size(); ++label) add(mask(label), union_);
}

void Labels::save(ArtifactWriter& artifact) const {
    std::vector<std::int32_t> stored{static_cast<std::int32_t>(size())};
    stored.insert(stored.end(), masks_.begin(), masks_.end());
    artifact.add(Part::kLabels, ArtifactWriter::kShared, std::span<const std::int32_t>(stored));
}

std::size_t Labels::count(const ArtifactReader& artifact) {
    const auto stored = artifact.array<std::int32_t>(Part::kLabels, ArtifactReader::kShared);
    require_artifact(!stored.empty() && stored[0] >= 0, "no number of labels");
    return static_cast<std::size_t>(stored[0]);
}

const char* Labels::mistake() const {
    if (words_ == 0 || masks_.size() % words_ != 0) return "a mask has another size";
    for (std::size_t label = 0; label < size(); ++label)
        for (auto token = tokens_; token < words_ * 32; ++token)
            if (has_bit(mask(label).data(), static_cast<std::int32_t>(token)))
                return "a token is not in the vocabulary";
    return nullptr;
}

bool Labels::has(std::size_t label, std::int32_t token) const { return has_bit(mask(label).data(), token); }

bool Labels::any_has(std::int32_t token) const { return size() > 0 && has_bit(union_.data(), token); }

std::vector<std::int32_t> Labels::resolve(std::vector<std::int32_t> mask_with_labels) const {
    for (std::size_t label = 0; label < size(); ++label) {
        const auto symbol = static_cast<std::int32_t>(tokens_ + label);
        if (!has_bit(mask_with_labels.data(), symbol)) continue;
        clear_bit(mask_with_labels, symbol);
        add(mask(label), mask_with_labels);
    }
    mask_with_labels.resize(words_);
    return mask_with_labels;
}

}  // namespace pdacon
