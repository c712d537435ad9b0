// MaskResources: what the masks of one start symbol are computed with, and the table that all of them are in.
//
// Plain masks, masks within a budget and masks under a filter are parts that know nothing of each other. They
// share the pushdown automaton, the vocabulary, the engine, the ids of masks, a limit of memory and one lock.
// Each part is a MaskCache: where memory is short, or work was cut short, it is told what to give up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/budget.hpp"
#include "completion/stack_cells.hpp"
#include "composition/guarded_work.hpp"
#include "composition/mask_engine.hpp"
#include "composition/mask_set.hpp"
#include "composition/shared_engine.hpp"
#include "detokenizer/labels.hpp"
#include "detokenizer/shared_trie.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "liveness/liveness_table.hpp"
#include "pda/pushdown.hpp"

namespace pdacon {

// A mask and its id; valid as long as the TokenPda. id -1: no mask.
struct Mask {
    std::int32_t id = -1;
    MaskView view = {};
};

class MaskResources;

// The caches of one part. All functions are called within guarded work, the last three perhaps where it
// fails, so that they allocate nothing.
class MaskCache {
  public:
    explicit MaskCache(MaskResources& resources);
    virtual ~MaskCache();
    MaskCache(const MaskCache&) = delete;
    MaskCache& operator=(const MaskCache&) = delete;

    virtual std::size_t bytes() const { return 0; }
    // The memory is used up: gives back what can be computed again.
    virtual void make_room() {}
    // The cells of stacks have been forgotten.
    virtual void forget_cells() {}
    // Work was cut short, so that something may be half done.
    virtual void forget() = 0;

  protected:
    MaskResources& resources_;
};

class MaskResources {
  public:
    // `max_bytes`: for the masks and all caches, 0: no limit. `first_masks`: those with the first ids, one
    // after another. Throws std::invalid_argument.
    MaskResources(Pushdown machine, std::shared_ptr<const LazyTrie> trie,
                  std::shared_ptr<const Labels> labels, const Budget& budget, std::int64_t max_bytes,
                  std::span<const std::int32_t> first_masks);
    // Loads what is stored; `set_stored` follows. Throws ArtifactDamage.
    MaskResources(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const LazyTrie> trie,
                  std::shared_ptr<const Labels> labels, const ArtifactReader& artifact, std::int32_t start);
    // Those of the same start symbol for another vocabulary, of which `spells_as` holds: the tables are
    // shared, and so is what is known of hints and liveness, and, for equal vocabularies, what computes
    // masks.
    MaskResources(MaskResources& known, std::shared_ptr<const LazyTrie> trie, const Budget& budget,
                  std::int64_t max_bytes);
    // Whether a vocabulary spells the same texts, and both have all the bytes of them as tokens, so that what
    // is known of futures and liveness holds for it too.
    bool spells_as(const SharedTrie& trie) const;
    void set_stored(const Budget& budget, std::int64_t max_bytes, std::int32_t end_mask);

    const Pushdown& machine() const { return machine_; }
    const Tokens& tokens() const { return trie_->tokens(); }
    const LazyTrie& lazy_trie() const { return *trie_; }
    const SharedTrie& trie() const { return trie_->get(); }
    const Labels& labels() const { return *labels_; }  // of the grammar, in its order
    Budget& budget() { return budget_; }
    GuardedWork& guarded() { return guarded_; }
    const GuardedWork& guarded() const { return guarded_; }
    LivenessTable& liveness_table() { return *liveness_table_; }
    const LivenessTable& liveness_table() const { return *liveness_table_; }
    const CompletionHints& hints() const { return *hints_; }
    const MaskSet& masks() const { return masks_; }
    // Bytes of masks and caches; those of the masks that others had first are theirs. Takes no lock.
    std::int64_t held() const { return guarded_.held() - masks_.shared_bytes(); }
    // Bytes of what is shared, in full. Takes no lock.
    std::int64_t shared_held() const { return shared_ ? shared_->held() : 0; }
    // The mask once an end token was accepted: the end tokens, and nothing else.
    const Mask& end_mask() const { return end_mask_; }
    std::size_t num_computed() const { return num_computed_; }

    // The rest is called within guarded work.
    StackCells& cells() { return cells_; }
    // The mask of a configuration, computed or known to others, and its id, or -1: there is no room for it.
    // Records in `read_set` what it depended on.
    std::int32_t find_mask(const LexerConfiguration& lexing, const StackView& stack, ReadSet& read_set);
    std::int32_t find_leading_mask();
    // Whether a configuration is live, perhaps within a token.
    bool is_live(const LexerConfiguration& lexing, std::int32_t speller_state, const StackView& stack);
    // Makes beforehand what these need. `known`: the futures of the machine's lexer, if they have been
    // computed.
    void prepare(const Futures* known = nullptr);
    // Made where it is not made yet.
    MaskEngine& engine();
    // The same for work that gives nodes to cells, which are forgotten first if they are many.
    MaskEngine& measuring_engine();
    void forget_engine() {
        if (engine_) engine_->forget();
    }
    const std::shared_ptr<const VocabularyStar>& star();
    // Whether it takes work until masks can be computed.
    bool needs_engine() const { return shared_ ? !shared_->has_engine() : !engine_; }
    bool shares_engine_with(const MaskResources& other) const { return shared_ && shared_ == other.shared_; }
    // Calls `use` with the futures of the machine's lexer, or with null where they have been neither made nor
    // stored.
    template <class Use>
    void with_futures(Use use) {
        if (engine_) return use(&engine_->coaccessibility().futures());
        if (shared_) return shared_->with_futures(use);
        use(stored_futures().get());
    }
    // The same, called outside of it: behind the lock of the futures.
    template <class Use>
    void with_futures_locked(Use use) {
        if (shared_) return shared_->with_futures(use);
        const std::lock_guard hold(guarded_.lock());
        with_futures(use);
    }

    // Bytes of the masks and of all caches.
    std::size_t bytes() const;
    // Empties caches if these bytes reach the limit.
    void make_room();
    // The id of a mask; -1: there is no room for it.
    std::int32_t intern(const MaskSet::Words& words) {
        return masks_.intern(trie_->get().masks().of(words), guarded_.max_bytes());
    }
    // The mask of an id; none for -1.
    Mask at(std::int32_t id) const { return id < 0 ? Mask{} : Mask{id, masks_.row(id)}; }
    void count_computed() { ++num_computed_; }
    // Called outside of it, where nothing is half done: throws LimitExceeded("bytes") for no mask. A
    // constraint that is full still knows what it knew.
    const Mask& require(const Mask& found) const;
    // A mask of the end tokens, if they are allowed.
    MaskSet::Words end_words(bool may_end) const;

  private:
    friend MaskCache;
    void forget();

    static std::shared_ptr<Pushdown> prepared(MaskResources& known);
    std::unique_ptr<const Futures> stored_futures();
    void find_predecessors();
    void make_engine(const Futures* known);

    std::shared_ptr<Pushdown> shared_machine_;
    Pushdown& machine_{*shared_machine_};
    std::shared_ptr<const LazyTrie> trie_;
    std::shared_ptr<const Labels> labels_;
    Budget budget_;
    GuardedWork guarded_;
    // What masks are computed with first, and `engine_` where that met a limit, and for all other work.
    std::shared_ptr<SharedEngine> shared_;
    std::shared_ptr<LivenessTable> liveness_table_;
    std::shared_ptr<const CompletionHints> hints_;  // made with the engine, or loaded
    std::shared_ptr<const VocabularyStar> star_;    // made when it is needed, as the engine
    std::optional<StoredFutures> stored_futures_;   // of what was loaded
    StackCells cells_;
    std::unique_ptr<MaskEngine> engine_;
    MaskSet masks_;
    Mask end_mask_;
    std::vector<MaskCache*> caches_;
    std::size_t num_computed_ = 0;
};

}  // namespace pdacon
