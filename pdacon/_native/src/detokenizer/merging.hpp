// Tokenizes by merging pairs in the order of their ids.
//
// A vocabulary says which tokens there are, not how its tokenizer chooses among them. But where a byte-pair
// encoding was learned, ids mostly count up in the order of the merges (tiktoken, GPT-2, Llama, Qwen, tekken,
// SentencePiece BPE), so the ids tell. What this cannot know is where the tokenizer splits a text beforehand.
//
// Source: Sennrich, Haddow & Birch 2016, "Neural machine translation of rare words with subword units".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "detokenizer/trie.hpp"

namespace pdacon {

// The ids of the tokens, -1 for a piece that is none. Characters that are tokens are never cut. O(n log n)
// merges.
std::vector<std::int64_t> merge_pairs(const Trie& trie, std::string_view text);

}  // namespace pdacon
