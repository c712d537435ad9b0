#include "filters/text_automaton.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "filters/characters.hpp"

namespace pdacon {

TextAutomaton::TextAutomaton(std::shared_ptr<const Tokens> tokens, std::vector<std::int32_t> classes,
                             std::vector<std::int32_t> next, std::int32_t num_classes, VocabularyStar settled)
    : tokens_(std::move(tokens)),
      classes_(std::move(classes)),
      next_(std::move(next)),
      num_classes_(num_classes),
      num_states_(num_classes > 0 ? static_cast<std::int32_t>(next_.size()) / num_classes : 0),
      settled_(std::move(settled)) {
    bool fits = num_states_ > 0 && classes_.size() == kCodePoints && !settled_.edges.empty() &&
                settled_.edges.size() == settled_.boundary.size() &&
                next_.size() == static_cast<std::size_t>(num_states_) * static_cast<std::size_t>(num_classes);
    for (const auto character : classes_) fits = fits && character >= 0 && character < num_classes;
    for (const auto state : next_) fits = fits && state >= -1 && state < num_states_;
    for (const auto& row : settled_.edges)
        for (const auto& edge : row)
            fits = fits && edge.next >= 0 && static_cast<std::size_t>(edge.next) < settled_.edges.size();
    if (!fits) throw std::invalid_argument("texts of a filter: the tables do not fit together");
    first_class_.assign(tokens_->size(), -1);
    behind_start_.assign(tokens_->size(), -1);
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < tokens_->size(); ++token) {
        if (!tokens_->has_text(token)) continue;
        const auto text = tokens_->bytes_of(token);
        const auto length = character_length(static_cast<std::uint8_t>(text.front()));
        if (length > 0 && static_cast<std::size_t>(length) <= text.size()) {
            std::uint32_t bytes = 0;
            for (const char byte : text.substr(0, static_cast<std::size_t>(length)))
                bytes = bytes << 8 | static_cast<std::uint8_t>(byte);
            if (const auto code = character_of(bytes, length); code < kCodePoints)
                first_class_[static_cast<std::size_t>(token)] = classes_[code];
        }
        behind_start_[static_cast<std::size_t>(token)] = step(kStart, text);
    }
}

std::int32_t TextAutomaton::step(std::int32_t state, std::string_view bytes) {
    auto here = state < num_states_ ? Place{state} : begun_[static_cast<std::size_t>(state - num_states_)];
    for (const char character : bytes) {
        const auto byte = static_cast<std::uint8_t>(character);
        if ((here.num_begun == 0) == continues_character(byte)) return -1;
        here.begun = here.begun << 8 | byte;
        ++here.num_begun;
        const auto first = static_cast<std::uint8_t>(here.begun >> (8 * (here.num_begun - 1)));
        const auto length = character_length(first);
        if (length == 0) return -1;
        if (here.num_begun < length) continue;
        const auto code = character_of(here.begun, length);
        here = {code == kCodePoints ? -1 : at(here.state, classes_[code])};
        if (here.state < 0) return -1;
    }
    return here.num_begun == 0 ? here.state : intern(here);
}

const std::vector<std::int32_t>& TextAutomaton::classes_between(std::uint32_t first, std::uint32_t last) {
    const auto [known, is_new] = between_.emplace(std::pair(first, last), std::vector<std::int32_t>());
    if (is_new) {
        auto& found = known->second;
        for (auto code = first; code <= last && code < kCodePoints; ++code)
            if (code < 0xD800 || code >= 0xE000) found.push_back(classes_[code]);
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
    }
    return known->second;
}

std::int32_t TextAutomaton::intern(const Place& place) {
    const auto first = static_cast<std::uint8_t>(place.begun >> (8 * (place.num_begun - 1)));
    const auto length = character_length(first);
    const auto missing = length - place.num_begun;
    auto code = static_cast<std::uint32_t>(first) & (0x7FU >> length);
    for (auto at = place.num_begun - 2; at >= 0; --at) code = code << 6 | (place.begun >> (8 * at) & 0x3FU);
    const auto& classes = classes_between(code << (6 * missing), ((code + 1) << (6 * missing)) - 1);
    if (classes.empty()) return -1;
    const auto behind = at(place.state, classes.front());
    const bool same = std::ranges::all_of(
        classes, [&](std::int32_t character) { return at(place.state, character) == behind; });
    if (same && behind < 0) return -1;
    // Which second bytes may follow depends on the first one, which is kept with those that restrict them.
    const bool special =
        place.num_begun == 1 && (first == 0xE0 || first == 0xED || first == 0xF0 || first == 0xF4);
    const std::array<std::int32_t, 4> key = {length, place.num_begun, same ? behind : -1 - place.state,
                                             same && !special ? 0 : static_cast<std::int32_t>(place.begun)};
    const auto id = begun_ids_.intern(key);
    if (static_cast<std::size_t>(id) == begun_.size()) begun_.push_back(place);
    return num_states_ + id;
}

}  // namespace pdacon
