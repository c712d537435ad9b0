// The table of masks of a batch against its definition: a row has its mask until the step is over.
#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "matching/mask_arena.hpp"
#include "matching/matcher.hpp"

namespace {

using pdacon::KeptMask, pdacon::Mask, pdacon::MaskArena, pdacon::MaskView, pdacon::Matcher;
using Words = std::vector<std::int32_t>;

Words row_of(const MaskArena& arena, std::int32_t row) {
    const auto* first = arena.table().get() + static_cast<std::size_t>(row) * arena.words();
    return {first, first + arena.words()};
}

// Owners number the masks that they have, each in its own way; what a device has copied is the table.
void rows_have_their_masks(std::size_t rows, std::size_t most_rows) {
    pdacon::test::Random random(static_cast<std::uint32_t>(7 * rows + most_rows));
    MaskArena arena(3, rows, most_rows);
    std::vector<std::vector<Words>> owners(4);
    std::map<std::int32_t, Words> copied;
    for (int step = 0; step < 2'000; ++step) {
        arena.begin_step();
        std::map<std::int32_t, Words> used;
        std::vector<Words> distinct;
        for (int asked = 0; asked < 6; ++asked) {
            const auto owner = static_cast<std::size_t>(random.below(4));
            auto& known = owners[owner];
            if (known.size() < 60 && random.below(2) == 0)
                known.push_back(
                    {random.below(5), random.below(5), static_cast<std::int32_t>(known.size() % 3)});
            if (known.empty()) continue;
            const auto id = random.below(static_cast<int>(known.size()));
            const auto& given = known[static_cast<std::size_t>(id)];
            const std::size_t count = owner == 0 ? 2 : 3;
            auto words = given;
            std::fill(words.begin() + static_cast<std::ptrdiff_t>(count), words.end(), 0);
            const auto kept = KeptMask::of(std::span(given).first(count));  // the table copies it
            const Mask mask{random.below(10) == 0 ? Matcher::kNoNumber : id, kept.view()};
            const auto row =
                random.below(10) == 0 ? arena.row({given.data(), count}) : arena.row(owner + 1, mask, count);
            CHECK(row_of(arena, row) == words);
            CHECK(arena.is_empty(row) == (words == Words{0, 0, 0}));
            used[row] = words;
            if (std::ranges::find(distinct, words) == distinct.end()) distinct.push_back(words);
        }
        CHECK(used.size() == distinct.size());
        for (const auto row : arena.written()) copied[row] = row_of(arena, row);
        for (const auto& [row, words] : used) CHECK(row_of(arena, row) == words && copied[row] == words);
        CHECK(arena.capacity() <= most_rows);
    }
}

void a_step_has_no_more_rows_than_there_are() {
    MaskArena arena(1, 1, 2);
    const Words masks = {1, 2, 3};
    const auto row = [&](std::int32_t id) {
        return arena.row(1, {id, MaskView::of_words(&masks[static_cast<std::size_t>(id)])}, 1);
    };
    arena.begin_step();
    CHECK(row(0) != row(1));
    bool refused = false;
    try {
        row(2);
    } catch (const std::length_error&) {
        refused = true;
    }
    CHECK(refused && row(0) != row(1));
    arena.begin_step();
    CHECK(row_of(arena, row(2)) == Words{3});
}

}  // namespace

int main() {
    rows_have_their_masks(1, 6);
    rows_have_their_masks(4, 9);
    rows_have_their_masks(64, 64);
    a_step_has_no_more_rows_than_there_are();
}
