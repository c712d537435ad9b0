#include "composition/token_pda.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "composition/forced_bytes.hpp"

namespace pdacon {

TokenPda::TokenPda(Pushdown machine, std::shared_ptr<const SharedTrie> trie,
                   std::shared_ptr<const Labels> labels, const Budget& budget, std::int64_t max_depth,
                   std::int64_t max_bytes, const Futures* known, std::span<const std::int32_t> first_masks)
    : resources_(std::move(machine), std::make_shared<const LazyTrie>(std::move(trie)), std::move(labels),
                 budget, max_bytes, first_masks),
      plain_(resources_),
      budgeted_(resources_),
      max_depth_(max_depth) {
    begin(known);
}

TokenPda::TokenPda(TokenPda& known, std::shared_ptr<const SharedTrie> trie, const Budget& budget,
                   std::int64_t max_depth, std::int64_t max_bytes)
    : resources_(known.resources_, std::make_shared<const LazyTrie>(std::move(trie)), budget, max_bytes),
      plain_(resources_),
      budgeted_(resources_),
      max_depth_(max_depth) {
    // Behind the lock of the futures, which others may add to.
    if (!resources_.shares_engine_with(known.resources_) && resources_.needs_engine())
        known.resources_.with_futures_locked([this](const Futures* futures) { prepare(futures); });
    begin(nullptr);
}

// Makes the engine and the first mask.
void TokenPda::begin(const Futures* known) {
    prepare(known);
    resources_.guarded().mark_fresh();
    empty_language();  // computes the first mask
    resources_.budget().stop_clock();
}

void TokenPda::set_filter(std::shared_ptr<CanonicalFilter> filter) {
    plans_.reset();
    canonical_.reset();
    if (!filter) return;
    canonical_ = std::make_unique<CanonicalMasks>(resources_, std::move(filter));
    plans_ = std::make_unique<CanonicalPlans>(resources_, *canonical_);
}

void TokenPda::prepare(const Futures* known) {
    resources_.guarded().run([&] {
        resources_.prepare(known);
        return true;
    });
}

void TokenPda::set_left(std::int64_t left) {
    resources_.guarded().run([&] {
        left_ = left;
        if (left == 0) resources_.forget_engine();
        return true;
    });
}

bool TokenPda::empty_language(bool leading_space) {
    const auto allows_some = [&](const Mask& first) { return !first.view.is_empty(tokens().words()); };
    const PersistentStack stack(machine().start.start_state);
    const auto lexing = boundary(machine(), stack, 0);
    if (allows_some(plain_.mask(lexing, stack.view()))) return false;
    if (leading_space && allows_some(plain_.leading_mask())) return false;
    return !is_live(lexing, stack.view());  // a vocabulary may have no token that ends a text
}

Reached TokenPda::reached(Budget budget) const {
    return find_reached(machine(), VocabularyStar(trie(), budget), budget);
}

Liveness TokenPda::known_liveness(const LexerConfiguration& lexing, const StackView& stack) const {
    const auto& table = resources_.liveness_table();
    const auto known = table.at(table.row(lexing), stack.top->state);
    if (known == Liveness::kLiveOnAll && table.is_column_independent(lexing)) return known;
    return known == Liveness::kDeadOnAll ? known : Liveness::kUnknown;
}

bool TokenPda::is_live(const LexerConfiguration& lexing, const StackView& stack) {
    const auto known = known_liveness(lexing, stack);
    return known == Liveness::kUnknown ? is_live(lexing, 0, stack) : known == Liveness::kLiveOnAll;
}

// `speller_state`: where the bytes of a token that has been begun lead to; 0: between two tokens.
bool TokenPda::is_live(const LexerConfiguration& lexing, std::int32_t speller_state, const StackView& stack) {
    return resources_.guarded().run([&] { return resources_.is_live(lexing, speller_state, stack); });
}

void TokenPda::keep_step(const LexerConfiguration& lexing, const StackView& stack, std::int32_t token) {
    const auto& lexer = machine().lexer;
    if (lexer.has_columns() || canonical_ || !tokens().has_text(token) || labels().any_has(token)) return;
    auto& guarded = resources_.guarded();
    const std::unique_lock hold(guarded.lock(), std::try_to_lock);
    if (!hold.owns_lock() || !steps_.wants_more() || steps_.find(lexing.state, token, stack.top).reads > 0)
        return;
    const auto step = find_step(lexing, stack, token);
    const auto limit =
        guarded.max_bytes() == 0 ? std::numeric_limits<std::size_t>::max() : guarded.max_bytes();
    if (step.reads > 0) steps_.add(step, limit / kShareOfSteps);
}

// Reads no states where nothing is to be kept.
TokenStep TokenPda::find_step(const LexerConfiguration& lexing, const StackView& stack,
                              std::int32_t token) const {
    const auto bytes = tokens().bytes_of(token);
    ReadSet read_set;
    Overlay after(stack, read_set);
    auto at = lexing;
    std::vector<std::int32_t> pending;
    std::uint32_t rise = 0;
    for (const char byte : bytes) {
        pending.assign(1, machine().lexer.byte_class(static_cast<std::uint8_t>(byte)));
        if (!read(machine(), after, at, pending)) return {};
        rise = std::max(rise, after.pushed() - std::min(after.popped(), after.pushed()));
    }
    TokenStep step{.lexer_state = lexing.state, .token = token};
    const bool fits = bytes.size() <= TokenStep::kMostLength && rise <= 0xFF;
    if (fits) step.length = static_cast<std::uint16_t>(bytes.size());
    if (fits && read_set.states == 0 && at == lexing) {  // so it does on every stack
        step.set_states(std::array{stack.top->state}, 1, {});
        step.next_lexer_state = at.state;
        step.mask_id = TokenStep::kSameMask;
        return step;
    }
    Overlay::Nodes nodes;
    ReadSet of_mask;
    const auto mask = plain_.known_mask_behind_lock(at, after.view(nodes), &of_mask);
    // A mask that allows something is that of a live configuration, so the token is allowed.
    if (mask.id < 0 || mask.view.is_empty(tokens().words())) return {};
    const auto reads_below = of_mask.states - std::min(after.pushed(), of_mask.states);
    const auto reads = std::max({read_set.states, after.popped() + reads_below, 1U});
    std::vector<std::int32_t> compared, pushed;
    for (const auto* node = stack.top; compared.size() < std::min<std::size_t>(reads, TokenStep::kMostStates);
         node = node->below)
        compared.push_back(node->state);
    for (const auto& node : nodes.states) pushed.push_back(node.state);
    if (!step.set_states(compared, reads, pushed) || !fits) return step;
    step.next_lexer_state = at.state;
    step.set_mask(mask.id, mask.view);
    step.popped = static_cast<std::uint8_t>(after.popped());
    step.rise = static_cast<std::uint8_t>(rise);
    return step;
}

ExpectedTerminals TokenPda::expected_terminals(const LexerConfiguration& lexing, const StackView& stack,
                                               std::string_view text) {
    return resources_.guarded().run_for_caller([&] {
        return ExpectedTerminalsSearch(machine(), resources_.engine().coaccessibility(), resources_.budget())
            .find(lexing, stack, text);
    });
}

std::size_t TokenPda::num_masks() const {
    const std::lock_guard hold(resources_.guarded().lock());
    return resources_.masks().size();
}

Mask TokenPda::mask(std::int32_t id) const {
    const std::lock_guard hold(resources_.guarded().lock());
    if (id < 0 || static_cast<std::size_t>(id) >= resources_.masks().size())
        throw std::out_of_range("no mask has this id");
    return resources_.at(id);
}

std::string TokenPda::forced_bytes(LexerConfiguration lexing, PersistentStack stack, std::size_t limit) {
    const auto shared = resources_.guarded().run([this] { return resources_.star(); });
    return find_forced_bytes(machine(), *shared, lexing, std::move(stack), limit,
                             [this](const LexerConfiguration& at, std::int32_t speller_state,
                                    const StackView& view) { return is_live(at, speller_state, view); });
}

std::int64_t TokenPda::shortest_completion(const LexerConfiguration& lexing, PersistentStack stack,
                                           std::string* out, std::size_t most) {
    auto& guarded = resources_.guarded();
    const auto length = guarded.run(
        [&] { return resources_.measuring_engine().shortest_completion(lexing, stack, out, most); });
    if (length != Completion::kNone) return length;
    if (guarded.origin())
        throw guarded.origin()->damage(
            ArtifactDamage("the artifact is damaged: a text that nothing completes"));
    throw std::logic_error("no completion: a position that is not live was accepted");
}

void TokenPda::spell_part(std::optional<Completion::Place>& place, std::string& out, std::size_t most) {
    const auto length = out.size();
    resources_.guarded().run([&] {
        auto next = place;  // what fails is done once more
        out.resize(length);
        resources_.engine().spell_part(*next, most, out);  // what is known of a deep stack serves all parts
        if (next->left == 0) next.reset();
        place = std::move(next);
        return true;
    });
}

TokenPda::Statistics TokenPda::statistics() const {
    const std::lock_guard hold(resources_.guarded().lock());
    const auto& lexer = machine().lexer;
    return {static_cast<std::size_t>(lexer.num_states()),
            static_cast<std::size_t>(lexer.num_classes()),
            static_cast<std::size_t>(machine().tables.num_states),
            static_cast<std::size_t>(lexer.num_contexts()),
            static_cast<std::size_t>(lexer.lookahead()),
            resources_.num_computed(),
            resources_.masks().size(),
            lexer.held() + held(),
            left_,
            canonical_ ? canonical_->num_rows() : 0,
            canonical_ ? canonical_->num_cut() : 0};
}

namespace {

struct Numbers {
    std::int64_t max_states, max_depth, max_bytes, end_mask, leading_mask, left;
};

}  // namespace

void TokenPda::save(ArtifactWriter& whole, std::int32_t start) {
    // What is done twice, because a limit of memory was met the first time, must not be written twice.
    whole.take(resources_.guarded().run_without_caches([&] {
        ArtifactWriter artifact;
        if (start == 0) {
            machine().lexer.save(artifact);
            resources_.lazy_trie().save(artifact);
            labels().save(artifact);
            artifact.add(Part::kFilter, ArtifactWriter::kShared,
                         filter() ? filter()->definition() : std::span<const std::int32_t>());
        }
        machine().save(artifact, start);
        resources_.liveness_table().save(artifact, start);
        resources_.hints().save(artifact, start);
        resources_.with_futures([&](const Futures* known) {
            known != nullptr ? known->save(artifact, start) : Futures::save_none(artifact, start);
        });
        plain_.save(artifact, start);
        resources_.masks().save(artifact, start);
        const Numbers numbers{resources_.budget().states(),
                              max_depth_,
                              static_cast<std::int64_t>(resources_.guarded().max_bytes()),
                              end_mask().id,
                              plain_.leading_id(),
                              left_};
        artifact.add(Part::kTokenPda, start, std::span(&numbers, 1));
        return artifact;
    }));
}

TokenPda::TokenPda(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const LazyTrie> trie,
                   std::shared_ptr<const Labels> labels, const ArtifactReader& artifact, std::int32_t start)
    : resources_(std::move(lexer), std::move(trie), std::move(labels), artifact, start),
      plain_(resources_, artifact, start),
      budgeted_(resources_) {
    const auto given = artifact.array<Numbers>(Part::kTokenPda, start);
    require_artifact(given.size() == 1, "numbers of the constraint");
    const auto& numbers = given[0];
    const auto masks = static_cast<std::int64_t>(resources_.masks().size());
    require_artifact(numbers.max_states >= 0 && numbers.max_depth >= 0 && numbers.max_bytes >= 0 &&
                         numbers.end_mask >= 0 && numbers.end_mask < masks && numbers.leading_mask >= -1 &&
                         numbers.leading_mask < masks,
                     "numbers of the constraint");
    resources_.set_stored(Budget(numbers.max_states, 0), numbers.max_bytes,
                          static_cast<std::int32_t>(numbers.end_mask));
    plain_.set_leading_id(static_cast<std::int32_t>(numbers.leading_mask));
    max_depth_ = numbers.max_depth;
    left_ = numbers.left;
}

}  // namespace pdacon
