// Work without the GIL that Python can cancel, with limits of its own.
#pragma once

#include <cstdint>

#include "base/budget.hpp"
#include "base/memory.hpp"
#include "bindings/cancelling.hpp"
#include "bindings/gil.hpp"

namespace pdacon {

// Returns what `work(budget)` returns. 0: no limit.
template <class Work>
auto limited(std::int64_t max_states, std::int64_t max_bytes, Work work) {
    PythonCanceller canceller;
    const WithoutGil release;
    const MemoryLimit memory(max_bytes);
    Budget budget(max_states, 0, &canceller);
    return work(budget);
}

}  // namespace pdacon
