#include "lexer/transitions.hpp"

#include <algorithm>

namespace pdacon {

namespace {

// A matrix of so many numbers is small enough: to look something up in it is quicker.
constexpr std::size_t kMatrix = std::size_t{1} << 20;

}  // namespace

void Transitions::copy_row(std::int32_t state, std::span<std::int32_t> row) const {
    ensure(row.size() == num_classes_);
    const auto at = static_cast<std::size_t>(state);
    if (row_.empty()) {
        matrix_.visit(
            [&](auto all) { std::ranges::copy(all.subspan(at * num_classes_, num_classes_), row.begin()); });
        return;
    }
    std::ranges::copy(
        std::span(rows_).subspan(static_cast<std::size_t>(row_[in_range(at, row_.size())]) * num_classes_,
                                 num_classes_),
        row.begin());
    for (auto edge = static_cast<std::size_t>(offset_[at]); edge < static_cast<std::size_t>(offset_[at + 1]);
         ++edge)
        row[class_[edge]] = target_[edge];
}

Packed Transitions::matrix() const {
    std::vector<std::int32_t> all;
    if (row_.empty()) {
        matrix_.visit([&](auto values) { all.assign(values.begin(), values.end()); });
        return all;
    }
    all.resize(row_.size() * num_classes_);
    for (std::size_t state = 0; state < row_.size(); ++state)
        copy_row(static_cast<std::int32_t>(state),
                 std::span(all).subspan(state * num_classes_, num_classes_));
    return all;
}

void TransitionsBuilder::reserve(std::size_t states, std::size_t edges) {
    made_.row_.reserve(made_.row_.size() + states);
    made_.offset_.reserve(made_.offset_.size() + states);
    made_.class_.reserve(made_.class_.size() + edges);
    made_.target_.reserve(made_.target_.size() + edges);
}

Transitions TransitionsBuilder::take() && {
    const auto numbers = made_.row_.size() * made_.num_classes_;
    const auto classes = static_cast<std::int32_t>(made_.num_classes_);
    if (made_.class_.empty() && made_.rows_.size() == numbers) return {std::move(made_.rows_), classes};
    const auto kept = made_.rows_.size() + 2 * made_.row_.size() + 2 * made_.target_.size();
    if (numbers <= kMatrix || numbers <= kept) return {made_.matrix(), classes};
    for (std::size_t row = 0; row < made_.num_rows(); ++row)
        made_.leads_on_.push_back(std::ranges::any_of(made_.row(static_cast<std::int32_t>(row)),
                                                      [](std::int32_t next) { return next >= 0; }));
    return std::move(made_);
}

}  // namespace pdacon
