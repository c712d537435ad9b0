// Stepping sets of NFA positions: shared by the determinizer and the overlap search.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lexer/automaton.hpp"

namespace pdacon {

// Ordered epsilon closures. A visit lasts from one begin() to the next: a position seen once is not listed
// again, because the thread that came first has the higher priority.
class Closure {
  public:
    explicit Closure(const Nfa& nfa) : nfa_(nfa), seen_(nfa.kind.size(), 0) {}

    void begin() { ++visit_; }

    // Appends the byte and pending positions reachable from `position`, in order of priority, up to the first
    // match; returns whether there was one. What comes after a match has lost against it.
    bool until_match(std::int32_t position, std::vector<std::int32_t>& out) {
        stack_.assign(1, position);
        while (!stack_.empty()) {
            const auto at = static_cast<std::size_t>(stack_.back());
            stack_.pop_back();
            if (seen_[at] == visit_) continue;
            seen_[at] = visit_;
            switch (static_cast<NfaKind>(nfa_.kind[at])) {
                case NfaKind::kMatch:
                    return true;
                case NfaKind::kBytes:
                case NfaKind::kPending:
                case NfaKind::kPendingOrEnd:
                    out.push_back(static_cast<std::int32_t>(at));
                    break;
                case NfaKind::kSplit:
                    for (auto edge = nfa_.offset[at + 1]; edge-- > nfa_.offset[at];)
                        stack_.push_back(nfa_.target[static_cast<std::size_t>(edge)]);
            }
        }
        return false;
    }

    // Whether the position is met for the first time in this visit.
    bool first(std::int32_t position) {
        auto& seen = seen_[static_cast<std::size_t>(position)];
        return std::exchange(seen, visit_) != visit_;
    }

    // The target of the edge for `byte`, or -1.
    std::int32_t step(std::int32_t position, std::uint8_t byte) const {
        const auto at = static_cast<std::size_t>(position);
        for (auto edge = static_cast<std::size_t>(nfa_.offset[at]);
             edge < static_cast<std::size_t>(nfa_.offset[at + 1]); ++edge)
            if (nfa_.low[edge] <= byte && byte <= nfa_.high[edge]) return nfa_.target[edge];
        return -1;
    }

  private:
    const Nfa& nfa_;
    std::vector<std::uint32_t> seen_;
    std::vector<std::int32_t> stack_;
    std::uint32_t visit_ = 0;
};

// Bytes that no edge tells apart share a class; if blanks count, each of them has its own. Returns the number
// of classes; class_of maps bytes to them.
int byte_classes(const Nfa& nfa, bool blanks, std::array<std::uint8_t, 256>& class_of);

}  // namespace pdacon
