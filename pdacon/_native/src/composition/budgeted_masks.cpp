#include "composition/budgeted_masks.hpp"

#include <algorithm>

namespace pdacon {

namespace {

// The columns of the open blocks, the innermost first.
std::vector<std::int32_t> columns_of(const StackView& stack) {
    std::vector<std::int32_t> columns;
    for (const auto* block = stack.block; block != nullptr; block = block->around)
        columns.push_back(block->column);
    return columns;
}

}  // namespace

BudgetedMasks::Key BudgetedMasks::key_of(const LexerConfiguration& lexing, bool leading,
                                         const StackView& stack) {
    return key_of(lexing, leading, resources_.cells().of(stack.top), columns_.intern(columns_of(stack)));
}

void BudgetedMasks::forget() {
    by_distance_ = {};
    by_bytes_ = {};
    columns_ = {};
}

bool BudgetedMasks::may_end(const LexerConfiguration& lexing, const StackView& stack) const {
    ReadSet read_set;
    Overlay here(stack, read_set);
    return ends(resources_.machine(), here, lexing);
}

std::int64_t BudgetedMasks::least(Allowance::Unit unit, const LexerConfiguration& lexing, bool leading,
                                  const StackView& stack) {
    require_measurable(resources_.machine(), false);
    return resources_.guarded().run([&] {
        if (may_end(lexing, stack)) return std::int64_t{0};
        auto& engine = resources_.measuring_engine();
        if (unit == Allowance::Unit::kTokens) return engine.token_distances().least(lexing, leading, stack);
        if (!leading) return engine.byte_distances().at_most(lexing, stack);
        return engine.assemble_by_bytes(lexing, leading, stack).least();
    });
}

std::int32_t BudgetedMasks::ByDistance::pick(const Allowance& allowance) const {
    auto id = nothing;
    const auto least = may_end || masks.empty() ? 0 : masks.front().first + 1;
    const auto after = std::min(allowance.most - 1, allowance.after(least));
    for (const auto& [distance, mask] : masks) {
        if (distance > after) break;
        id = mask;
    }
    return id;
}

// The index of the masks; -1: there is no room for them.
std::int32_t BudgetedMasks::make_by_distance(const LexerConfiguration& lexing, bool leading,
                                             const StackView& stack) {
    auto& engine = resources_.measuring_engine();
    const auto key = key_of(lexing, leading, stack);
    if (const auto known = by_distance_.find(key); known >= 0) return known;
    resources_.make_room();
    ByDistance made;
    made.may_end = may_end(lexing, stack);
    made.nothing = resources_.intern(resources_.end_words(made.may_end));
    if (made.nothing < 0) return -1;
    for (auto& [distance, words] : engine.compute_by_distance(lexing, leading, stack)) {
        const auto id = resources_.intern(words);
        if (id < 0) return -1;
        made.masks.emplace_back(distance, id);
    }
    resources_.count_computed();
    return by_distance_.find_or_make(key, [&] { return made; });
}

std::int32_t BudgetedMasks::find_by_bytes(const Key& key, Allowance& allowance) const {
    const auto known = by_bytes_.find(key);
    if (known < 0) return -1;
    allowance.most = std::min(allowance.most, by_bytes_[known].enough);
    const auto mask = by_bytes_[known].masks.find({allowance.most, allowance.closing});
    return mask == by_bytes_[known].masks.end() ? -1 : mask->second;
}

// The mask; -1: there is no room for it.
std::int32_t BudgetedMasks::make_by_bytes(const LexerConfiguration& lexing, bool leading,
                                          const StackView& stack, Allowance allowance) {
    auto& engine = resources_.measuring_engine();
    const auto key = key_of(lexing, leading, stack);
    if (const auto known = find_by_bytes(key, allowance); known >= 0) return known;
    resources_.make_room();
    const auto found = engine.assemble_by_bytes(lexing, leading, stack);
    const bool ends_here = may_end(lexing, stack);
    allowance.most = std::min(allowance.most, found.enough());
    auto words = resources_.end_words(ends_here);
    found.write(allowance.most, allowance.after(ends_here ? 0 : found.least()), words);
    const auto id = resources_.intern(words);
    if (id < 0) return -1;
    resources_.count_computed();
    const auto at = by_bytes_.find_or_make(key, [&] { return ByBytes{found.enough(), {}}; });
    by_bytes_[at].masks.emplace(std::pair{allowance.most, allowance.closing}, id);
    return id;
}

Mask BudgetedMasks::mask(const LexerConfiguration& lexing, bool leading, const StackView& stack,
                         const Allowance& allowance) {
    return resources_.require(resources_.guarded().run([&] {
        if (allowance.unit == Allowance::Unit::kBytes)
            return resources_.at(make_by_bytes(lexing, leading, stack, allowance));
        const auto found = make_by_distance(lexing, leading, stack);
        return found < 0 ? Mask{} : resources_.at(by_distance_[found].pick(allowance));
    }));
}

Mask BudgetedMasks::known_mask(const LexerConfiguration& lexing, bool leading, const StackView& stack,
                               Allowance allowance) const {
    return resources_.guarded().look([&] {
        const auto cell = resources_.cells().remembered(*stack.top);
        const auto columns = columns_.find(columns_of(stack));
        if (cell == StackCells::kBottom || columns < 0) return Mask{};
        const auto key = key_of(lexing, leading, cell, columns);
        if (allowance.unit == Allowance::Unit::kBytes) return resources_.at(find_by_bytes(key, allowance));
        const auto found = by_distance_.find(key);
        return found < 0 ? Mask{} : resources_.at(by_distance_[found].pick(allowance));
    });
}

}  // namespace pdacon
