// The terminals of scalars and signs, kept for the process by what schemas say of them.
//
// In: keys, and terminals as Python gave them. Out: the same terminals for the next schema that says the
// same, so that Python is not asked about it. Those used last are kept, up to so many bytes; who has some
// keeps them. Safe from any thread. It knows neither schemas nor Python.
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
    // Of one key: terminals, and where they are parts of something how many each part has.
    struct Kept {
        std::vector<std::shared_ptr<const CountedTerminal>> terminals;
        std::vector<std::size_t> parts;
        bool is_plainly_possible = false;  // whether some value is plain; where that is what is kept
    };

    explicit KeptScalars(std::int64_t most_bytes) : most_bytes_(most_bytes) {}
    // Null: nothing is kept for the key.
    std::shared_ptr<const Kept> find(const std::string& key);
    std::shared_ptr<const Kept> keep(const std::string& key, Kept made);
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
    std::unordered_map<std::string, Entry> known_;
    std::int64_t bytes_ = 0;
    std::uint64_t clock_ = 0;
};

}  // namespace pdacon
