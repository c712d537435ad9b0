// Transitions as rows with edges, beside a matrix.
#include <vector>

#include "check.hpp"
#include "lexer/transitions.hpp"

namespace {

void check_one(unsigned seed, int states, int classes) {
    pdacon::test::Random random(seed);
    pdacon::TransitionsBuilder builder(classes);
    std::vector<std::vector<std::int32_t>> rows, all;
    for (int state = 0; state < states; ++state) {
        if (rows.empty() || random.below(states) < 4) {
            const auto made = builder.add_row(-1);
            rows.emplace_back(static_cast<std::size_t>(classes), -1);
            CHECK(made == static_cast<std::int32_t>(rows.size()) - 1);
            for (int cls = 0; cls < classes; cls += 1 + random.below(3))
                rows.back()[static_cast<std::size_t>(cls)] =
                    builder.row(made)[static_cast<std::size_t>(cls)] = random.below(states);
        }
        const auto row = random.below(static_cast<int>(rows.size()));
        builder.add_state(row);
        all.push_back(rows[static_cast<std::size_t>(row)]);
        for (int cls = random.below(classes); cls < classes; cls += 1 + random.below(classes)) {
            all.back()[static_cast<std::size_t>(cls)] = random.below(states) - 5;
            builder.add_edge(static_cast<std::uint8_t>(cls), all.back()[static_cast<std::size_t>(cls)]);
        }
        CHECK(builder.next(state, 0) == all.back()[0]);
    }
    const auto made = std::move(builder).take();
    CHECK((made.stored_matrix() == nullptr) == (states * classes > 1 << 20));
    const auto matrix = made.matrix();
    std::vector<std::int32_t> copied(static_cast<std::size_t>(classes));
    for (int state = 0; state < states; ++state) {
        const auto& row = all[static_cast<std::size_t>(state)];
        made.copy_row(state, copied);
        CHECK(copied == row);
        for (int cls = 0; cls < classes; ++cls) {
            CHECK(made.next(state, cls) == row[static_cast<std::size_t>(cls)]);
            CHECK(matrix[static_cast<std::size_t>(state * classes + cls)] ==
                  row[static_cast<std::size_t>(cls)]);
        }
    }
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 20; ++seed) check_one(seed, 50, 1 + static_cast<int>(seed) * 12);
    check_one(1, 4500, 256);
}
