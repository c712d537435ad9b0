#include "filters/text_automaton.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "base/in_range.hpp"
#include "filters/characters.hpp"

namespace pdacon {

TextAutomaton::TextAutomaton(std::shared_ptr<const Tokens> tokens, std::vector<std::int32_t> classes,
                             std::vector<std::int32_t> next, std::int32_t num_classes, VocabularyStar settled,
                             std::span<const std::int32_t> added, bool restarts)
    : tokens_(std::move(tokens)),
      classes_(std::move(classes)),
      next_(std::move(next)),
      num_classes_(num_classes),
      num_states_(num_classes > 0 ? static_cast<std::int32_t>(next_.size()) / num_classes : 0),
      settled_(std::move(settled)),
      restarts_(restarts) {
    bool fits = num_states_ > 0 && classes_.size() == kCodePoints &&
                settled_.edges.size() == settled_.boundary.size() &&
                next_.size() == static_cast<std::size_t>(num_states_) * static_cast<std::size_t>(num_classes);
    for (const auto character : classes_) fits = fits && character >= 0 && character < num_classes;
    for (const auto state : next_) fits = fits && state >= -1 && state < num_states_;
    for (const auto& row : settled_.edges)
        for (const auto& edge : row)
            fits = fits && edge.next >= 0 && static_cast<std::size_t>(edge.next) < settled_.edges.size();
    if (!fits) throw std::invalid_argument("texts of a filter: the tables do not fit together");
    is_added_.assign(tokens_->size(), 0);
    pending_ids_.intern({});
    for (const auto token : added) {
        is_added_[in_range(token, tokens_->size())] = 1;
        add_word(tokens_->bytes_of(token));
    }
    first_class_.assign(tokens_->size(), -1);
    after_start_.assign(tokens_->size(), -1);
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < tokens_->size(); ++token) {
        if (!tokens_->has_text(token)) continue;
        const auto text = tokens_->bytes_of(token);
        const auto length = character_length(static_cast<std::uint8_t>(text.front()));
        if (length > 0 && static_cast<std::size_t>(length) <= text.size()) {
            std::uint32_t bytes = 0;
            for (const char byte : text.substr(0, static_cast<std::size_t>(length)))
                bytes = bytes << 8 | static_cast<std::uint8_t>(byte);
            if (const auto code = character_of(bytes, length); code < kCodePoints)
                first_class_[token] = classes_[code];
        }
        after_start_[token] = step(kStart, text, Words::kBegin);
    }
}

void TextAutomaton::add_word(std::string_view word) {
    if (word.empty()) throw std::invalid_argument("texts of a filter: an added word is empty");
    std::int32_t node = 0;
    for (const char byte : word) {
        const auto next = static_cast<std::int32_t>(words_.size());
        const auto [child, is_new] = words_[node].children.emplace(static_cast<std::uint8_t>(byte), next);
        node = child->second;
        if (is_new) words_.emplace_back();
    }
    words_[node].ends = true;
}

std::int32_t TextAutomaton::go_on(std::int32_t pending, std::uint8_t byte, bool begin) {
    const auto& first = words_.front().children;
    if (pending == 0 && (!begin || !first.contains(byte))) return 0;
    std::vector<std::int32_t> found;
    const auto advance = [&](std::int32_t node) {
        const auto& children = words_[node].children;
        if (const auto child = children.find(byte); child != children.end()) found.push_back(child->second);
    };
    for (const auto node : pending_ids_[pending]) advance(node);
    if (begin) advance(0);
    for (const auto node : found)
        if (words_[node].ends) return -1;
    std::sort(found.begin(), found.end());
    return pending_ids_.intern(found);
}

bool TextAutomaton::read(Place& place, std::uint8_t byte) const {
    if ((place.num_begun == 0) == continues_character(byte)) return false;
    place.begun = place.begun << 8 | byte;
    ++place.num_begun;
    const auto length =
        character_length(static_cast<std::uint8_t>(place.begun >> (8 * (place.num_begun - 1))));
    if (length == 0) return false;
    if (place.num_begun < length) return true;
    const auto code = character_of(place.begun, length);
    if (code == kCodePoints) return false;
    place = {at(place.state, classes_[code]), 0, 0, place.pending};
    return place.state >= 0;
}

std::int32_t TextAutomaton::step(std::int32_t state, std::string_view bytes, Words words) {
    auto here = place_of(state);
    if (words == Words::kIgnored) here.pending = 0;
    for (const char character : bytes) {
        const auto byte = static_cast<std::uint8_t>(character);
        if (!read(here, byte)) return -1;
        if (words != Words::kIgnored) here.pending = go_on(here.pending, byte, words == Words::kBegin);
        if (here.pending < 0) return -1;
    }
    return id_of(here);
}

std::int32_t TextAutomaton::step_added(std::int32_t state, std::int32_t token) {
    const auto word = tokens_->bytes_of(token);
    const auto after =
        step(restarts_ ? id_of({kStart, 0, 0, place_of(state).pending}) : state, word, Words::kGoOn);
    if (after < 0 || place_of(state).num_begun > 0) return -1;
    auto here = place_of(after);
    if (restarts_) here.state = kStart;
    std::int32_t node = 0;
    for (const char byte : word) node = words_[node].children.at(static_cast<std::uint8_t>(byte));
    if (!words_[node].children.empty()) {  // a longer word may begin here
        const auto pending = pending_ids_[here.pending];
        std::vector<std::int32_t> nodes(pending.begin(), pending.end());
        nodes.push_back(node);
        std::sort(nodes.begin(), nodes.end());
        here.pending = pending_ids_.intern(nodes);
    }
    return id_of(here);
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

std::int32_t TextAutomaton::id_of(const Place& place) {
    const auto intern = [&](const std::array<std::int32_t, 5>& key) {
        const auto id = begun_ids_.intern(key);
        if (static_cast<std::size_t>(id) == begun_.size()) {
            Begun made{place, {}};
            for (const auto node : pending_ids_[place.pending])
                for (const auto& [byte, child] : words_[node].children) made.going_on.set(byte);
            begun_.push_back(made);
        }
        return num_states_ + id;
    };
    if (place.num_begun == 0)
        return place.pending == 0 ? place.state : intern({0, 0, place.state, 0, place.pending});
    const auto first = static_cast<std::uint8_t>(place.begun >> (8 * (place.num_begun - 1)));
    const auto length = character_length(first);
    const auto missing = length - place.num_begun;
    auto code = static_cast<std::uint32_t>(first) & (0x7FU >> length);
    for (auto at = place.num_begun - 2; at >= 0; --at) code = code << 6 | (place.begun >> (8 * at) & 0x3FU);
    const auto& classes = classes_between(code << (6 * missing), ((code + 1) << (6 * missing)) - 1);
    if (classes.empty()) return -1;
    const auto after = at(place.state, classes.front());
    const bool same = std::ranges::all_of(
        classes, [&](std::int32_t character) { return at(place.state, character) == after; });
    if (same && after < 0) return -1;
    // Which second bytes may follow depends on the first one, which is kept with those that restrict them.
    const bool special =
        place.num_begun == 1 && (first == 0xE0 || first == 0xED || first == 0xF0 || first == 0xF4);
    return intern({length, place.num_begun, same ? after : -1 - place.state,
                   same && !special ? 0 : static_cast<std::int32_t>(place.begun), place.pending});
}

}  // namespace pdacon
