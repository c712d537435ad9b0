// Room `composition`: pushdown automaton and detokenizing transducer to the token-level pushdown automaton.
//
// In: the pushdown automaton, the trie, liveness. Out: masks, interned, and what else a position can be
// asked. It does not know which sequences there are. Its `eager/` computes every mask beforehand.
//
// Token classes x stack: the token-level pushdown automaton, whose masks are found by reading the top of a
// stack.
//
// The answer for a configuration depends on its lexer state and the few topmost LR states that the
// computation looked at. Masks are interned, and found again by those states alone: no vocabulary is in sight
// then. Logically frozen; the caches fill behind one lock. Where a limit strikes while they do, or memory
// runs out, all that can be made again is forgotten, and later calls make it again. Only damage is for good.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/budget.hpp"
#include "base/memory.hpp"
#include "completion/completion.hpp"
#include "composition/decisions.hpp"
#include "composition/mask_set.hpp"
#include "composition/selection.hpp"
#include "composition/token_classes.hpp"
#include "detokenizer/speller.hpp"
#include "detokenizer/trie.hpp"
#include "liveness/coaccessibility.hpp"
#include "liveness/expected_terminals.hpp"
#include "liveness/liveness_table.hpp"
#include "liveness/newline_liveness.hpp"
#include "liveness/reached.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class TokenPda {
  public:
    // Makes the mask of the empty text, which every matcher asks for first. `budget`: no time limit holds,
    // and nobody is asked, once this is done. `max_bytes`: for the masks and what they are made of, 0: no
    // limit. `known`: the futures of the machine's lexer, if somebody has made them. Throws LimitExceeded,
    // Cancelled, std::invalid_argument.
    TokenPda(Pushdown machine, std::shared_ptr<const Trie> trie, Budget budget, std::int64_t max_depth,
             std::int64_t max_bytes, const Futures* known = nullptr);
    // What `save` has written. Nothing but what is stored is known at first; the rest is found as it is
    // needed, which begins with the futures of the lexer and the trie. Throws ArtifactDamage.
    TokenPda(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const LazyTrie> trie,
             const ArtifactReader& artifact, std::int32_t start);
    // All that is known, but what shortest completions need. The lexer and the trie, which those of all start
    // symbols share, are saved with the first of these.
    void save(ArtifactWriter& artifact, std::int32_t start);

    const Pushdown& machine() const { return machine_; }
    const Tokens& tokens() const { return trie_->tokens(); }
    const Trie& trie() const { return trie_->get(); }
    std::int64_t max_depth() const { return max_depth_; }

    // Whether no text at all that the vocabulary can spell is accepted: the mask of the empty text tells.
    bool empty_language();
    // What the texts that the vocabulary can spell lead to.
    Reached reached(Budget budget) const { return find_reached(machine_, Speller(trie(), budget), budget); }

    // Whether the configuration can reach acceptance with tokens of the vocabulary. May wait for another
    // thread's computation; what is known already never does: kMustLive, kDead, or else kUnknown.
    bool alive(const Reading& reading, const StackView& stack);
    Liveness known_alive(const Reading& reading, const StackView& stack) const;

    // Which terminals lead on to acceptance with tokens of the vocabulary. For people, and not quick.
    ExpectedTerminals expected_terminals(const Reading& reading, const StackView& stack,
                                         std::string_view text);

    // A mask and its id; the words are valid as long as this object.
    struct Mask {
        std::int32_t id = -1;
        const std::int32_t* words = nullptr;
    };
    // The mask of a configuration; a lookup, or at first sight a computation. Throws LimitExceeded("bytes")
    // if there is no room for one more; those that are known stay in use.
    Mask mask(const Reading& reading, const StackView& stack);
    // The same if it is known already, else -1; never waits, so -1 also while another thread computes.
    Mask known_mask(const Reading& reading, const StackView& stack);
    // At the start of the text, where one leading space of the token is not part of the text.
    Mask leading_mask();
    Mask known_leading_mask();
    // Computes and files a mask before any text asks for it, but where nothing is allowed, or where it
    // depends on columns and those that are given are not `meant`. What it depends on; nothing if there is no
    // room for its answer beside those of texts. Throws LimitExceeded("bytes").
    std::optional<ReadSet> file_mask(const Reading& reading, const PersistentStack& stack,
                                     bool columns_meant);
    // At the end of the text.
    const Mask& end_mask() const { return end_mask_; }
    // By its id. Throws std::out_of_range.
    Mask mask(std::int32_t id);
    std::size_t num_masks();

    // The fewest bytes, and among those the least, that complete the text: see Completion::shortest.
    std::int64_t shortest_completion(const Reading& reading, PersistentStack stack, std::string* out,
                                     std::size_t most = Completion::kLongest);

    // What every continuation starts with, up to so many bytes. Cost: O(bytes of the answer x byte classes).
    std::string forced_bytes(Reading reading, PersistentStack stack, std::size_t limit);

    // Makes what finds masks, where that is not made yet, as in what was loaded.
    void prepare();

    // How many situations file_mask was not asked for, or had no room for; -1: nobody says. Where none is
    // left, nothing has to be found any more, and what helps to find is forgotten.
    void set_left(std::int64_t left) {
        left_ = left;
        if (left == 0 && engine_) engine_->forget();
    }

    struct Statistics {
        std::size_t lexer_states, byte_classes, parser_states, contexts, lookahead, masks_computed,
            distinct_masks, bytes;
        std::int64_t left;
    };
    Statistics statistics();

  private:
    // What finds masks that are not known.
    struct Engine {
        Engine(const Pushdown& machine, const Trie& trie, const Speller& speller_,
               LivenessTable& liveness_table, Budget& budget, const Futures* known = nullptr)
            : speller(speller_),
              coaccessibility(machine, speller, liveness_table, budget, known),
              classes(machine, coaccessibility, trie, budget),
              selection(machine, coaccessibility, classes, budget) {}
        // What can be forgotten and found again.
        std::size_t bytes() const { return coaccessibility.bytes() + classes.bytes() + selection.bytes(); }
        void forget() {
            selection.forget();
            classes.forget();
            coaccessibility.forget();
        }
        const Speller& speller;
        Coaccessibility coaccessibility;
        TokenClasses classes;
        Selection selection;
        std::unique_ptr<Completion> completion;  // made when first asked for
    };
    // The caller holds the lock.
    Engine& engine();
    const std::shared_ptr<const Speller>& speller();
    // Forgets what finds masks: some of it may be half done. Masks keep their ids, and what is known of them
    // stays known, unless that is most of what there is.
    void start_afresh();
    bool recovers();

    std::vector<std::int32_t> compute(const Reading& reading, const StackView& stack, ReadSet& looked);
    std::vector<std::int32_t> compute_leading();
    Mask at(std::int32_t id) const { return {id, masks_.row(id)}; }
    bool alive_in(const Reading& reading, std::int32_t speller_state, const StackView& stack);
    template <class Compute>
    Mask known_or(std::int32_t id, Compute compute);
    std::size_t cached_bytes() const;
    void make_room();
    Mask in_bytes(const Mask& found) const;
    template <class Work>
    auto guarded(Work work);

    Pushdown machine_;
    std::shared_ptr<const Origin> origin_;  // of what was loaded
    std::shared_ptr<const LazyTrie> trie_;
    Budget budget_;
    std::int64_t max_depth_ = 0;
    std::size_t max_bytes_ = 0;
    LivenessTable liveness_table_;
    std::shared_ptr<const Speller> speller_;  // none: not asked for
    std::unique_ptr<Engine> engine_;          // none: it is made when it is needed

    std::mutex lock_;
    std::int64_t held_ = 0;  // bytes, by the work that was done behind the lock
    bool is_fresh_ = true;   // nothing has been done since the caches were empty
    std::string failure_;
    std::optional<ArtifactDamage> damage_;
    MaskSet masks_;
    Decisions decisions_;
    std::size_t masks_computed_ = 0;
    Mask end_mask_;
    std::int32_t leading_mask_ = -1;
    std::int64_t left_ = -1;
};

}  // namespace pdacon
