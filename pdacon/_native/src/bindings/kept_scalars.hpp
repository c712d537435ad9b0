// The terminals of scalars and signs, kept for the process by what schemas say of them.
//
// In: keys, which have all that terminals depend on, and terminals as Python gave them. Out: the same
// terminals for the next schema that says the same, so that Python is not asked about it again. The cache has
// a bound in bytes and evicts what was used least recently; automata that use a terminal share its ownership.
// Safe from any thread. It knows neither schemas nor Python.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "nested/schemas.hpp"

namespace pdacon {

class KeptScalars {
  public:
    // The terminals of a key; where they make up several parts, how many terminals each part has.
    struct Kept {
        std::vector<std::shared_ptr<const CountedTerminal>> terminals;
        std::vector<std::size_t> parts;
        bool is_plainly_possible = false;  // whether some value is plain; where that is what is kept
    };

    explicit KeptScalars(std::int64_t most_bytes) : most_bytes_(most_bytes) {}
    // Null: nothing is kept for the key.
    std::shared_ptr<const Kept> find(const std::string& key);
    // What is kept for the key then: of two threads that give a value, both get the first one.
    std::shared_ptr<const Kept> keep(const std::string& key, Kept value);
    std::int64_t bytes();

  private:
    struct Entry {
        std::shared_ptr<const Kept> kept;
        std::int64_t bytes;
        std::uint64_t used;
    };
    void make_room();

    const std::int64_t most_bytes_;
    std::mutex lock_;
    std::unordered_map<std::string, Entry> entries_;
    std::int64_t bytes_ = 0;
    std::uint64_t clock_ = 0;
};

}  // namespace pdacon
