#include "base/memory.hpp"

#include <cstdlib>

#if defined(_WIN32)
#include <malloc.h>
#elif defined(__APPLE__)
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

namespace pdacon {

namespace {

// Read at every allocation: without this attribute each of them would call a function for it. Other C
// libraries than glibc have no room for such variables of a module that is loaded while a program runs.
#if defined(__GLIBC__)
[[gnu::tls_model("initial-exec")]]
#endif
thread_local MemoryLimit* current = nullptr;

std::int64_t size_of(void* storage) noexcept {
#if defined(_WIN32)
    return static_cast<std::int64_t>(_msize(storage));
#elif defined(__APPLE__)
    return static_cast<std::int64_t>(malloc_size(storage));
#else
    // glibc keeps the size beside the storage, which for small blocks is an eighth of what they take.
    return static_cast<std::int64_t>(malloc_usable_size(storage) + sizeof(std::size_t));
#endif
}

void* allocate(std::size_t bytes) {
    if (current != nullptr) current->require(bytes);
    for (;;) {
        if (void* const storage = std::malloc(bytes == 0 ? 1 : bytes)) {
            if (current != nullptr) current->count(size_of(storage));
            return storage;
        }
        const auto handler = std::get_new_handler();
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}

void* allocate_or_null(std::size_t bytes) noexcept {
    try {
        return allocate(bytes);
    } catch (...) {
        return nullptr;
    }
}

void release(void* storage) noexcept {
    if (current != nullptr && storage != nullptr) current->count(-size_of(storage));
    std::free(storage);
}

}  // namespace

MemoryLimit::Pause::Pause() noexcept : outer_(current) { current = nullptr; }

MemoryLimit::Pause::~Pause() { current = outer_; }

MemoryLimit::Lenient::Lenient() noexcept
    : limit_(current), before_(current != nullptr && current->is_lenient_) {
    if (limit_ != nullptr) limit_->is_lenient_ = true;
}

MemoryLimit::Lenient::~Lenient() {
    if (limit_ != nullptr) limit_->is_lenient_ = before_;
}

MemoryLimit::MemoryLimit(std::int64_t most, std::int64_t& held) noexcept
    : outer_(current), most_(most), held_(held) {
    current = this;
}

MemoryLimit::~MemoryLimit() { current = outer_; }

void MemoryLimit::take(std::size_t bytes) {
    if (current == nullptr) return;
    current->require(bytes);
    current->count(static_cast<std::int64_t>(bytes));
}

void MemoryLimit::give_back(std::size_t bytes) noexcept {
    if (current != nullptr) current->count(-static_cast<std::int64_t>(bytes));
}

void MemoryLimit::require(std::size_t bytes) const {
    if (is_lenient_) return;
    for (const auto* limit = this; limit != nullptr; limit = limit->outer_) {
        const auto wanted = limit->held_ + static_cast<std::int64_t>(bytes);
        if (limit->most_ > 0 && wanted > limit->most_) throw OutOfBytes(wanted, limit->most_);
    }
}

}  // namespace pdacon

// The allocation functions of this module. The linker binds the module's own calls to them, and no others.
void* operator new(std::size_t bytes) { return pdacon::allocate(bytes); }
void* operator new[](std::size_t bytes) { return pdacon::allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return pdacon::allocate_or_null(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return pdacon::allocate_or_null(bytes);
}
void operator delete(void* storage) noexcept { pdacon::release(storage); }
void operator delete[](void* storage) noexcept { pdacon::release(storage); }
void operator delete(void* storage, std::size_t) noexcept { pdacon::release(storage); }
void operator delete[](void* storage, std::size_t) noexcept { pdacon::release(storage); }
void operator delete(void* storage, const std::nothrow_t&) noexcept { pdacon::release(storage); }
void operator delete[](void* storage, const std::nothrow_t&) noexcept { pdacon::release(storage); }
