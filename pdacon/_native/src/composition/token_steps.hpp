// What tokens do to configurations, kept, so that a step that was taken before is a look-up.
//
// On all stacks that have the same topmost states a token leads a lexer state to the same one, pops as many
// states and pushes the same others, and the mask after it is the same, as long as those states are all that
// the step and the mask depend on. Such a step is found by the lexer state, the token and the topmost state,
// and those below are compared. Only what is allowed is kept, with a mask that is known; neither columns nor
// budgets nor labels nor filters play a part in it. In an automaton that is made as texts are read, lexer
// states are its nodes, states are its frames, and where characters are counted their count is compared, too.
//
// Steps never become wrong. Where there is no room for one more, it takes the place of another one.
// `find` takes no lock: a slot has a number that changes with it, and is not believed if that has changed.
// Whoever adds holds the owner's lock. Tables that have become too small stay, since others may be reading
// them.
//
// Cost: a step has 64 bytes, which are a line of the cache, and is in one of two places beside each other, or
// of two more for each two states that it reads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "detokenizer/kept_mask.hpp"
#include "pda/stack.hpp"

namespace pdacon {

struct TokenStep {
    static constexpr std::size_t kWords = 7, kMostStates = 2 * kWords, kMostLength = 0xFFFF;
    std::int32_t lexer_state = 0, token = 0;
    std::int32_t next_lexer_state = 0;
    // Of the mask after it. kSameMask: nothing changes. kNotKept: all that is known is that there is no room
    // here for what the step depends on.
    static constexpr std::int32_t kNotKept = -1, kSameMask = -2;
    std::int32_t mask_id = kNotKept;
    std::uint64_t mask_view = 0;  // as a number, which has the same size everywhere
    std::uint16_t length = 0;     // of the token's text
    std::uint8_t reads = 0;       // how many states have to be on top; 0: this is no step
    std::uint8_t popped = 0, pushed = 0;
    std::uint8_t rise = 0;    // by how much the stack is deeper, at most, after one of the token's lexemes
    std::uint8_t counts = 0;  // 1: the last words have no states but counts, before and after; or 0
    std::uint8_t narrow = 0;  // 1: two states a word, as nearly all have room in 16 bits; or 0
    // Of the states that are read, the topmost first, then of those that are pushed, the lowest first.
    std::array<std::int32_t, kWords> words{};
    std::uint32_t slot_number = 0;  // of the slot that it was read from

    void set_mask(std::int32_t id, MaskView view) {
        mask_id = id;
        mask_view = view.number();
    }
    MaskView mask() const { return MaskView::of_number(static_cast<std::uintptr_t>(mask_view)); }
    // Keeps the states that are read, so many, of which `read` has all or as many as ever have room, and
    // those that are pushed. False: there is no room for all, and only the topmost are kept.
    bool set_states(std::span<const std::int32_t> read, std::size_t how_many,
                    std::span<const std::int32_t> to_push) {
        const auto has_room_in_half = [](auto state) { return (state & ~0xFFFF) == 0; };
        narrow = std::ranges::all_of(read, has_room_in_half) && std::ranges::all_of(to_push, has_room_in_half)
                     ? 1
                     : 0;
        const auto room = (kWords - 2U * counts) << narrow;
        const bool has_room = how_many + to_push.size() <= room;
        reads = static_cast<std::uint8_t>(has_room ? how_many : std::min(read.size(), room));
        pushed = static_cast<std::uint8_t>(has_room ? to_push.size() : 0);
        Halves halves{};
        for (std::size_t at = 0; at < std::size_t{reads} + pushed; ++at) {
            const auto state = at < reads ? read[at] : to_push[at - reads];
            if (narrow == 0)
                words[at] = state;
            else
                halves[at] = static_cast<std::uint16_t>(state);
        }
        // The words of counts are not among those that are written.
        if (narrow != 0)
            std::memcpy(words.data(), halves.data(), (reads + pushed + 1U) / 2 * sizeof(words[0]));
        return has_room;
    }
    struct Pushed {
        std::array<std::int32_t, kMostStates> states;
        std::size_t count;
        operator std::span<const std::int32_t>() const { return std::span(states).first(count); }
    };
    Pushed states_pushed() const {
        Pushed found;
        found.count = pushed;
        for (std::size_t at = 0; at < pushed; ++at) found.states[at] = state(reads + at);
        return found;
    }
    std::int32_t state_read(std::size_t at) const { return state(at); }
    // Of characters, where they are counted; else 0.
    std::int32_t count_before() const { return counts == 0 ? 0 : words[kWords - 2]; }
    std::int32_t count_after() const { return counts == 0 ? 0 : words[kWords - 1]; }
    void set_counts(std::int32_t before, std::int32_t after) {
        counts = before != 0 || after != 0 ? 1 : 0;
        if (counts == 0) return;
        words[kWords - 2] = before;
        words[kWords - 1] = after;
    }
    bool is_on(const StackNode* node) const {
        for (std::size_t at = 0; at < reads; ++at, node = node->below)
            if (node == nullptr || node->state != state(at)) return false;
        return true;
    }

  private:
    using Halves = std::array<std::uint16_t, kMostStates>;
    // Each half is loaded by itself: a wider load would span several recent stores, which cannot be forwarded
    // to it from the store buffer, and would wait until they are in the cache.
    std::int32_t state(std::size_t at) const {
        if (narrow == 0) return words[at];
        std::uint16_t half;
        std::memcpy(&half, reinterpret_cast<const std::byte*>(words.data()) + at * sizeof(half),
                    sizeof(half));
        return half;
    }
};
static_assert(sizeof(TokenStep) == 64 && std::has_unique_object_representations_v<TokenStep>);

class TokenSteps {
    class Table;

  public:
    // Where the step of a token is looked for first, among the steps that there are now.
    struct Place {
        const Table* table = nullptr;
        std::uint64_t hashed = 0;
    };
    Place place(std::int32_t lexer_state, std::int32_t token, std::int32_t top, std::int32_t count) const {
        return {table_.load(std::memory_order_acquire), hash(lexer_state, token, top, count)};
    }
    // The step of a token, if it is kept; else one that says that there is no room for it, or that reads no
    // states.
    TokenStep find(std::int32_t lexer_state, std::int32_t token, const StackNode* top,
                   std::int32_t count = 0) const {
        TokenStep step, not_kept;
        const auto is_kept = [&] {
            if (step.mask_id == TokenStep::kNotKept) not_kept = step;
            return step.mask_id != TokenStep::kNotKept;
        };
        const auto at = place(lexer_state, token, top->state, count);
        return find(step, at, lexer_state, token, top, count, is_kept) ? step : not_kept;
    }
    // Whether the step at a place is kept, which `step` is then.
    static bool find(TokenStep& step, const Place& place, std::int32_t lexer_state, std::int32_t token,
                     const StackNode* top, std::int32_t count) {
        return find(step, place, lexer_state, token, top, count,
                    [&] { return step.mask_id != TokenStep::kNotKept; });
    }
    // What most steps do: they read the topmost state alone, and leave the stack as it is.
    struct Simple {
        std::int32_t next_lexer_state, mask_id;
        std::uint64_t mask_view;
        std::uint16_t length;
        std::uint8_t rise;
    };
    // Whether such a step, with nothing counted, is just at a place, where steps are kept; `step` is it then.
    // Quicker than `find`, since little of it is read and nothing is copied.
    static bool find_simple(Simple& step, const Place& place, std::int32_t lexer_state, std::int32_t token,
                            std::int32_t top) {
        return place.table->at(place.hashed).read_simple(step, key(lexer_state, token), top);
    }
    // Brings into the cache what `find` looks at first.
    static void prefetch(const Place& place) {
#if defined(__GNUC__)
        if (place.table != nullptr) __builtin_prefetch(&place.table->at(place.hashed));
#else
        static_cast<void>(place);
#endif
    }

    // Whether to keep one more. Where all places are taken, few are, so that steps that are never taken again
    // cost little. Whoever asks holds the owner's lock.
    bool wants_more() {
        const bool is_full = tables_.empty() ? has_no_room_ : added_ > tables_.back()->slots().size();
        return !is_full || ++asked_ % kOneOf == 0;
    }
    // Adds a step that `find` does not know. `most`: how many bytes the tables may take.
    void add(const TokenStep& step, std::size_t most);
    // Bytes of the tables. Takes no lock.
    std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::size_t kFewestSlots = 64, kMostSlots = std::size_t{1} << 14;
    static constexpr std::size_t kOneOf = 16;

    // A step in words that threads can read while another one writes.
    class Slot {
      public:
        TokenStep read() const {
            TokenStep step;
            read(step);
            return step;
        }
        // Written word by word, as it is read: a processor that has to put words together waits for them.
        void read(TokenStep& step) const {
            static_assert(std::is_trivially_copyable_v<TokenStep>);
            auto* const bytes = reinterpret_cast<std::byte*>(&step);
            const auto number = words_.back().load(std::memory_order_acquire);
            const auto copy = [&](std::size_t at) {
                const auto word = words_[at].load(std::memory_order_relaxed);
                std::memcpy(bytes + at * sizeof(word), &word, sizeof(word));
            };
            [&]<std::size_t... at>(std::index_sequence<at...>) {
                (copy(at), ...);
            }(std::make_index_sequence<std::tuple_size_v<Words> - 1>());
            std::memcpy(bytes + (words_.size() - 1) * sizeof(number), &number, sizeof(number));
            std::atomic_thread_fence(std::memory_order_acquire);
            if (words_.back().load(std::memory_order_relaxed) != number || step.slot_number % 2 != 0)
                step.reads = 0;
        }
        // False: a step of that key is not here. Cheaper than to read it.
        bool may_be_of(std::uint64_t key) const { return words_[0].load(std::memory_order_relaxed) == key; }
        // Whether a simple step of that key and topmost state is here, which `step` is then.
        bool read_simple(Simple& step, std::uint64_t key, std::int32_t top) const {
            const auto number = words_.back().load(std::memory_order_acquire);
            const auto word = [&](std::size_t at) { return words_[at].load(std::memory_order_relaxed); };
            const auto form = word(kForm), states = word(kForm + 1);
            if (!may_be_of(key) || (form & ~kMeasures) != kSimple || parts<std::uint16_t>(states)[0] != top)
                return false;
            const auto after = parts<std::int32_t>(word(1));
            step = {after[0], after[1], word(2), parts<std::uint16_t>(form)[0],
                    parts<std::uint8_t>(form)[offsetof(TokenStep, rise) % sizeof(form)]};
            std::atomic_thread_fence(std::memory_order_acquire);
            return words_.back().load(std::memory_order_relaxed) == number &&
                   parts<std::uint32_t>(number)[1] % 2 == 0 && step.mask_id != TokenStep::kNotKept;
        }
        void write(TokenStep step);

      private:
        using Words = std::array<std::uint64_t, sizeof(TokenStep) / sizeof(std::uint64_t)>;
        template <class Part>
        using Parts = std::array<Part, sizeof(std::uint64_t) / sizeof(Part)>;
        template <class Part>
        static Parts<Part> parts(std::uint64_t word) {
            return std::bit_cast<Parts<Part>>(word);
        }
        // The word with the length of the text and all that says how a step is to be read; what is in it of a
        // simple one, but for what can be any number.
        static constexpr std::size_t kForm = offsetof(TokenStep, length) / sizeof(std::uint64_t);
        static constexpr auto kMeasures =
            std::bit_cast<Words>(TokenStep{.length = 0xFFFF, .rise = 0xFF})[kForm];
        static constexpr auto kSimple = std::bit_cast<Words>(TokenStep{.reads = 1, .narrow = 1})[kForm];
        std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Words>> words_{};  // the last has the number
    };

    // A power of two of slots, each in a line of its own.
    class Table {
      public:
        explicit Table(std::size_t slots);
        Slot& at(std::uint64_t hashed) const { return slots_[hashed >> shift_]; }
        Slot& beside(std::uint64_t hashed) const { return slots_[(hashed >> shift_) ^ 1U]; }
        std::span<Slot> slots() const { return slots_; }
        static constexpr std::size_t bytes(std::size_t slots) {
            return sizeof(Table) + (slots + 1) * sizeof(Slot);
        }

      private:
        std::unique_ptr<std::byte[]> storage_;
        std::span<Slot> slots_;
        int shift_;
    };

    // The first word of a step.
    static std::uint64_t key(std::int32_t lexer_state, std::int32_t token) {
        return std::bit_cast<std::uint64_t>(std::array{lexer_state, token});
    }
    // Whether there is a step of that lexer state, token, stack and count for which `is_wanted` says so;
    // `step` is it then.
    static bool find(TokenStep& step, const Place& place, std::int32_t lexer_state, std::int32_t token,
                     const StackNode* top, std::int32_t count, auto is_wanted) {
        if (place.table == nullptr) return false;
        const auto& table = *place.table;
        const auto sought = key(lexer_state, token);
        const auto is_here = [&](const Slot& slot) {
            if (!slot.may_be_of(sought)) return false;
            slot.read(step);
            return key(step.lexer_state, step.token) == sought && step.reads > 0 &&
                   step.count_before() == count && step.is_on(top) && is_wanted();
        };
        auto hashed = place.hashed;
        for (const auto* node = top;;) {
            if (is_here(table.at(hashed)) || is_here(table.beside(hashed))) return true;
            if (node->depth < 2 || top->depth - node->depth >= kDeepest) return false;
            hashed = hash_below(hashed, node->below->state, node->below->below->state);
            node = node->below->below;
        }
    }
    static std::uint64_t hash(std::int32_t lexer_state, std::int32_t token, std::int32_t top,
                              std::int32_t count) {
        return mixed(
            mixed(std::uint64_t{static_cast<std::uint32_t>(lexer_state)} << 32U |
                  static_cast<std::uint32_t>(token)) ^
            (std::uint64_t{static_cast<std::uint32_t>(count)} << 32U | static_cast<std::uint32_t>(top)));
    }
    // Steps that read one or two states have their place by the topmost one, those that read more by the
    // three, five and so on up to thirteen topmost ones. There are many of these: a mask that has tokens
    // which close several brackets at once reads many states, and texts have many such stacks.
    static constexpr std::size_t kDeepest = 12;  // states below the topmost one
    static std::uint64_t hash_below(std::uint64_t hashed, std::int32_t second, std::int32_t third) {
        return mixed(mixed(hashed + 1 + static_cast<std::uint32_t>(second)) ^
                     static_cast<std::uint32_t>(third));
    }
    static std::uint64_t mixed(std::uint64_t number) {
        number *= 0x9E3779B97F4A7C15U;
        return number ^ (number >> 32U);
    }
    void put(const Table& table, const TokenStep& step);

    std::atomic<const Table*> table_{nullptr};
    std::vector<std::unique_ptr<const Table>> tables_;  // the last one is in use
    std::atomic<std::size_t> bytes_{0};
    std::size_t asked_ = 0;     // how often, while all places were taken
    std::size_t added_ = 0;     // since the last table was made
    bool has_no_room_ = false;  // not even for the smallest table
};

}  // namespace pdacon
