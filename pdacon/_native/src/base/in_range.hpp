// Assertions about indices that one table gives of another: checked in builds with PDACON_CHECKS, free in all
// others.
//
// Input is validated where it comes in, so a check that fails is a mistake of this module. It ends the
// process, which otherwise would read beyond an array.
#pragma once

#include <cstddef>
#include <utility>

#ifdef PDACON_CHECKS
#include <cstdio>
#include <cstdlib>
#endif

namespace pdacon {

// Asserts a condition that is cheap to evaluate. The other arguments are the place in the source, as in the
// functions below.
inline void ensure([[maybe_unused]] bool condition, [[maybe_unused]] const char* file = __builtin_FILE(),
                   [[maybe_unused]] int line = __builtin_LINE()) {
#ifdef PDACON_CHECKS
    if (condition) return;
    std::fprintf(stderr, "%s:%d: a condition does not hold\n", file, line);
    std::abort();
#endif
}

// Asserts 0 <= index < size.
template <class Index>
constexpr std::size_t in_range(Index index, [[maybe_unused]] std::size_t size,
                               [[maybe_unused]] const char* file = __builtin_FILE(),
                               [[maybe_unused]] int line = __builtin_LINE()) {
#ifdef PDACON_CHECKS
    if (!std::cmp_greater_equal(index, 0) || !std::cmp_less(index, size)) {
        std::fprintf(stderr, "%s:%d: index %lld of %zu\n", file, line, static_cast<long long>(index), size);
        std::abort();
    }
#endif
    return static_cast<std::size_t>(index);
}

// The index of an element of a matrix that is stored by rows.
template <class Row, class Column>
constexpr std::size_t in_matrix(Row row, std::size_t rows, Column column, std::size_t columns,
                                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return in_range(row, rows, file, line) * columns + in_range(column, columns, file, line);
}

}  // namespace pdacon
