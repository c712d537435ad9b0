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

Transitions TransitionsBuilder::take() && {
    const auto numbers = made_.row_.size() * made_.num_classes_;
    const auto classes = static_cast<std::int32_t>(made_.num_classes_);
    if (made_.class_.empty() && made_.rows_.size() == numbers) return {std::move(made_.rows_), classes};
    const auto kept = made_.rows_.size() + 2 * made_.row_.size() + 2 * made_.target_.size();
    if (numbers <= kMatrix || numbers <= kept) return {made_.matrix(), classes};
    return std::move(made_);
}

}  // namespace pdacon
