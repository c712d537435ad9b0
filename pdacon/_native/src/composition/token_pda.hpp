// Room `composition`: combines the pushdown automaton over bytes with the trie of the vocabulary into a
// pushdown automaton over tokens.
//
// In: the pushdown automaton, the trie, liveness. Out: masks, interned, and what else can be asked of a
// configuration. It does not know sequences: a Matcher does. Its `eager/` computes every mask beforehand.
//
// TokenPda: the token-level pushdown automaton of one start symbol. It is put together of parts: the three
// sorts of masks (PlainMasks, BudgetedMasks, CanonicalMasks) and what they share (MaskResources). What is
// asked beside masks is here: liveness, completions, forced bytes, statistics, artifacts.
//
// Any thread may ask. Answers never change; the caches fill behind one lock (GuardedWork), so that all
// functions but `keep_step`, `steps` and those called `known_...` may wait for another thread's computation.
// PlainMasks::file_mask and set_left are for EagerMasks, before the object is shared.
//
// Source: Koo, Liu and He 2024, "Automata-based constraints for language model decoding".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "artifact/artifact.hpp"
#include "base/budget.hpp"
#include "base/serial.hpp"
#include "completion/completion.hpp"
#include "composition/budgeted_masks.hpp"
#include "composition/canonical_masks.hpp"
#include "composition/canonical_plans.hpp"
#include "composition/mask_resources.hpp"
#include "composition/plain_masks.hpp"
#include "composition/token_steps.hpp"
#include "detokenizer/labels.hpp"
#include "detokenizer/shared_trie.hpp"
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
    // have been computed; they are copied. `first_masks`: those with the first ids. Throws LimitExceeded,
    // Cancelled, std::invalid_argument.
    TokenPda(Pushdown machine, std::shared_ptr<const SharedTrie> trie, std::shared_ptr<const Labels> labels,
             const Budget& budget, std::int64_t max_depth, std::int64_t max_bytes,
             const Futures* known = nullptr, std::span<const std::int32_t> first_masks = {});
    // Loads what `save` has written. Everything that is not stored is found when it is needed, the trie and
    // the futures of the lexer first of all. Throws ArtifactDamage.
    TokenPda(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const LazyTrie> trie,
             std::shared_ptr<const Labels> labels, const ArtifactReader& artifact, std::int32_t start);
    // The automaton of the same start symbol for another vocabulary, of which `spells_as` holds: see
    // MaskResources. Its masks have ids of its own. Else as the first constructor.
    TokenPda(TokenPda& known, std::shared_ptr<const SharedTrie> trie, const Budget& budget,
             std::int64_t max_depth, std::int64_t max_bytes);
    bool spells_as(const SharedTrie& trie) const { return resources_.spells_as(trie); }
    // Saves all that is known, except what shortest completions need, which is made again. Start symbol 0
    // saves the lexer and the trie, which all start symbols share.
    void save(ArtifactWriter& artifact, std::int32_t start);

    const Pushdown& machine() const { return resources_.machine(); }
    const Tokens& tokens() const { return resources_.tokens(); }
    const Labels& labels() const { return resources_.labels(); }
    const Trie& trie() const { return resources_.trie(); }
    std::int64_t max_depth() const { return max_depth_; }
    // Of whoever gives masks their ids.
    std::uint64_t serial() const { return serial_.value(); }

    PlainMasks& plain() { return plain_; }
    BudgetedMasks& budgeted() { return budgeted_; }
    // Narrows all that is allowed to what the tokenizer itself produces; null: to nothing less than the
    // grammar allows. Call it before the object is shared.
    void set_filter(std::shared_ptr<CanonicalFilter> filter);
    CanonicalFilter* filter() const { return canonical_ ? &canonical_->filter() : nullptr; }
    // Both only with a filter: masks without a budget, and with one.
    CanonicalMasks& canonical() { return *canonical_; }
    CanonicalPlans& plans() { return *plans_; }
    // Throws std::invalid_argument in a grammar that has no allowances.
    void require_measurable() const { pdacon::require_measurable(machine(), canonical_ != nullptr); }

    // The mask once an end token was accepted: the end tokens, and nothing else.
    const Mask& end_mask() const { return resources_.end_mask(); }
    std::mutex& mask_lock() const { return resources_.guarded().lock(); }
    // By its id. Throws std::out_of_range.
    Mask mask(std::int32_t id) const;
    std::size_t num_masks() const;

    // Whether no text that the vocabulary can spell is a sentence. With `leading_space`, neither may a
    // sentence with one space before it be.
    bool empty_language(bool leading_space = false);
    // What the texts that the vocabulary can spell lead to.
    Reached reached(Budget budget) const;
    // Whether the configuration can reach acceptance with tokens of the vocabulary. `known_liveness` never
    // waits: kLiveOnAll or kDeadOnAll, if the lexer state and the top of the stack tell, else kUnknown.
    bool is_live(const LexerConfiguration& lexing, const StackView& stack);
    Liveness known_liveness(const LexerConfiguration& lexing, const StackView& stack) const;
    // What tokens are known to do to plain configurations.
    const TokenSteps& steps() const { return steps_; }
    // Keeps what a token does to a configuration between two tokens, if it does that wherever the topmost
    // states are the same, and the mask after it is known. Never waits: it does nothing while another thread
    // has the lock.
    void keep_step(const LexerConfiguration& lexing, const StackView& stack, std::int32_t token);
    // Which terminals lead on to acceptance with tokens of the vocabulary. For people, and not quick.
    ExpectedTerminals expected_terminals(const LexerConfiguration& lexing, const StackView& stack,
                                         std::string_view text);
    // The fewest bytes, and among those the least, that complete the text: see Completion::shortest.
    std::int64_t shortest_completion(const LexerConfiguration& lexing, PersistentStack stack,
                                     std::string* out, std::size_t most = Completion::kLongest);
    // Appends the next bytes of it, `most` or more if it has as many: see Completion::spell_part. At its end
    // there is no place any more. Other threads may work between two parts.
    void spell_part(std::optional<Completion::Place>& place, std::string& out, std::size_t most);
    bool has_layout() const { return machine().layout.newline >= 0; }
    // The bytes with which every continuation starts, at most `limit`.
    std::string forced_bytes(LexerConfiguration lexing, PersistentStack stack, std::size_t limit);

    // Makes the engine where it is not made yet, as in a loaded object. `known`: the futures of the machine's
    // lexer, if they have been computed.
    void prepare(const Futures* known = nullptr);
    // Records how many abstract configurations have no eager mask; -1: not known. With 0 the engine's caches
    // are emptied, since every mask is known.
    void set_left(std::int64_t left);

    // Bytes of memory: the tables, masks and caches, with what the SharedEngine has, without masks that
    // others had first, without the lexer, which start symbols share, and without what belongs to the
    // vocabulary. Takes no lock. `made`: the bytes that making this object took, to be told before it is
    // shared.
    std::int64_t held() const {
        return own_ + resources_.held() + resources_.shared_held() +
               static_cast<std::int64_t>(steps_.bytes());
    }
    void set_held(std::int64_t made) { own_ = made - resources_.guarded().held(); }

    struct Statistics {
        std::size_t lexer_states, byte_classes, parser_states, contexts, lookahead, masks_computed,
            distinct_masks;
        std::int64_t bytes;  // of the lexer, too
        std::int64_t left;   // see set_left
        std::size_t filtered, filtered_cuts;
    };
    Statistics statistics() const;

  private:
    void begin(const Futures* known);
    bool is_live(const LexerConfiguration& lexing, std::int32_t speller_state, const StackView& stack);
    TokenStep find_step(const LexerConfiguration& lexing, const StackView& stack, std::int32_t token) const;

    // Tables of steps take so many bytes at most besides those that are allowed, one in so many of these:
    // what is kept of steps never lets other work meet the limit.
    static constexpr std::size_t kShareOfSteps = 16;

    Serial serial_;
    MaskResources resources_;
    PlainMasks plain_;
    BudgetedMasks budgeted_;
    TokenSteps steps_;
    std::unique_ptr<CanonicalMasks> canonical_;
    std::unique_ptr<CanonicalPlans> plans_;
    std::int64_t max_depth_ = 0;
    std::int64_t own_ = 0;  // bytes of what is no cache
    std::int64_t left_ = -1;
};

}  // namespace pdacon
