// A nested-word automaton over tokens: masks that are computed by a walk along the trie of the vocabulary.
//
// A configuration is a node (reading.hpp) and the stack of the frames that are open. A mask depends on the
// node and on the topmost frames that its tokens pop, and is kept by these. What tokens do within a terminal
// depends on the terminal and the vocabulary alone, and is known for the process (terminal_automaton.hpp): a
// walk leads along what is left of them behind it, and along listed names.
//
// Any thread may ask; all that is asked for fills caches behind one lock, which a thread can take beforehand:
// who holds Python's lock must not wait for this one, since what the schemas are asked takes Python's.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interner.hpp"
#include "base/serial.hpp"
#include "composition/mask_resources.hpp"
#include "composition/mask_set.hpp"
#include "composition/token_steps.hpp"
#include "detokenizer/lent_words.hpp"
#include "detokenizer/shared_trie.hpp"
#include "nested/automaton.hpp"
#include "nested/reading.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class NestedPda {
  public:
    struct Position {
        std::int32_t node, count;  // count: of characters, where they are counted
        PersistentStack frames;
    };
    struct Limits {
        std::int64_t states, bytes, depth;  // 0: no limit
    };

    // Whether every text can be spelled by tokens that are one byte each, as it has to be.
    static bool can_read(const Trie& trie);
    // `question`: of which values texts are.
    NestedPda(std::unique_ptr<NestedSchemas> schemas, std::int32_t question,
              std::shared_ptr<const SharedTrie> trie, Limits limits);

    const Tokens& tokens() const { return *trie_->tokens(); }
    const Trie& trie() const { return *trie_; }
    // Of whoever gives masks their ids.
    std::uint64_t serial() const { return serial_.value(); }
    // Whether no value satisfies the question.
    bool is_empty() const { return automaton_.start() < 0; }

    std::recursive_mutex& lock() { return lock_; }
    // While it is closed no mask gets an id, since another automaton that has all masks so far is being made,
    // or has been. It is closed for good once work on it was broken off: something may be half made.
    bool is_closed() const { return closed_.load(std::memory_order_acquire); }
    // What is known by then is still answered, and nothing else.
    bool is_broken() const { return broken_.load(std::memory_order_acquire); }
    void close() { closed_.store(true, std::memory_order_release); }
    void reopen() { closed_.store(broken_, std::memory_order_release); }

    // Where texts begin. Throws, as all that follow, what schemas throw, NeedsWhole and LimitExceeded.
    Position initial();
    // Reads bytes. False: no text goes on like that, and the position is of no use.
    bool read(Position& at, std::string_view bytes);
    bool may_end(const Position& at);
    Mask mask(const Position& at);
    // The same where it is known; id -1 otherwise.
    Mask known_mask(const Position& at);
    Mask end_mask();  // of the end tokens
    // Of the beginning, where one leading space of the first token is no text; and the same if it is known.
    Mask leading_mask();
    Mask known_leading_mask();
    // What tokens are known to do. Takes no lock. Where the automaton is closed, it is not to be used.
    const TokenSteps& steps() const { return steps_; }
    // Keeps what a token does to a position, if the mask behind it is known. The token must have been read
    // there, so that nothing is made now. Never waits: it does nothing while another thread has the lock.
    void keep_step(const Position& from, std::int32_t token);
    // Whether a stack of frames may be so deep. False: `read` knows more.
    bool has_depth(std::int64_t frames) const {
        // The whole counts symbols: at most three for an open bracket, and some for what stands in the last.
        return limits_.depth == 0 || symbols(frames) <= limits_.depth;
    }
    // The bytes with which every text goes on, at most so many.
    std::string forced_bytes(Position at, std::size_t limit);

    // The masks so far from an id on, one after another. Throws std::out_of_range.
    std::vector<std::int32_t> masks(std::int64_t since = 0);
    struct Sizes {
        std::int64_t places, nodes, masks_computed, distinct_masks;
    };
    Sizes sizes();
    // Bytes of memory, as they were when the last work ended. Takes no lock.
    std::int64_t held() const {
        return published_.load(std::memory_order_relaxed) + static_cast<std::int64_t>(steps_.bytes());
    }

  private:
    // A stack that is read and changed without changing the position's: 0 and above, an entry of `pushed_`;
    // below 0, what is left of the position's when ~ref frames were popped.
    using Reference = std::int32_t;
    struct Pushed {
        std::int32_t frame;
        Reference below;
    };
    struct Here {
        NestedReading::Cursor cursor;
        Reference stack;
    };
    using Words = std::span<std::int32_t>;
    template <class Work>
    auto guarded(Work work);
    bool is_replaced() const { return is_closed() && !is_broken(); }
    void break_off() {
        broken_ = true;
        close();
    }
    std::optional<Here> taken(const NestedReading::Step& step, Reference stack);
    std::int32_t popped(Reference& stack);
    bool read_byte(NestedReading::Cursor& at, PersistentStack& frames, std::uint8_t byte);
    bool ends(const Position& at);
    void begin_key(const Position& at);
    // The id of the mask, and on how many frames it depends; id -1: it is not known.
    std::pair<std::int32_t, std::int32_t> find(const Position& at);
    TokenStep find_step(const Position& from, std::int32_t token);
    static std::int64_t symbols(std::int64_t frames) { return 3 * frames + 4; }
    // The id of a new mask.
    std::int32_t made_mask(const Position& at, bool leading_space = false);
    void add_all(const Here& from, Words words);
    bool add_terminals(const Here& from, Words words);
    void walk_from(const Here& from, const ByteSet& first, Words words);
    void follow_texts(const Here& from, Words words);
    template <class Tokens>
    void walk(const Tokens& trie, std::int32_t root, const Here& from, Words words);
    std::shared_ptr<const LoopExits> loop_of(const NestedReading::Cursor& at);

    Serial serial_;
    std::shared_ptr<const SharedTrie> trie_;
    MaskPool& pool_;   // of the trie
    LentWords& lent_;  // the same
    Limits limits_;
    mutable std::recursive_mutex lock_;
    std::atomic<bool> closed_{false}, broken_{false};
    std::optional<std::pair<std::int32_t, std::int32_t>> start_;  // node and count of where texts begin
    std::int64_t held_ = 0;                                       // bytes that all work so far has left
    std::atomic<std::int64_t> published_{0};
    NestedAutomaton automaton_;
    NestedReading reading_;
    std::int32_t longest_;  // more characters than any token has
    MaskSet masks_;
    std::int32_t end_mask_ = -1, leading_mask_ = -1;
    Interner mask_keys_;  // a node and the topmost frames that a mask depends on
    std::vector<std::int32_t> mask_ids_;
    std::vector<std::int32_t> most_frames_;  // by node: on how many frames masks depend; -1: none is known
    std::vector<std::int32_t> key_;
    TokenSteps steps_;
    // Of the computation at hand.
    std::vector<Pushed> pushed_;
    const StackNode* base_ = nullptr;
    std::int32_t looked_ = 0;  // frames of the position that were read
};

}  // namespace pdacon
