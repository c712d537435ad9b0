// A constraint that was saved, and all that it needs to run: the token-level pushdown automata of its start
// symbols, and what they share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/artifact.hpp"
#include "composition/token_pda.hpp"
#include "filters/filter_definition.hpp"

namespace pdacon {

class StoredConstraint {
  public:
    // `owner` keeps the memory alive; memory that is not aligned to 8 bytes is copied. `verify`: check all of
    // it now. `filters` makes the filter, if there is one, or knows it. `name` and `advice` are for errors.
    // `trie`: of the vocabulary, where the memory was written without it; else it is read from there.
    // Throws ArtifactDamage, now and later.
    StoredConstraint(std::span<const std::uint8_t> memory, std::shared_ptr<const void> owner, bool verify,
                     std::shared_ptr<Tries> tries, Filters& filters, std::string name, std::string advice,
                     std::shared_ptr<const SharedTrie> trie = nullptr);

    // The bytes of a part that all start symbols share and that the core itself does not read.
    std::string_view text(Part part) const;
    const Tokens& tokens() const { return trie_->tokens(); }
    std::shared_ptr<CanonicalFilter> filter() const { return filter_; }  // none: nothing
    const std::vector<std::shared_ptr<TokenPda>>& pdas() const { return pdas_; }

  private:
    std::shared_ptr<const Origin> origin_;
    std::shared_ptr<const ArtifactReader> reader_;
    std::shared_ptr<const LexingAutomaton> lexer_;
    std::shared_ptr<const LazyTrie> trie_;
    std::shared_ptr<const Labels> labels_;
    std::shared_ptr<CanonicalFilter> filter_;
    std::vector<std::shared_ptr<TokenPda>> pdas_;  // by start symbol
};

}  // namespace pdacon
