// The digraph algorithm of DeRemer and Pennello (section 4): F(x) = F0(x) | union of F(y) over x R y.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/budget.hpp"

namespace pdacon::lalr {

// A matrix of bits: one set of terminals per row.
class BitRows {
  public:
    BitRows(size_t rows, int32_t bits)
        : words_((static_cast<size_t>(bits) + 63) / 64), data_(rows * words_) {}

    std::span<uint64_t> operator[](size_t row) { return {data_.data() + row * words_, words_}; }
    std::span<const uint64_t> operator[](size_t row) const { return {data_.data() + row * words_, words_}; }
    void set(size_t row, int32_t bit) { (*this)[row][bit / 64] |= uint64_t{1} << (bit % 64); }
    bool test(size_t row, int32_t bit) const { return ((*this)[row][bit / 64] >> (bit % 64)) & 1; }
    void unite(size_t row, std::span<const uint64_t> other) {
        const auto target = (*this)[row];
        for (size_t i = 0; i < words_; ++i) target[i] |= other[i];
    }
    void copy(size_t row, std::span<const uint64_t> other) { std::ranges::copy(other, (*this)[row].begin()); }

  private:
    size_t words_;
    std::vector<uint64_t> data_;
};

// A relation on 0..n-1, by source.
struct Relation {
    using Pair = std::pair<int32_t, int32_t>;

    Relation(size_t n, std::span<const Pair> pairs) : offset(n + 1), target(pairs.size()) {
        for (const auto& [x, y] : pairs) ++offset[x + 1];
        for (size_t x = 0; x < n; ++x) offset[x + 1] += offset[x];
        std::vector<int64_t> fill(offset.begin(), offset.end() - 1);
        for (const auto& [x, y] : pairs) target[fill[x]++] = y;
    }
    std::vector<int64_t> offset;
    std::vector<int32_t> target;
};

// Turns F0 into F in place, in time linear in the relation. Calls on_cycle(members) for every strongly
// connected component of more than one node. The depth-first search keeps its own stack.
template <class OnCycle>
void digraph(const Relation& relation, BitRows& sets, Budget& budget, OnCycle on_cycle) {
    constexpr int32_t done = INT32_MAX;
    struct Frame {
        int32_t node;
        int32_t depth;
        int64_t edge;
    };
    const auto n = static_cast<int32_t>(relation.offset.size() - 1);
    std::vector<int32_t> mark(n, 0);  // 0 unseen, else the least depth known to be reachable
    std::vector<int32_t> stack;       // nodes whose component is still open
    std::vector<Frame> frames;
    const auto enter = [&](int32_t x) {
        stack.push_back(x);
        mark[x] = static_cast<int32_t>(stack.size());
        frames.push_back({x, mark[x], relation.offset[x]});
    };
    const auto close = [&](int32_t x, int32_t depth) {
        const std::span<const int32_t> members{stack.data() + depth - 1, stack.data() + stack.size()};
        for (const int32_t z : members) {
            mark[z] = done;
            if (z != x) sets.copy(z, std::as_const(sets)[x]);
        }
        if (members.size() > 1) on_cycle(members);
        stack.resize(depth - 1);
    };
    for (int32_t root = 0; root < n; ++root) {
        if (mark[root] == 0) enter(root);
        while (!frames.empty()) {
            budget.tick();
            Frame& frame = frames.back();
            const int32_t x = frame.node;
            if (frame.edge < relation.offset[x + 1]) {
                const int32_t y = relation.target[frame.edge];
                if (mark[y] == 0) {  // this edge is looked at again when y is finished
                    enter(y);
                    continue;
                }
                ++frame.edge;
                mark[x] = std::min(mark[x], mark[y]);
                if (x != y) sets.unite(x, std::as_const(sets)[y]);
                continue;
            }
            const int32_t depth = frame.depth;
            frames.pop_back();
            if (mark[x] == depth) close(x, depth);
        }
    }
}

}  // namespace pdacon::lalr
