// The mask trie: the masks that are known, by lexer state and the topmost LR states of the stack.
//
// Below the root of a lexer state each edge is one LR state, the topmost first. A path has as many edges as
// the mask's computation read states of the stack, and ends at a node with the mask. The mask holds for all
// stacks with these states on top, so a look-up reads the stack from the top and takes the first mask that it
// meets: O(states that were looked at), each found by binary search. Where the computation looked at columns,
// the root is that of a lexer configuration together with the columns of all open blocks. It is tried after
// the plain root, and its key takes O(open blocks).
//
// There are two tries. That of an artifact is used where it lies in memory, as a directed acyclic graph in
// which equal subtrees are stored once. What is added later is in a second trie. The owner's lock guards
// both.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/flat.hpp"
#include "base/in_range.hpp"
#include "base/interner.hpp"
#include "lexer/columns.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class MaskTrie {
  public:
    // `columns`: whether masks may depend on columns.
    MaskTrie(std::size_t lexer_states, bool columns) : lexer_states_(lexer_states), columns_(columns) {}
    // Loads what `save` has written. Throws ArtifactDamage.
    MaskTrie(std::size_t lexer_states, bool columns, std::size_t masks, const ArtifactReader& artifact,
             std::int32_t start);
    void save(ArtifactWriter& artifact, std::int32_t start) const;

    // The mask of a configuration, or -1. `read_set`: what the mask depends on, if it is found.
    std::int32_t find(const LexerConfiguration& lexing, const StackView& stack,
                      ReadSet* read_set = nullptr) const;
    // Adds a mask under what its computation looked at, where `find` knows none. If the added trie is full,
    // all of it is emptied first, and also if memory runs out; a path longer than the trie is not kept.
    void add(const LexerConfiguration& lexing, const StackView& stack, const ReadSet& read_set,
             std::int32_t mask);
    // Whether `add` would empty nothing.
    bool has_room(const ReadSet& read_set) const { return size() + read_set.states < kMostNodes; }
    // Whether there is room for a mask that no text has asked for: such masks get half of all nodes.
    bool has_room_beside_texts(const ReadSet& read_set) const {
        return size() + read_set.states < kMostNodes / 2;
    }
    // Empties the added trie and gives its memory back.
    void forget();

    // The nodes of the added trie, and its bytes without their branches.
    std::size_t size() const { return added_.nodes.size(); }
    std::size_t bytes() const { return bytes_of_paths() + added_.roots.size() * sizeof(std::int32_t); }
    // The same bytes without those that all lexer states take.
    std::size_t bytes_of_paths() const { return size() * sizeof(Node); }

    // At most so many added nodes: about 64 MiB with their branches. A trie that is emptied fills again, and
    // masks keep their ids.
    static constexpr std::size_t kMostNodes = 1 << 20;

  private:
    struct Branch {
        std::int32_t state, next;  // an LR state, and the node that it leads to
    };
    // Either an end with its mask, or branches by the next LR state below, in ascending order.
    struct Node {
        std::int32_t mask = -1;
        std::vector<Branch> branches;
    };
    struct Added {
        std::vector<Node> nodes;
        std::vector<std::int32_t> roots;  // of each lexer state, or -1; empty before the first mask
        // Roots of masks that depend on columns; their keys are those of `columns_key`.
        Interner column_keys;
        std::vector<std::int32_t> column_roots;

        std::int32_t root(std::int32_t lexer_state) const {
            return roots.empty() ? -1 : roots[in_range(lexer_state, roots.size())];
        }
        // Made if there is none.
        std::int32_t make_root(std::int32_t lexer_state, std::size_t lexer_states);
        std::int32_t columns_root(std::span<const std::int32_t> key) const;
        std::int32_t make_columns_root(std::span<const std::int32_t> key);
        // The node that an LR state leads to, made if there is none.
        std::int32_t make_branch(std::int32_t node, std::int32_t state);
        // The same, but a node that is there already is replaced by a copy, since others may share it.
        std::int32_t own_branch(std::int32_t node, std::int32_t state);
        std::int32_t own_columns_root(std::span<const std::int32_t> key);
        std::int32_t copied(std::int32_t node);
        std::int32_t mask_of(std::int32_t node) const { return nodes[node].mask; }
        std::span<const Branch> branches(std::int32_t node) const { return nodes[node].branches; }
    };
    // The trie of an artifact. Its first nodes are the roots of all lexer states.
    struct Stored {
        Flat<std::int32_t> masks;
        Rows<Branch> all_branches;
        Rows<std::int32_t> column_keys;
        Flat<std::int32_t> column_slots, column_roots;

        static std::int32_t root(std::int32_t lexer_state) { return lexer_state; }
        std::int32_t columns_root(std::span<const std::int32_t> key) const;
        std::int32_t mask_of(std::int32_t node) const { return masks[node]; }
        std::span<const Branch> branches(std::int32_t node) const { return all_branches[node]; }
    };

    void add_path(const LexerConfiguration& lexing, const StackView& stack, const ReadSet& read_set,
                  std::int32_t mask);
    template <class AnyTrie>
    std::int32_t find_in(const AnyTrie& trie, const LexerConfiguration& lexing, const StackView& stack,
                         ReadSet* read_set) const;
    Added merged() const;
    static std::vector<std::int32_t> key_of(const Node& node, std::span<const std::int32_t> subtree_of);
    std::vector<std::int32_t> number_subtrees(const Added& trie, Interner& subtrees) const;

    std::size_t lexer_states_;
    bool columns_;
    Added added_;
    Stored stored_;
};

}  // namespace pdacon
