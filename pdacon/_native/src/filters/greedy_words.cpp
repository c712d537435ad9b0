#include "filters/greedy_words.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "filters/characters.hpp"

namespace pdacon {

namespace {

std::int32_t count_characters(std::string_view text) {
    return static_cast<std::int32_t>(std::ranges::count_if(
        text, [](char byte) { return !continues_character(static_cast<std::uint8_t>(byte)); }));
}

}  // namespace

GreedyWords::GreedyWords(std::shared_ptr<const Tokens> tokens, std::vector<std::uint8_t> kinds,
                         std::int32_t most, VocabularyStar settled)
    : tokens_(std::move(tokens)), kinds_(std::move(kinds)), most_(most), settled_(std::move(settled)) {
    if (kinds_.size() != tokens_->size())
        throw std::invalid_argument("words: a kind for each token is needed");
    states_.intern(std::array<std::int32_t, 1>{0});
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < kinds_.size(); ++token) {
        const auto kind = kinds_[token];
        if (kind == kUnused) continue;
        if (!tokens_->has_text(token) || word_of(token).empty())
            throw std::invalid_argument("words: a token without text");
        tree_.add(kind == kContinues ? kContinuations : kWords, word_of(token), token);
    }
}

std::string_view GreedyWords::word_of(std::int32_t token) const {
    auto word = tokens_->bytes_of(token);
    if (kinds_[token] != kContinues && word.front() == ' ') word.remove_prefix(1);
    return word;
}

std::int32_t GreedyWords::descend(std::int32_t node, std::string_view text, bool& ended) const {
    for (const char byte : text) {
        node = tree_.child(node, byte);
        if (node < 0) return -1;
        ended = ended || tree_.token(node) >= 0;
    }
    return node;
}

std::int32_t GreedyWords::step(std::int32_t state, std::int32_t token) {
    const auto kind = kinds_[token];
    if (kind == kUnused) return -1;
    const auto word = word_of(token);
    std::vector<std::int32_t> key{count_characters(word)};
    bool ended = false;
    if (kind == kContinues) {
        const auto before = states_[state];
        if (before.front() == 0) return -1;
        key.front() += before.front();
        for (const auto node : before.subspan(1)) {
            const auto after = descend(node, word, ended);
            if (ended) return -1;  // a longer token would have been taken
            if (after >= 0) key.push_back(after);
        }
    }
    if (key.front() > most_) return -1;
    if (kind == kAlone) return kStart;
    const auto own = descend(kind == kBegins ? kWords : kContinuations, word, ended);
    if (own >= 0 && tree_.has_children(own)) key.push_back(own);
    std::sort(key.begin() + 1, key.end());
    return states_.intern(key);
}

}  // namespace pdacon
