// Preloaded: lets the n-th allocation that one library makes in a thread fail, once.
//
// The native core allocates with functions of its own, which call `malloc`. What the interpreter and other
// libraries allocate never fails.
#include <dlfcn.h>

#include <cstddef>

extern "C" void* __libc_malloc(std::size_t size);

namespace {

thread_local long left = -1, seen = 0, failed = 0;
thread_local const void* library = nullptr;  // where it begins; null: nothing is counted

bool is_in_library(const void* address) {
    Dl_info found;
    return dladdr(address, &found) != 0 && found.dli_fbase == library;
}

}  // namespace

// `inside`: any address in the library; null: stop.
extern "C" void fail_at(long number, const void* inside) {
    Dl_info found;
    library = inside != nullptr && dladdr(inside, &found) != 0 ? found.dli_fbase : nullptr;
    left = number;
    seen = 0;
}
extern "C" long allocations() { return seen; }
extern "C" long failures() { return failed; }

extern "C" void* malloc(std::size_t size) {
    if (library != nullptr && is_in_library(__builtin_return_address(0))) {
        ++seen;
        if (left >= 0 && left-- == 0) {
            ++failed;
            return nullptr;
        }
    }
    return __libc_malloc(size);
}
