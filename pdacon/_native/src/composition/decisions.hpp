// Which mask a configuration has: a decision tree over the lexer state and the topmost LR states.
//
// The tree of an artifact is used where it lies, with what is alike in it stored once; what is added is in a
// second one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/flat.hpp"
#include "base/interner.hpp"
#include "lexer/columns.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class Decisions {
  public:
    // One root per lexer state. `columns`: answers may depend on columns.
    Decisions(std::size_t lexer_states, bool columns) : roots_(lexer_states), columns_(columns) {}
    // What `save` has written. Throws ArtifactDamage.
    Decisions(std::size_t lexer_states, bool columns, std::size_t masks, const ArtifactReader& artifact,
              std::int32_t start);
    void save(ArtifactWriter& artifact, std::int32_t start) const;

    // The mask of a configuration, or -1.
    std::int32_t find(const Reading& reading, const StackView& stack) const;
    // Files a mask under what its computation looked at, if `find` does not know it. May forget others, if
    // that would be too many.
    void add(const Reading& reading, const StackView& stack, const ReadSet& looked, std::int32_t mask);
    // Whether `add` would forget nothing.
    bool has_room(const ReadSet& looked) const { return size() + looked.states <= roots_ + kMost; }
    // Whether there is room for answers that no text has asked for: half of all.
    bool has_room_beside_texts(const ReadSet& looked) const {
        return size() + looked.states <= roots_ + kMost / 2;
    }
    // All but what an artifact has.
    void forget();

    // Of what was added.
    std::size_t size() const { return added_.nodes.size(); }
    std::size_t bytes() const { return size() * sizeof(Node); }
    // The same without the roots.
    std::size_t bytes_of_answers() const { return size() > roots_ ? (size() - roots_) * sizeof(Node) : 0; }

    // Some 64 MiB; when that is full, answers are forgotten and found anew. Masks keep their ids.
    static constexpr std::size_t kMost = 1 << 20;

  private:
    struct Branch {
        std::int32_t state, next;  // an LR state, and the node that it leads to
    };
    struct Node {
        std::int32_t mask = -1;        // the answer, or
        std::vector<Branch> branches;  // what the next LR state below leads to, by state
    };
    struct Tree {
        std::vector<Node> nodes;  // first a root for each lexer state; or none at all
        // Roots of answers that depended on columns: of a reading with its columns and those of the open
        // blocks.
        Interner lines;
        std::vector<std::int32_t> line_roots;

        std::int32_t line_root(std::span<const std::int32_t> line) const;
        std::int32_t make_line_root(std::span<const std::int32_t> line);
        // Where an LR state leads from a node.
        std::int32_t make_branch(std::int32_t node, std::int32_t state);
        // The same with a copy of what is there, if anything is.
        std::int32_t own_branch(std::int32_t node, std::int32_t state);
        std::int32_t own_line_root(std::span<const std::int32_t> line);
        std::int32_t copied(std::int32_t node);
        std::int32_t answer(std::int32_t node) const { return nodes[static_cast<std::size_t>(node)].mask; }
        std::span<const Branch> branches(std::int32_t node) const {
            return nodes[static_cast<std::size_t>(node)].branches;
        }
    };
    // The same in an artifact; node i has branches offsets[i] .. offsets[i + 1].
    struct Stored {
        Flat<std::int32_t> masks;
        Rows<Branch> all_branches;
        Rows<std::int32_t> line_keys;
        Flat<std::int32_t> line_slots, roots_of_lines;

        std::int32_t line_root(std::span<const std::int32_t> line) const;
        std::int32_t answer(std::int32_t node) const { return masks[static_cast<std::size_t>(node)]; }
        std::span<const Branch> branches(std::int32_t node) const { return all_branches[node]; }
    };

    void add_path(const Reading& reading, const StackView& stack, const ReadSet& looked, std::int32_t mask);
    template <class AnyTree>
    std::int32_t find_in(const AnyTree& tree, const Reading& reading, const StackView& stack) const;
    Tree all() const;
    static std::vector<std::int32_t> key_of(const Node& node, std::span<const std::int32_t> kind);
    std::vector<std::int32_t> number_nodes(const Tree& tree, Interner& kinds) const;

    std::size_t roots_;
    bool columns_;
    Tree added_;
    Stored stored_;
};

}  // namespace pdacon
