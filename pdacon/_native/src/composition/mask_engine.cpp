#include "composition/mask_engine.hpp"

#include <utility>

#include "composition/distance_assembly.hpp"
#include "detokenizer/token_set.hpp"

namespace pdacon {

std::vector<std::int32_t> MaskEngine::compute(const LexerConfiguration& lexing, const StackView& stack,
                                              ReadSet& read_set) {
    return labels_.resolve(compute_symbols(lexing, stack, read_set));
}

std::vector<std::int32_t> MaskEngine::compute_symbols(const LexerConfiguration& lexing,
                                                      const StackView& stack, ReadSet& read_set) {
    std::vector<std::int32_t> mask(trie_.words(), 0);
    assembly_.add_allowed(classes_.of_state(lexing.state), lexing, stack, read_set, mask);
    Overlay here(stack, read_set);
    if (ends(machine_, here, lexing))
        for (const auto token : trie_.tokens()->end_tokens()) set_bit(mask, token);
    return mask;
}

// Tokens that begin with a space are read without it, all others as always.
std::vector<std::int32_t> MaskEngine::compute_leading() {
    const PersistentStack stack(machine_.start.start_state);
    const auto lexing = boundary(machine_, stack, 0);
    ReadSet read_set;
    auto mask = compute_symbols(lexing, stack.view(), read_set);
    const auto space = trie_.child(0, ' ');
    if (space < 0) return labels_.resolve(std::move(mask));
    const auto end = trie_.first_token(trie_.subtree_end(space));
    for (auto position = trie_.first_token(space); position < end; ++position)
        clear_bit(mask, trie_.token(position));
    assembly_.add_allowed(classes_.below(space, lexing.state), lexing, stack.view(), read_set, mask);
    return labels_.resolve(std::move(mask));
}

std::int64_t MaskEngine::shortest_completion(const LexerConfiguration& lexing, const PersistentStack& stack,
                                             std::string* out, std::size_t most) {
    if (out != nullptr) out->clear();
    return completion().shortest(lexing, stack, out, most);
}

void MaskEngine::spell_part(Completion::Place& place, std::size_t most, std::string& out) {
    completion().spell_part(place, most, out);
}

Completion& MaskEngine::completion() {
    if (!completion_)
        completion_ =
            std::make_unique<Completion>(machine_, star_, coaccessibility_.futures(), budget_, cells_);
    return *completion_;
}

TokenDistances& MaskEngine::token_distances() {
    if (!token_distances_)
        token_distances_ = std::make_unique<TokenDistances>(machine_, trie_, budget_, cells_,
                                                            byte_distances(), liveness_of_texts());
    return *token_distances_;
}

ByteDistances& MaskEngine::byte_distances() {
    if (!byte_distances_)
        byte_distances_ = std::make_unique<ByteDistances>(machine_, star_, coaccessibility_.futures(),
                                                          budget_, cells_, &trie_, liveness_of_texts());
    return *byte_distances_;
}

bool MaskEngine::make_room_for_distances() {
    const auto known = cells_.size() + (token_distances_ ? token_distances_->size() : 0) +
                       (byte_distances_ ? byte_distances_->size() : 0);
    if (known < kMostKnown) return false;
    if (token_distances_) token_distances_->forget();
    if (byte_distances_) byte_distances_->forget();
    if (completion_) completion_->forget();
    cells_.forget();
    return true;
}

ByteAssembly MaskEngine::assemble_by_bytes(const LexerConfiguration& lexing, bool leading,
                                           const StackView& stack) {
    ByteAssembly found(machine_, byte_distances(), classes_by_state(), trie_, lengths_, budget_);
    found.add(lexing, leading, stack);
    return found;
}

MaskEngine::ByDistance MaskEngine::compute_by_distance(const LexerConfiguration& lexing, bool leading,
                                                       const StackView& stack) {
    auto& known = token_distances();
    auto& classes = classes_by_state();
    DistanceAssembly assembly(machine_, known, classes, trie_.words(), budget_);
    if (leading) {
        assembly.add_leading(trie_, lexing, stack);
    } else {
        assembly.add(classes.of_state(lexing.state), lexing, stack);
    }
    ReadSet read_set;
    Overlay here(stack, read_set);
    const bool may_end = ends(machine_, here, lexing);
    return assembly.by_distance(may_end ? trie_.tokens()->end_tokens() : std::span<const std::int32_t>());
}

}  // namespace pdacon
