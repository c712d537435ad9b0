// Whether a formula may hold without some variables, beside all values of all variables.
#include <vector>

#include "check.hpp"
#include "regular/formulas.hpp"

namespace {

constexpr int kVariables = 6;

bool holds(const pdacon::Formulas& formulas, std::int32_t formula, int values) {
    while (formula > pdacon::Formulas::kTrue) {
        const auto [variable, then, otherwise] = formulas.node(formula);
        formula = (values >> variable & 1) != 0 ? then : otherwise;
    }
    return formula == pdacon::Formulas::kTrue;
}

void check_one(unsigned seed) {
    pdacon::test::Random random(seed);
    pdacon::Formulas formulas(1 << 16);
    std::vector<std::int32_t> made{pdacon::Formulas::kFalse, pdacon::Formulas::kTrue};
    for (int k = 0; k < kVariables; ++k) made.push_back(formulas.variable(k));
    const auto any = [&] {
        return made[static_cast<std::size_t>(random.below(static_cast<int>(made.size())))];
    };
    for (int step = 0; step < 60; ++step) {
        made.push_back(formulas.choice(any(), any(), any()));
        const auto lost = random.below(1 << kVariables);
        std::vector<std::int32_t> variables;
        for (int k = 0; k < kVariables; ++k)
            if ((lost >> k & 1) != 0) variables.push_back(k);
        bool may_hold = false;
        for (int values = 0; values < 1 << kVariables; ++values)
            may_hold |= (values & lost) == 0 && holds(formulas, made.back(), values);
        CHECK(formulas.may_hold_without(made.back(), variables) == may_hold);
    }
}

}  // namespace

int main() {
    for (unsigned seed = 0; seed < 200; ++seed) check_one(seed);
}
