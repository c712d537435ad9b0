#include "embedding/thread_message.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace pdacon {

namespace {

constexpr std::size_t kLongest = 1024;

// What a thread has: null, storage of kLongest bytes, or kNoMemory. Not an array, because a library that is
// loaded by dlopen gets little thread-local storage.
void release(void* storage) {
    if (storage != kNoMemory) std::free(storage);
}

#if defined(_WIN32)

struct Slot {
    ~Slot() { release(storage); }
    void* get() const noexcept { return storage; }
    void set(void* given) noexcept { storage = given; }
    void* storage = nullptr;
};

thread_local Slot slot;

#else

// Not a thread_local object that has a destructor: glibc ends the process where it has no memory to note that
// the destructor has to be called.
class Slot {
  public:
    Slot() noexcept : exists_(pthread_key_create(&key_, release) == 0) {}
    ~Slot() {
        if (!exists_) return;
        release(get());
        pthread_key_delete(key_);
        exists_ = false;
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    void* get() const noexcept { return exists_ ? pthread_getspecific(key_) : nullptr; }
    void set(void* storage) noexcept {
        if (!exists_ || pthread_setspecific(key_, storage) != 0) release(storage);
    }

  private:
    pthread_key_t key_;
    bool exists_;
};

Slot slot;

#endif

}  // namespace

void keep_thread_message(const char* message) noexcept {
    if (slot.get() == nullptr || slot.get() == kNoMemory) {
        void* const storage = std::calloc(kLongest, 1);
        slot.set(storage != nullptr ? storage : const_cast<char*>(kNoMemory));
        if (storage == nullptr || slot.get() != storage) return;
    }
    auto* const kept = static_cast<char*>(slot.get());
    auto size = std::min(std::strlen(message), kLongest - 1);
    while (size > 0 && (static_cast<unsigned char>(message[size]) & 0xC0U) == 0x80U) --size;
    std::replace_copy_if(message, message + size, kept, [](unsigned char byte) { return byte < ' '; }, ' ');
    kept[size] = 0;
}

const char* thread_message() noexcept {
    const auto* const kept = static_cast<const char*>(slot.get());
    return kept != nullptr ? kept : "";
}

}  // namespace pdacon
