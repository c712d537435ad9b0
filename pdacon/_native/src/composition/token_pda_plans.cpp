// The part of TokenPda that counts tokens and bytes under a filter.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "composition/canonical_plans.hpp"
#include "composition/token_pda.hpp"

namespace pdacon {

CanonicalPlans& TokenPda::plans() {
    require_measurable();
    measuring_engine();  // forgets what is known of stacks if it is much
    if (!plans_) {
        const auto live = [this](const FilteredConfiguration& here) {
            return live_tokens(made_filtered(here.lexing, here.stack.view(), here.state, here.leading));
        };
        const auto successors = [this](const FilteredConfiguration& here) {
            return canonical_search().successors(here.lexing, here.stack.view(), here.leading);
        };
        const auto engine_now = [this]() -> MaskEngine& { return engine(); };
        plans_ = std::make_unique<CanonicalPlans>(machine_, trie(), *filter_, cells_, budget_,
                                                  CanonicalPlans::Sources{engine_now, live, successors});
    }
    if (plans_->bytes() > std::min(CanonicalPlans::kMostBytes, guarded_.max_bytes() / 4)) plans_->forget();
    return *plans_;
}

CanonicalPlans::Room TokenPda::room(const Allowance& allowance, std::int64_t least) {
    return {allowance.unit == Allowance::Unit::kBytes, allowance.most,
            allowance.closing ? least : Allowance::kAny};
}

CanonicalPlans::Plan TokenPda::plan(const FilteredConfiguration& here, Allowance::Unit unit) {
    return guarded_.run_for_caller([&] { return plans().find(here, unit == Allowance::Unit::kBytes); });
}

CanonicalPlans::Plan TokenPda::plan_after(const FilteredConfiguration& from, const FilteredConfiguration& to,
                                          Allowance::Unit unit) {
    return guarded_.run_for_caller([&] { return plans().after(from, to, unit == Allowance::Unit::kBytes); });
}

void TokenPda::filtered_within(const FilteredConfiguration& here, const Allowance& allowance,
                               std::int64_t least, std::span<std::int32_t> mask) {
    guarded_.run([&] {
        plans().write(here, room(allowance, least), mask);
        return true;
    });
}

bool TokenPda::known_filtered_within(const FilteredConfiguration& here, const Allowance& allowance,
                                     std::int64_t least, std::span<std::int32_t> mask) {
    const std::unique_lock hold(guarded_.lock(), std::try_to_lock);
    return hold.owns_lock() && plans_ && plans_->write_known(here, room(allowance, least), mask);
}

}  // namespace pdacon
