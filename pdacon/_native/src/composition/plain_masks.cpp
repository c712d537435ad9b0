#include "composition/plain_masks.hpp"

#include <algorithm>
#include <utility>

namespace pdacon {

PlainMasks::PlainMasks(MaskResources& resources)
    : MaskCache(resources),
      trie_(static_cast<std::size_t>(resources.machine().lexer.num_states()),
            resources.machine().layout.newline >= 0) {}

PlainMasks::PlainMasks(MaskResources& resources, const ArtifactReader& artifact, std::int32_t start)
    : MaskCache(resources),
      trie_(static_cast<std::size_t>(resources.machine().lexer.num_states()),
            resources.machine().layout.newline >= 0, resources.masks().size(), artifact, start) {}

Mask PlainMasks::mask(const LexerConfiguration& lexing, const StackView& stack) {
    return resources_.require(resources_.guarded().run([&] {
        auto id = trie_.find(lexing, stack);
        if (id < 0) {
            resources_.make_room();
            ReadSet read_set;
            id = resources_.find_mask(lexing, stack, read_set);
            if (id >= 0) {
                trie_.add(lexing, stack, read_set, id);
                resources_.count_computed();
            }
        }
        return resources_.at(id);
    }));
}

Mask PlainMasks::known_mask(const LexerConfiguration& lexing, const StackView& stack) const {
    return resources_.guarded().look([&] { return known_mask_behind_lock(lexing, stack); });
}

Mask PlainMasks::leading_mask() {
    return resources_.require(resources_.guarded().run([&] {
        if (leading_ < 0) {
            resources_.make_room();
            leading_ = resources_.find_leading_mask();
            if (leading_ >= 0) resources_.count_computed();
        }
        return resources_.at(leading_);
    }));
}

Mask PlainMasks::known_leading_mask() const {
    return resources_.guarded().look([&] { return known_leading_mask_behind_lock(); });
}

std::optional<ReadSet> PlainMasks::file_mask(const LexerConfiguration& lexing, const PersistentStack& stack,
                                             bool columns_meant) {
    std::optional<LimitExceeded> full;  // thrown where nothing is half done
    const auto max_bytes = resources_.guarded().max_bytes();
    auto filed = resources_.guarded().run([&]() -> std::optional<ReadSet> {
        full.reset();
        if (resources_.bytes() >= max_bytes) resources_.forget_engine();
        ReadSet read_set;
        auto words = resources_.engine().compute(lexing, stack.view(), read_set);
        const bool nothing = std::ranges::all_of(words, [](std::int32_t word) { return word == 0; });
        if (nothing || (read_set.columns && !columns_meant)) return read_set;
        if (!trie_.has_room_beside_texts(read_set)) return std::nullopt;
        const auto& masks = resources_.masks();
        const auto bytes = masks.bytes() + masks.row_bytes() + trie_.bytes();
        if (bytes > max_bytes) {
            full.emplace("bytes", static_cast<double>(bytes), static_cast<double>(max_bytes));
            return std::nullopt;
        }
        trie_.add(lexing, stack.view(), read_set, resources_.intern(words));
        resources_.count_computed();
        return read_set;
    });
    if (full) throw *full;
    return filed;
}

}  // namespace pdacon
