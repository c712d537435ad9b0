// A file's content in memory, for as long as somebody has it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace pdacon {

struct UnreadableFile : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The bytes, and what keeps them. Mapped read-only where the operating system knows mmap, else read. Throws
// UnreadableFile with the path and the reason, also for what is no regular file.
std::pair<std::span<const std::uint8_t>, std::shared_ptr<const void>> map_file(const std::string& path);

}  // namespace pdacon
