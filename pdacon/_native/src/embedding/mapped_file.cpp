#include "embedding/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#if defined(_WIN32)
#include <fstream>
#include <iterator>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace pdacon {

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
    throw UnreadableFile(path + ": " + std::strerror(error));
}

#if !defined(_WIN32)
class OpenFile {
  public:
    // A pipe is not waited for.
    explicit OpenFile(const std::string& path)
        : number_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
        if (number_ < 0) fail(path, errno);
    }
    ~OpenFile() { close(number_); }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};
#endif

}  // namespace

std::pair<std::span<const std::uint8_t>, std::shared_ptr<const void>> map_file(const std::string& path) {
#if defined(_WIN32)
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(path, errno);
    auto content = std::make_shared<std::vector<char>>(std::istreambuf_iterator<char>(file),
                                                       std::istreambuf_iterator<char>());
    return {{reinterpret_cast<const std::uint8_t*>(content->data()), content->size()}, content};
#else
    const OpenFile file(path);
    struct stat status;
    if (fstat(file.number(), &status) != 0) fail(path, errno);
    if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
    if (!S_ISREG(status.st_mode)) fail(path, EINVAL);
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) return {};
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
    if (memory == MAP_FAILED) fail(path, errno);
    std::shared_ptr<const void> owner(memory,
                                      [size](const void* at) { munmap(const_cast<void*>(at), size); });
    return {{static_cast<const std::uint8_t*>(memory), size}, std::move(owner)};
#endif
}

}  // namespace pdacon
