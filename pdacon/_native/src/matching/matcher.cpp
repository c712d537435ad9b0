#include "matching/matcher.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/utf8.hpp"

namespace pdacon {

namespace {

// Whether bytes of a text certainly end between two of its characters.
bool ends_between_characters(std::string_view bytes) {
    const auto begins = [](char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0U) != 0x80U; };
    const auto first = std::ranges::find_if(bytes, begins);
    if (first == bytes.end()) return false;
    auto state = kUtf8Boundary;
    for (const char byte : std::ranges::subrange(first, bytes.end()))
        state = utf8_step(state, static_cast<std::uint8_t>(byte));
    return state == kUtf8Boundary;
}

bool has_room(const Matcher::Limit& limit, std::string_view bytes) {
    if (limit.left == Matcher::kUnlimited || bytes.empty()) return true;
    return limit.unit == Matcher::Unit::kTokens ? limit.left > 0 : std::ssize(bytes) <= limit.left;
}

}  // namespace

Matcher::Matcher(std::shared_ptr<TokenPda> pda, std::int64_t max_rollback, bool leading_space, bool keep_text,
                 Limit limit)
    : leading_space_(leading_space),
      keep_text_(keep_text),
      max_rollback_(max_rollback),
      pda_(std::move(pda)),
      at_(initial(limit)),
      limit_(limit) {
    if (limit.left != kUnlimited) pda_->require_measurable();
}

Matcher::Matcher(std::shared_ptr<NestedPda> nested, Whole whole, std::int64_t max_rollback,
                 bool leading_space, bool keep_text)
    : leading_space_(leading_space),
      keep_text_(keep_text),
      max_rollback_(max_rollback),
      nested_(std::move(nested)),
      at_(initial({})),
      whole_(std::move(whole)) {}

Matcher::Matcher(const Matcher& other)
    : leading_space_(other.leading_space_),
      keep_text_(other.keep_text_),
      max_rollback_(other.max_rollback_),
      pda_(other.pda_),
      nested_(other.nested_),
      at_(other.at_),
      unread_(other.unread_),
      whole_(other.whole_),
      limit_(other.limit_),
      history_(other.history_),
      promises_(other.promises_),
      num_rollbacks_(other.num_rollbacks_),
      text_(other.text_),
      labelled_(other.labelled_) {}

Matcher::Position Matcher::initial(const Limit& limit) const {
    if (nested_) {
        auto start = nested_->initial();
        return {{{start.node, {}, {}}, false, leading_space_, {}, start.count, std::move(start.frames), 0},
                {}};
    }
    PersistentStack stack(pda_->machine().start.start_state);
    const auto lexing = boundary(pda_->machine(), stack, 0);
    Position start{{lexing, false, leading_space_, limit, CanonicalFilter::kStart, std::move(stack), 0}, {}};
    if (has_plans(start)) start.promise = planned(start, limit.unit);
    return start;
}

// The text is read again, position by position of the history.
void Matcher::complete() {
    spell_text();
    auto older = history_;
    std::vector<HistoryEntry> entries;
    while (older.size() > 0) entries.push_back(older.pop(1));
    std::ranges::reverse(entries);
    entries.push_back(at_);
    Matcher twin(whole_(), max_rollback_, leading_space_, true);
    History<HistoryEntry> history;
    auto at = twin.at_;
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const std::string_view added(text_.data() + at.length, entries[k].length - at.length);
        if (k > 0) history.push(at);
        if (!at.terminated) {
            auto next = twin.step(at, added);
            if (!next || !twin.is_allowed(*next))
                throw std::logic_error("a text that was accepted is no text of the whole grammar");
            at = std::move(next->to);
        }
        at.terminated = entries[k].terminated;
        at.leading_space = entries[k].leading_space;
    }
    std::swap(history_, history);
    std::swap(at_, at);
    kept_mask_ = {};
    pda_ = std::move(twin.pda_);
    nested_.reset();
    whole_ = nullptr;
    if (!keep_text_) text_.clear();
}

void Matcher::set_limit(const Limit& limit) {
    Promise promise;
    if (is_filtered() && limit.left != kUnlimited && !at_.terminated) {
        promise = planned(at_, limit.unit);
        // A plan that has been followed so far may be shorter than one that is found anew.
        if (at_.limit.left != kUnlimited && at_.limit.unit == limit.unit && at_.promise.cost < promise.cost)
            promise = at_.promise;
    }
    kept_mask_ = {};
    at_.limit = limit;
    at_.promise = std::move(promise);
}

std::optional<Matcher::Step> Matcher::step(const Position& from, std::string_view bytes) const {
    if (from.terminated || !has_room(from.limit, bytes)) return std::nullopt;
    Step next{from, bytes, false, &from};
    if (nested_) {
        auto to = nested_at(from);
        if (!nested_->read(to, bytes)) return std::nullopt;
        next.to.lexing.state = to.node;
        next.to.filter_state = to.count;
        next.to.stack = std::move(to.frames);
        next.to.length += bytes.size();
        next.to.leading_space = from.leading_space && bytes.empty();
        next.allowed = true;
        return next;
    }
    const auto& machine = pda_->machine();
    auto& [lexing, terminated, leading_space, limit, filter_state, stack, length] =
        static_cast<HistoryEntry&>(next.to);
    std::vector<std::int32_t> pending;
    for (const char byte : bytes) {
        const auto byte_class = machine.lexer.byte_class(static_cast<std::uint8_t>(byte));
        const auto state = machine.lexer.next(lexing.state, byte_class);
        if (state >= 0) {
            machine.lexer.move(lexing, state, byte_class);
            continue;
        }
        if (state == LexingAutomaton::kDead) return std::nullopt;
        pending.assign(1, byte_class);
        if (!read(machine, stack, lexing, pending)) return std::nullopt;
        if (pda_->max_depth() > 0 && stack.depth() > pda_->max_depth())
            throw LimitExceeded("depth", stack.depth(), static_cast<double>(pda_->max_depth()));
    }
    const auto liveness = pda_->known_liveness(lexing, stack.view());
    if (liveness == Liveness::kDeadOnAll) return std::nullopt;
    next.allowed = liveness == Liveness::kLiveOnAll && limit.left == kUnlimited;
    if (limit.left > 0 && !bytes.empty())
        limit.left -= limit.unit == Unit::kTokens ? 1 : static_cast<std::int32_t>(bytes.size());
    leading_space = leading_space && bytes.empty();
    if (!bytes.empty() && is_filtered()) {
        filter_state = pda_->filter()->step(from.filter_state, bytes);
        if (filter_state < 0) return std::nullopt;
        next.to.promise = {};
    }
    length += bytes.size();
    return next;
}

std::optional<Matcher::Step> Matcher::step(const Position& from, std::int64_t id) const {
    const auto& tokens = this->tokens();
    if (id < 0 || static_cast<std::size_t>(id) >= tokens.size())
        throw std::out_of_range("token " + std::to_string(id) + " is not in the vocabulary of " +
                                std::to_string(tokens.size()) + " tokens");
    const auto token = static_cast<std::int32_t>(id);
    if (tokens.is_end(token)) {
        if (!from.terminated && !may_end(from)) return std::nullopt;
        Step next{from, {}, true, &from};
        next.to.terminated = true;
        return next;
    }
    auto next = step_as_text(from, token);
    if (nested_) return next;
    if (is_filtered()) return filtered(std::move(next), from, token);
    if (!pda_->labels().any_has(token)) return next;
    if (next) next->allowed = is_allowed(*next);
    return next && next->allowed ? next : step_as_label(from, token);
}

std::optional<Matcher::Step> Matcher::filtered(std::optional<Step> step, const Position& from,
                                               std::int32_t token) const {
    const bool plans = has_plans(from);
    if (!step || (plans ? !fits(from, token)
                        : !pda_->canonical().allows(from.lexing, from.stack.view(), from.filter_state,
                                                    from.leading_space, token)))
        return std::nullopt;
    step->to.filter_state = pda_->filter()->step(from.filter_state, token);
    if (plans) step->to.promise = promise_after(from, token, step->to);
    step->allowed = true;
    return step;
}

bool Matcher::fits(const Position& from, std::int32_t token) const {
    if (token == from.promise.next()) return true;
    std::vector<std::int32_t> words(pda_->tokens().words());
    pda_->plans().write(configuration(from), allowance(from), from.promise.cost, words);
    return has_bit(words.data(), token);
}

Matcher::Promise Matcher::promise_after(const Position& from, std::int32_t token, const Position& to) const {
    Promise found(pda_->plans().plan_after(configuration(from), configuration(to), from.limit.unit));
    if (token != from.promise.next()) return found;
    auto rest = from.promise;
    ++rest.at;
    rest.cost -= from.limit.left - to.limit.left;
    return rest.cost <= found.cost ? rest : found;
}

std::optional<Matcher::Step> Matcher::step_as_text(const Position& from, std::int32_t token) const {
    const auto& tokens = this->tokens();
    if (!tokens.has_text(token)) return std::nullopt;
    auto bytes = tokens.bytes_of(token);
    if (from.leading_space && bytes.front() == ' ') bytes.remove_prefix(1);
    // A leading space that is no text is a token still.
    const bool counts = bytes.empty() && from.limit.unit == Unit::kTokens && from.limit.left != kUnlimited;
    if (counts && from.limit.left == 0) return std::nullopt;
    auto next = step(from, bytes);
    if (!next) return next;
    if (counts) --next->to.limit.left;
    next->to.leading_space = false;
    // The mask does not tell whether it allows a token as text or as a label.
    if (next->allowed || pda_->labels().any_has(token)) return next;
    if (has_plans(from)) return next;  // the mask under a budget is another one
    // If the mask of the position is known, it says whether the token is allowed.
    const bool is_kept = &from == &at_ && kept_mask_.id >= 0;
    if (const auto known = is_kept ? kept_mask_ : known_mask(from); known.id >= 0) {
        if (!known.view.has(token)) return std::nullopt;
        next->allowed = true;
    }
    return next;
}

bool Matcher::is_allowed(const Step& step) const {
    if (step.allowed) return true;
    const auto& limit = step.to.limit;
    if (limit.left == kUnlimited || step.to.terminated)
        return pda_->is_live(step.to.lexing, step.to.stack.view());
    const auto missing = least(step.to, limit.unit);
    return missing <= limit.left &&
           (!step.from->limit.is_closing() || missing <= least(*step.from, limit.unit));
}

std::optional<Matcher::Step> Matcher::step_as_label(const Position& from, std::int32_t token) const {
    const auto& tokens = pda_->tokens();
    for (std::size_t label = 0; label < pda_->labels().size(); ++label) {
        if (!pda_->labels().has(label, token)) continue;
        const auto symbol = static_cast<std::int32_t>(tokens.size() + label);
        auto next = step(from, tokens.bytes_of(symbol));
        if (!next || !is_allowed(*next)) continue;
        next->allowed = true;
        next->labelled = token;
        return next;
    }
    return std::nullopt;
}

bool Matcher::is_text_allowed(const Step& step) const {
    if (!is_allowed(step)) return false;
    const auto& to = step.to;
    if (!is_filtered() || to.terminated || may_end(to) || !ends_between_characters(step.text)) return true;
    std::vector<std::int32_t> mask(pda_->tokens().words());
    write_filtered(to, mask);
    return std::ranges::any_of(mask, [](auto word) { return word != 0; });
}

bool Matcher::may_spell_label(std::string_view bytes) const {
    return !nested_ && pda_->labels().size() > 0 && std::ranges::any_of(bytes, Labels::is_of_spelling);
}

Liveness Matcher::known_allowed(std::int64_t id) const { return within_lexeme(id).first; }

// The stack is not copied: within a lexeme it stays as it is.
std::pair<Liveness, LexerConfiguration> Matcher::within_lexeme(std::int64_t id) const {
    if (nested_) return {Liveness::kUnknown, {}};
    const auto& tokens = pda_->tokens();
    const bool has_text = id >= 0 && static_cast<std::size_t>(id) < tokens.size() &&
                          !tokens.is_end(static_cast<std::int32_t>(id));
    if (!has_text || at_.terminated || at_.leading_space || at_.limit.left != kUnlimited || is_labelled(id) ||
        is_filtered())
        return {Liveness::kUnknown, {}};
    if (!tokens.has_text(static_cast<std::int32_t>(id))) return {Liveness::kDeadOnAll, {}};
    const auto bytes = tokens.bytes_of(static_cast<std::int32_t>(id));
    const auto& lexer = pda_->machine().lexer;
    auto lexing = at_.lexing;
    for (const char byte : bytes) {
        const auto byte_class = lexer.byte_class(static_cast<std::uint8_t>(byte));
        const auto state = lexer.next(lexing.state, byte_class);
        if (state < 0)
            return {state == LexingAutomaton::kDead ? Liveness::kDeadOnAll : Liveness::kUnknown, lexing};
        lexer.move(lexing, state, byte_class);
    }
    // Some sentence goes on from here, and so from where nothing has changed.
    if (lexing == at_.lexing) return {Liveness::kLiveOnAll, lexing};
    return {pda_->known_liveness(lexing, at_.stack.view()), lexing};
}

bool Matcher::accept_within_lexeme(std::int64_t token) {
    const auto [liveness, lexing] = within_lexeme(token);
    if (liveness != Liveness::kLiveOnAll) return false;
    const auto bytes = tokens().bytes_of(static_cast<std::int32_t>(token));
    keep_position(bytes, -1);
    if (lexing != at_.lexing) kept_mask_ = {};
    at_.lexing = lexing;
    at_.length += bytes.size();
    count_rollback();
    return true;
}

bool Matcher::accept_any_kept(std::int64_t token, const TokenSteps::Place& place) {
    TokenStep step;
    if (!TokenSteps::find(step, place, at_.lexing.state, static_cast<std::int32_t>(token), at_.stack.node(),
                          count()) ||
        !has_depth(std::int64_t{at_.stack.depth()} + step.rise))
        return false;
    if (max_rollback_ == 0 && !keep_text_) {
        if (nested_) unread_.push_back(step.token);
        try {
            if (step.popped + step.pushed > 0) at_.stack.replace(step.popped, step.states_pushed());
        } catch (...) {
            if (nested_) unread_.pop_back();
            throw;
        }
    } else {
        auto stack = at_.stack;
        stack.replace(step.popped, step.states_pushed());
        keep_position(tokens().bytes_of(step.token), -1);
        std::swap(at_.stack, stack);
        count_rollback();
    }
    move_to(step.next_lexer_state, step.length);
    if (nested_) at_.filter_state = step.count_after();
    if (step.mask_id != TokenStep::kSameMask) kept_mask_ = {step.mask_id, step.mask()};
    return true;
}

std::optional<Matcher::Before> Matcher::before(std::int64_t token) const {
    if (!may_keep(token) || token < 0 || static_cast<std::size_t>(token) >= tokens().size())
        return std::nullopt;
    return Before{owner(), at_.lexing, count(), at_.stack};
}

void Matcher::keep_step(Before before, std::int64_t token) const {
    if (before.owner != owner()) return;  // the matcher has gone over to the whole
    const auto taken = static_cast<std::int32_t>(token);
    if (nested_)
        nested_->keep_step({before.lexing.state, before.count, std::move(before.stack)}, taken);
    else
        pda_->keep_step(before.lexing, before.stack.view(), taken);
}

const std::string& Matcher::text() const {
    if (keep_text_) return text_;
    throw MatcherMisuse(
        "this matcher keeps no text, so it cannot explain; ask for one with "
        "constraint.matcher(keep_text=True)");
}

const std::vector<Matcher::Labelled>& Matcher::labelled() const {
    text();
    return labelled_;
}

void Matcher::accept(Step step) {
    // All that needs memory comes first: the text and the history stay in step with the position.
    if (has_plans(step.to) && !step.to.terminated && step.to.promise.cost == CanonicalPlans::kNone)
        step.to.promise = planned(step.to, step.to.limit.unit);  // after bytes
    keep_position(step.text, step.labelled);
    std::swap(at_, step.to);
    kept_mask_ = {};
    count_rollback();
}

void Matcher::keep_position(std::string_view added, std::int32_t labelled) {
    try {
        if (records_text()) {
            spell_text();
            text_.append(added);
        }
        if (keep_text_ && labelled >= 0) labelled_.push_back({at_.length, labelled});
        if (max_rollback_ != 0 && is_filtered()) promises_.push(at_.promise);
        if (max_rollback_ != 0) history_.push(at_);
    } catch (...) {
        if (promises_.size() > history_.size()) promises_.pop(1);
        if (records_text()) forget_text();
        throw;
    }
}

void Matcher::count_rollback() {
    if (max_rollback_ == 0) return;
    ++num_rollbacks_;
    if (max_rollback_ < 0) return;
    num_rollbacks_ = std::min(num_rollbacks_, static_cast<std::size_t>(max_rollback_));
    history_.forget_before(num_rollbacks_);
    promises_.forget_before(num_rollbacks_);
}

// Adds to the text the bytes of tokens that `accept_kept` has taken. Nothing has changed if this throws.
void Matcher::spell_text() {
    if (unread_.empty()) return;
    if (text_.capacity() < at_.length) text_.reserve(std::max(at_.length, 2 * text_.capacity()));
    for (const auto token : unread_) text_.append(tokens().bytes_of(token));
    unread_.clear();
}

// Forgets the text after the present position.
void Matcher::forget_text() {
    if (unread_.empty()) text_.resize(at_.length);  // else all of it is before that
    while (!labelled_.empty() && labelled_.back().at >= at_.length) labelled_.pop_back();
}

std::size_t Matcher::validate_tokens(std::span<const std::int64_t> tokens) const {
    auto at = at_;
    std::size_t length = 0;
    for (const auto token : tokens) {
        std::optional<Step> next;
        try {
            next = step(at, token);
        } catch (const LimitExceeded&) {  // the limit on depth: the token cannot be accepted
            break;
        }
        if (!next || !is_allowed(*next)) break;
        at = std::move(next->to);
        ++length;
    }
    return length;
}

void Matcher::rollback(std::int64_t count) {
    if (count < 0) throw std::invalid_argument("rollback: the count must not be negative");
    if (static_cast<std::uint64_t>(count) > num_rollbacks_)
        throw MatcherMisuse(
            "rollback(" + std::to_string(count) + "): only " + std::to_string(num_rollbacks_) +
            " accepts can be taken back" +
            (max_rollback_ >= 0 ? " (max_rollback=" + std::to_string(max_rollback_) + ")" : ""));
    if (count == 0) return;
    kept_mask_ = {};
    static_cast<HistoryEntry&>(at_) = history_.pop(static_cast<std::size_t>(count));
    at_.promise = is_filtered() ? promises_.pop(static_cast<std::size_t>(count)) : Promise();
    num_rollbacks_ -= static_cast<std::size_t>(count);
    if (records_text()) forget_text();
}

void Matcher::reset() {
    at_ = initial(limit_);
    kept_mask_ = {};
    history_.clear();
    promises_.clear();
    num_rollbacks_ = 0;
    text_.clear();
    unread_.clear();
    labelled_.clear();
}

bool Matcher::may_end(const Position& at) const {
    if (nested_) return nested_->may_end(nested_at(at));
    ReadSet read_set;
    Overlay stack(at.stack.view(), read_set);
    return ends(pda_->machine(), stack, at.lexing) &&
           (!is_filtered() || (!is_only_space(at) && pda_->filter()->ends(at.filter_state)));
}

std::int64_t Matcher::least(const Position& at, Unit unit) const {
    if (at.terminated) return 0;
    if (!is_filtered()) return pda_->budgeted().least(unit, at.lexing, at.leading_space, at.stack.view());
    const bool is_planned = at.limit.left != kUnlimited && at.limit.unit == unit;
    if (is_planned && at.promise.cost != CanonicalPlans::kNone) return at.promise.cost;
    return pda_->plans().plan(configuration(at), unit).cost;
}

bool Matcher::is_accepting() const { return at_.terminated || may_end(at_); }

Mask Matcher::mask() const {
    if (!is_filtered() || at_.terminated) return mask(at_);
    filtered_mask_.resize(pda_->tokens().words());
    write_filtered(at_, filtered_mask_);
    return {kNoNumber, MaskView::of_words(filtered_mask_.data())};
}

Mask Matcher::known_mask() const {
    if (kept_mask_.id >= 0) return kept_mask_;
    if (!is_filtered() || at_.terminated) {
        const auto known = known_mask(at_);
        if (has_plain_mask() || nested_) kept_mask_ = known;
        return known;
    }
    filtered_mask_.resize(pda_->tokens().words());
    const bool plans = has_plans(at_);
    if (plans
            ? !pda_->plans().write_known(configuration(at_), allowance(at_), at_.promise.cost, filtered_mask_)
            : !pda_->canonical().write_known(at_.lexing, at_.stack.view(), at_.filter_state,
                                             at_.leading_space, filtered_mask_))
        return {};
    if (plans) add_planned(at_, filtered_mask_);
    if (is_only_space(at_)) without_ends(filtered_mask_);
    return {kNoNumber, MaskView::of_words(filtered_mask_.data())};
}

void Matcher::write_filtered(const Position& at, std::span<std::int32_t> words) const {
    if (has_plans(at)) {
        pda_->plans().write(configuration(at), allowance(at), at.promise.cost, words);
        add_planned(at, words);
    } else {
        pda_->canonical().write(at.lexing, at.stack.view(), at.filter_state, at.leading_space, words);
    }
    if (is_only_space(at)) without_ends(words);
}

void Matcher::add_planned(const Position& at, std::span<std::int32_t> words) const {
    if (const auto token = at.promise.next(); token >= 0 && at.promise.cost <= at.limit.left)
        set_bit(words, token);
}

// A tokenizer makes no tokens of the empty text, so a text cannot end after nothing but the leading space.
void Matcher::without_ends(std::span<std::int32_t> words) const {
    for (const auto token : pda_->tokens().end_tokens()) clear_bit(words, token);
}

Mask Matcher::mask(const Position& at) const {
    if (nested_) {
        if (at.terminated) return nested_->end_mask();
        return at.leading_space ? nested_->leading_mask() : nested_->mask(nested_at(at));
    }
    if (at.terminated) return pda_->end_mask();
    if (at.limit.left != kUnlimited)
        return pda_->budgeted().mask(at.lexing, at.leading_space, at.stack.view(), allowance(at));
    return at.leading_space ? pda_->plain().leading_mask() : pda_->plain().mask(at.lexing, at.stack.view());
}

Mask Matcher::known_mask(const Position& at) const {
    if (nested_) {
        if (at.terminated) return {};
        return at.leading_space ? nested_->known_leading_mask() : nested_->known_mask(nested_at(at));
    }
    if (at.terminated) return pda_->end_mask();
    if (at.limit.left != kUnlimited)
        return pda_->budgeted().known_mask(at.lexing, at.leading_space, at.stack.view(), allowance(at));
    return at.leading_space ? pda_->plain().known_leading_mask()
                            : pda_->plain().known_mask(at.lexing, at.stack.view());
}

std::int64_t Matcher::completion_length() const { return complete(nullptr); }

std::int64_t Matcher::complete(std::string* text, std::size_t most) const {
    if (at_.terminated) return 0;
    return pda_->shortest_completion(at_.lexing, at_.stack, text, most);
}

std::pair<std::int64_t, std::string> Matcher::completion_head(std::size_t most) const {
    std::string text;
    const auto length = complete(&text, most);
    return {length, std::move(text)};
}

std::string Matcher::shortest_completion(const std::function<void()>& between) const {
    std::string text;
    if (at_.terminated) return text;
    const bool in_parts = !pda_->has_layout();
    const auto length = complete(in_parts ? nullptr : &text);
    if (length > Completion::kLongest)
        throw MatcherMisuse("the shortest completion has more than " + std::to_string(Completion::kLongest) +
                            " bytes; it is not written out");
    std::optional<Completion::Place> place;
    if (in_parts && length > 0) place = {at_.lexing, at_.stack, length};
    while (place) {
        pda_->spell_part(place, text, kPartOfCompletion);
        if (between && place) between();
    }
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
