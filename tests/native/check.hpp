// What the unit tests of the native core share: a check that says where it failed, and random numbers that
// are the same in each run.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                                \
        }                                                                                \
    } while (false)

namespace pdacon::test {

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    // A number in 0 .. bound - 1. Its distribution is the same on all platforms.
    int below(int bound) { return static_cast<int>(engine_() % static_cast<unsigned>(bound)); }

  private:
    std::mt19937 engine_;
};

}  // namespace pdacon::test
