// Room `composition`: combines the pushdown automaton over bytes with the trie of the vocabulary into a
// pushdown automaton over tokens.
//
// In: the pushdown automaton, the trie, liveness. Out: masks, interned, and what else can be asked of a
// configuration. It does not know sequences: a Matcher does. Its `eager/` computes every mask beforehand.
//
// TokenPda: the token-level pushdown automaton of one start symbol. The mask of a configuration depends on
// its lexer state, the topmost LR states that the computation looked at and, where newlines indent, perhaps
// the columns of the open blocks. Masks are interned (MaskSet), and found again by these (MaskTrie), without
// a look at the vocabulary. A mask that is not known is computed by the MaskEngine.
//
// Any thread may ask. Answers never change; the caches fill behind one lock (GuardedWork), so that all
// functions but those called `known_...` may wait for another thread's computation. file_mask and set_left
// are for EagerMasks, before the object is shared.
//
// Source: Koo, Liu and He 2024, "Automata-based constraints for language model decoding".
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "artifact/artifact.hpp"
#include "base/budget.hpp"
#include "base/interned_map.hpp"
#include "completion/completion.hpp"
#include "completion/stack_cells.hpp"
#include "composition/canonical_plans.hpp"
#include "composition/canonical_search.hpp"
#include "composition/free_characters.hpp"
#include "composition/guarded_work.hpp"
#include "composition/mask_engine.hpp"
#include "composition/mask_set.hpp"
#include "composition/mask_trie.hpp"
#include "detokenizer/labels.hpp"
#include "detokenizer/shared_trie.hpp"
#include "detokenizer/vocabulary_star.hpp"
#include "filters/canonical_filter.hpp"
#include "liveness/expected_terminals.hpp"
#include "liveness/liveness_table.hpp"
#include "liveness/reached.hpp"
#include "pda/pushdown.hpp"
#include "pda/stack.hpp"

namespace pdacon {

class TokenPda {
  public:
    // Computes the mask of the empty text, which every matcher asks for first. `budget`: its time limit and
    // its canceller hold only until this is done. `max_bytes`: for the masks and all caches, 0: no limit.
    // `max_depth`: of the stack; a Matcher keeps to it. `known`: the futures of the machine's lexer, if they
    // have been computed; they are copied. Throws LimitExceeded, Cancelled, std::invalid_argument.
    TokenPda(Pushdown machine, std::shared_ptr<const SharedTrie> trie, std::shared_ptr<const Labels> labels,
             Budget budget, std::int64_t max_depth, std::int64_t max_bytes, const Futures* known = nullptr);
    // Loads what `save` has written. Everything that is not stored is found when it is needed, the trie and
    // the futures of the lexer first of all. Throws ArtifactDamage.
    TokenPda(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const LazyTrie> trie,
             std::shared_ptr<const Labels> labels, const ArtifactReader& artifact, std::int32_t start);
    // Saves all that is known, except what shortest completions need, which is made again. Start symbol 0
    // saves the lexer and the trie, which all start symbols share.
    void save(ArtifactWriter& artifact, std::int32_t start);

    const Pushdown& machine() const { return machine_; }
    const Tokens& tokens() const { return trie_->tokens(); }
    const Labels& labels() const { return *labels_; }
    const Trie& trie() const { return trie_->get(); }
    std::int64_t max_depth() const { return max_depth_; }

    // Whether no text that the vocabulary can spell is a sentence. With `leading_space`, neither may a
    // sentence with one space before it be.
    bool empty_language(bool leading_space = false);
    // What the texts that the vocabulary can spell lead to.
    Reached reached(Budget budget) const {
        return find_reached(machine_, VocabularyStar(trie(), budget), budget);
    }

    // Whether the configuration can reach acceptance with tokens of the vocabulary. `known_liveness` never
    // waits: kLiveOnAll or kDeadOnAll, if the lexer state and the top of the stack tell, else kUnknown.
    bool is_live(const LexerConfiguration& lexing, const StackView& stack);
    Liveness known_liveness(const LexerConfiguration& lexing, const StackView& stack) const;

    // Which terminals lead on to acceptance with tokens of the vocabulary. For people, and not quick.
    ExpectedTerminals expected_terminals(const LexerConfiguration& lexing, const StackView& stack,
                                         std::string_view text);

    // A mask and its id; the words are valid as long as this object. id -1: no mask, and no words.
    struct Mask {
        std::int32_t id = -1;
        const std::int32_t* words = nullptr;
    };
    // The mask of a configuration: a look-up, or a computation where no mask is known (a mask miss). Throws
    // LimitExceeded("bytes") if there is no room for one more. Ids stay valid; to make room, the trie that
    // finds masks may be emptied, and then a mask is computed again, with the same id.
    Mask mask(const LexerConfiguration& lexing, const StackView& stack);
    // The same if it is known, otherwise id -1. Never waits, so that the id is -1 also while another thread
    // has the lock.
    Mask known_mask(const LexerConfiguration& lexing, const StackView& stack);
    // The mask of the first token, if one leading space of it is not part of the text.
    Mask leading_mask();
    Mask known_leading_mask();
    // Computes a mask before any text asks for it, and adds it unless it allows nothing, or it depends on
    // columns and those of the stack only stand for others (`columns_meant` is false). Returns what it
    // depends on, added or not; nothing if half of the trie's nodes are in use, which leaves room for masks
    // that texts ask for. Throws LimitExceeded("bytes") if there are no bytes left.
    std::optional<ReadSet> file_mask(const LexerConfiguration& lexing, const PersistentStack& stack,
                                     bool columns_meant);
    // What is left of a budget. `closing`: no token may lead further from the end than the text is already,
    // so that nothing is begun any more.
    struct Allowance {
        enum class Unit : std::uint8_t { kTokens, kBytes };
        static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
        Unit unit;
        bool closing;
        std::int64_t most;  // tokens, end tokens not counted, or bytes of text
    };
    // Throws std::invalid_argument in a grammar that has no allowances: where lines are escaped, since a
    // blank can have several bytes there, which LayoutDistances does not know; and with layout under a
    // filter.
    void require_measurable() const;
    // The least allowance with which a sentence can be reached; TokenDistances::kNone: none can be.
    // `leading`: one leading space of the next token with text is not part of the text.
    std::int64_t least(Allowance::Unit unit, const LexerConfiguration& lexing, bool leading,
                       const StackView& stack);
    // The mask of a configuration with an allowance: those tokens after which what is left of it is enough,
    // and the end tokens where the text may end. Ids are of the same table.
    Mask mask_within(const LexerConfiguration& lexing, bool leading, const StackView& stack,
                     const Allowance& allowance);
    Mask known_mask_within(const LexerConfiguration& lexing, bool leading, const StackView& stack,
                           Allowance allowance);
    // Narrows all that is allowed to what the tokenizer itself produces. Call it before the object is shared.
    void set_filter(std::shared_ptr<CanonicalFilter> filter) { filter_ = std::move(filter); }
    CanonicalFilter* filter() const { return filter_.get(); }
    // Writes the mask of a configuration and a state of the filter into `mask`. Such masks have no ids.
    // `leading`: one leading space of the first token is not part of the text. `known_filtered` returns false
    // if the mask is not known, or another thread has the lock. `filtered` throws LimitExceeded("states") if
    // the search was cut before it found a token.
    bool known_filtered(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                        bool leading, std::span<std::int32_t> mask);
    void filtered(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state, bool leading,
                  std::span<std::int32_t> mask);
    // Whether the filtered mask allows a token, which has text.
    bool filtered_allows(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                         bool leading, std::int32_t token);
    // With a filter and an allowance, see CanonicalPlans: the plan of a configuration; the plan by which a
    // token is allowed that leads from one to another; and the mask of the tokens after which a plan is known
    // that fits into what is left. `least`: the cost of the plan that the text follows.
    using FilteredConfiguration = CanonicalPlans::FilteredConfiguration;
    CanonicalPlans::Plan plan(const FilteredConfiguration& here, Allowance::Unit unit);
    CanonicalPlans::Plan plan_after(const FilteredConfiguration& from, const FilteredConfiguration& to,
                                    Allowance::Unit unit);
    void filtered_within(const FilteredConfiguration& here, const Allowance& allowance, std::int64_t least,
                         std::span<std::int32_t> mask);
    bool known_filtered_within(const FilteredConfiguration& here, const Allowance& allowance,
                               std::int64_t least, std::span<std::int32_t> mask);
    // The mask once an end token was accepted: the end tokens, and nothing else.
    const Mask& end_mask() const { return end_mask_; }
    // By its id. Throws std::out_of_range.
    Mask mask(std::int32_t id);
    std::size_t num_masks();

    // The fewest bytes, and among those the least, that complete the text: see Completion::shortest.
    std::int64_t shortest_completion(const LexerConfiguration& lexing, PersistentStack stack,
                                     std::string* out, std::size_t most = Completion::kLongest);

    // The bytes with which every continuation starts, at most `limit`.
    std::string forced_bytes(LexerConfiguration lexing, PersistentStack stack, std::size_t limit);

    // Makes the engine where it is not made yet, as in a loaded object.
    void prepare();

    // Records how many abstract configurations have no eager mask; -1: not known. With 0 the engine's caches
    // are emptied, since every mask is known.
    void set_left(std::int64_t left);

    // Bytes of memory: the tables, masks and caches, without the lexer, which start symbols share, and
    // without what belongs to the vocabulary. Takes no lock. `made`: the bytes that making this object took,
    // to be told before it is shared.
    std::int64_t held() const { return own_ + guarded_.held(); }
    void set_held(std::int64_t made) { own_ = made - guarded_.held(); }

    struct Statistics {
        std::size_t lexer_states, byte_classes, parser_states, contexts, lookahead, masks_computed,
            distinct_masks;
        std::int64_t bytes;  // of the lexer, too
        std::int64_t left;   // see set_left
        std::size_t filtered, filtered_cuts;
    };
    Statistics statistics();

  private:
    // The masks of a configuration by how many tokens may follow: see MaskEngine::ByDistance.
    struct MasksByDistance {
        bool may_end = false;       // whether the text may end here
        std::int32_t nothing = -1;  // the mask where no token may follow
        std::vector<std::pair<std::int64_t, std::int32_t>> masks;
    };
    // The masks of a configuration that have been asked for, by how many bytes may follow and whether the
    // text is closing. With `enough` bytes or more the mask is the same.
    struct MasksByBytes {
        std::int64_t enough;
        std::map<std::pair<std::int64_t, bool>, std::int32_t> masks;
    };
    using DistanceKey = std::array<std::int32_t, 6>;
    static DistanceKey distance_key(const LexerConfiguration& lexing, bool leading, std::int32_t cell,
                                    std::int32_t columns) {
        return {lexing.state, lexing.now.value, lexing.matched.value, leading, cell, columns};
    }
    DistanceKey distance_key(const LexerConfiguration& lexing, bool leading, const StackView& stack);
    // What CanonicalSearch has found for a configuration, as rows of filtered_rows_, and the read set of the
    // search.
    struct FilteredMasks {
        std::int32_t within, across;
        ReadSet read_set;
        bool cut;
    };
    std::int32_t find_filtered(const LexerConfiguration& lexing, const StackView& stack,
                               const CanonicalFilter::Situation& situation) const;
    std::int32_t make_filtered(const LexerConfiguration& lexing, const StackView& stack,
                               const CanonicalFilter::Situation& situation);
    // The same by the filter's state or, if `leading`, at the start of a text.
    std::int32_t made_filtered(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                               bool leading);
    CanonicalPlans& plans();  // within guarded work
    static CanonicalPlans::Room room(const Allowance& allowance, std::int64_t least);
    std::int32_t keep_filtered(CanonicalSearch::Found found, const ReadSet& read_set);
    // Keeps what a long search knows beside its answer, in so many bytes at most.
    static constexpr std::size_t kMostAnswerBytes = std::size_t{16} << 20;
    void keep_answers(CanonicalSearch& search, const ReadSet& read_set);
    MaskTrie& filtered_trie(const CanonicalFilter::Situation& situation);
    CanonicalSearch::Found live_tokens(std::int32_t known) const;
    CanonicalSearch canonical_search();
    // Liveness if only texts may follow that the filter's tokenizer leaves as they are.
    Coaccessibility& settled();
    // False: the mask is empty, perhaps only because the search was cut.
    bool write_filtered(std::int32_t known, std::int32_t state, std::span<std::int32_t> mask) const;
    static std::int32_t pick(const MasksByDistance& known, const Allowance& allowance);
    std::vector<std::int32_t> end_words(bool may_end) const;  // a mask of the end tokens, if they are allowed
    std::int32_t make_by_distance(const LexerConfiguration& lexing, bool leading, const StackView& stack);
    // `allowance` becomes no more than what is enough.
    std::int32_t find_by_bytes(const DistanceKey& key, Allowance& allowance) const;
    std::int32_t make_by_bytes(const LexerConfiguration& lexing, bool leading, const StackView& stack,
                               Allowance allowance);
    void forget_distances();
    // Each of these is called within guarded work.
    MaskEngine& measuring_engine();
    MaskEngine& engine();
    const std::shared_ptr<const VocabularyStar>& star();
    template <class Compute>
    Mask known_or(std::int32_t id, Compute compute);
    void make_room();
    void forget_caches();
    void forget_filtered();

    Mask at(std::int32_t id) const { return {id, masks_.row(id)}; }
    bool is_live(const LexerConfiguration& lexing, std::int32_t speller_state, const StackView& stack);
    std::size_t cached_bytes() const;
    Mask require(const Mask& found) const;

    Pushdown machine_;
    std::shared_ptr<const LazyTrie> trie_;
    std::shared_ptr<const Labels> labels_;  // of the grammar, in its order
    Budget budget_;
    std::int64_t max_depth_ = 0;
    std::int64_t own_ = 0;  // bytes of what is no cache
    GuardedWork guarded_;
    LivenessTable liveness_table_;
    std::shared_ptr<const VocabularyStar> star_;  // made when it is needed, as the next
    StackCells cells_;
    CanonicalSearch::Proven proven_{cells_, {}};
    std::unique_ptr<MaskEngine> engine_;
    MaskSet masks_;
    MaskTrie mask_trie_;
    Interner columns_;                          // of open blocks
    InternedMap<MasksByDistance> by_distance_;  // by lexer configuration, cell of the stack and its columns
    InternedMap<MasksByBytes> by_bytes_;        // likewise
    std::shared_ptr<CanonicalFilter> filter_;   // none: everything that the grammar allows
    MaskSet filtered_rows_;
    std::vector<FilteredMasks> filtered_;
    std::map<std::array<std::int32_t, 5>, std::int32_t> filtered_ids_;
    std::map<CanonicalFilter::Situation, std::unique_ptr<MaskTrie>> filtered_tries_;
    std::optional<LivenessTable> settled_table_;  // made when it is needed, as the next
    std::unique_ptr<Coaccessibility> settled_;
    std::optional<FreeCharacters> free_characters_;  // likewise
    std::int32_t leading_filtered_ = -1;
    std::unique_ptr<CanonicalPlans> plans_;  // made when it is needed
    std::size_t filtered_cuts_ = 0;
    std::size_t masks_computed_ = 0;
    Mask end_mask_;
    std::int32_t leading_mask_ = -1;
    std::int64_t left_ = -1;
};

}  // namespace pdacon
