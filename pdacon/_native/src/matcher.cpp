#include "matcher.hpp"

#include <algorithm>
#include <utility>

namespace pdacon {

Matcher::Matcher(std::shared_ptr<TokenPda> pda, std::int64_t max_rollback)
    : pda_(std::move(pda)), max_rollback_(max_rollback), at_(initial(*pda_)) {}

Matcher::Matcher(const Matcher& other)
    : pda_(other.pda_),
      max_rollback_(other.max_rollback_),
      at_(other.at_),
      history_(other.history_),
      text_(other.text_) {}

Matcher::Position Matcher::initial(const TokenPda& pda) {
    PersistentStack stack(pda.machine().start.start_state);
    const auto state = boundary(pda.machine(), stack);
    return {state, false, std::move(stack), 0};
}

std::optional<Matcher::Position> Matcher::after(const Position& from, std::string_view bytes) const {
    if (from.terminated) return std::nullopt;
    const auto& machine = pda_->machine();
    auto next = from;
    std::vector<std::int32_t> pending;
    for (const char byte : bytes) {
        const auto byte_class = machine.lexer.byte_class(static_cast<std::uint8_t>(byte));
        const auto state = machine.lexer.next(next.lexer_state, byte_class);
        if (state >= 0) {
            next.lexer_state = state;
            continue;
        }
        if (state == LexingAutomaton::kDead) return std::nullopt;
        pending.assign(1, byte_class);
        if (!read(machine, next.stack, next.lexer_state, pending)) return std::nullopt;
        if (pda_->max_depth() > 0 && next.stack.depth() > pda_->max_depth())
            throw LimitExceeded("depth", next.stack.depth(), static_cast<double>(pda_->max_depth()));
    }
    if (!pda_->alive(next.lexer_state, next.stack.node())) return std::nullopt;
    next.length += bytes.size();
    return next;
}

std::optional<Matcher::Position> Matcher::after_token(const Position& from, std::int64_t id) const {
    const auto& trie = pda_->trie();
    if (id < 0 || static_cast<std::size_t>(id) >= trie.size())
        throw std::out_of_range("token " + std::to_string(id) + " is not in the vocabulary of " +
                                std::to_string(trie.size()) + " tokens");
    const auto token = static_cast<std::int32_t>(id);
    if (trie.is_end(token)) {
        if (!from.terminated && !may_end(from)) return std::nullopt;
        auto next = from;
        next.terminated = true;
        return next;
    }
    const auto bytes = trie.bytes_of(token);
    if (bytes.empty()) return std::nullopt;
    return after(from, bytes);
}

bool Matcher::accept(std::optional<Position> next, std::string_view bytes) {
    if (!next) return false;
    text_.append(bytes);
    std::swap(at_, *next);
    if (max_rollback_ != 0) history_.push_back(std::move(*next));
    if (max_rollback_ > 0 && static_cast<std::int64_t>(history_.size()) > max_rollback_) history_.pop_front();
    return true;
}

// What an id that is in the vocabulary adds to the text.
std::string_view Matcher::text_of(std::int64_t token) const {
    const auto& trie = pda_->trie();
    const auto id = static_cast<std::int32_t>(token);
    return trie.is_end(id) ? std::string_view() : trie.bytes_of(id);
}

bool Matcher::accept_token(std::int64_t token) {
    auto next = after_token(at_, token);
    return accept(std::move(next), text_of(token));
}

bool Matcher::accept_bytes(std::string_view bytes) { return accept(after(at_, bytes), bytes); }

std::size_t Matcher::validate_tokens(std::span<const std::int64_t> tokens) const {
    auto at = at_;
    std::size_t length = 0;
    for (const auto token : tokens) {
        auto next = after_token(at, token);
        if (!next) break;
        at = std::move(*next);
        ++length;
    }
    return length;
}

void Matcher::rollback(std::int64_t count) {
    if (count < 0) throw std::invalid_argument("rollback: the count must not be negative");
    if (static_cast<std::uint64_t>(count) > history_.size())
        throw MatcherMisuse(
            "rollback(" + std::to_string(count) + "): only " + std::to_string(history_.size()) +
            " accepts can be taken back" +
            (max_rollback_ >= 0 ? " (max_rollback=" + std::to_string(max_rollback_) + ")" : ""));
    if (count == 0) return;
    at_ = std::move(history_[history_.size() - static_cast<std::size_t>(count)]);
    history_.resize(history_.size() - static_cast<std::size_t>(count), at_);
    text_.resize(at_.length);
}

void Matcher::reset() {
    at_ = initial(*pda_);
    history_.clear();
    text_.clear();
}

bool Matcher::may_end(const Position& at) const {
    std::uint32_t looked = 0;
    Overlay stack(at.stack.node(), looked);
    return ends(pda_->machine(), stack, at.lexer_state);
}

bool Matcher::is_accepting() const { return at_.terminated || may_end(at_); }

bool Matcher::is_allowed(std::int64_t token) const { return after_token(at_, token).has_value(); }

std::int32_t Matcher::mask_id() const {
    return at_.terminated ? pda_->end_mask_id() : pda_->mask_id(at_.lexer_state, at_.stack.node());
}

std::int32_t Matcher::known_mask_id() const {
    return at_.terminated ? pda_->end_mask_id() : pda_->known_mask_id(at_.lexer_state, at_.stack.node());
}

std::string Matcher::shortest_completion() const {
    std::string text;
    if (at_.terminated) return text;
    const auto length = pda_->shortest_completion(at_.lexer_state, at_.stack, text);
    if (length == Completion::kNone)
        throw std::logic_error("no completion: a position that is not alive was accepted");
    if (length > Completion::kLongest)
        throw MatcherMisuse("the shortest completion has more than " + std::to_string(Completion::kLongest) +
                            " bytes; it is not written out");
    return text;
}

std::vector<std::int32_t> Matcher::stack() const {
    std::vector<std::int32_t> states;
    for (const auto* node = at_.stack.node(); node != nullptr; node = node->below)
        states.push_back(node->state);
    std::reverse(states.begin(), states.end());
    return states;
}

}  // namespace pdacon
