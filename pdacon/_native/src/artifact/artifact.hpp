// Room `artifact`: the file format, and what a part of the core needs to be read from it.
//
// In: flat arrays with a name. Out: bytes of one file, and arrays that lie in them, with their checksums
// right. It does not know what the arrays mean: each room writes and checks its own.
//
// Constraints on disk: flat arrays in one file. Each is found by the part of the constraint that it is,
// checked, and used where it lies.
//
// The file: a header, a table of sections, the sections, each at a multiple of 64 bytes, zeros between them.
// All numbers are little-endian. Header and table have a checksum of their own; so has each section. Nothing
// in a file is trusted before it is checked: a reader gets an array only if its checksum is right, and has to
// validate the numbers in it against what they index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/flat.hpp"

namespace pdacon {

// To be raised whenever files that were written before would be read wrongly: also when lexer states, rows of
// liveness values or anything else that an array counts is numbered in another way, and when a record of the
// grammar or a setting changes. The one place that has the number; tests/composition/artifacts holds it
// against the layout.
constexpr std::uint32_t kArtifactVersion = 1;

// Becomes pdacon.errors.ArtifactError.
struct ArtifactDamage : std::runtime_error {
    using std::runtime_error::runtime_error;
    bool placed = false;  // the message names the file
};

// Where an artifact comes from, and what a user can do if it is damaged.
struct Origin {
    std::string name, advice;

    // The damage with a message that names the file and the advice, unless it does already.
    ArtifactDamage damage(const ArtifactDamage& found) const;
    // Does work, and gives any damage that it throws such a message.
    template <class Work>
    auto watch(Work work) const {
        try {
            return work();
        } catch (const ArtifactDamage& found) {
            throw damage(found);
        }
    }
};

// What a section holds. A number that has been in use is never given another meaning.
enum class Part : std::uint32_t {
    kSettings = 1,
    kGrammar,
    kTokenText,
    kTokenOffsets,
    kEndTokens,
    kTokenOrder,
    kLexer,
    kByteClasses,
    kTransitions,
    kEnds,
    kEntries,
    kCommits,
    kPushbackOffsets,
    kPushbacks,
    kFollowOffsets,
    kFollow,
    kKeeps,
    kLeastRead,
    kMachine,
    kAction,
    kGotoOffsets,
    kGotoNonterminals,
    kGotoTargets,
    kLhs,
    kLength,
    kContext,
    kInParens,
    kBlock,
    kOpened,
    kLeastDepth,
    kLivenessRows,
    kLivenessFirstColumns,
    kLivenessColumns,
    kLiveness,
    kMaskTrieMasks,
    kMaskTrieOffsets,
    kMaskTrieBranches,
    kMaskTrieColumnOffsets,
    kMaskTrieColumns,
    kMaskTrieSlots,
    kMaskTrieRoots,
    kTokenPda,
    kMaskChecksums,
    kMasks,
    kMaskBlocks,
    kLivenessBlocks,
    kLabels,
    kFilter,
    kCloses,
    kHints,
    kFutureStates,
    kFutureNodes,
    kFutureOffsets,
    kFutureEmissions,
    kEmissions,
    kRawEmissions,
    kResidueOffsets,
    kResidues,
};

class ArtifactWriter {
  public:
    // `start`: which of the grammar's start symbols it belongs to; kShared: all of them.
    static constexpr std::int32_t kShared = -1;
    template <class T>
    void add(Part part, std::int32_t start, std::span<const T> values) {
        static_assert(std::is_trivially_copyable_v<T>);
        add_bytes(part, start, values.data(), values.size_bytes());
    }
    void add_bytes(Part part, std::int32_t start, const void* data, std::size_t size);
    void add_packed(Part part, std::int32_t start, const Packed& values);
    // All sections of another writer.
    void take(ArtifactWriter&& other);

    // The whole file.
    std::string finish() const;

  private:
    struct Section {
        Part part;
        std::int32_t start;
        std::string bytes;
    };
    std::vector<Section> sections_;
};

class ArtifactReader {
  public:
    static constexpr std::int32_t kShared = ArtifactWriter::kShared;

    // `owner` keeps the memory alive; it is aligned to 8 bytes. With `verify` the checksums of all sections
    // are checked now, otherwise each when it is asked for. Throws ArtifactDamage.
    ArtifactReader(std::span<const std::uint8_t> memory, std::shared_ptr<const void> owner,
                   std::shared_ptr<const Origin> origin, bool verify);
    // For damage that is found later.
    const std::shared_ptr<const Origin>& origin() const { return origin_; }

    template <class T>
    Flat<T> array(Part part, std::int32_t start) const {
        const auto& section = find(part, start);
        check(section);
        return view<T>(section);
    }
    // The numbers that `add_packed` has written; `count` of them.
    Packed packed(Part part, std::int32_t start, std::size_t count) const {
        if (find(part, start).size == count * sizeof(std::int16_t) && count > 0)
            return Packed(array<std::int16_t>(part, start));
        Packed wide(array<std::int32_t>(part, start));
        if (wide.size() != count) throw ArtifactDamage("the artifact is damaged: a section of another size");
        return wide;
    }
    // Without a look at the checksum: the caller checks it by `check`, or the contents by other means.
    template <class T>
    Flat<T> unchecked(Part part, std::int32_t start) const {
        return view<T>(find(part, start));
    }
    void check(Part part, std::int32_t start) const { check(find(part, start)); }
    // How many start symbols it is for.
    std::int32_t num_starts() const;

  private:
    struct Section {
        Part part;
        std::int32_t start;
        std::uint64_t offset, size, checksum;
    };
    void read_table(std::uint32_t count);
    const Section& find(Part part, std::int32_t start) const;
    void check(const Section& section) const;
    template <class T>
    Flat<T> view(const Section& section) const {
        static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
        if (section.size % sizeof(T) != 0)
            throw ArtifactDamage("the artifact is damaged: a section has a size that it cannot have");
        return {std::span(reinterpret_cast<const T*>(memory_.data() + section.offset),
                          static_cast<std::size_t>(section.size / sizeof(T))),
                owner_};
    }

    std::span<const std::uint8_t> memory_;
    std::shared_ptr<const void> owner_;
    std::shared_ptr<const Origin> origin_;
    bool verified_ = false;  // all of it
    std::vector<Section> sections_;
};

// Asserts a condition that every file that was written by `save` meets.
inline void require_artifact(bool condition, const char* what) {
    if (!condition) throw ArtifactDamage(std::string("the artifact is damaged: ") + what);
}

// Whether all values are in low .. high - 1; their extremes are found without a branch for each of them.
template <class T>
bool all_within(std::span<const T> values, std::int64_t low, std::int64_t high) {
    if (values.empty()) return true;
    T least = values.front(), most = least;
    for (const auto value : values) {
        least = std::min(least, value);
        most = std::max(most, value);
    }
    return least >= low && most < high;
}

inline bool all_within(const Packed& values, std::int64_t low, std::int64_t high) {
    return values.visit([&](auto view) { return all_within(view, low, high); });
}

// Whether the arrays of Rows fit each other.
bool are_rows(std::span<const std::int32_t> offsets, std::size_t values);

}  // namespace pdacon
