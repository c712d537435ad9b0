// Pending controls: a label that waits to be taken to the parser, the pushbacks that its lexeme may leave,
// and of a newline, and of the INDENT or DEDENT made of it, the class of its column. What can be pending
// after it is found once and remembered; with what cost, the kinds of controls know.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/interner.hpp"
#include "liveness/futures.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

class PendingControls {
  public:
    struct Successor {
        std::int32_t control;
        std::int32_t cost;  // bytes that must be added
    };

    PendingControls(Futures& futures, const Layout& layout) : futures_(futures), layout_(layout) {}
    virtual ~PendingControls() = default;

    std::int32_t label(std::int32_t control) const { return ids_[control][0]; }
    std::int32_t column(std::int32_t control) const { return ids_[control][1]; }
    // What can be pending after the control's label has been taken, or skipped, and the context is this one
    // and the innermost block's column of this class: a list of successors. Many controls have the same one.
    std::int32_t after(std::int32_t context, std::int32_t block, std::int32_t control, bool skipped);
    // Whether lexing goes on once the control's label has been taken, in a block of this class.
    bool keeps_block(std::int32_t control, std::int32_t block) const;
    std::vector<Successor> successors(std::int32_t list) const;
    // The futures in which lexing goes on, between two tokens, once the control's label has been taken and
    // the context is this one. Valid as long as this object.
    const std::vector<std::int32_t>& futures_after(std::int32_t context, std::int32_t control);

  protected:
    // What can be pending once one of the pushbacks has been lexed in the context.
    virtual std::vector<Successor> lexed(std::int32_t context, std::span<const std::int32_t> pushbacks) = 0;

    // The controls of a label, a column and pushbacks. At the end of a text blocks close before the end is
    // taken.
    template <class Emit>
    void emit_controls(std::int32_t label, std::int32_t column, std::span<const std::int32_t> pushbacks,
                       Emit emit) {
        std::vector<std::int32_t> key{label, column};
        key.insert(key.end(), pushbacks.begin(), pushbacks.end());
        emit(ids_.intern(key));
        if (label != futures_.lexer().end_label() || layout_.newline < 0) return;
        key[0] = layout_.dedent;
        key.insert(key.begin() + 2, kAtEnd);
        emit(ids_.intern(key));
    }

    // What can be made of a newline's control, whatever block it is in.
    template <class Emit>
    void emit_blocks(std::int32_t control, Emit emit) {
        const auto known = ids_[control];
        std::vector<std::int32_t> key(known.begin(), known.end());
        if (key[0] != layout_.newline || key[1] < 0) return;  // without a line break it is an error
        for (const auto made : {layout_.indent, layout_.dedent}) {
            key[0] = made;
            emit(ids_.intern(key));
        }
    }

    std::int32_t list(std::span<const Successor> successors);

    Futures& futures_;

  private:
    static constexpr std::int32_t kAtEnd = -1;  // before the pushback of an end of the text

    bool is_at_end(std::int32_t control) const {
        return ids_[control].size() > 2 && ids_[control][2] == kAtEnd;
    }
    void add_blocks(std::int32_t control, std::int32_t block, std::vector<Successor>& successors);

    const Layout& layout_;
    Interner ids_;  // label, column and pushbacks, ascending
    Interner after_ids_, lists_;
    std::vector<std::int32_t> after_;  // lists of successors
    Interner entered_ids_;
    std::deque<std::vector<std::int32_t>> entered_;  // the futures that are entered
};

}  // namespace pdacon
