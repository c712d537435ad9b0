// A position in a text: lexer state, stack, and the way back.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "stack.hpp"
#include "token_pda.hpp"

namespace pdacon {

// Becomes pdacon.errors.MatcherError.
struct MatcherMisuse : std::logic_error {
    using std::logic_error::logic_error;
};

class Matcher {
  public:
    // `max_rollback`: how many accepts can be taken back; negative: all of them.
    Matcher(std::shared_ptr<TokenPda> pda, std::int64_t max_rollback);
    Matcher(const Matcher& other);  // a fork: shares the stack, takes its own way from here

    TokenPda& pda() const { return *pda_; }

    // False: not allowed, nothing has changed. Throws std::out_of_range for an id that is not in the
    // vocabulary.
    bool accept_token(std::int64_t token);
    bool accept_bytes(std::string_view bytes);
    std::size_t validate_tokens(std::span<const std::int64_t> tokens) const;
    void rollback(std::int64_t count);
    void reset();

    std::int32_t mask_id() const;
    std::int32_t known_mask_id() const;  // -1: it has to be computed
    bool is_allowed(std::int64_t token) const;
    bool is_accepting() const;
    bool is_terminated() const { return at_.terminated; }
    std::string shortest_completion() const;
    std::vector<std::int32_t> stack() const;
    const std::string& text() const { return text_; }

    // Two threads in one matcher are an error, not a race.
    class Use {
      public:
        explicit Use(const Matcher& matcher) : flag_(matcher.in_use_) {
            if (flag_.exchange(true, std::memory_order_acquire))
                throw MatcherMisuse("a Matcher is used by two threads at once; give each thread a fork()");
        }
        ~Use() { flag_.store(false, std::memory_order_release); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

      private:
        std::atomic<bool>& flag_;
    };

  private:
    struct Position {
        std::int32_t lexer_state;
        bool terminated = false;
        PersistentStack stack;
        std::size_t length = 0;  // of the text
    };
    static Position initial(const TokenPda& pda);
    std::optional<Position> after(const Position& from, std::string_view bytes) const;
    std::optional<Position> after_token(const Position& from, std::int64_t id) const;
    bool accept(std::optional<Position> next, std::string_view bytes);
    std::string_view text_of(std::int64_t token) const;
    bool may_end(const Position& at) const;

    std::shared_ptr<TokenPda> pda_;
    std::int64_t max_rollback_;
    Position at_;
    std::deque<Position> history_;
    std::string text_;  // what was accepted, for those who ask why
    mutable std::atomic<bool> in_use_{false};
};

}  // namespace pdacon
