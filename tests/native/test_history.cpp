// A matcher's history, with its forks, beside vectors.
#include <utility>
#include <vector>

#include "check.hpp"
#include "matching/history.hpp"

namespace {

struct Pair {
    pdacon::History<int> history;
    std::vector<int> all;  // also what has been forgotten
    std::size_t forgotten = 0;
};

void check_one(unsigned seed) {
    pdacon::test::Random random(seed);
    std::vector<Pair> forks(1);
    for (int step = 0; step < 4000; ++step) {
        auto& [history, all, forgotten] =
            forks[static_cast<std::size_t>(random.below(static_cast<int>(forks.size())))];
        switch (random.below(12)) {
            case 0:
                if (history.size() > 0) {
                    const auto count =
                        1 + static_cast<std::size_t>(random.below(static_cast<int>(history.size())));
                    const auto value = history.pop(count);
                    CHECK(value == all[all.size() - count]);
                    all.resize(all.size() - count);
                }
                break;
            case 1: {
                const auto kept = static_cast<std::size_t>(random.below(100));
                const auto before = history.size();
                history.forget_before(kept);
                CHECK(history.size() >= std::min(kept, before));
                CHECK(history.size() < std::max<std::size_t>(kept, 1) + 64 || history.size() == before);
                forgotten = all.size() - history.size();
                break;
            }
            case 2: {
                Pair fork{history, all, forgotten};
                if (forks.size() < 6)
                    forks.push_back(std::move(fork));
                else
                    forks[static_cast<std::size_t>(random.below(6))] = std::move(fork);
                break;
            }
            default:
                history.push(step);
                all.push_back(step);
        }
        for (const auto& fork : forks) CHECK(fork.history.size() == fork.all.size() - fork.forgotten);
    }
    for (auto& [history, all, forgotten] : forks)
        while (history.size() > 0) {
            CHECK(history.pop(1) == all.back());
            all.pop_back();
        }
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 50; ++seed) check_one(seed);
}
