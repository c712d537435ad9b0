#include "composition/stored_constraint.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/memory.hpp"

namespace pdacon {

namespace {

std::shared_ptr<CanonicalFilter> read_filter(const ArtifactReader& artifact,
                                             const std::shared_ptr<const Tokens>& tokens, Filters& filters) {
    const auto numbers = artifact.array<std::int32_t>(Part::kFilter, ArtifactReader::kShared);
    if (numbers.empty()) return nullptr;
    try {
        return filters.of(tokens, numbers.view());
    } catch (const std::invalid_argument& error) {
        throw ArtifactDamage(std::string("the artifact is damaged: ") + error.what());
    }
}

}  // namespace

StoredConstraint::StoredConstraint(std::span<const std::uint8_t> memory, std::shared_ptr<const void> owner,
                                   bool verify, std::shared_ptr<Tries> tries, Filters& filters,
                                   std::string name, std::string advice,
                                   std::shared_ptr<const SharedTrie> trie)
    : origin_(std::make_shared<const Origin>(Origin{std::move(name), std::move(advice)})) {
    std::int64_t held = 0;  // bytes of what start symbols share
    const MemoryLimit shared(0, held);
    if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(std::uint64_t) != 0) {
        auto copied = std::make_shared<std::vector<std::uint64_t>>(memory.size() / 8 + 1);
        std::memcpy(copied->data(), memory.data(), memory.size());
        memory = {reinterpret_cast<const std::uint8_t*>(copied->data()), memory.size()};
        owner = std::move(copied);
    }
    origin_->watch([&] {
        reader_ = std::make_shared<const ArtifactReader>(memory, std::move(owner), origin_, verify);
        auto lexer = std::make_shared<LexingAutomaton>(*reader_);
        trie_ = trie ? std::make_shared<const LazyTrie>(std::move(trie))
                     : std::make_shared<const LazyTrie>(reader_, std::move(tries));
        filter_ = read_filter(*reader_, trie_->shared_tokens(), filters);
        labels_ = std::make_shared<const Labels>(*reader_, trie_->tokens().size());
        const auto starts = reader_->num_starts();
        require_artifact(starts > 0, "it has no start symbol");
        pdas_.reserve(static_cast<std::size_t>(starts));
        lexer->set_held(held);
        lexer_ = std::move(lexer);
        for (std::int32_t start = 0; start < starts; ++start) {
            std::int64_t made = 0;
            const MemoryLimit own(0, made);
            pdas_.push_back(std::make_shared<TokenPda>(lexer_, trie_, labels_, *reader_, start));
            pdas_.back()->set_held(made);
            pdas_.back()->set_filter(filter_);
        }
    });
}

std::string_view StoredConstraint::text(Part part) const {
    // The reader lives as long as this object, and so does the memory that the array lies in.
    const auto bytes = origin_->watch([&] { return reader_->array<char>(part, ArtifactReader::kShared); });
    return {bytes.data(), bytes.size()};
}

}  // namespace pdacon
