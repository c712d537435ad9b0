// How long tokens are below the nodes of a vocabulary's trie, for walks that pass over what is too short to
// matter.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "detokenizer/trie.hpp"

namespace pdacon {

// For all who use a trie. Safe from any thread.
class TokenHeights {
  public:
    // By node: how many bytes at most a token goes on below it.
    const std::vector<std::uint16_t>& of(const Trie& trie);

  private:
    std::mutex lock_;
    std::vector<std::uint16_t> heights_;
};

}  // namespace pdacon
