// The interner beside a map from sequences to ids.
#include <map>
#include <vector>

#include "base/interner.hpp"
#include "check.hpp"

using Sequence = std::vector<std::int32_t>;

namespace {

Sequence random_sequence(pdacon::test::Random& random) {
    Sequence sequence(static_cast<std::size_t>(random.below(5)));
    for (auto& value : sequence) value = random.below(6) - 2;
    return sequence;
}

void check_one(unsigned seed) {
    pdacon::test::Random random(seed);
    pdacon::Interner interner;
    std::map<Sequence, std::int32_t> ids;
    std::vector<Sequence> sequences;
    for (int step = 0; step < 2000; ++step) {
        const auto sequence = random_sequence(random);
        if (random.below(1500) == 0) {
            interner.clear();
            ids.clear();
            sequences.clear();
        }
        const auto known = ids.find(sequence);
        CHECK(interner.find(sequence) == (known == ids.end() ? -1 : known->second));
        if (random.below(3) == 0) continue;
        if (known == ids.end()) {
            ids.emplace(sequence, static_cast<std::int32_t>(sequences.size()));
            sequences.push_back(sequence);
        }
        CHECK(interner.intern(sequence) == ids.at(sequence));
        CHECK(interner.size() == sequences.size());
    }
    for (std::size_t id = 0; id < sequences.size(); ++id)
        CHECK(std::ranges::equal(interner[static_cast<std::int32_t>(id)], sequences[id]));
    CHECK(pdacon::Interner::are_slots(interner.slots(), interner.size()));
    // The slots find the same among sequences that are kept elsewhere, as an artifact keeps them.
    const auto at = [&](std::int32_t id) {
        return std::span<const std::int32_t>(sequences[static_cast<std::size_t>(id)]);
    };
    struct Elsewhere {
        decltype(at)& get;
        std::span<const std::int32_t> operator[](std::int32_t id) const { return get(id); }
    };
    for (int step = 0; step < 500; ++step) {
        const auto sequence = random_sequence(random);
        CHECK(pdacon::Interner::find(Elsewhere{at}, interner.slots(), sequence) == interner.find(sequence));
    }
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 50; ++seed) check_one(seed);
    const Sequence without_a_free_slot{0, 0}, beyond{2, -1}, odd{-1, -1, -1};
    CHECK(!pdacon::Interner::are_slots(without_a_free_slot, 1));
    CHECK(!pdacon::Interner::are_slots(beyond, 2));
    CHECK(!pdacon::Interner::are_slots(odd, 2));
}
