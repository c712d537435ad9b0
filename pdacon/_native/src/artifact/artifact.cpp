#include "artifact/artifact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <tuple>

#include "artifact/without_tokens.hpp"
#include "base/checksum.hpp"

namespace pdacon {

namespace {

// As in PNG: a file that was transferred as text, or cut to seven bits, is told by its first bytes.
constexpr std::array<std::uint8_t, 8> kMagic{0x89, 'P', 'D', 'A', '\r', '\n', 0x1A, '\n'};
constexpr std::size_t kAlignment = 64;

struct Header {
    std::array<std::uint8_t, 8> magic;
    std::uint32_t version, sections;
    std::uint64_t size;      // of the file
    std::uint64_t checksum;  // of the header, with 0 here, and the table
};
struct Entry {
    std::uint32_t part;
    std::int32_t start;
    std::uint64_t offset, size, checksum;
};
static_assert(sizeof(Header) == 32 && sizeof(Entry) == 32);

std::size_t aligned(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

void check_machine() {
    if constexpr (std::endian::native != std::endian::little)
        throw ArtifactDamage(
            "artifacts are little-endian, and this machine is not; compile the grammar here");
}

std::uint64_t head_checksum(std::string head) {
    std::memset(head.data() + offsetof(Header, checksum), 0, sizeof(Header::checksum));
    return checksum(head.data(), head.size());
}

}  // namespace

ArtifactDamage Origin::damage(const ArtifactDamage& found) const {
    if (found.placed) return found;
    ArtifactDamage placed(name + ": " + found.what() + "; " + advice);
    placed.placed = true;
    return placed;
}

void ArtifactWriter::add_bytes(Part part, std::int32_t start, const void* data, std::size_t size) {
    sections_.push_back({part, start, std::string(static_cast<const char*>(data), size)});
}

void ArtifactWriter::take(ArtifactWriter&& other) {
    sections_.insert(sections_.end(), std::make_move_iterator(other.sections_.begin()),
                     std::make_move_iterator(other.sections_.end()));
    other.sections_.clear();
}

void ArtifactWriter::add_packed(Part part, std::int32_t start, const Packed& values) {
    values.visit([&](auto view) {
        using Value = typename decltype(view)::value_type;
        using Narrow = std::numeric_limits<std::int16_t>;
        if (sizeof(Value) == sizeof(std::int16_t) || !all_within(view, Narrow::min(), Narrow::max() + 1))
            add(part, start, view);
        else
            add(part, start,
                std::span<const std::int16_t>(std::vector<std::int16_t>(view.begin(), view.end())));
    });
}

std::string ArtifactWriter::finish() const {
    check_machine();
    std::vector<const Section*> sorted;
    for (const auto& section : sections_) sorted.push_back(&section);
    std::sort(sorted.begin(), sorted.end(), [](const Section* a, const Section* b) {
        return std::tuple(a->part, a->start) < std::tuple(b->part, b->start);
    });
    const auto head = sizeof(Header) + sorted.size() * sizeof(Entry);
    std::string file(aligned(head), '\0');
    std::vector<Entry> entries;
    for (const auto* section : sorted) {
        entries.push_back({static_cast<std::uint32_t>(section->part), section->start, file.size(),
                           section->bytes.size(), checksum(section->bytes.data(), section->bytes.size())});
        file += section->bytes;
        file.resize(aligned(file.size()), '\0');
    }
    Header header{kMagic, kArtifactVersion, static_cast<std::uint32_t>(sorted.size()), file.size(), 0};
    std::memcpy(file.data() + sizeof(Header), entries.data(), entries.size() * sizeof(Entry));
    std::memcpy(file.data(), &header, sizeof(Header));
    header.checksum = head_checksum(file.substr(0, head));
    std::memcpy(file.data(), &header, sizeof(Header));
    return file;
}

std::string without_tokens(const std::string& file) {
    Header header;
    std::memcpy(&header, file.data(), sizeof(Header));
    ArtifactWriter kept;
    for (std::uint32_t at = 0; at < header.sections; ++at) {
        Entry entry;
        std::memcpy(&entry, file.data() + sizeof(Header) + at * sizeof(Entry), sizeof(Entry));
        const auto part = static_cast<Part>(entry.part);
        if (part < Part::kTokenText || part > Part::kTokenOrder)
            kept.add_bytes(part, entry.start, file.data() + entry.offset, entry.size);
    }
    return kept.finish();
}

ArtifactReader::ArtifactReader(std::span<const std::uint8_t> memory, std::shared_ptr<const void> owner,
                               std::shared_ptr<const Origin> origin, bool verify)
    : memory_(memory), owner_(std::move(owner)), origin_(std::move(origin)) {
    check_machine();
    Header header;
    if (memory.size() < sizeof(Header) || !std::equal(kMagic.begin(), kMagic.end(), memory.begin()))
        throw ArtifactDamage("not an artifact: it does not begin like one");
    std::memcpy(&header, memory.data(), sizeof(Header));
    if (header.version != kArtifactVersion)
        throw ArtifactDamage("its format has version " + std::to_string(header.version) +
                             ", and this pdacon reads version " + std::to_string(kArtifactVersion));
    if (header.size != memory.size())
        throw ArtifactDamage("the artifact is damaged: " + std::to_string(memory.size()) + " bytes of " +
                             std::to_string(header.size));
    require_artifact(header.sections <= (memory.size() - sizeof(Header)) / sizeof(Entry),
                     "more sections than there is room for");
    const auto head = sizeof(Header) + header.sections * sizeof(Entry);
    require_artifact(
        head_checksum(std::string(reinterpret_cast<const char*>(memory.data()), head)) == header.checksum,
        "the table of sections has another checksum");
    read_table(header.sections);
    if (!verify) return;
    for (const auto& section : sections_) check(section);
    verified_ = true;
}

void ArtifactReader::read_table(std::uint32_t count) {
    auto end = sizeof(Header) + count * sizeof(Entry);
    for (std::uint32_t at = 0; at < count; ++at) {
        Entry entry;
        std::memcpy(&entry, memory_.data() + sizeof(Header) + at * sizeof(Entry), sizeof(Entry));
        const Section section{static_cast<Part>(entry.part), entry.start, entry.offset, entry.size,
                              entry.checksum};
        require_artifact(section.offset == aligned(end) && section.offset <= memory_.size() &&
                             section.size <= memory_.size() - section.offset,
                         "a section lies outside the file");
        const auto gap = memory_.subspan(end, section.offset - end);
        require_artifact(std::ranges::all_of(gap, [](auto byte) { return byte == 0; }),
                         "there is something between two sections");
        require_artifact(sections_.empty() || std::tuple(sections_.back().part, sections_.back().start) <
                                                  std::tuple(section.part, section.start),
                         "the sections are not in order");
        end = section.offset + section.size;
        sections_.push_back(section);
    }
    require_artifact(aligned(end) == memory_.size(), "there is something after the last section");
    const auto gap = memory_.subspan(end);
    require_artifact(std::ranges::all_of(gap, [](auto byte) { return byte == 0; }),
                     "there is something after the last section");
}

const ArtifactReader::Section& ArtifactReader::find(Part part, std::int32_t start) const {
    const auto found = std::lower_bound(
        sections_.begin(), sections_.end(), std::tuple(part, start),
        [](const Section& a, const auto& wanted) { return std::tuple(a.part, a.start) < wanted; });
    require_artifact(found != sections_.end() && found->part == part && found->start == start,
                     "a section is missing");
    return *found;
}

std::int32_t ArtifactReader::num_starts() const {
    return static_cast<std::int32_t>(std::ranges::count_if(sections_, [](const Section& section) {
        return section.part == Part::kTokenPda && section.start != kShared;
    }));
}

void ArtifactReader::check(const Section& section) const {
    if (verified_) return;
    const auto sum = checksum(memory_.data() + section.offset, static_cast<std::size_t>(section.size));
    require_artifact(sum == section.checksum, "a section has another checksum than when it was written");
}

bool are_rows(std::span<const std::int32_t> offsets, std::size_t values) {
    if (offsets.empty() || offsets.front() != 0 || offsets.back() < 0 ||
        static_cast<std::size_t>(offsets.back()) != values)
        return false;
    std::int32_t descents = 0;  // no bool: so compilers take several at once
    for (std::size_t at = 1; at < offsets.size(); ++at) descents |= offsets[at - 1] > offsets[at];
    return descents == 0;
}

}  // namespace pdacon
