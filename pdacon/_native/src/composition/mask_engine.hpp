// What computes masks: liveness, token classes and mask assembly, over one lexer, parser and vocabulary.
//
// Only caches: whoever drops the whole engine loses no answer, and `forget` empties those that grow with the
// texts, not futures, summaries, proofs, completions and distances, which `bytes` does not count. It keeps no
// masks and has no lock: TokenPda has both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "completion/byte_distances.hpp"
#include "completion/completion.hpp"
#include "completion/stack_cells.hpp"
#include "completion/token_distances.hpp"
#include "composition/byte_assembly.hpp"
#include "composition/mask_assembly.hpp"
#include "composition/token_classes.hpp"
#include "detokenizer/labels.hpp"
#include "detokenizer/shared_trie.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "liveness/coaccessibility.hpp"
#include "liveness/liveness_table.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class MaskEngine {
  public:
    // `known`, `hints`: the futures of the machine's lexer and its hints, if somebody has computed them.
    // `cells`: of the stacks whose distances or completions are asked for; nobody else gives it nodes.
    MaskEngine(const Pushdown& machine, const SharedTrie& trie, const Labels& labels,
               const VocabularyStar& star, LivenessTable& liveness_table, StackCells& cells, Budget& budget,
               const Futures* known = nullptr, std::shared_ptr<const CompletionHints> hints = nullptr)
        : machine_(machine),
          trie_(trie),
          labels_(labels),
          star_(star),
          cells_(cells),
          budget_(budget),
          coaccessibility_(machine, star, liveness_table, budget, known, std::move(hints)),
          classes_(machine, coaccessibility_, trie, budget),
          assembly_(machine, coaccessibility_, classes_, budget),
          lengths_(trie) {}

    Coaccessibility& coaccessibility() { return coaccessibility_; }
    // Does beforehand what most first masks need.
    void find_loops() { classes_.find_loops(); }

    // The mask of a configuration between two tokens. Records in `read_set` what it depended on.
    std::vector<std::int32_t> compute(const LexerConfiguration& lexing, const StackView& stack,
                                      ReadSet& read_set);
    // The mask at the start of a text where a token loses one leading space.
    std::vector<std::int32_t> compute_leading();
    // Completion::shortest; what it needs is made when it is first asked for.
    std::int64_t shortest_completion(const LexerConfiguration& lexing, const PersistentStack& stack,
                                     std::string* out, std::size_t most);
    // Completion::spell_part.
    void spell_part(Completion::Place& place, std::size_t most, std::string& out);

    // The fewest tokens, or bytes, to acceptance from configurations between two tokens; made when they are
    // first asked for.
    TokenDistances& token_distances();
    ByteDistances& byte_distances();
    // Pairs (d, mask), by ascending d: the tokens after which d or fewer further tokens can end the text.
    // So each mask contains the one before it; end tokens are in it if the text may end here.
    using ByDistance = std::vector<std::pair<std::int64_t, std::vector<std::int32_t>>>;
    ByDistance compute_by_distance(const LexerConfiguration& lexing, bool leading, const StackView& stack);
    // The tokens of a configuration by the bytes that a sentence takes with them.
    ByteAssembly assemble_by_bytes(const LexerConfiguration& lexing, bool leading, const StackView& stack);
    TokensByLength& lengths() { return lengths_; }
    // Forgets what distances know of stacks if it is much; true: it did, and all cells.
    bool make_room_for_distances();
    // Token classes by the lexer states in which tokens end; made when they are first asked for.
    TokenClasses& classes_by_state() {
        if (!classes_by_state_)
            classes_by_state_ =
                std::make_unique<TokenClasses>(machine_, coaccessibility_, trie_, budget_, true);
        return *classes_by_state_;
    }
    // Memory that `forget` gives back.
    std::size_t bytes() const {
        return coaccessibility_.bytes() + classes_.bytes() + assembly_.bytes() +
               (classes_by_state_ ? classes_by_state_->bytes() : 0);
    }
    void forget() {
        assembly_.forget();
        classes_.forget();
        coaccessibility_.forget();
        classes_by_state_.reset();
    }

  private:
    // As `compute`, over the trie's ids: the vocabulary's tokens, then the labels that stand for sets of
    // tokens (detokenizer/labels.hpp; not those that the lexer commits). `compute` resolves them.
    std::vector<std::int32_t> compute_symbols(const LexerConfiguration& lexing, const StackView& stack,
                                              ReadSet& read_set);

    // Null where tokens do not spell every text.
    Coaccessibility* liveness_of_texts() { return star_.edges.size() == 1 ? &coaccessibility_ : nullptr; }

    Completion& completion();

    const Pushdown& machine_;
    const SharedTrie& trie_;
    const Labels& labels_;
    const VocabularyStar& star_;
    StackCells& cells_;
    Budget& budget_;
    Coaccessibility coaccessibility_;
    TokenClasses classes_;
    MaskAssembly assembly_;
    std::unique_ptr<Completion> completion_;
    static constexpr std::size_t kMostKnown = std::size_t{1} << 20;
    std::unique_ptr<TokenDistances> token_distances_;
    std::unique_ptr<ByteDistances> byte_distances_;
    TokensByLength lengths_;
    std::unique_ptr<TokenClasses> classes_by_state_;
};

}  // namespace pdacon
