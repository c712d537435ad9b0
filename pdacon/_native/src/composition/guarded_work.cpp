#include "composition/guarded_work.hpp"

#include <new>
#include <stdexcept>
#include <string>

#include "base/budget.hpp"

namespace pdacon {

void GuardedWork::throw_damage() const {
    if (damage_) throw *damage_;
}

// Called in a handler. Whether the work is to be done again, with empty caches; throws what is to be told
// instead of the exception at hand.
bool GuardedWork::recovers() {
    const bool again = !is_fresh_;
    const auto forget = [this] {
        forget_();
        is_fresh_ = true;
    };
    try {
        throw;
    } catch (const ArtifactDamage& error) {
        damage_ = error;
        throw;
    } catch (const std::logic_error& error) {
        // Without an artifact, whose tables may be damaged, only the caches can be: later work has new ones.
        forget();
        if (!origin_) throw;
        damage_ = origin_->damage(ArtifactDamage(std::string("the artifact is damaged: ") + error.what()));
        throw *damage_;
    } catch (const LimitExceeded&) {
        forget();
        return again;
    } catch (const OutOfBytes& error) {
        forget();
        if (again) return true;
        throw LimitExceeded("bytes", static_cast<double>(error.given), static_cast<double>(error.limit));
    } catch (const std::bad_alloc&) {
        forget();
        return again;
    } catch (...) {
        forget();
        return false;
    }
}

}  // namespace pdacon
