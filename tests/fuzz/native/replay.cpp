// In libFuzzer's place where former finds are tried again: the input without bytes, then each file, once.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// A target may ask for it when inputs are changed, which none is here.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t, std::size_t) { std::abort(); }

namespace {

void attempt(const char* data, std::size_t size, unsigned seconds) {
    alarm(seconds);  // Its signal ends the process, as a crash does.
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(data), size);
    alarm(0);
}

}  // namespace

int main(int count, char** arguments) {
    const auto seconds = static_cast<unsigned>(std::atoi(count > 1 ? arguments[1] : "25"));
    attempt("", 0, seconds);
    for (int k = 2; k < count; ++k) {
        std::fprintf(stderr, "%s\n", arguments[k]);  // The last one before a report is what was found.
        std::ifstream file(arguments[k], std::ios::binary);
        if (!file) return 2;
        std::vector<char> input{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        input.shrink_to_fit();  // So that the sanitizer sees a byte that is read behind it.
        attempt(input.data(), input.size(), seconds);
    }
}
