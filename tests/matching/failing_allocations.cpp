// Preloaded: lets the n-th allocation of a thread fail, once.
#include <cstdlib>
#include <new>

namespace {
thread_local long left = -1, seen = 0;

void* allocate(std::size_t size) {
    ++seen;
    if (left >= 0 && left-- == 0) throw std::bad_alloc();
    if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}
}  // namespace

extern "C" void fail_at(long number) {
    left = number;
    seen = 0;
}
extern "C" long allocations() { return seen; }

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
