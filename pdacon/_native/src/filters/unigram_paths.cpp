#include "filters/unigram_paths.hpp"

#include <bit>
#include <limits>
#include <stdexcept>
#include <utility>

#include "filters/characters.hpp"

namespace pdacon {

namespace {

constexpr auto kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

UnigramPaths::UnigramPaths(std::shared_ptr<const Tokens> tokens, std::vector<std::uint8_t> used,
                           std::vector<double> scores, double unknown, std::optional<double> margin,
                           VocabularyStar settled)
    : tokens_(std::move(tokens)),
      used_(std::move(used)),
      scores_(std::move(scores)),
      unknown_(unknown),
      margin_(margin),
      settled_(std::move(settled)) {
    if (used_.size() != tokens_->size() || scores_.size() != tokens_->size())
        throw std::invalid_argument("paths: a score for each token is needed");
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < used_.size(); ++token) {
        if (used_[token] == 0) continue;
        if (!tokens_->has_text(token)) throw std::invalid_argument("paths: a token without text");
        const auto text = tokens_->bytes_of(token);
        tree_.add(kRoot, text, token);
        const auto length = character_length(static_cast<std::uint8_t>(text.front()));
        if (text.size() == static_cast<std::size_t>(length)) characters_.insert(text);
    }
    id_of({{kRoot, 0.0}});
}

std::vector<UnigramPaths::Begun> UnigramPaths::begun_of(std::int32_t state) const {
    const auto key = states_[state];
    std::vector<Begun> begun;
    for (std::size_t at = 0; at < key.size(); at += 3) {
        const auto bits = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key[at + 1])) << 32 |
                          static_cast<std::uint32_t>(key[at + 2]);
        begun.push_back({key[at], std::bit_cast<double>(bits)});
    }
    return begun;
}

std::int32_t UnigramPaths::id_of(const std::vector<Begun>& begun) {
    std::vector<std::int32_t> key;
    for (const auto& [node, score] : begun) {
        const auto bits = std::bit_cast<std::uint64_t>(score);
        key.insert(key.end(), {node, static_cast<std::int32_t>(bits >> 32), static_cast<std::int32_t>(bits)});
    }
    const auto id = states_.intern(key);
    if (!splits_at_spaces() && static_cast<std::size_t>(id) == going_on_.size())
        going_on_.push_back(going_on(begun));
    return id;
}

std::bitset<256> UnigramPaths::going_on(const std::vector<Begun>& begun) const {
    std::bitset<256> bytes;
    for (const auto& [node, score] : begun)
        for (std::size_t byte = 0; node != kRoot && byte < bytes.size(); ++byte)
            if (tree_.child(node, static_cast<char>(byte)) >= 0) bytes.set(byte);
    return bytes;
}

std::int32_t UnigramPaths::step(std::int32_t state, std::int32_t token) {
    if (used_[token] == 0) return -1;
    const auto text = tokens_->bytes_of(token);
    if (splits_at_spaces() && text.find(' ', 1) != std::string_view::npos) return -1;
    auto begun = begun_of(splits_at_spaces() && text.front() == ' ' ? kStart : state);
    auto own = begun.size() - 1;  // the index in `begun` of the position where this token begins
    for (std::size_t at = 0; at < text.size();) {
        const auto length = static_cast<std::size_t>(character_length(static_cast<std::uint8_t>(text[at])));
        const auto character = text.substr(at, length);
        if (length == 0 || character.size() < length) return -1;
        at += length;
        // Finds the best path to the position after the character, and the positions that are still begun
        // there.
        std::vector<Begun> after;
        auto own_after = kNone;
        bool found = false, is_own = false;
        double best = 0.0, own_score = -std::numeric_limits<double>::infinity();
        const auto offer = [&](double score, bool of_own) {
            if (of_own) own_score = score;
            if (found && score <= best) return;
            found = true;
            best = score;
            is_own = of_own;
        };
        for (std::size_t index = 0; index < begun.size(); ++index) {  // the longest last token first
            const auto [from, score] = begun[index];
            auto node = from;
            for (std::size_t byte = 0; byte < length && node >= 0; ++byte)
                node = tree_.child(node, character[byte]);
            if (node >= 0 && tree_.token(node) >= 0) offer(score + scores_[tree_.token(node)], index == own);
            if (from == kRoot && !characters_.contains(character)) offer(score + unknown_, false);
            if (node < 0 || !tree_.has_children(node)) continue;
            if (index == own) own_after = after.size();
            after.push_back({node, score});
        }
        if (at == text.size() && !is_own && !(margin_.value_or(0.0) > 0.0 && own_score >= best - *margin_))
            return -1;
        if (at < text.size() && own_after == kNone) return -1;
        own = own_after;
        after.push_back({kRoot, best});
        if (!splits_at_spaces())
            for (auto& each : after) each.score -= best;
        begun = std::move(after);
    }
    return id_of(begun);
}

}  // namespace pdacon
