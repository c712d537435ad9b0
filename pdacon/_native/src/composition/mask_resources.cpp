#include "composition/mask_resources.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "detokenizer/token_set.hpp"
#include "liveness/newline_liveness.hpp"

namespace pdacon {

MaskCache::MaskCache(MaskResources& resources) : resources_(resources) { resources_.caches_.push_back(this); }

MaskCache::~MaskCache() { std::erase(resources_.caches_, this); }

MaskResources::MaskResources(Pushdown machine, std::shared_ptr<const LazyTrie> trie,
                             std::shared_ptr<const Labels> labels, const Budget& budget,
                             std::int64_t max_bytes, std::span<const std::int32_t> first_masks)
    : shared_machine_(std::make_shared<Pushdown>(std::move(machine))),
      trie_(std::move(trie)),
      labels_(std::move(labels)),
      budget_(budget),
      guarded_(max_bytes > 0 ? static_cast<std::size_t>(max_bytes)
                             : std::size_t{std::numeric_limits<std::int64_t>::max()},
               nullptr, [this] { forget(); }),
      liveness_table_(std::make_shared<LivenessTable>(machine_)),
      masks_(tokens().words()) {
    if (!labels_ || labels_->size() != tokens().num_labels())
        throw std::invalid_argument("token pda: other labels than those of the trie");
    for (auto rest = first_masks; !rest.empty(); rest = rest.subspan(tokens().words())) {
        if (rest.size() < tokens().words())
            throw std::invalid_argument("token pda: a mask has too few words");
        const auto row = rest.first(tokens().words());
        intern({row.begin(), row.end()});
    }
    end_mask_ = at(intern(end_words(true)));
}

MaskResources::MaskResources(std::shared_ptr<const LexingAutomaton> lexer,
                             std::shared_ptr<const LazyTrie> trie, std::shared_ptr<const Labels> labels,
                             const ArtifactReader& artifact, std::int32_t start)
    : shared_machine_(std::make_shared<Pushdown>(std::move(lexer), artifact, start)),
      trie_(std::move(trie)),
      labels_(std::move(labels)),
      budget_(0, 0),
      guarded_(0, artifact.origin(), [this] { forget(); }),
      liveness_table_(std::make_shared<LivenessTable>(machine_, artifact, start)),
      hints_(std::make_shared<const CompletionHints>(machine_, artifact, start)),
      stored_futures_({artifact, start}),
      masks_(StoredMasks(artifact, start, tokens().words())) {}

MaskResources::MaskResources(MaskResources& known, std::shared_ptr<const LazyTrie> trie, const Budget& budget,
                             std::int64_t max_bytes)
    : shared_machine_(prepared(known)),
      trie_(std::move(trie)),
      labels_(std::make_shared<const Labels>(tokens().size(), std::vector<std::int32_t>())),
      budget_(budget),
      guarded_(max_bytes > 0 ? static_cast<std::size_t>(max_bytes)
                             : std::size_t{std::numeric_limits<std::int64_t>::max()},
               nullptr, [this] { forget(); }),
      liveness_table_(known.liveness_table_),
      hints_(known.hints_),
      masks_(tokens().words()) {
    if (!known.spells_as(trie_->get()))
        throw std::invalid_argument("token pda: these vocabularies do not spell the same texts");
    const auto make = [&] {
        return std::make_shared<SharedEngine>(shared_machine_, trie_->get(), liveness_table_, hints_,
                                              budget.states());
    };
    auto shared = trie_->get().kept<KeptParts>().of<SharedEngine>(shared_machine_.get(), make);
    if (shared->max_states() != budget.states()) shared = make();  // not for all
    shared_ = std::move(shared);
    end_mask_ = at(intern(end_words(true)));
}

// With the predecessors of the states, which are all that changes in a machine.
std::shared_ptr<Pushdown> MaskResources::prepared(MaskResources& known) {
    known.guarded_.run([&] {
        known.find_predecessors();
        return true;
    });
    return known.shared_machine_;
}

bool MaskResources::spells_as(const SharedTrie& trie) const {
    const auto& alphabet = trie_->get().alphabet();
    return !alphabet.empty() && alphabet == trie.alphabet() && labels_->size() == 0 &&
           trie.tokens()->num_labels() == 0;
}

void MaskResources::set_stored(const Budget& budget, std::int64_t max_bytes, std::int32_t end_mask) {
    budget_ = budget;
    end_mask_ = at(end_mask);
    guarded_.set_max_bytes(static_cast<std::size_t>(max_bytes));
}

void MaskResources::find_predecessors() {
    if (!machine_.predecessors.empty()) return;
    const auto& origin = guarded_.origin();
    if (!origin) return machine_.find_predecessors();
    origin->watch([&] {
        try {
            machine_.find_predecessors();
        } catch (const std::invalid_argument& error) {
            throw ArtifactDamage(std::string("the artifact is damaged: ") + error.what());
        }
    });
}

void MaskResources::prepare(const Futures* known) {
    if (shared_)
        shared_->prepare(budget_, known);
    else if (!engine_)
        make_engine(known);
}

MaskEngine& MaskResources::engine() {
    if (engine_) return *engine_;
    with_futures([this](const Futures* known) { make_engine(known); });
    return *engine_;
}

// Null where none were stored.
std::unique_ptr<const Futures> MaskResources::stored_futures() {
    if (!stored_futures_) return nullptr;
    const auto& [artifact, start] = *stored_futures_;
    return artifact.origin()->watch([&]() -> std::unique_ptr<const Futures> {
        if (!Futures::are_in(artifact, start)) return nullptr;
        return std::make_unique<const Futures>(machine_.lexer, *star(), machine_.layout.newline,
                                               machine_.layout.classes, budget_, artifact, start);
    });
}

void MaskResources::make_engine(const Futures* known) {
    const auto make = [&] {
        engine_ = std::make_unique<MaskEngine>(machine_, trie_->get(), *labels_, *star(), *liveness_table_,
                                               cells_, budget_, known, hints_);
        hints_ = engine_->coaccessibility().hints();
    };
    find_predecessors();
    if (const auto& origin = guarded_.origin()) {
        origin->watch(make);
    } else {
        make();
        engine_->find_loops();
    }
}

std::int32_t MaskResources::find_mask(const LexerConfiguration& lexing, const StackView& stack,
                                      ReadSet& read_set) {
    if (shared_)
        if (auto mask = shared_->mask(lexing, stack, read_set))
            return masks_.intern({std::move(mask), false}, guarded_.max_bytes());
    return intern(engine().compute(lexing, stack, read_set));
}

std::int32_t MaskResources::find_leading_mask() {
    if (shared_)
        if (auto mask = shared_->leading_mask())
            return masks_.intern({std::move(mask), false}, guarded_.max_bytes());
    return intern(engine().compute_leading());
}

bool MaskResources::is_live(const LexerConfiguration& lexing, std::int32_t speller_state,
                            const StackView& stack) {
    if (shared_)
        if (const auto answer = shared_->is_live(lexing, speller_state, stack)) return *answer;
    ReadSet read_set;
    const Overlay here(stack, read_set);
    return NewlineLiveness(machine_, engine().coaccessibility(), budget_, here)
        .is_live(lexing, speller_state);
}

MaskEngine& MaskResources::measuring_engine() {
    if (engine().make_room_for_distances())
        for (auto* cache : caches_) cache->forget_cells();
    return engine();
}

const std::shared_ptr<const VocabularyStar>& MaskResources::star() {
    if (!star_) star_ = std::make_shared<const VocabularyStar>(trie_->get(), budget_);
    return star_;
}

std::size_t MaskResources::bytes() const {
    auto bytes = masks_.bytes() + (engine_ ? engine_->bytes() : 0);
    for (const auto* cache : caches_) bytes += cache->bytes();
    return bytes;
}

void MaskResources::make_room() {
    if (bytes() < guarded_.max_bytes()) return;
    for (auto* cache : caches_) cache->make_room();
    forget_engine();
}

// Masks keep their ids.
void MaskResources::forget() {
    engine_.reset();
    for (auto* cache : caches_) cache->forget();
    cells_.forget();
}

const Mask& MaskResources::require(const Mask& found) const {
    if (found.id >= 0) return found;
    throw LimitExceeded("bytes", static_cast<double>(masks_.bytes() + masks_.row_bytes()),
                        static_cast<double>(guarded_.max_bytes()));
}

MaskSet::Words MaskResources::end_words(bool may_end) const {
    MaskSet::Words words(tokens().words(), 0);
    if (may_end)
        for (const auto token : tokens().end_tokens()) set_bit(words, token);
    return words;
}

}  // namespace pdacon
