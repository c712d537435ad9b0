// A cache for answers about stacks, keyed by what was read of them: a number, and a prefix of the stack from
// its top as long as the answer depended on.
//
// A trie over these prefixes, whose edges are the slots of one hash table; `find` walks down the stack until
// an edge has an answer. It costs as many slots as the answer depended on states, and a slot is all that is
// read for a state: where a mask is made, most of such reads miss the processor's caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "pda/stack.hpp"

namespace pdacon {

class PrefixCache {
  public:
    struct Entry {
        std::int32_t answer = -1;  // -1: none
        std::uint32_t states = 0;  // how many from the top it depended on
    };
    PrefixCache() : slots_(kLeastSlots) {}

    Entry find(std::int32_t key, const StackNode* top) const {
        Entry entry;
        auto from = root(key);
        for (; top != nullptr; top = top->below) {
            const auto& slot = slots_[slot_of(slots_, from, top->state)];
            if (slot.node < 0) return {};
            ++entry.states;
            entry.answer = slot.answer;
            if (entry.answer >= 0) return entry;
            from = slot.node;
        }
        return {};
    }
    // Adds an answer where `find` finds none. One that depends on no state is one of the topmost state.
    void add(std::int32_t key, const StackNode* top, const Entry& entry) {
        auto from = root(key);
        for (auto left = std::max(entry.states, 1U); left > 0; --left, top = top->below) {
            if ((nodes_ + 1) * 2 > slots_.size()) grow();
            auto& slot = slots_[slot_of(slots_, from, top->state)];
            if (slot.node < 0) slot = {from, top->state, static_cast<std::int32_t>(nodes_++), -1};
            if (left == 1) slot.answer = entry.answer;
            from = slot.node;
        }
    }
    void forget() {
        nodes_ = 0;
        slots_.assign(kLeastSlots, {});
        slots_.shrink_to_fit();
    }
    std::size_t bytes() const { return nodes_ == 0 ? 0 : slots_.size() * sizeof(Slot); }

  private:
    static constexpr std::size_t kLeastSlots = 8;

    // An edge of the trie: from a node, or from the root of a key, by an LR state to a node.
    struct Slot {
        std::int32_t from = 0, state = 0;
        std::int32_t node = -1;    // -1: the slot is free
        std::int32_t answer = -1;  // -1: there is none for what leads here
    };
    static std::int32_t root(std::int32_t key) { return -1 - key; }

    // The slot of an edge, or the free one where it would be.
    static std::size_t slot_of(const std::vector<Slot>& slots, std::int32_t from, std::int32_t state) {
        auto hash = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32 |
                     static_cast<std::uint32_t>(state)) *
                    0xff51afd7ed558ccdULL;
        hash ^= hash >> 32;
        auto at = static_cast<std::size_t>(hash) & (slots.size() - 1);
        while (slots[at].node >= 0 && (slots[at].from != from || slots[at].state != state))
            at = (at + 1) & (slots.size() - 1);
        return at;
    }

    void grow() {
        std::vector<Slot> larger(slots_.size() * 2);
        for (const auto& slot : slots_)
            if (slot.node >= 0) larger[slot_of(larger, slot.from, slot.state)] = slot;
        slots_ = std::move(larger);
    }

    std::vector<Slot> slots_;  // a power of two of them, no more than half of them taken
    std::size_t nodes_ = 0;
};

}  // namespace pdacon
