// Where the states of a lexing automaton lead on byte classes.
//
// A matrix; or, where that would be large and states are alike, rows that many states share, and of each
// state the few edges in which it differs from its row. In the automaton of a long text or of many words a
// state has one or two edges, and all other classes lead where they lead from its neighbours.
//
// Source: Aho, Sethi and Ullman 1986, "Compilers: principles, techniques, and tools", section 3.9, for rows
// with defaults.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/flat.hpp"
#include "base/in_range.hpp"

namespace pdacon {

class Transitions {
  public:
    Transitions() = default;
    // [num_states, num_classes], by states.
    Transitions(Packed matrix, std::int32_t num_classes)
        : matrix_(std::move(matrix)), num_classes_(static_cast<std::size_t>(num_classes)) {}

    std::int32_t next(std::int32_t state, std::int32_t byte_class) const {
        if (row_.empty())
            return matrix_[static_cast<std::size_t>(state) * num_classes_ + in_class(byte_class)];
        const auto at = in_range(state, row_.size());
        const auto begin = offset_[at], end = offset_[at + 1];
        const auto* classes = class_.data() + begin;
        if (begin != end)
            if (const auto* found = static_cast<const std::uint8_t*>(
                    std::memchr(classes, byte_class, static_cast<std::size_t>(end - begin))))
                return target_[begin + (found - classes)];
        return rows_[static_cast<std::size_t>(row_[at]) * num_classes_ + in_class(byte_class)];
    }
    // The same for all byte classes at once.
    void copy_row(std::int32_t state, std::span<std::int32_t> row) const;
    // Without a matrix: how many rows states share, the row of a state, and the classes and targets of the
    // edges in which the state differs from it.
    bool has_shared_rows() const { return !row_.empty(); }
    std::size_t num_rows() const { return rows_.size() / num_classes_; }
    std::span<const std::int32_t> row(std::int32_t row) const {
        return std::span(rows_).subspan(in_range(row, num_rows()) * num_classes_, num_classes_);
    }
    std::int32_t row_of(std::int32_t state) const { return row_[in_range(state, row_.size())]; }
    std::span<const std::uint8_t> edge_classes(std::int32_t state) const { return edges_of(state, class_); }
    std::span<const std::int32_t> edge_targets(std::int32_t state) const { return edges_of(state, target_); }
    // False only where no byte class leads from a state back to it; looks at its own edges alone.
    bool may_loop(std::int32_t state) const {
        if (row_.empty() || leads_on_[row_of(state)]) return true;
        const auto targets = edge_targets(state);
        return std::ranges::find(targets, state) != targets.end();
    }
    // All of it as a matrix, which is made where there is none.
    Packed matrix() const;
    // The matrix, where there is one.
    const Packed* stored_matrix() const { return row_.empty() ? &matrix_ : nullptr; }

  private:
    friend class TransitionsBuilder;
    template <class Value>
    std::span<const Value> edges_of(std::int32_t state, const std::vector<Value>& values) const {
        const auto at = in_range(state, row_.size());
        const auto begin = static_cast<std::size_t>(offset_[at]);
        return std::span(values).subspan(begin, static_cast<std::size_t>(offset_[at + 1]) - begin);
    }
    std::size_t in_class(std::int32_t byte_class) const { return in_range(byte_class, num_classes_); }

    Packed matrix_;
    std::size_t num_classes_ = 0;
    // Without a matrix.
    std::vector<std::int32_t> rows_;       // [shared rows, num_classes]
    std::vector<bool> leads_on_;           // of each row: whether it leads to any state
    std::vector<std::int32_t> row_;        // of each state
    std::vector<std::int32_t> offset_{0};  // edges of state i: offset_[i] .. offset_[i + 1], by class
    std::vector<std::uint8_t> class_;
    std::vector<std::int32_t> target_;
};

// Makes them state by state.
class TransitionsBuilder {
  public:
    explicit TransitionsBuilder(std::int32_t num_classes) {
        made_.num_classes_ = static_cast<std::size_t>(num_classes);
    }

    // A row that may be shared, and that may still be written to.
    std::int32_t add_row(std::int32_t value) {
        made_.rows_.resize(made_.rows_.size() + made_.num_classes_, value);
        return static_cast<std::int32_t>(made_.rows_.size() / made_.num_classes_) - 1;
    }
    std::span<std::int32_t> row(std::int32_t row) {
        return std::span(made_.rows_)
            .subspan(static_cast<std::size_t>(row) * made_.num_classes_, made_.num_classes_);
    }
    // The next state: its row, and then the edges in which it differs.
    void add_state(std::int32_t row) {
        made_.row_.push_back(row);
        made_.offset_.push_back(made_.offset_.back());
    }
    void add_edge(std::uint8_t byte_class, std::int32_t target) {
        made_.class_.push_back(byte_class);
        made_.target_.push_back(target);
        ++made_.offset_.back();
    }
    std::int32_t next(std::int32_t state, std::int32_t byte_class) const {
        return made_.next(state, byte_class);
    }
    // A matrix, unless it would be large and most of it the same.
    Transitions take() &&;
    // Makes room for so many more states and edges.
    void reserve(std::size_t states, std::size_t edges);

  private:
    Transitions made_;
};

}  // namespace pdacon
