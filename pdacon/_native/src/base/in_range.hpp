// Checks of what one table says of another: on in builds with PDACON_CHECKS, nothing in all others.
//
// Every index is checked where it comes in, and every table is made to fit the others; a check that fails is
// a mistake of this module, never of its input. So it ends the process, where going on would read beyond an
// array.
#pragma once

#include <cstddef>
#include <utility>

#ifdef PDACON_CHECKS
#include <cstdio>
#include <cstdlib>
#endif

namespace pdacon {

// That a condition holds which costs nothing to look at. The rest of the arguments is where.
inline void ensure([[maybe_unused]] bool condition, [[maybe_unused]] const char* file = __builtin_FILE(),
                   [[maybe_unused]] int line = __builtin_LINE()) {
#ifdef PDACON_CHECKS
    if (condition) return;
    std::fprintf(stderr, "%s:%d: a condition does not hold\n", file, line);
    std::abort();
#endif
}

// The index of one of so many.
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

// The place of an element of a matrix by rows, of so many rows and columns.
template <class Row, class Column>
constexpr std::size_t in_matrix(Row row, std::size_t rows, Column column, std::size_t columns,
                                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return in_range(row, rows, file, line) * columns + in_range(column, columns, file, line);
}

}  // namespace pdacon
