// Pending controls: the control locations of the pushdown system in which a label waits to be taken to the
// parser.
//
// A pending control is (label, class of column, residues): the label waits, its lexeme may leave any one of
// the residues to be read again, and the column counts for a newline and for the INDENT or DEDENT made of
// it. Once the label has been taken, lexing goes on with the residues in the context of the state that is
// then on top; what can be pending after that is found once for each (context, block, control) and remembered
// as a list of successors. The subclasses know which successors a residue has, and what they cost.
//
// Source: control locations as in Bouajjani, Esparza and Maler 1997.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/interned_map.hpp"
#include "base/interner.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class PendingControls {
  public:
    struct Successor {
        std::int32_t control;
        std::int64_t cost;  // 0 where costs do not count
    };

    PendingControls(Futures& futures, const Layout& layout) : futures_(futures), layout_(layout) {}
    virtual ~PendingControls() = default;

    std::int32_t label(std::int32_t control) const { return ids_[control][0]; }
    std::int32_t column(std::int32_t control) const { return ids_[control][1]; }
    std::size_t num_residues(std::int32_t control) const { return ids_[control].size() - 2; }
    // The list of what can be pending after the control's label has been taken, or skipped, in a context and
    // a block whose column is of this class. Many controls share a list.
    std::int32_t after(std::int32_t context, std::int32_t block, std::int32_t control, bool skipped);
    // Whether the block stays as it is once the control's label has been taken, so that lexing goes on. A
    // newline in another column first opens or closes blocks, and the end of the text closes all.
    bool keeps_block(std::int32_t control, std::int32_t block) const;
    std::vector<Successor> successors(std::int32_t list) const;
    // The futures of the lexer configurations between two tokens that the control's residues lead to in a
    // context. Valid as long as this object.
    const std::vector<std::int32_t>& futures_after(std::int32_t context, std::int32_t control);

  protected:
    // What it costs that a newline with these residues opens a block; kNever: it cannot.
    static constexpr std::int64_t kNever = -1;
    virtual std::int64_t cost_of_indent([[maybe_unused]] std::int32_t column,
                                        [[maybe_unused]] std::span<const std::int32_t> residues) const {
        return 0;
    }
    // What can be pending once any one of the residues has been read in a context.
    virtual std::vector<Successor> lexed(std::int32_t context, std::span<const std::int32_t> residues) = 0;

    // Emits the controls of a label, a column and residues. Of a label that closes all blocks there are two:
    // the label itself, and a DEDENT, which closes a block before it.
    template <class Emit>
    void emit_controls(std::int32_t label, std::int32_t column, std::span<const std::int32_t> residues,
                       Emit emit) {
        std::vector<std::int32_t> key{label, column};
        key.insert(key.end(), residues.begin(), residues.end());
        emit(ids_.intern(key));
        if (!layout_.closes_blocks(label)) return;
        key[0] = layout_.dedent;
        key[1] = kClosing - label;
        emit(ids_.intern(key));
    }

    // Emits the INDENT and the DEDENT that a newline's control can become, in whatever block.
    template <class Emit>
    void emit_blocks(std::int32_t control, Emit emit) {
        const auto known = ids_[control];
        std::vector<std::int32_t> key(known.begin(), known.end());
        if (key[0] != layout_.newline || key[1] < 0)
            return;  // a newline without a line break is an error of the Indenter
        for (const auto made : {layout_.indent, layout_.dedent}) {
            key[0] = made;
            emit(ids_.intern(key));
        }
    }

    std::int32_t list(std::span<const Successor> successors);

    Futures& futures_;

  private:
    // From here down the column of a DEDENT stands for the label that closes all blocks after it.
    static constexpr std::int32_t kClosing = -2;

    // Whether it is a DEDENT before a label that closes all blocks.
    bool is_closing(std::int32_t control) const {
        return layout_.newline >= 0 && label(control) == layout_.dedent && column(control) <= kClosing;
    }
    void add_blocks(std::int32_t control, std::int32_t block, std::vector<Successor>& successors);

    const Layout& layout_;
    Interner ids_;                     // label, column and residues, ascending
    Interner lists_;                   // of successors: a control, and both halves of its cost
    InternedMap<std::int32_t> after_;  // by context, block and control: a list of successors
    using Sets = std::vector<std::int32_t>;
    InternedMap<Sets, std::deque<Sets>> entered_;  // by context and control
};

}  // namespace pdacon
