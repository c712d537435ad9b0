// The pool of masks and what is kept with a vocabulary: what lives is found again, what is over is not.
#include <memory>
#include <thread>
#include <vector>

#include "base/kept_parts.hpp"
#include "check.hpp"
#include "detokenizer/mask_pool.hpp"

namespace {

using pdacon::KeptPart, pdacon::KeptParts, pdacon::MaskPool;

struct Part final : KeptPart {
    explicit Part(std::int64_t bytes_) : bytes(bytes_) {}
    std::int64_t held() const override { return bytes; }
    std::int64_t bytes;
};

void equal_masks_are_one_row() {
    MaskPool pool;
    const auto one = pool.of({1, 2, 3});
    CHECK(one.is_new);
    const auto two = pool.of({1, 2, 3});
    CHECK(!two.is_new && two.row == one.row);
    CHECK(pool.of({1, 2}).is_new);
    CHECK(pool.of({1, 2}).is_new);  // the row of the last call is gone
}

void rows_that_are_gone_are_swept() {
    MaskPool pool;
    pdacon::test::Random random(7);
    std::vector<MaskPool::Found> held;
    for (int round = 0; round < 20'000; ++round) {
        const auto found = pool.of({random.below(500), 0});
        if (random.below(3) == 0) held.push_back(found);
        if (held.size() > 100) held.erase(held.begin(), held.begin() + 50);
        for (const auto& other : held)
            CHECK((other.row == found.row) == (other.row->words == found.row->words));
    }
}

void threads_get_the_same_row() {
    MaskPool pool;
    std::vector<MaskPool::Found> found(8);
    std::vector<std::thread> threads;
    for (auto& own : found) threads.emplace_back([&] { own = pool.of(std::vector<std::int32_t>(4096, 7)); });
    for (auto& thread : threads) thread.join();
    int fresh = 0;
    for (const auto& own : found) {
        CHECK(own.row == found[0].row);
        fresh += own.is_new ? 1 : 0;
    }
    CHECK(fresh == 1);
}

void the_last_used_are_kept() {
    KeptParts kept(100);
    int keys[4] = {};
    const auto of = [&](int key, std::int64_t bytes) {
        return kept.of<Part>(&keys[key], [&] { return std::make_shared<Part>(bytes); });
    };
    const auto first = of(0, 40);
    of(1, 40);
    CHECK(of(0, 40) == first);
    of(2, 40);  // that of 1 is dropped
    CHECK(of(0, 40) == first);
    CHECK(of(1, 50)->bytes == 50);
    const auto large = of(3, 1000);  // whoever asks gets it, and it is alone
    CHECK(of(3, 0) == large);
    CHECK(of(0, 40) != first);
}

}  // namespace

int main() {
    equal_masks_are_one_row();
    rows_that_are_gone_are_swept();
    threads_get_the_same_row();
    the_last_used_are_kept();
}
