// Tokenizes a text by byte-pair merges in the order of the tokens' ids.
//
// A vocabulary lists tokens, and does not say how its tokenizer chooses among them. Where a byte-pair
// encoding was learned, ids mostly ascend in the order of the merges (tiktoken, GPT-2, Llama, Qwen, tekken,
// SentencePiece BPE), so the lowest id is merged first. How the tokenizer splits a text beforehand is not
// known here, so its own result may differ.
//
// Source: Sennrich, Haddow & Birch 2016, "Neural machine translation of rare words with subword units".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "detokenizer/trie.hpp"

namespace pdacon {

// The ids of the tokens, and -1 for a byte that no token has. A character that is a token is never cut. Takes
// O(n log n) look-ups for a text of n bytes.
std::vector<std::int64_t> merge_pairs(const Trie& trie, std::string_view text);

}  // namespace pdacon
