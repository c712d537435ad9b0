// Chains of reduces that never end: Lark's parser would never come back from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pdacon {

// Which states have been on top during a chain of reduces on one terminal, level by level. The chain depends
// on nothing but the stack, and it comes again if a state does: on its own level, with what is below that
// untouched; or on top of itself, still on the stack. One of them happens in every endless chain that does
// not go below its lowest level any more, because there are only so many states.
class ReduceLoops {
  public:
    // Whether the chain comes again now that it has left a state on top, at a height that may count from
    // anywhere.
    bool repeats(std::int64_t height, std::int32_t state) {
        if (levels_.empty() || height < base_) {
            levels_.clear();
            base_ = height;
        }
        const auto level = static_cast<std::size_t>(height - base_);
        levels_.resize(level + 1);
        for (std::size_t below = 0; below < level; ++below)
            if (!levels_[below].empty() && levels_[below].back() == state) return true;
        auto& seen = levels_[level];
        if (std::find(seen.begin(), seen.end(), state) != seen.end()) return true;
        seen.push_back(state);
        return false;
    }

  private:
    std::int64_t base_ = 0;
    std::vector<std::vector<std::int32_t>> levels_;
};

}  // namespace pdacon
