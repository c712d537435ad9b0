// Room `matching`: one sequence that is being generated or read.
//
// In: a token-level pushdown automaton. Out: accept, roll back, fork, the mask and its id. It does not know
// where tokens come from.
//
// Matcher: a position in a text, with the positions before it for rollback. Forks share the nodes of stacks
// and the older history, which never change; the text is copied. One matcher is for one thread at a time.
//
// Cost: a step costs O(bytes of the token) and the reduce chains of its commits; a fork O(bytes of the text);
// a mask is a look-up, or a computation by TokenPda.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "composition/token_pda.hpp"
#include "matching/history.hpp"
#include "nested/nested_pda.hpp"
#include "pda/stack.hpp"

namespace pdacon {

// Becomes pdacon.errors.MatcherError.
struct MatcherMisuse : std::logic_error {
    using std::logic_error::logic_error;
};

// How soon a text has to end.
struct MatcherLimit {
    static constexpr std::int32_t kUnlimited = -1;
    Allowance::Unit unit = Allowance::Unit::kTokens;
    std::int32_t left = kUnlimited;  // tokens, end tokens not counted, or bytes of text, that may follow
    std::int32_t soft = kUnlimited;  // with so many left, or fewer, nothing is begun any more
    // More than fits is as good as no limit.
    static MatcherLimit of(Allowance::Unit unit, std::int64_t left, std::int64_t soft = kUnlimited) {
        const auto fitted = [](std::int64_t number) {
            return static_cast<std::int32_t>(
                std::min<std::int64_t>(number, std::numeric_limits<std::int32_t>::max()));
        };
        return {unit, fitted(left), fitted(soft)};
    }
    bool is_closing() const { return left >= 0 && left <= soft; }
};

class Matcher {
  public:
    using Unit = Allowance::Unit;
    using Limit = MatcherLimit;
    static constexpr auto kUnlimited = Limit::kUnlimited;
    // `max_rollback`: how many accepts can be taken back; negative: all. `leading_space`: one leading space
    // of the first token with text is not part of the text. `keep_text`: keeps what was accepted, for text().
    Matcher(std::shared_ptr<TokenPda> pda, std::int64_t max_rollback, bool leading_space, bool keep_text,
            Limit limit = {});
    // The same over an automaton that is made as texts are read. `whole` makes the token-level automaton of
    // the same texts, for what the other does not answer.
    using Whole = std::function<std::shared_ptr<TokenPda>()>;
    Matcher(std::shared_ptr<NestedPda> nested, Whole whole, std::int64_t max_rollback, bool leading_space,
            bool keep_text);
    Matcher(const Matcher& other);  // a fork

    // Whether the matcher reads an automaton that is made as texts are read. Then only its steps, masks and
    // forced bytes can be asked for, and they may throw NeedsWhole; `complete` goes over to the other one.
    bool is_nested() const { return nested_ != nullptr; }
    NestedPda& nested() const { return *nested_; }
    const std::shared_ptr<NestedPda>& shared_nested() const { return nested_; }
    // Throws what making it does; nothing has changed then.
    void complete();
    const Tokens& tokens() const { return nested_ ? nested_->tokens() : pda_->tokens(); }
    const Trie& trie() const { return nested_ ? nested_->trie() : pda_->trie(); }
    // What matchers of one constraint and start have in common.
    const void* owner() const {
        return nested_ ? static_cast<const void*>(nested_.get()) : static_cast<const void*>(pda_.get());
    }
    // Of whoever gives its masks their ids: no two owners of a process have the same one, one after the
    // other.
    std::uint64_t serial() const { return nested_ ? nested_->serial() : pda_->serial(); }

    const std::shared_ptr<TokenPda>& pda() const { return pda_; }

    // What is still to come of a plan to the end of the text (CanonicalPlans): the tokens from `at` on. A
    // text that keeps to it ends within the limit.
    struct Promise {
        std::shared_ptr<const std::vector<std::int32_t>> tokens;
        std::size_t at = 0;
        // Of what is still to come; kNone: no plan is known, or none was asked for.
        std::int64_t cost = CanonicalPlans::kNone;

        explicit Promise(CanonicalPlans::Plan plan)
            : tokens(std::make_shared<const std::vector<std::int32_t>>(std::move(plan.tokens))),
              cost(plan.cost) {}
        Promise() = default;
        // The next token; -1: the plan has ended, or there is none.
        std::int32_t next() const { return tokens && at < tokens->size() ? (*tokens)[at] : -1; }
    };
    // What the history keeps of a position. Promises have a history of their own, since few matchers have
    // any.
    struct HistoryEntry {
        LexerConfiguration lexing;
        bool terminated = false;
        bool leading_space = false;  // whether the next token with text loses one leading space
        Limit limit = {};
        std::int32_t filter_state = CanonicalFilter::kStart;
        PersistentStack stack;
        std::size_t length = 0;  // of the text
    };
    struct Position : HistoryEntry {
        Promise promise = {};  // if there is a filter, and a limit
    };
    // The position that a token or some bytes lead to. It is found without waiting for another thread.
    // Whether some sentence goes on from it may have to be computed, or waited for: is_allowed does that.
    struct Step {
        Position to;
        std::string_view text;  // what is added; borrowed from the vocabulary, or from the caller's bytes
        bool allowed;           // true: known to be allowed; false: not known yet
        const Position* from;   // valid as long as the matcher stays there
        std::int32_t labelled = -1;  // the token, if it is read as a label, whose spelling `text` is then
    };

    // A token that some label has is read as text where that is allowed, and else as the first label that has
    // it and is allowed. To know, a step with such a token may wait for another thread.
    bool is_labelled(std::int64_t token) const {
        return !nested_ && token >= 0 && static_cast<std::size_t>(token) < pda_->tokens().size() &&
               pda_->labels().any_has(static_cast<std::int32_t>(token));
    }
    // nullopt: the step is known to be forbidden. Throws std::out_of_range for an id that is not in the
    // vocabulary, LimitExceeded("depth") for a stack that would be too deep.
    std::optional<Step> step(std::int64_t token) const { return step(at_, token); }
    std::optional<Step> step(std::string_view bytes) const { return step(at_, bytes); }
    bool is_allowed(const Step& step) const;
    // The same for a step with bytes, where the filter is asked too: whether, after a border of tokens at the
    // end of the bytes, some sentence goes on in tokens that the tokenizer itself produces. If the bytes end
    // within a character, only the grammar is asked, since the rest of it may follow. Cost: with a filter,
    // that of a mask.
    bool is_text_allowed(const Step& step) const;
    // Whether bytes may have the spelling of a label of the grammar, which no text of a caller is to have.
    bool may_spell_label(std::string_view bytes) const;
    // kLiveOnAll or kDeadOnAll, if the lexer and the top of the stack decide alone whether a token is
    // allowed; else kUnknown. Takes no lock.
    Liveness known_allowed(std::int64_t token) const;
    // Takes a token that stays within the lexeme, if lexer and top of the stack tell that it is allowed;
    // nothing of the stack is copied. False: nothing has changed, and `step` says more. Takes no lock.
    bool accept_within_lexeme(std::int64_t token);
    // Where a step with a token is kept, if it is: brought into the cache by the time that it is taken.
    TokenSteps::Place place_of_step(std::int64_t token) const {
        if (!may_keep(token)) return {};
        const auto place =
            steps().place(at_.lexing.state, static_cast<std::int32_t>(token), at_.stack.top(), count());
        TokenSteps::prefetch(place);
        return place;
    }
    // Takes a token by a step that is kept for many positions, at its place, which was asked for here. False:
    // nothing has changed, and `step` says more. Takes no lock.
    bool accept_kept(std::int64_t token, const TokenSteps::Place& place) {
        if (place.table == nullptr) return false;
        TokenSteps::Simple step;
        if (max_rollback_ != 0 || keep_text_ || count() != 0 ||
            !TokenSteps::find_simple(step, place, at_.lexing.state, static_cast<std::int32_t>(token),
                                     at_.stack.top()) ||
            !has_depth(std::int64_t{at_.stack.depth()} + step.rise))
            return accept_any_kept(token, place);
        if (nested_) unread_.push_back(static_cast<std::int32_t>(token));
        move_to(step.next_lexer_state, step.length);
        if (step.mask_id != TokenStep::kSameMask)
            kept_mask_ = {step.mask_id, MaskView::of_number(static_cast<std::uintptr_t>(step.mask_view))};
        return true;
    }
    // A position before a token, from which what that does can be kept. Empty: it cannot.
    struct Before {
        const void* owner;
        LexerConfiguration lexing;
        std::int32_t count;
        PersistentStack stack;
    };
    std::optional<Before> before(std::int64_t token) const;
    // Keeps for `accept_kept` what a token has done that was taken there.
    void keep_step(Before before, std::int64_t token) const;
    // Bring into the cache what `accept_kept` reads, each what the next one reads in turn.
    void prefetch() const {
        for (std::size_t offset = 0; offset < kHotBytes; offset += kLine)
            prefetch(reinterpret_cast<const char*>(this) + offset);
    }
    void prefetch_stack() const { prefetch(at_.stack.node()); }
    // Takes a step from the present position. is_allowed must hold of it. Nothing changes if this throws.
    void accept(Step step);
    // How many of the tokens could be accepted in turn. Changes nothing.
    std::size_t validate_tokens(std::span<const std::int64_t> tokens) const;
    void rollback(std::int64_t count);
    void reset();

    // With a filter, masks have no ids: the id is kNoNumber, and the words are valid until the next call.
    static constexpr std::int32_t kNoNumber = std::numeric_limits<std::int32_t>::max();
    Mask mask() const;
    // Its id is -1 where the mask has to be computed, or waited for.
    Mask known_mask() const;
    // The lock that known_mask tries here, for callers that ask many matchers of one constraint behind it;
    // null where it is none, or more than one.
    std::mutex* mask_lock() const { return has_plain_mask() ? &pda_->mask_lock() : nullptr; }
    // The same as known_mask, for a caller that holds mask_lock().
    Mask known_mask_behind_lock() const {
        kept_mask_ = at_.leading_space ? pda_->plain().known_leading_mask_behind_lock()
                                       : pda_->plain().known_mask_behind_lock(at_.lexing, at_.stack.view());
        return kept_mask_;
    }
    // The mask, if it has been asked for here, or where the same holds; else its id is -1. Takes no lock.
    const Mask& kept_mask() const { return kept_mask_; }
    std::int32_t filter_state() const { return at_.filter_state; }
    // With a filter: whether the grammar alone allows a token with text that the limit has room for.
    bool grammar_allows(std::int64_t token) const {
        const auto next = step_as_text(at_, static_cast<std::int32_t>(token));
        return next && (next->allowed || pda_->is_live(next->to.lexing, next->to.stack.view()));
    }
    bool is_filtered() const { return !nested_ && pda_->filter() != nullptr; }
    bool is_accepting() const;
    bool is_terminated() const { return at_.terminated; }
    bool leading_space() const { return at_.leading_space; }
    // The fewest tokens, end tokens not counted, or bytes to the end of a sentence; TokenDistances::kNone: no
    // sentence can be reached.
    std::int64_t least(Unit unit) const { return least(at_, unit); }
    // From here on the text has to end within a limit, which must be no less than `least`.
    void set_limit(const Limit& limit);
    const Limit& limit() const { return at_.limit; }
    // `between`: called between two parts of a long text, while nothing is locked; it may throw.
    std::string shortest_completion(const std::function<void()>& between = {}) const;
    std::int64_t completion_length() const;  // of the shortest completion; far cheaper than its text
    // The length of the shortest completion, and its text: all of it, or a beginning of at least so many
    // bytes.
    std::pair<std::int64_t, std::string> completion_head(std::size_t most) const;
    std::string forced_bytes(std::size_t limit) const;
    // Forced bytes as tokens: pairs are merged as in a BPE tokenizer, lower ids first; -1 where no token
    // fits.
    std::vector<std::int64_t> merged(std::string_view forced) const;
    // How many of the first tokens are settled. They spell a prefix of `forced`, which has to follow, and end
    // before the first place where an allowed token agrees with `forced` and is longer than all that is left
    // of `tokens`.
    std::size_t settled(std::span<const std::int64_t> tokens, std::string_view forced) const;
    std::vector<std::int32_t> stack() const;
    // The terminals that can come next in a sentence. `text`: what has been read.
    ExpectedTerminals expected_terminals(std::string_view text) const {
        return pda_->expected_terminals(at_.lexing, at_.stack.view(), text);
    }
    // What was accepted. Throws MatcherMisuse if it was not kept.
    const std::string& text() const;
    bool keeps_text() const { return keep_text_; }
    // Where the text has the spelling of a label, and the token that was read as it. Throws as text().
    struct Labelled {
        std::size_t at;  // in the text
        std::int32_t token;
    };
    const std::vector<Labelled>& labelled() const;
    std::size_t length() const { return at_.length; }  // of the text
    // The memory of the matcher itself, and the nodes of its stack, which forks and the history share.
    std::size_t bytes() const {
        return sizeof(Matcher) + history_.bytes() + promises_.bytes() + text_.capacity() +
               unread_.capacity() * sizeof(std::int32_t);
    }
    std::size_t stack_nodes() const { return std::size_t{at_.stack.depth()} + 1; }

    // Held by each call from outside, so that two threads in one matcher are an error and not a race.
    class Use {
      public:
        explicit Use(const Matcher& matcher) : flag_(matcher.in_use_) {
            if (flag_.exchange(true, std::memory_order_acquire)) refuse();
        }
        ~Use() { flag_.store(false, std::memory_order_release); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        [[noreturn]] static void refuse() {
            throw MatcherMisuse("a Matcher is used by two threads at once; give each thread a fork()");
        }

      private:
        std::atomic<bool>& flag_;
    };
    // Whether such a call is under way.
    bool is_in_use() const { return in_use_.load(std::memory_order_acquire); }
    // The same for many matchers.
    class Uses {
      public:
        explicit Uses(std::size_t most) { held_.reserve(most); }
        ~Uses() {
            for (const auto* matcher : held_) matcher->in_use_.store(false, std::memory_order_release);
        }
        Uses(const Uses&) = delete;
        Uses& operator=(const Uses&) = delete;
        // Whether nobody has used it before.
        bool add(const Matcher& matcher) {
            if (matcher.in_use_.exchange(true, std::memory_order_acquire)) return false;
            held_.push_back(&matcher);
            return true;
        }

      private:
        std::vector<const Matcher*> held_;
    };

  private:
    static constexpr std::size_t kHotBytes = 192, kLine = 64;
    static constexpr std::size_t kPartOfCompletion = 1 << 14;  // some milliseconds
    static void prefetch([[maybe_unused]] const void* where) {
#if defined(__GNUC__)
        __builtin_prefetch(where);
#endif
    }
    Position initial(const Limit& limit) const;
    // Where a token leads that stays within the lexeme, and whether it is allowed, if that can be told by
    // lexer and top of the stack alone.
    std::pair<Liveness, LexerConfiguration> within_lexeme(std::int64_t token) const;
    // What is kept of the present position before a step leaves it; nothing has changed if this throws.
    void keep_position(std::string_view added, std::int32_t labelled);
    void count_rollback();
    std::optional<Step> step(const Position& from, std::int64_t token) const;
    std::optional<Step> step(const Position& from, std::string_view bytes) const;
    std::optional<Step> step_as_text(const Position& from, std::int32_t token) const;
    std::optional<Step> step_as_label(const Position& from, std::int32_t token) const;
    void spell_text();
    void forget_text();
    Mask mask(const Position& at) const;
    Mask known_mask(const Position& at) const;
    bool may_end(const Position& at) const;
    // Whether all there is so far is the leading space that is not part of the text.
    bool is_only_space(const Position& at) const {
        return leading_space_ && !at.leading_space && at.length == 0;
    }
    // Writes the mask of a position to `words`, with a filter, and may compute it.
    void write_filtered(const Position& at, std::span<std::int32_t> words) const;
    void without_ends(std::span<std::int32_t> words) const;
    bool has_plans(const Position& at) const { return is_filtered() && at.limit.left != kUnlimited; }
    CanonicalPlans::FilteredConfiguration configuration(const Position& at) const {
        return {at.lexing, at.stack, at.filter_state, at.leading_space, is_only_space(at)};
    }
    Promise planned(const Position& at, Unit unit) const {
        return Promise(pda_->plans().plan(configuration(at), unit));
    }
    // The promise after a token: what is left of the present one, if the token is its next one, or the plan
    // by which the mask allows the token, whichever is shorter.
    Promise promise_after(const Position& from, std::int32_t token, const Position& to) const;
    bool fits(const Position& from, std::int32_t token) const;
    void add_planned(const Position& at, std::span<std::int32_t> words) const;
    // A step with a token if the filter allows it, too; the result is allowed.
    std::optional<Step> filtered(std::optional<Step> step, const Position& from, std::int32_t token) const;
    std::int64_t least(const Position& at, Unit unit) const;
    static Allowance allowance(const Position& at) {
        return {at.limit.unit, at.limit.is_closing(), at.limit.left};
    }
    std::int64_t complete(std::string* text, std::size_t most = Completion::kLongest) const;
    bool is_extended(const Position& at, std::string_view spelled, std::string_view forced) const;

    // In a nested automaton a position has its node as the lexer state, its count of characters in place of
    // the state of a filter, which it never has, and its frames as the stack.
    static NestedPda::Position nested_at(const Position& at) {
        return {at.lexing.state, at.filter_state, at.stack};
    }
    bool has_plain_mask() const {
        return !nested_ && !is_filtered() && !at_.terminated && at_.limit.left == kUnlimited;
    }
    bool accept_any_kept(std::int64_t token, const TokenSteps::Place& place);
    void move_to(std::int32_t lexer_state, std::size_t length) {
        at_.lexing = {lexer_state, {}, {}};
        at_.length += length;
    }
    // Whether a step with a token may be one of those that TokenSteps keeps.
    bool may_keep(std::int64_t token) const {
        return !at_.terminated && !at_.leading_space && at_.limit.left == kUnlimited &&
               !(nested_ && nested_->is_closed()) && std::in_range<std::int32_t>(token);
    }
    const TokenSteps& steps() const { return nested_ ? nested_->steps() : pda_->steps(); }
    // Of characters, where they are counted.
    std::int32_t count() const { return nested_ ? at_.filter_state : 0; }
    bool has_depth(std::int64_t depth) const {
        return nested_ ? nested_->has_depth(depth) : pda_->max_depth() <= 0 || depth <= pda_->max_depth();
    }
    bool records_text() const { return keep_text_ || nested_; }

    // What each step of a batch looks at comes first.
    mutable std::atomic<bool> in_use_{false};
    bool leading_space_;  // at the start
    bool keep_text_;
    std::int64_t max_rollback_;
    std::shared_ptr<TokenPda> pda_;  // null with `nested_`
    std::shared_ptr<NestedPda> nested_;
    mutable Mask kept_mask_;  // a plain one, of the present position; whoever changes that forgets it
    Position at_;
    std::vector<std::int32_t> unread_;  // tokens whose bytes text_ does not have yet, in a nested automaton
    Whole whole_;
    Limit limit_;  // at the start
    History<HistoryEntry> history_;
    History<Promise> promises_;      // with a filter, one for each entry of history_
    std::size_t num_rollbacks_ = 0;  // accepts that can be taken back; history_ may hold more
    std::string text_;               // what was accepted, if it is kept; `complete` reads it again
    std::vector<Labelled> labelled_;
    mutable std::vector<std::int32_t> filtered_mask_;
};

}  // namespace pdacon
