#include "filters/pretokens.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "filters/characters.hpp"

namespace pdacon {

namespace {

std::string encoded(std::uint32_t code) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80U | (code >> shift & 0x3FU)); };
    if (code < 0x800) return {static_cast<char>(0xC0U | code >> 6), tail(0)};
    if (code < 0x10000) return {static_cast<char>(0xE0U | code >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xF0U | code >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace

Pretokens::Pretokens(std::shared_ptr<const Tokens> tokens, std::vector<std::uint8_t> classes,
                     std::vector<std::int32_t> next, std::int32_t num_classes, std::vector<std::uint8_t> ends,
                     std::vector<std::uint8_t> free, std::vector<std::uint8_t> bytewise,
                     std::span<const std::uint8_t> settled)
    : tokens_(std::move(tokens)),
      classes_(std::move(classes)),
      next_(std::move(next)),
      num_classes_(num_classes),
      ends_(std::move(ends)),
      free_(std::move(free)),
      bytewise_(std::move(bytewise)) {
    const auto states = ends_.size();
    bool fits = num_classes > 0 && num_classes <= 255 && states > 0 && free_.size() == states &&
                classes_.size() == kCodePoints && (settled.empty() || settled.size() == kCodePoints) &&
                (bytewise_.empty() || bytewise_.size() == static_cast<std::size_t>(num_classes)) &&
                next_.size() == states * static_cast<std::size_t>(num_classes) * 2;
    for (const auto each : classes_) fits = fits && each < num_classes;
    for (const auto state : next_) fits = fits && state >= -1 && state < static_cast<std::int64_t>(states);
    if (!fits) throw std::invalid_argument("pretokens: the tables do not fit together");
    for (std::size_t at = 1; at < next_.size(); at += 2)  // after characters with a mark before them
        is_ever_free_ = is_ever_free_ || (next_[at] >= 0 && free_[next_[at]] != 0);
    intern({0});
    make_groups();
    make_samples(settled);
}

std::span<const std::uint8_t> Pretokens::classes_of(std::int32_t missing, std::uint32_t code) {
    const auto [known, is_new] = classes_of_.try_emplace({missing, code});
    if (!is_new) return known->second;
    std::vector<bool> among(static_cast<std::size_t>(num_classes_));
    const auto first = std::size_t{code} << (6 * missing), last = std::size_t{code + 1} << (6 * missing);
    for (auto at = first; at < std::min(last, kCodePoints); ++at) among[classes_[at]] = true;
    for (std::size_t number = 0; number < among.size(); ++number)
        if (among[number]) known->second.push_back(static_cast<std::uint8_t>(number));
    return known->second;
}

// Places with the same key are the same. Between characters the key is the state. Within a character it is
// the character's length, how many of its bytes are read, and the state after it for each class that it may
// be of. The bytes themselves matter only where the class may be one of several, or one whose characters are
// not split, or where the first byte does not allow all second ones. Empty: no state follows.
std::vector<std::int32_t> Pretokens::key_of(const Place& place) {
    if (place.num_begun == 0) return {place.state};
    const auto first = static_cast<std::uint8_t>(place.begun >> (8 * (place.num_begun - 1)));
    const auto length = character_length(first);
    if (place.num_begun > 1) {
        const auto second = static_cast<std::uint8_t>(place.begun >> (8 * (place.num_begun - 2)));
        const bool fits = first == 0xE0   ? second >= 0xA0
                          : first == 0xED ? second < 0xA0
                          : first == 0xF0 ? second >= 0x90
                          : first == 0xF4 ? second < 0x90
                                          : true;
        if (!fits) return {};
    }
    auto code = first & (0x7FU >> length);
    for (auto at = place.num_begun - 2; at >= 0; --at) code = code << 6 | (place.begun >> (8 * at) & 0x3FU);
    std::vector<std::int32_t> key{length, place.num_begun, 0};
    bool lives = false;
    bool needs_bytes =
        place.num_begun == 1 && (first == 0xE0 || first == 0xED || first == 0xF0 || first == 0xF4);
    for (const auto number : classes_of(length - place.num_begun, code)) {
        if (!may_be_split(number)) {
            needs_bytes = true;
            continue;
        }
        const auto after = state_after(place.state, number, place.marked);
        lives = lives || after >= 0;
        key.push_back(after);
    }
    if (needs_bytes || key.size() > 4) key[2] = static_cast<std::int32_t>(place.begun);
    return lives ? key : std::vector<std::int32_t>();
}

std::int32_t Pretokens::intern(const Place& place) {
    const auto key = key_of(place);
    if (key.empty()) return -1;
    const auto id = place_ids_.intern(key);
    if (static_cast<std::size_t>(id) == places_.size()) {
        places_.push_back(place);
        after_.resize(2 * places_.size());
    }
    return id;
}

bool Pretokens::step(Place& place, std::uint8_t byte, bool is_alone) const {
    if ((place.num_begun == 0) == continues_character(byte)) return false;
    place.begun = place.begun << 8 | byte;
    ++place.num_begun;
    const auto first = static_cast<std::uint8_t>(place.begun >> (8 * (place.num_begun - 1)));
    const auto length = character_length(first);
    if (place.num_begun < length) return true;
    const auto code = length == 0 ? kCodePoints : character_of(place.begun, length);
    if (code == kCodePoints || (is_alone && length > 1 && !may_be_split(classes_[code]))) return false;
    place = {state_after(place.state, classes_[code], place.marked)};
    return place.state >= 0;
}

std::vector<std::int32_t> Pretokens::targets() const {
    const auto width = static_cast<std::size_t>(num_classes_);
    std::vector<std::int32_t> found(width, -1);
    for (std::size_t at = 0; at < next_.size(); ++at) {
        auto& target = found[at / 2 % width];
        if (next_[at] < 0) continue;
        if (target >= 0 && target != next_[at]) return {};
        target = next_[at];
    }
    return found;
}

// A token's key has the classes of its whole characters, and the bytes of those that it begins or ends
// within. If the state after a character depends on its class alone, the first and the last class of a token
// of whole characters are enough, unless two neighbours in it never stand within one pretoken: it follows no
// place.
void Pretokens::make_groups() {
    const auto after_class = targets();
    const auto shortened = [&](const std::string& classes) {
        for (std::size_t at = 0; at + 1 < classes.size(); ++at) {
            const auto state = after_class[static_cast<std::uint8_t>(classes[at])];
            const auto following = static_cast<std::uint8_t>(classes[at + 1]);
            if (state < 0 || state_after(state, following, false) < 0) return std::string();
        }
        return std::string{classes.front(), classes.back()};
    };
    std::unordered_map<std::string, std::int32_t> known;  // the group of a key
    group_of_.assign(tokens_->size(), -1);
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < tokens_->size(); ++token) {
        if (!tokens_->has_text(token)) continue;
        const auto text = tokens_->bytes_of(token);
        std::string key;
        for (std::size_t at = 0; at < text.size();) {
            const auto length =
                static_cast<std::size_t>(character_length(static_cast<std::uint8_t>(text[at])));
            std::uint32_t bytes = 0;
            for (std::size_t k = at; k < at + length && k < text.size(); ++k)
                bytes = bytes << 8 | static_cast<std::uint8_t>(text[k]);
            const bool whole = length > 0 && at + length <= text.size();
            const auto code = whole ? character_of(bytes, static_cast<std::int32_t>(length)) : kCodePoints;
            if (code == kCodePoints) {
                key += '\xFF';  // no class: bytes follow
                key += text[at++];
                continue;
            }
            key += static_cast<char>(classes_[code]);
            at += length;
        }
        if (!after_class.empty() && key.find('\xFF') == std::string::npos) key = shortened(key);
        const auto [found, is_new] =
            known.emplace(std::move(key), static_cast<std::int32_t>(group_text_.size()));
        if (is_new) group_text_.push_back(text);
        group_of_[token] = found->second;
    }
}

void Pretokens::make_samples(std::span<const std::uint8_t> settled) {
    samples_.resize(static_cast<std::size_t>(num_classes_));
    for (std::uint32_t code = 0x80; code < kCodePoints; ++code) {
        auto& of_class = samples_[classes_[code]];
        if (of_class.size() < kSamples && (code < 0xD800 || code >= 0xE000) &&
            (settled.empty() || settled[code] != 0))
            of_class.push_back(encoded(code));
    }
}

const std::vector<std::int32_t>& Pretokens::after(std::int32_t place, bool marked) {
    const auto at = 2 * static_cast<std::size_t>(place) + (marked ? 1 : 0);
    if (after_[at]) return *after_[at];
    auto made = std::make_unique<std::vector<std::int32_t>>(group_text_.size(), -1);
    const auto from = places_[place];
    for (std::size_t group = 0; group < group_text_.size(); ++group) {
        auto here = from;
        if (marked && here.num_begun > 0) break;  // there is no border within a character
        if (here.num_begun == 0) here.marked = marked;
        bool fits = true;
        for (const auto byte : group_text_[group]) {
            fits = step(here, static_cast<std::uint8_t>(byte), group_text_[group].size() == 1);
            if (!fits) break;
        }
        if (fits) (*made)[group] = intern(here);
    }
    bytes_ += made->size() * sizeof(std::int32_t);
    after_[at] = std::move(made);
    return *after_[at];
}

bool Pretokens::ends(std::int32_t place) const {
    const auto& here = places_[place];
    return here.num_begun == 0 && ends_[here.state] != 0;
}

bool Pretokens::is_free_after(std::int32_t place, std::uint8_t character_class) const {
    const auto& here = places_[place];
    if (here.num_begun > 0) return false;
    const auto state = state_after(here.state, character_class, true);
    return state >= 0 && free_[state] != 0;
}

}  // namespace pdacon
