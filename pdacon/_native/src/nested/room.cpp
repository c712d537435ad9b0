#include "nested/room.hpp"

#include <utility>

#include "base/memory.hpp"

namespace pdacon {

namespace {

thread_local std::size_t reserved = 0;

}  // namespace

Reserve::Reserve(std::size_t bytes) noexcept : outer_(std::exchange(reserved, bytes)) {}

Reserve::~Reserve() { reserved = outer_; }

void require_room(std::size_t bytes) {
    try {
        MemoryLimit::take(bytes + reserved);
    } catch (const OutOfBytes& error) {
        throw NoRoom("bytes", static_cast<double>(error.given), static_cast<double>(error.limit));
    }
    MemoryLimit::give_back(bytes + reserved);
}

}  // namespace pdacon
