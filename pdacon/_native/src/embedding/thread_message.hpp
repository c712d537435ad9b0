// A line of text for each thread, for pdacon_last_error.
#pragma once

#include <cstddef>

namespace pdacon {

constexpr const char* kNoMemory = "there is no memory left";

// Keeps a message for this thread: one line, cut off between two characters where it is long. Where there is
// no memory for it, kNoMemory takes its place.
void keep_thread_message(const char* message) noexcept;
// The message that was kept last; "" if none was. Valid until the next one is kept, or the thread ends.
const char* thread_message() noexcept;

}  // namespace pdacon
