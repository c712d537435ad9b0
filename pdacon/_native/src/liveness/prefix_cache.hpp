// What has been entry out for stacks: numbers, each under a key and the topmost states of a stack that it
// depended on.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interner.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class PrefixCache {
  public:
    struct Entry {
        std::int32_t answer = -1;  // or none
        std::uint32_t states = 0;  // that it depended on
    };
    Entry find(std::int32_t key, const StackNode* top) const {
        Entry entry;
        std::int32_t place[] = {kKey, key};
        for (const auto* at = top;; at = at->below, ++entry.states) {
            const auto id = places_.find(place);
            if (id < 0) return {};
            entry.answer = answers_[static_cast<std::size_t>(id)];
            if (entry.answer >= 0) return entry;
            if (at == nullptr) return {};
            place[0] = id;
            place[1] = at->state;
        }
    }
    // For a key and a stack for which `find` finds none.
    void add(std::int32_t key, const StackNode* top, const Entry& entry) {
        std::int32_t place[] = {kKey, key};
        auto id = places_.intern(place);
        for (auto left = entry.states; left > 0; --left, top = top->below) {
            place[0] = id;
            place[1] = top->state;
            id = places_.intern(place);
        }
        answers_.resize(places_.size(), -1);
        answers_[static_cast<std::size_t>(id)] = entry.answer;
    }
    void forget() {
        places_ = Interner();
        answers_.clear();
    }
    std::size_t bytes() const { return answers_.size() * kPlaceBytes; }

  private:
    static constexpr std::int32_t kKey = -1;  // in place of a place and a state: the place of a key
    static constexpr std::size_t kPlaceBytes = 32;

    // A place is a key with the first states of a stack below it; answers are at places.
    Interner places_;
    std::vector<std::int32_t> answers_;  // of each place, or -1
};

}  // namespace pdacon
