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
        const auto live = [this](const Spot& spot) {
            const auto known = made_filtered(spot.lexing, spot.stack.view(), spot.state, spot.leading);
            const auto& found = filtered_[static_cast<std::size_t>(known)];
            const auto* within = filtered_rows_.row(found.within);
            const auto* across = filtered_rows_.row(found.across);
            const auto words = static_cast<std::ptrdiff_t>(tokens().words());
            return CanonicalSearch::Found{{within, within + words}, {across, across + words}};
        };
        const auto successors = [this](const Spot& spot) {
            return CanonicalSearch(machine_, engine().coaccessibility(), settled(),
                                   engine().classes_by_state(), tokens(), *filter_, budget_)
                .successors(spot.lexing, spot.stack.view(), spot.leading);
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

CanonicalPlans::Plan TokenPda::plan(const Spot& spot, Allowance::Unit unit) {
    return guarded_.run_for_caller([&] { return plans().find(spot, unit == Allowance::Unit::kBytes); });
}

CanonicalPlans::Plan TokenPda::plan_after(const Spot& from, const Spot& to, Allowance::Unit unit) {
    return guarded_.run_for_caller([&] { return plans().after(from, to, unit == Allowance::Unit::kBytes); });
}

void TokenPda::filtered_within(const Spot& spot, const Allowance& allowance, std::int64_t least,
                               std::span<std::int32_t> mask) {
    guarded_.run([&] {
        plans().write(spot, room(allowance, least), mask);
        return true;
    });
}

bool TokenPda::known_filtered_within(const Spot& spot, const Allowance& allowance, std::int64_t least,
                                     std::span<std::int32_t> mask) {
    const std::unique_lock hold(guarded_.lock(), std::try_to_lock);
    return hold.owns_lock() && plans_ && plans_->write_known(spot, room(allowance, least), mask);
}

}  // namespace pdacon
