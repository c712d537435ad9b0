// A hash-consed map: sequences of int32 become dense ids, and each id has a value.
//
// The value of a new key is made before the key is taken up. So what making it throws, such as a limit that
// is met, leaves the map as it was: no key is without its value, and the next call makes it anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/interner.hpp"

namespace pdacon {

// `Values`: std::deque<Value> where references to values are held while others are added.
template <class Value, class Values = std::vector<Value>>
class InternedMap {
  public:
    // The id of a key; ids count up from 0. `make` returns the value of a new key. It may add other keys, but
    // not this one; `key` must not point into the map, which may move while `make` runs.
    template <class Make>
    std::int32_t find_or_make(std::span<const std::int32_t> key, Make make) {
        if (const auto known = ids_.find(key); known >= 0) return known;
        values_.push_back(make());
        try {
            return ids_.intern(key);
        } catch (...) {  // out of memory
            values_.pop_back();
            throw;
        }
    }

    // The id of a key, or -1.
    std::int32_t find(std::span<const std::int32_t> key) const { return ids_.find(key); }
    // The key of an id; valid until another one is added.
    std::span<const std::int32_t> key(std::int32_t id) const { return ids_[id]; }
    Value& operator[](std::int32_t id) { return values_[in_range(id, size())]; }
    const Value& operator[](std::int32_t id) const { return values_[in_range(id, size())]; }
    std::size_t size() const { return values_.size(); }

  private:
    Interner ids_;
    Values values_;
};

}  // namespace pdacon
