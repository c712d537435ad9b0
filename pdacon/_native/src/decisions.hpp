// Which mask a configuration has: a decision tree over the lexer state and the topmost LR states.
//
// The tree of an artifact is used where it lies, until something is added.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "artifact.hpp"
#include "columns.hpp"
#include "flat.hpp"
#include "interner.hpp"
#include "stack.hpp"

namespace pdacon {

class Decisions {
  public:
    // One root per lexer state. `columns`: answers may depend on columns.
    Decisions(std::size_t lexer_states, bool columns)
        : roots_(lexer_states), columns_(columns), nodes_(lexer_states) {}
    // What `save` has written. Throws ArtifactDamage.
    Decisions(std::size_t lexer_states, bool columns, std::size_t masks, const ArtifactReader& artifact,
              std::int32_t start);
    void save(ArtifactWriter& artifact, std::int32_t start) const;

    // The mask of a configuration, or -1.
    std::int32_t find(const Reading& reading, const StackView& stack) const;
    // Files a mask under what its computation looked at. May forget others, if that would be too many.
    void add(const Reading& reading, const StackView& stack, const Looked& looked, std::int32_t mask);
    // Whether `add` would forget nothing.
    bool has_room(const Looked& looked) const { return size() + looked.states <= roots_ + kMost; }
    // Whether there is room for answers that no text has asked for: half of all.
    bool has_room_beside_texts(const Looked& looked) const {
        return size() + looked.states <= roots_ + kMost / 2;
    }
    void forget();

    std::size_t size() const { return is_stored() ? stored_.masks.size() : nodes_.size(); }
    std::size_t bytes() const { return size() * sizeof(Node); }

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
    // The same in an artifact; node i has branches offsets[i] .. offsets[i + 1].
    struct Stored {
        Flat<std::int32_t> masks;
        Rows<Branch> branches;
        Rows<std::int32_t> line_keys;
        Flat<std::int32_t> line_slots, line_roots;
    };

    bool is_stored() const { return nodes_.empty(); }
    void own();
    std::int32_t answer(std::int32_t node) const {
        const auto at = static_cast<std::size_t>(node);
        return is_stored() ? stored_.masks[at] : nodes_[at].mask;
    }
    std::span<const Branch> branches(std::int32_t node) const {
        if (is_stored()) return stored_.branches[node];
        return nodes_[static_cast<std::size_t>(node)].branches;
    }
    std::int32_t find(std::int32_t root, const StackNode* stack) const;
    std::int32_t line_root(const Reading& reading, const StackView& stack) const;
    std::int32_t make_line_root(const Reading& reading, const StackView& stack);

    std::size_t roots_;
    bool columns_;
    std::vector<Node> nodes_;
    // Roots of answers that depended on columns: of a reading with its columns and those of the open blocks.
    Interner lines_;
    std::vector<std::int32_t> line_roots_;
    Stored stored_;
};

}  // namespace pdacon
