#include "detokenizer/trie_characters.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/utf8.hpp"

namespace pdacon {

TrieCharacters::TrieCharacters(const Trie& trie, std::span<const std::int32_t> firsts) {
    // Numbers: of whole characters of up to three bytes by code point, of the others by their bytes.
    std::vector<std::int32_t> of_plane(std::size_t{1} << 16, -1);
    std::unordered_map<std::uint32_t, std::int32_t> of_others;
    const auto add = [&](std::int32_t first, const Character& character) {
        const auto& bytes = character.bytes;
        std::uint32_t code = bytes[0] & (character.length == 2 ? 0x1FU : 0xFU);
        for (const auto byte : character.view().subspan(1)) code = code << 6 | (byte & 0x3FU);
        std::uint32_t key = 0;  // none of the bytes is 0, so that a beginning is no whole character
        for (const auto byte : bytes) key = key << 8 | byte;
        auto& number = character.is_whole && character.length < 4
                           ? of_plane[code]
                           : of_others.try_emplace(key, -1).first->second;
        if (number < 0) {
            number = static_cast<std::int32_t>(characters_.size());
            characters_.push_back(character);
        }
        places_.push_back({first, number});
    };
    for (const auto first : firsts) {
        std::array<std::uint8_t, 4> bytes{};                  // down to a node
        const auto last = utf8_rest(trie.byte(first)).bytes;  // at which depth a character is whole
        for (auto node = first; node < trie.subtree_end(first);) {
            const auto depth = static_cast<std::size_t>(trie.depth(node) - trie.depth(first));
            bytes[depth] = trie.byte(node);
            const bool is_whole = std::cmp_equal(depth, last);
            if (is_whole || trie.subtree_end(node) == node + 1) {
                Character character{{}, static_cast<std::uint8_t>(depth + 1), is_whole};
                std::copy_n(bytes.begin(), depth + 1, character.bytes.begin());
                add(first, character);
            }
            node = is_whole ? trie.subtree_end(node) : node + 1;
        }
    }
    places_.shrink_to_fit();
}

}  // namespace pdacon
