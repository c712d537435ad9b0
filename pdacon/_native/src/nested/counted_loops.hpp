// What tokens do in a loop of characters, by how many characters they have: for strings that may have few
// more. Made once for a loop and a vocabulary.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "detokenizer/shared_trie.hpp"

namespace pdacon {

// The characters that begin within a text, which is UTF-8 but for its end.
std::int32_t characters_of(std::string_view text);

class CountedLoop {
  public:
    CountedLoop(const Trie& trie, const LoopTokens& loop);

    // Of those that have at most so many characters, the last of which may be incomplete.
    std::vector<std::int32_t> mask(const Trie& trie, std::int32_t most) const;
    // As those of the loop, by byte and by the number of characters before.
    struct Exit {
        std::uint8_t byte;
        std::int32_t characters;
        std::vector<std::int32_t> nodes;
    };
    const std::vector<Exit>& exits() const { return exits_; }

  private:
    std::vector<Exit> exits_;
    std::vector<std::int32_t> all_;     // the mask of all of them
    std::vector<std::int32_t> tokens_;  // with fewer characters first
    std::vector<std::int32_t> end_;     // how many have at most so many
};

// For all who use a trie. Safe from any thread.
class CountedLoops {
  public:
    std::shared_ptr<const CountedLoop> of(const Trie& trie, const CharacterSet& characters,
                                          const LoopTokens& loop);

  private:
    static constexpr std::size_t kMostKept = 32;

    std::mutex lock_;
    std::map<CharacterSet, std::shared_ptr<const CountedLoop>> known_;
};

}  // namespace pdacon
