#include "filters/merge_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "detokenizer/token_set.hpp"
#include "filters/characters.hpp"

namespace pdacon {

namespace {

// A longer token counts as unreachable, because to derive it takes the square of its length.
constexpr std::size_t kMostBytes = 1 << 14;

bool spells(const Tokens& tokens, std::int32_t whole, std::int32_t left, std::int32_t right) {
    const auto text = tokens.bytes_of(whole), begin = tokens.bytes_of(left), end = tokens.bytes_of(right);
    return text.size() == begin.size() + end.size() && text.starts_with(begin) && text.ends_with(end);
}

}  // namespace

std::vector<MergeTable::Pair> MergeTable::by_rank(const Tokens& tokens, std::span<const std::int32_t> ranks) {
    if (ranks.size() != tokens.size()) throw std::invalid_argument("merges: a rank for each token is needed");
    std::unordered_map<std::string_view, std::int32_t> ids;
    ids.reserve(ranks.size());
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < ranks.size(); ++token)
        if (ranks[token] >= 0 && tokens.has_text(token) && tokens.bytes_of(token).size() <= kMostBytes)
            ids.emplace(tokens.bytes_of(token), token);
    std::vector<Pair> pairs;
    for (const auto& [text, token] : ids)
        for (std::size_t cut = 1; cut < text.size(); ++cut) {
            const auto left = ids.find(text.substr(0, cut));
            if (left == ids.end()) continue;
            const auto right = ids.find(text.substr(cut));
            if (right == ids.end()) continue;
            pairs.push_back({left->second, right->second, ranks[token], token});
        }
    return pairs;
}

MergeTable::MergeTable(std::shared_ptr<const Tokens> tokens, std::vector<Pair> pairs,
                       std::vector<std::uint8_t> roles, bool by_character)
    : tokens_(std::move(tokens)), by_character_(by_character) {
    const auto size = tokens_->size();
    if (roles.size() != size) throw std::invalid_argument("merges: a role for each token is needed");
    entries_.resize(size);
    find_units(roles);
    std::ranges::sort(pairs, {},
                      [](const Pair& pair) { return std::tuple(pair.left, pair.right, pair.rank); });
    offsets_.assign(size + 1, 0);
    for (const auto& [left, right, rank, made] : pairs) {
        for (const auto token : {left, right, made})
            if (token < 0 || static_cast<std::size_t>(token) >= size || !tokens_->has_text(token))
                throw std::invalid_argument("merges: a pair of what is no token with text");
        if (!spells(*tokens_, made, left, right))
            throw std::invalid_argument("merges: a pair that becomes another text");
        if (!partners_.empty() && offsets_[left + 1] > 0 && partners_.back().right == right)
            continue;  // the lower rank counts
        partners_.push_back({right, rank, made});
        ++offsets_[left + 1];
    }
    for (std::size_t row = 0; row < size; ++row) offsets_[row + 1] += offsets_[row];
    derive_all(roles);
    build_tree();
}

void MergeTable::find_units(std::span<const std::uint8_t> roles) {
    byte_tokens_.fill(-1);
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < entries_.size(); ++token) {
        const auto role = roles[token];
        if (role == kUnused || role == kUnmerged || !tokens_->has_text(token)) continue;
        const auto text = tokens_->bytes_of(token);
        if (by_character_ && role == kUsed) {
            const auto length = character_length(static_cast<std::uint8_t>(text.front()));
            if (text.size() == static_cast<std::size_t>(length)) characters_.emplace(text, token);
        } else if (text.size() == 1) {
            byte_tokens_[static_cast<std::uint8_t>(text.front())] = token;
        }
    }
    if (!by_character_ && std::ranges::find(byte_tokens_, -1) != byte_tokens_.end())
        throw std::invalid_argument("merges: some byte is no token");
}

std::vector<std::int32_t> MergeTable::units(std::string_view bytes) const {
    std::vector<std::int32_t> found;
    for (std::size_t at = 0; at < bytes.size();) {
        const auto first = static_cast<std::uint8_t>(bytes[at]);
        if (by_character_) {
            const auto length = static_cast<std::size_t>(character_length(first));
            if (const auto known = characters_.find(bytes.substr(at, length)); known != characters_.end()) {
                found.push_back(known->second);
                at += length;
                continue;
            }
        }
        if (byte_tokens_[first] < 0) return {};
        found.push_back(byte_tokens_[first]);
        ++at;
    }
    return found;
}

const MergeTable::Partner* MergeTable::find(std::int32_t left, std::int32_t right) const {
    const auto row = partners(left);
    const auto found = std::ranges::lower_bound(row, right, {}, &Partner::right);
    return found != row.end() && found->right == right ? &*found : nullptr;
}

MergeTable::Derivation MergeTable::derive(std::string_view bytes) const {
    Derivation made;
    auto& parts = made.parts;
    parts = units(bytes);
    std::vector<const Partner*> pairs(parts.size(), nullptr);  // of each part with the next one
    for (std::size_t at = 0; at + 1 < parts.size(); ++at) pairs[at] = find(parts[at], parts[at + 1]);
    for (;;) {
        std::size_t best = parts.size();
        for (std::size_t at = 0; at + 1 < parts.size(); ++at)
            if (pairs[at] != nullptr && (best == parts.size() || pairs[at]->rank < pairs[best]->rank))
                best = at;
        if (best == parts.size()) return made;
        made.ordered = made.ordered && pairs[best]->rank >= made.last.rank;
        made.last = *pairs[best];
        made.last_left = parts[best];
        const auto place = static_cast<std::ptrdiff_t>(best);
        parts[best] = made.last.made;
        parts.erase(parts.begin() + place + 1);
        pairs.erase(pairs.begin() + place);
        pairs[best] = best + 1 < parts.size() ? find(parts[best], parts[best + 1]) : nullptr;
        if (best > 0) pairs[best - 1] = find(parts[best - 1], parts[best]);
    }
}

std::vector<std::int32_t> MergeTable::encode(std::string_view bytes) const { return derive(bytes).parts; }

void MergeTable::derive_all(std::span<const std::uint8_t> roles) {
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < entries_.size(); ++token) {
        if (roles[token] == kUnused || !tokens_->has_text(token)) continue;
        if (roles[token] == kUnmerged) {
            at(token) = {-1, -1, -1, true, true};
            continue;
        }
        const auto made =
            tokens_->bytes_of(token).size() <= kMostBytes ? derive(tokens_->bytes_of(token)) : Derivation();
        if (made.parts.size() != 1 || made.parts[0] != token) {
            ++num_unreachable_;
            continue;
        }
        at(token) = {made.last_left, made.last.right, made.last.rank, true, made.ordered};
    }
}

void MergeTable::build_tree() {
    const auto size = entries_.size();
    std::vector<std::int32_t> roots;
    child_offsets_.assign(size + 1, 0);
    std::vector<std::int32_t> members;
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < size; ++token) {
        const auto& entry = at(token);
        if (!entry.reachable) continue;
        if (!entry.ordered)
            unordered_.push_back(token);
        else if (entry.left < 0)
            roots.push_back(token);
        else
            members.push_back(token);
    }
    std::ranges::sort(members, {}, [&](std::int32_t token) {
        return std::tuple(at(token).left, -std::int64_t{at(token).rank}, token);
    });
    for (const auto token : members) ++child_offsets_[static_cast<std::size_t>(at(token).left) + 1];
    for (std::size_t row = 0; row < size; ++row) child_offsets_[row + 1] += child_offsets_[row];
    children_ = std::move(members);
    // Preorder without recursion: a negative entry closes a subtree.
    std::vector<std::int32_t> stack(roots.rbegin(), roots.rend());
    while (!stack.empty()) {
        const auto token = stack.back();
        stack.pop_back();
        if (token < 0) {
            at(-1 - token).end = static_cast<std::int32_t>(order_.size());
            continue;
        }
        at(token).begin = static_cast<std::int32_t>(order_.size());
        order_.push_back(token);
        stack.push_back(-1 - token);
        const auto below = children(token);
        stack.insert(stack.end(), below.rbegin(), below.rend());
    }
}

bool MergeTable::merges(std::int32_t first, std::int32_t second) const {
    if (!at(first).ordered || !at(second).ordered) {
        const auto both = std::string(tokens_->bytes_of(first)) + std::string(tokens_->bytes_of(second));
        return derive(both).parts != std::vector{first, second};
    }
    // Of equal ranks the leftmost merges first: what happens to x, then the pair (x, y), then what happens to
    // y.
    for (auto x = first, x_used = kNever; x >= 0; x_used = at(x).rank, x = at(x).right)
        for (auto y = second, y_used = kNever; y >= 0; y_used = at(y).rank, y = at(y).left) {
            if (at(x).rank > y_used || at(y).rank >= x_used) continue;  // never neighbours
            const auto* pair = find(x, y);
            if (pair != nullptr && pair->rank < x_used && pair->rank <= y_used) return true;
        }
    return false;
}

void MergeTable::add_followers(std::int32_t token, std::span<std::int32_t> mask) const {
    if (!at(token).reachable) return;
    if (!at(token).ordered) {
        for (std::int32_t next = 0; static_cast<std::size_t>(next) < entries_.size(); ++next)
            if (at(next).reachable && !merges(token, next)) set_bit(mask, next);
        return;
    }
    // How many intervals begin at each index of `order_`, less those that end there.
    std::vector<std::int32_t> change(order_.size() + 1, 0);
    for (auto x = token, x_used = kNever; x >= 0; x_used = at(x).rank, x = at(x).right)
        for (const auto& [y, rank, made] : partners(x)) {
            const auto& right = at(y);
            if (right.begin < 0 || rank >= x_used || right.rank >= x_used) continue;
            const auto below = children(y);
            const auto least = std::max(rank, at(x).rank);
            const auto after = std::ranges::partition_point(
                below, [&](std::int32_t child) { return at(child).rank >= least; });
            ++change[right.begin];
            --change[after == below.begin() ? right.begin + 1 : at(*(after - 1)).end];
        }
    std::int32_t covered = 0;
    for (std::size_t index = 0; index < order_.size(); ++index) {
        covered += change[index];
        if (covered == 0) set_bit(mask, order_[index]);
    }
    for (const auto next : unordered_)
        if (!merges(token, next)) set_bit(mask, next);
}

}  // namespace pdacon
