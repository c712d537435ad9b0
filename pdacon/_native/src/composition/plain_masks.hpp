// Plain masks: what grammar and vocabulary allow, with neither a budget nor a filter.
//
// The mask of a configuration depends on its lexer state, the topmost LR states that the computation looked
// at and, where newlines indent, perhaps the columns of the open blocks. It is found again by these
// (MaskTrie), without a look at the vocabulary. A mask that is not known is computed by the MaskEngine.
#pragma once

#include <cstdint>
#include <optional>

#include "artifact/artifact.hpp"
#include "composition/mask_resources.hpp"
#include "composition/mask_trie.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class PlainMasks final : public MaskCache {
  public:
    explicit PlainMasks(MaskResources& resources);
    // Loads what `save` has written; `set_leading_id` follows. Throws ArtifactDamage.
    PlainMasks(MaskResources& resources, const ArtifactReader& artifact, std::int32_t start);
    void save(ArtifactWriter& artifact, std::int32_t start) const { trie_.save(artifact, start); }
    std::int32_t leading_id() const { return leading_; }  // -1: not known
    void set_leading_id(std::int32_t id) { leading_ = id; }

    // The mask of a configuration: a look-up, or a computation where no mask is known (a mask miss). Throws
    // LimitExceeded("bytes") if there is no room for one more. Ids stay valid; to make room, the trie that
    // finds masks may be emptied, and then a mask is computed again, with the same id.
    Mask mask(const LexerConfiguration& lexing, const StackView& stack);
    // The same if it is known, otherwise id -1. Never waits, so that the id is -1 also while another thread
    // has the lock.
    Mask known_mask(const LexerConfiguration& lexing, const StackView& stack) const;
    // The same for a caller that holds the lock, who asks for many. `read_set`: what the mask depends on, if
    // it is known.
    Mask known_mask_behind_lock(const LexerConfiguration& lexing, const StackView& stack,
                                ReadSet* read_set = nullptr) const {
        return resources_.at(trie_.find(lexing, stack, read_set));
    }
    // The mask of the first token, if one leading space of it is not part of the text.
    Mask leading_mask();
    Mask known_leading_mask() const;
    Mask known_leading_mask_behind_lock() const { return resources_.at(leading_); }
    // Computes a mask before any text asks for it, and adds it unless it allows nothing, or it depends on
    // columns and those of the stack only stand for others (`columns_meant` is false). Returns what it
    // depends on, added or not; nothing if half of the trie's nodes are in use, which leaves room for masks
    // that texts ask for. Throws LimitExceeded("bytes") if there are no bytes left.
    std::optional<ReadSet> file_mask(const LexerConfiguration& lexing, const PersistentStack& stack,
                                     bool columns_meant);

    std::size_t bytes() const override { return trie_.bytes(); }
    void make_room() override { trie_.forget(); }
    // What is in the trie is whole. It is found again, unless the trie takes most of the memory.
    void forget() override {
        if (trie_.bytes_of_paths() > resources_.guarded().max_bytes() / 2) trie_.forget();
    }

  private:
    MaskTrie trie_;
    std::int32_t leading_ = -1;
};

}  // namespace pdacon
