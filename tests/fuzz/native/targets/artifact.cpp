// An artifact in, with its checksums made right: loaded with and without all of it verified, then a matcher's
// calls.
//
// Input: a byte, and the file; what drives the calls is behind the file's own size.
#include "artifact/artifact.hpp"

#include <cstring>
#include <exception>

#include "base/checksum.hpp"
#include "base/memory.hpp"
#include "calls.hpp"
#include "detokenizer/labels.hpp"
#include "filters/filter_definition.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using namespace pdacon;

constexpr std::size_t kHead = 32, kEntry = 32;
constexpr std::int64_t kBytes = 64 << 20;

template <class T>
T get(const std::uint8_t* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}
template <class T>
void put(std::uint8_t* at, T value) {
    std::memcpy(at, &value, sizeof(T));
}

// Where the sections lie, as far as that can be said.
struct Table {
    explicit Table(std::span<const std::uint8_t> file) {
        if (file.size() < kHead) return;
        count = std::min<std::size_t>(get<std::uint32_t>(file.data() + 12), (file.size() - kHead) / kEntry);
    }
    std::size_t count = 0;
};

bool lies_inside(std::span<const std::uint8_t> file, std::uint64_t offset, std::uint64_t size) {
    return offset <= file.size() && size <= file.size() - offset;
}

// Makes the magic number, the version, the size and all checksums right.
void sign(std::span<std::uint8_t> file) {
    if (file.size() < kHead) return;
    constexpr std::uint8_t kMagic[] = {0x89, 'P', 'D', 'A', '\r', '\n', 0x1A, '\n'};
    std::memcpy(file.data(), kMagic, sizeof(kMagic));
    put(file.data() + 8, kArtifactVersion);
    put(file.data() + 16, static_cast<std::uint64_t>(file.size()));
    const Table table(file);
    for (std::size_t at = 0; at < table.count; ++at) {
        auto* entry = file.data() + kHead + at * kEntry;
        const auto offset = get<std::uint64_t>(entry + 8), size = get<std::uint64_t>(entry + 16);
        if (lies_inside(file, offset, size)) put(entry + 24, checksum(file.data() + offset, size));
    }
    put(file.data() + 24, std::uint64_t{0});
    put(file.data() + 24, checksum(file.data(), kHead + table.count * kEntry));
}

void use(std::span<const std::uint8_t> file, std::shared_ptr<const void> owner, bool verify,
         fuzzing::Input& input) {
    fuzzing::attempt([&] {
        const MemoryLimit memory(kBytes);
        const auto reader = std::make_shared<const ArtifactReader>(
            file, std::move(owner), std::make_shared<const Origin>(Origin{"fuzzed", "no way out"}), verify);
        const auto lexer = std::make_shared<const LexingAutomaton>(*reader);
        const auto trie = std::make_shared<const LazyTrie>(reader, std::make_shared<Tries>());
        const auto labels = std::make_shared<const Labels>(*reader, trie->tokens().size());
        for (const auto part : {Part::kSettings, Part::kGrammar})
            fuzzing::attempt([&] { reader->array<char>(part, ArtifactReader::kShared); });
        std::shared_ptr<CanonicalFilter> filter;
        fuzzing::attempt([&] {
            const auto definition = reader->array<std::int32_t>(Part::kFilter, ArtifactReader::kShared);
            if (!definition.empty()) filter = Filters().of(trie->shared_tokens(), definition.view());
        });
        for (std::int32_t start = 0; start < 2; ++start)
            fuzzing::attempt([&] {
                const auto pda = std::make_shared<TokenPda>(lexer, trie, labels, *reader, start);
                pda->set_filter(filter);
                fuzzing::call(pda, input, false);
                fuzzing::ask(*pda, input);
                ArtifactWriter writer;
                pda->save(writer, start);
                writer.finish();
            });
    });
}

}  // namespace

// Changes numbers within one section, so that the table of sections mostly fits.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
    const std::span file(data, size);
    const Table table(file);
    if (table.count == 0 || seed % 16 == 0) return LLVMFuzzerMutate(data, size, most);
    const auto* entry = data + kHead + (seed / 16) % table.count * kEntry;
    const auto offset = get<std::uint64_t>(entry + 8), length = get<std::uint64_t>(entry + 16);
    if (!lies_inside(file, offset, length) || length < 4) return LLVMFuzzerMutate(data, size, most);
    auto random = seed * 2654435761U;
    const auto next = [&] { return random = random * 1664525U + 1013904223U, random >> 8; };
    for (auto changes = 1 + next() % 3; changes > 0; --changes) {
        auto* at = data + offset + next() % (length / 4) * 4;
        const auto old = get<std::int32_t>(at);
        const auto* other = data + offset + next() % (length / 4) * 4;
        const std::int32_t values[] = {-1,
                                       0,
                                       1,
                                       static_cast<std::int32_t>(next() % 256),
                                       INT32_MAX,
                                       INT32_MIN,
                                       static_cast<std::int32_t>(static_cast<std::uint32_t>(old) + 1),
                                       static_cast<std::int32_t>(static_cast<std::uint32_t>(old) - 1),
                                       old ^ static_cast<std::int32_t>(1U << next() % 32),
                                       get<std::int32_t>(other)};
        put(at, values[next() % std::size(values)]);
    }
    // Some bytes by the general rules, and what lies behind the file: it drives the calls.
    if (seed % 4 == 0)
        LLVMFuzzerMutate(data + offset, static_cast<std::size_t>(length), static_cast<std::size_t>(length));
    return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto owner = std::make_shared<std::vector<std::uint64_t>>(size / 8 + 1);
    auto* bytes = reinterpret_cast<std::uint8_t*>(owner->data());
    if (size > 0) std::memcpy(bytes, data, size);
    sign({bytes, size});
    // The calls are the file's own bytes, from a place that its checksum tells: any change makes other calls.
    for (const bool verify : {false, true}) {
        const auto from = size < kHead ? 0 : get<std::uint64_t>(bytes + 24) % size;
        fuzzing::Input input(data + from, std::min<std::size_t>(size - from, 400));
        use({bytes, size}, owner, verify, input);
    }
    return 0;
}
