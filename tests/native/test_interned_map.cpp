// The interner and the map on it where values cannot be made and memory runs out: all is as it was before.
#include <cstdlib>
#include <map>
#include <new>
#include <stdexcept>
#include <vector>

#include "base/interned_map.hpp"
#include "check.hpp"

namespace {

int allocations_left = -1;  // until one fails; -1: none does

}  // namespace

void* operator new(std::size_t bytes) {
    if (allocations_left >= 0 && --allocations_left < 0) throw std::bad_alloc();
    if (auto* memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using Sequence = std::vector<std::int32_t>;

struct Refused : std::runtime_error {
    Refused() : std::runtime_error("refused") {}
};

void check_one(unsigned seed) {
    pdacon::test::Random random(seed);
    pdacon::InternedMap<int> values;
    std::map<Sequence, std::pair<std::int32_t, int>> known;  // id and value
    for (int step = 0; step < 1500; ++step) {
        Sequence key(static_cast<std::size_t>(random.below(5)));
        for (auto& value : key) value = random.below(6) - 2;
        const bool refused = random.below(4) == 0;
        const auto limit = random.below(3) == 0 ? random.below(2) : -1;
        std::int32_t id = -1;
        try {
            allocations_left = limit;
            id = values.find_or_make(key, [&] { return refused ? throw Refused() : step; });
        } catch (const Refused&) {
            CHECK(refused && !known.contains(key));
        } catch (const std::bad_alloc&) {
            CHECK(limit >= 0);
        }
        allocations_left = -1;
        if (id >= 0) {
            const auto [at, added] = known.try_emplace(key, static_cast<std::int32_t>(known.size()), step);
            CHECK(at->second.first == id);
        }
        CHECK(values.size() == known.size());
        CHECK((values.find(key) >= 0) == known.contains(key));
    }
    for (const auto& [key, found] : known) {
        CHECK(values.find(key) == found.first && values[found.first] == found.second);
        CHECK(std::ranges::equal(values.key(found.first), key));
    }
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 50; ++seed) check_one(seed);
}
