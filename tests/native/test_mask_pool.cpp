// The pool of masks and what is kept with a vocabulary: what lives is found again, what is over is not. Masks
// in either form against the words that they are of.
#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/kept_parts.hpp"
#include "check.hpp"
#include "detokenizer/lent_words.hpp"
#include "detokenizer/mask_pool.hpp"

namespace {

using pdacon::KeptMask, pdacon::KeptPart, pdacon::KeptParts, pdacon::LentWords, pdacon::MaskPool,
    pdacon::MaskView;
using Words = std::vector<std::int32_t>;

struct Part final : KeptPart {
    explicit Part(std::int64_t bytes_) : bytes(bytes_) {}
    std::int64_t held() const override { return bytes; }
    std::int64_t bytes;
};

void equal_masks_are_one_row() {
    MaskPool pool;
    const auto one = pool.of(Words{1, 2, 3});
    CHECK(one.is_new);
    const auto two = pool.of(Words{1, 2, 3});
    CHECK(!two.is_new && two.row == one.row);
    CHECK(pool.of(Words{1, 2}).is_new);
    CHECK(pool.of(Words{1, 2}).is_new);  // the row of the last call is gone
}

void a_row_may_be_asked_for_with_words() {
    MaskPool pool;
    const Words words{1, 0, 0, 0, 0, 0, 0, -1 << 31};
    const auto few = pool.of(words);
    CHECK(few.is_new && !few.row->mask.view().is_of_words());
    const auto all = pool.of_words(words);
    CHECK(all.is_new && all.row != few.row);
    CHECK(std::ranges::equal(std::span(all.row->mask.view().words(), 8), words));
    CHECK(pool.of(words).row == few.row && pool.of_words(words).row == all.row);
}

void masks_are_the_words_that_they_are_of() {
    pdacon::test::Random random(3);
    int of_tokens = 0;
    for (int round = 0; round < 5'000; ++round) {
        Words words(static_cast<std::size_t>(1 + random.below(300)));
        const int most = random.below(2) == 0 ? 8 : 200;
        for (int count = random.below(most); count > 0; --count)
            pdacon::set_bit(words, random.below(static_cast<int>(words.size() * 32)));
        const auto kept = KeptMask::of(words);
        const auto view = MaskView::of_number(kept.view().number());
        CHECK(view && !MaskView());
        CHECK(kept.bytes() <= words.size() * sizeof(std::int32_t));
        of_tokens += view.is_of_words() ? 0 : 1;
        for (std::int32_t token = 0; static_cast<std::size_t>(token) < words.size() * 32; ++token)
            CHECK(view.has(token) == pdacon::has_bit(words.data(), token));
        CHECK(view.is_empty(words.size()) == std::ranges::all_of(words, [](auto word) { return word == 0; }));
        // A place that is not aligned, and what is around it.
        const auto size = words.size() * sizeof(std::int32_t);
        std::vector<char> place(size + 6, 'x');
        view.write(place.data() + 3, words.size());
        CHECK(std::memcmp(place.data() + 3, words.data(), size) == 0);
        CHECK(place[2] == 'x' && place[size + 3] == 'x');
        CHECK(KeptMask::of(words) == kept);
    }
    CHECK(of_tokens > 500 && of_tokens < 4'500);
}

void masks_of_equal_words_are_one_row_and_no_others() {
    MaskPool pool;
    pdacon::test::Random random(11);
    std::vector<std::pair<Words, MaskPool::Found>> held;
    for (int round = 0; round < 2'000; ++round) {
        // Of some blocks of 16 words, and a rest; with few tokens in few places, so that some come twice.
        Words words(
            static_cast<std::size_t>(16 * random.below(random.below(2) == 0 ? 5 : 20) + random.below(3)));
        for (int count = words.empty() ? 0 : random.below(3); count > 0; --count)
            pdacon::set_bit(words, random.below(static_cast<int>(words.size())) * 32 + random.below(2) * 31);
        if (random.below(4) == 0) std::ranges::fill(words, random.below(2) - 1);
        const bool as_words = random.below(3) == 0;
        const auto found = as_words ? pool.of_words(words) : pool.of(words);
        const bool has_words = found.row->mask.view().is_of_words();
        CHECK(!as_words || has_words);
        for (const auto& [others, other] : held) {
            const bool same = others == words && other.row->mask.view().is_of_words() == has_words;
            CHECK((other.row == found.row) == same);
        }
        if (held.size() < 300) held.emplace_back(std::move(words), found);
    }
}

void rows_that_are_gone_are_swept() {
    MaskPool pool;
    pdacon::test::Random random(7);
    std::vector<MaskPool::Found> held;
    for (int round = 0; round < 20'000; ++round) {
        const auto found = pool.of(Words{random.below(500), 0});
        if (random.below(3) == 0) held.push_back(found);
        if (held.size() > 100) held.erase(held.begin(), held.begin() + 50);
        for (const auto& other : held)
            CHECK((other.row == found.row) == (other.row->mask == found.row->mask));
    }
}

void lent_words_are_zeros_that_nobody_else_has() {
    LentWords lent;
    pdacon::test::Random random(5);
    std::vector<std::unique_ptr<LentWords::Row>> rows;
    for (int round = 0; round < 2'000; ++round) {
        if (random.below(3) > 0) {
            rows.push_back(std::make_unique<LentWords::Row>(lent, 40));
            const auto words = rows.back()->words();
            CHECK(std::ranges::equal(words, Words(40)));
            std::ranges::fill(words, round);
        }
        while (rows.size() > 5 || (!rows.empty() && random.below(3) == 0))
            rows.erase(rows.begin() + random.below(static_cast<int>(rows.size())));
        for (const auto& row : rows) CHECK(std::ranges::equal(row->words(), Words(40, row->words().front())));
    }
}

void threads_get_the_same_row() {
    MaskPool pool;
    std::vector<MaskPool::Found> found(8);
    std::vector<std::thread> threads;
    for (auto& own : found) threads.emplace_back([&] { own = pool.of(Words(4096, 7)); });
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
    a_row_may_be_asked_for_with_words();
    masks_are_the_words_that_they_are_of();
    masks_of_equal_words_are_one_row_and_no_others();
    rows_that_are_gone_are_swept();
    lent_words_are_zeros_that_nobody_else_has();
    threads_get_the_same_row();
    the_last_used_are_kept();
}
