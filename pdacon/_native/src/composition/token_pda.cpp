#include "composition/token_pda.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "composition/canonical_search.hpp"
#include "composition/forced_bytes.hpp"
#include "detokenizer/token_set.hpp"
#include "liveness/newline_liveness.hpp"

namespace pdacon {

namespace {

// The columns of the open blocks, the innermost first.
std::vector<std::int32_t> columns_of(const StackView& stack) {
    std::vector<std::int32_t> columns;
    for (const auto* block = stack.block; block != nullptr; block = block->around)
        columns.push_back(block->column);
    return columns;
}

}  // namespace

TokenPda::TokenPda(Pushdown machine, std::shared_ptr<const SharedTrie> trie,
                   std::shared_ptr<const Labels> labels, Budget budget, std::int64_t max_depth,
                   std::int64_t max_bytes, const Futures* known)
    : machine_(std::move(machine)),
      trie_(std::make_shared<const LazyTrie>(std::move(trie))),
      labels_(std::move(labels)),
      budget_(budget),
      max_depth_(max_depth),
      guarded_(max_bytes > 0 ? static_cast<std::size_t>(max_bytes)
                             : std::size_t{std::numeric_limits<std::int64_t>::max()},
               nullptr, [this] { forget_caches(); }),
      liveness_table_(machine_),
      masks_(tokens().words()),
      mask_trie_(static_cast<std::size_t>(machine_.lexer.num_states()), machine_.layout.newline >= 0),
      filtered_rows_(tokens().words()) {
    if (!labels_ || labels_->size() != tokens().num_labels())
        throw std::invalid_argument("token pda: other labels than those of the trie");
    std::vector<std::int32_t> ends(tokens().words(), 0);
    for (const auto token : tokens().end_tokens()) set_bit(ends, token);
    end_mask_ = at(masks_.intern(std::move(ends)));
    guarded_.run([&] {
        engine_ = std::make_unique<MaskEngine>(machine_, trie_->get(), *labels_, *star(), liveness_table_,
                                               cells_, budget_, known);
        engine_->find_loops();
        return true;
    });
    guarded_.mark_fresh();
    empty_language();  // computes the first mask
    budget_.stop_clock();
}

MaskEngine& TokenPda::engine() {
    if (engine_) return *engine_;
    const auto make = [this] {
        engine_ = std::make_unique<MaskEngine>(machine_, trie_->get(), *labels_, *star(), liveness_table_,
                                               cells_, budget_);
    };
    const auto& origin = guarded_.origin();
    if (!origin) {
        make();
        engine_->find_loops();
        return *engine_;
    }
    origin->watch([&] {
        try {
            if (machine_.predecessors.empty()) machine_.find_predecessors();
        } catch (const std::invalid_argument& error) {
            throw ArtifactDamage(std::string("the artifact is damaged: ") + error.what());
        }
        make();
    });
    return *engine_;
}

void TokenPda::prepare() {
    guarded_.run([this] { return &engine(); });
}

void TokenPda::set_left(std::int64_t left) {
    guarded_.run([&] {
        left_ = left;
        if (left == 0 && engine_) engine_->forget();
        return true;
    });
}

const std::shared_ptr<const VocabularyStar>& TokenPda::star() {
    if (!star_) star_ = std::make_shared<const VocabularyStar>(trie_->get(), budget_);
    return star_;
}

// Called where work was cut short, so that something in the engine may be half done. Masks keep their ids.
// They are also found again, unless the mask trie takes most of the memory.
void TokenPda::forget_caches() {
    engine_.reset();
    settled_.reset();
    forget_distances();
    cells_.forget();
    forget_filtered();
    if (mask_trie_.bytes_of_paths() > guarded_.max_bytes() / 2) mask_trie_.forget();
}

// Thrown where no lock is held and nothing is half done: a constraint that is full still knows what it knew.
TokenPda::Mask TokenPda::require(const Mask& found) const {
    if (found.id >= 0) return found;
    throw LimitExceeded("bytes", static_cast<double>(masks_.bytes() + masks_.row_bytes()),
                        static_cast<double>(guarded_.max_bytes()));
}

std::size_t TokenPda::cached_bytes() const {
    auto bytes = (engine_ ? engine_->bytes() : 0) + mask_trie_.bytes() + filtered_rows_.bytes() +
                 (plans_ ? plans_->bytes() : 0);
    for (const auto& [set, trie] : filtered_tries_) bytes += trie->bytes();
    return bytes;
}

void TokenPda::forget_filtered() {
    filtered_rows_ = MaskSet(tokens().words());
    filtered_ = {};
    filtered_ids_.clear();
    filtered_tries_.clear();
    leading_filtered_ = -1;
}

void TokenPda::make_room() {
    if (masks_.bytes() + cached_bytes() < guarded_.max_bytes()) return;
    forget_filtered();
    if (settled_) settled_->forget();
    engine().forget();
    mask_trie_.forget();
}

bool TokenPda::empty_language(bool leading_space) {
    const auto allows = [](std::int32_t word) { return word != 0; };
    const auto some = [&](Mask first) {
        return std::any_of(first.words, first.words + tokens().words(), allows);
    };
    const PersistentStack stack(machine_.start.start_state);
    const auto lexing = boundary(machine_, stack, 0);
    if (some(mask(lexing, stack.view())) || (leading_space && some(leading_mask()))) return false;
    return !is_live(lexing, stack.view());  // a vocabulary may have no token that ends a text
}

Liveness TokenPda::known_liveness(const LexerConfiguration& lexing, const StackView& stack) const {
    const auto known = liveness_table_.at(liveness_table_.row(lexing), stack.top->state);
    if (known == Liveness::kLiveOnAll && liveness_table_.is_column_independent(lexing)) return known;
    return known == Liveness::kDeadOnAll ? known : Liveness::kUnknown;
}

bool TokenPda::is_live(const LexerConfiguration& lexing, const StackView& stack) {
    const auto known = known_liveness(lexing, stack);
    return known == Liveness::kUnknown ? is_live(lexing, 0, stack) : known == Liveness::kLiveOnAll;
}

// `speller_state`: where the bytes of a token that has been begun lead to; 0: between two tokens.
bool TokenPda::is_live(const LexerConfiguration& lexing, std::int32_t speller_state, const StackView& stack) {
    return guarded_.run([&] {
        ReadSet read_set;
        Overlay here(stack, read_set);
        return NewlineLiveness(machine_, engine().coaccessibility(), budget_, here)
            .is_live(lexing, speller_state);
    });
}

ExpectedTerminals TokenPda::expected_terminals(const LexerConfiguration& lexing, const StackView& stack,
                                               std::string_view text) {
    return guarded_.run_for_caller([&] {
        return ExpectedTerminalsSearch(machine_, engine().coaccessibility(), budget_)
            .find(lexing, stack, text);
    });
}

// A mask that is known, or one that is computed and added: `compute` returns its words, and a function that
// adds its id to where it will be found.
template <class Compute>
TokenPda::Mask TokenPda::known_or(std::int32_t id, Compute compute) {
    if (id >= 0) return at(id);
    make_room();
    auto [words, add] = compute();
    id = masks_.intern(std::move(words), guarded_.max_bytes());
    if (id < 0) return {};
    add(id);
    ++masks_computed_;
    return at(id);
}

TokenPda::Mask TokenPda::mask(const LexerConfiguration& lexing, const StackView& stack) {
    return require(guarded_.run([&] {
        return known_or(mask_trie_.find(lexing, stack), [&] {
            ReadSet read_set;
            auto words = engine().compute(lexing, stack, read_set);
            return std::pair(std::move(words),
                             [&, read_set](std::int32_t id) { mask_trie_.add(lexing, stack, read_set, id); });
        });
    }));
}

std::optional<ReadSet> TokenPda::file_mask(const LexerConfiguration& lexing, const PersistentStack& stack,
                                           bool columns_meant) {
    std::optional<LimitExceeded> full;  // thrown where nothing is half done
    auto filed = guarded_.run([&]() -> std::optional<ReadSet> {
        full.reset();
        if (masks_.bytes() + cached_bytes() >= guarded_.max_bytes()) engine().forget();
        ReadSet read_set;
        auto words = engine().compute(lexing, stack.view(), read_set);
        const bool nothing =
            std::all_of(words.begin(), words.end(), [](std::int32_t word) { return word == 0; });
        if (nothing || (read_set.columns && !columns_meant)) return read_set;
        if (!mask_trie_.has_room_beside_texts(read_set)) return std::nullopt;
        const auto bytes = masks_.bytes() + masks_.row_bytes() + mask_trie_.bytes();
        if (bytes > guarded_.max_bytes()) {
            full.emplace("bytes", static_cast<double>(bytes), static_cast<double>(guarded_.max_bytes()));
            return std::nullopt;
        }
        mask_trie_.add(lexing, stack.view(), read_set, masks_.intern(std::move(words)));
        ++masks_computed_;
        return read_set;
    });
    if (full) throw *full;
    return filed;
}

TokenPda::Mask TokenPda::known_mask(const LexerConfiguration& lexing, const StackView& stack) {
    const std::unique_lock hold(guarded_.lock(), std::try_to_lock);
    if (!hold.owns_lock()) return {};
    const auto id = mask_trie_.find(lexing, stack);
    return id < 0 ? Mask{} : at(id);
}

TokenPda::Mask TokenPda::leading_mask() {
    return require(guarded_.run([&] {
        return known_or(leading_mask_, [&] {
            return std::pair(engine().compute_leading(), [this](std::int32_t id) { leading_mask_ = id; });
        });
    }));
}

TokenPda::Mask TokenPda::known_leading_mask() {
    const std::unique_lock hold(guarded_.lock(), std::try_to_lock);
    return hold.owns_lock() && leading_mask_ >= 0 ? at(leading_mask_) : Mask{};
}

std::size_t TokenPda::num_masks() {
    const std::lock_guard hold(guarded_.lock());
    return masks_.size();
}

TokenPda::Mask TokenPda::mask(std::int32_t id) {
    const std::lock_guard hold(guarded_.lock());
    if (id < 0 || static_cast<std::size_t>(id) >= masks_.size())
        throw std::out_of_range("no mask has this id");
    return at(id);
}

TokenPda::DistanceKey TokenPda::distance_key(const LexerConfiguration& lexing, bool leading,
                                             const StackView& stack) {
    const auto columns = columns_of(stack);
    return distance_key(lexing, leading, cells_.of(stack.top), columns_.intern(columns));
}

void TokenPda::forget_distances() {
    by_distance_ = {};
    by_bytes_ = {};
    columns_ = {};
    if (plans_) plans_->forget();
}

void TokenPda::require_measurable() const {
    if (filter_ && machine_.layout.newline >= 0)
        throw std::invalid_argument(
            "tokens and bytes cannot be counted under canonical in a grammar with a postlex; leave the "
            "budget or "
            "canonical out");
    if (machine_.lexer.has_escaped_lines())
        throw std::invalid_argument(
            "tokens and bytes cannot be counted in a grammar with indentation within strings of JSON; leave "
            "the "
            "budget out, and end the text with shortest_completion()");
}

MaskEngine& TokenPda::measuring_engine() {
    if (engine().make_room_for_distances()) forget_distances();
    return engine();
}

std::int64_t TokenPda::least(Allowance::Unit unit, const LexerConfiguration& lexing, bool leading,
                             const StackView& stack) {
    require_measurable();
    return guarded_.run([&] {
        ReadSet read_set;
        Overlay here(stack, read_set);
        if (ends(machine_, here, lexing)) return std::int64_t{0};
        auto& measuring = measuring_engine();
        if (unit == Allowance::Unit::kTokens)
            return measuring.token_distances().least(lexing, leading, stack);
        if (!leading) return measuring.byte_distances().at_most(lexing, stack);
        return measuring.assemble_by_bytes(lexing, leading, stack).least();
    });
}

std::int32_t TokenPda::pick(const MasksByDistance& known, const Allowance& allowance) {
    auto id = known.nothing;
    const auto least = known.may_end ? 0 : known.masks.empty() ? 0 : known.masks.front().first + 1;
    const auto after = std::min(allowance.most - 1, allowance.closing ? least : Allowance::kAny);
    for (const auto& [distance, mask] : known.masks) {
        if (distance > after) break;
        id = mask;
    }
    return id;
}

std::vector<std::int32_t> TokenPda::end_words(bool may_end) const {
    std::vector<std::int32_t> words(tokens().words(), 0);
    if (may_end)
        for (const auto token : tokens().end_tokens()) set_bit(words, token);
    return words;
}

// The index of the masks; -1: there is no room for them.
std::int32_t TokenPda::make_by_distance(const LexerConfiguration& lexing, bool leading,
                                        const StackView& stack) {
    auto& measuring = measuring_engine();
    const auto key = distance_key(lexing, leading, stack);
    if (const auto known = by_distance_.find(key); known >= 0) return known;
    make_room();
    MasksByDistance made;
    ReadSet read_set;
    Overlay here(stack, read_set);
    made.may_end = ends(machine_, here, lexing);
    made.nothing = masks_.intern(end_words(made.may_end), guarded_.max_bytes());
    if (made.nothing < 0) return -1;
    for (auto& [distance, words] : measuring.compute_by_distance(lexing, leading, stack)) {
        const auto id = masks_.intern(std::move(words), guarded_.max_bytes());
        if (id < 0) return -1;
        made.masks.emplace_back(distance, id);
    }
    ++masks_computed_;
    return by_distance_.find_or_make(key, [&] { return made; });
}

std::int32_t TokenPda::find_by_bytes(const DistanceKey& key, Allowance& allowance) const {
    const auto known = by_bytes_.find(key);
    if (known < 0) return -1;
    allowance.most = std::min(allowance.most, by_bytes_[known].enough);
    const auto mask = by_bytes_[known].masks.find({allowance.most, allowance.closing});
    return mask == by_bytes_[known].masks.end() ? -1 : mask->second;
}

// The mask; -1: there is no room for it.
std::int32_t TokenPda::make_by_bytes(const LexerConfiguration& lexing, bool leading, const StackView& stack,
                                     Allowance allowance) {
    auto& measuring = measuring_engine();
    const auto key = distance_key(lexing, leading, stack);
    if (const auto known = find_by_bytes(key, allowance); known >= 0) return known;
    make_room();
    const auto found = measuring.assemble_by_bytes(lexing, leading, stack);
    ReadSet read_set;
    Overlay here(stack, read_set);
    const bool may_end = ends(machine_, here, lexing);
    allowance.most = std::min(allowance.most, found.enough());
    auto words = end_words(may_end);
    found.write(allowance.most, allowance.closing ? (may_end ? 0 : found.least()) : Allowance::kAny, words);
    const auto id = masks_.intern(std::move(words), guarded_.max_bytes());
    if (id < 0) return -1;
    ++masks_computed_;
    const auto at = by_bytes_.find_or_make(key, [&] { return MasksByBytes{found.enough(), {}}; });
    by_bytes_[at].masks.emplace(std::pair{allowance.most, allowance.closing}, id);
    return id;
}

TokenPda::Mask TokenPda::mask_within(const LexerConfiguration& lexing, bool leading, const StackView& stack,
                                     const Allowance& allowance) {
    return require(guarded_.run([&] {
        if (allowance.unit == Allowance::Unit::kBytes) {
            const auto id = make_by_bytes(lexing, leading, stack, allowance);
            return id < 0 ? Mask{} : at(id);
        }
        const auto found = make_by_distance(lexing, leading, stack);
        return found < 0 ? Mask{} : at(pick(by_distance_[found], allowance));
    }));
}

TokenPda::Mask TokenPda::known_mask_within(const LexerConfiguration& lexing, bool leading,
                                           const StackView& stack, Allowance allowance) {
    const std::unique_lock hold(guarded_.lock(), std::try_to_lock);
    if (!hold.owns_lock()) return {};
    const auto cell = cells_.remembered(*stack.top);
    const auto columns = columns_.find(columns_of(stack));
    if (cell == StackCells::kBottom || columns < 0) return {};
    const auto key = distance_key(lexing, leading, cell, columns);
    if (allowance.unit == Allowance::Unit::kBytes) {
        const auto id = find_by_bytes(key, allowance);
        return id < 0 ? Mask{} : at(id);
    }
    const auto found = by_distance_.find(key);
    return found < 0 ? Mask{} : at(pick(by_distance_[found], allowance));
}

std::int32_t TokenPda::find_filtered(const LexerConfiguration& lexing, const StackView& stack,
                                     const CanonicalFilter::Situation& situation) const {
    const auto trie = filtered_tries_.find(situation);
    return trie == filtered_tries_.end() ? -1 : trie->second->find(lexing, stack);
}

Coaccessibility& TokenPda::settled() {
    const auto* star = filter_->settled();
    if (star == nullptr) return engine().coaccessibility();
    if (!settled_) {
        settled_table_.emplace(machine_);
        settled_ = std::make_unique<Coaccessibility>(machine_, *star, *settled_table_, budget_);
    }
    return *settled_;
}

CanonicalSearch TokenPda::canonical_search() {
    auto completion = [this](const LexerConfiguration& lexing, const PersistentStack& stack,
                             std::size_t most) {
        std::string text;
        const auto length = engine().shortest_completion(lexing, stack, &text, most);
        return CanonicalSearch::CompletionText{text, std::ssize(text) == length};
    };
    if (!free_characters_) free_characters_.emplace(machine_.lexer, CanonicalFilter::Use(*filter_).pretokens);
    return CanonicalSearch(machine_, engine().coaccessibility(), settled(), engine().classes_by_state(),
                           trie(), *filter_, *free_characters_, std::move(completion), proven_, budget_);
}

CanonicalSearch::Found TokenPda::live_tokens(std::int32_t known) const {
    const auto& found = filtered_[static_cast<std::size_t>(known)];
    const auto words = static_cast<std::ptrdiff_t>(tokens().words());
    const auto* within = filtered_rows_.row(found.within);
    const auto* across = filtered_rows_.row(found.across);
    return {{within, within + words}, {across, across + words}, found.cut};
}

std::int32_t TokenPda::make_filtered(const LexerConfiguration& lexing, const StackView& stack,
                                     const CanonicalFilter::Situation& situation) {
    if (const auto known = find_filtered(lexing, stack, situation); known >= 0) return known;
    ReadSet read_set;
    CanonicalSearch::Found from_start;
    const bool starts = situation.text == TextStates::kStart;
    if (!starts) {
        const auto known = make_filtered(lexing, stack, {situation.set, TextStates::kStart});
        from_start = live_tokens(known);
        read_set = filtered_[static_cast<std::size_t>(known)].read_set;
    } else {
        make_room();
    }
    const auto places = filter_->places_of(situation.set);
    auto search = canonical_search();
    auto found =
        search.find(lexing, stack, places, situation.text, false, starts ? nullptr : &from_start, read_set);
    const bool has_answers = search.is_long() && starts && !found.cut;
    const auto made = keep_filtered(std::move(found), read_set);
    filtered_trie(situation).add(lexing, stack, read_set, made);
    if (has_answers) keep_answers(search, read_set);
    return made;
}

MaskTrie& TokenPda::filtered_trie(const CanonicalFilter::Situation& situation) {
    auto& trie = filtered_tries_[situation];
    if (!trie)
        trie = std::make_unique<MaskTrie>(static_cast<std::size_t>(machine_.lexer.num_states()),
                                          machine_.layout.newline >= 0);
    return *trie;
}

void TokenPda::keep_answers(CanonicalSearch& search, const ReadSet& read_set) {
    auto left = std::min(kMostAnswerBytes, guarded_.max_bytes() / 16);
    search.for_each_answer(
        read_set, [&](const LexerConfiguration& lexing, const StackView& stack, const ReadSet& read,
                      std::int32_t place, std::int32_t text, CanonicalSearch::Found found) {
            auto& trie = filtered_trie({filter_->set_of(place), text});
            if (trie.find(lexing, stack) >= 0) return true;
            if (!trie.has_room(read)) return false;
            const auto before = trie.bytes();
            trie.add(lexing, stack, read, keep_filtered(std::move(found), read));
            const auto bytes = 2 * filtered_rows_.row_bytes() + sizeof(FilteredMasks) + trie.bytes() - before;
            left -= std::min(left, bytes);
            return left > 0;
        });
}

std::int32_t TokenPda::made_filtered(const LexerConfiguration& lexing, const StackView& stack,
                                     std::int32_t state, bool leading) {
    const auto situation = filter_->situation(state);
    if (!leading) return make_filtered(lexing, stack, situation);
    if (leading_filtered_ < 0) {
        ReadSet read_set;
        const auto places = filter_->places_of(situation.set);
        leading_filtered_ = keep_filtered(
            canonical_search().find(lexing, stack, places, situation.text, true, nullptr, read_set),
            read_set);
    }
    return leading_filtered_;
}

std::int32_t TokenPda::keep_filtered(CanonicalSearch::Found found, const ReadSet& read_set) {
    if (found.cut) ++filtered_cuts_;
    const FilteredMasks masks{filtered_rows_.intern(std::move(found.within)),
                              filtered_rows_.intern(std::move(found.across)), read_set, found.cut};
    const auto [at, is_new] = filtered_ids_.emplace(
        std::array{masks.within, masks.across, static_cast<std::int32_t>(read_set.states),
                   static_cast<std::int32_t>(read_set.columns), found.cut ? 1 : 0},
        static_cast<std::int32_t>(filtered_.size()));
    if (is_new) filtered_.push_back(masks);
    return at->second;
}

bool TokenPda::write_filtered(std::int32_t known, std::int32_t state, std::span<std::int32_t> mask) const {
    const auto& [within, across, read_set, cut] = filtered_[static_cast<std::size_t>(known)];
    filter_->combine(state, filtered_rows_.row(within), filtered_rows_.row(across), mask);
    return !cut || std::ranges::any_of(mask, [](auto word) { return word != 0; });
}

bool TokenPda::known_filtered(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                              bool leading, std::span<std::int32_t> mask) {
    const std::unique_lock hold(guarded_.lock(), std::try_to_lock);
    if (!hold.owns_lock()) return false;
    const auto known = leading ? leading_filtered_ : find_filtered(lexing, stack, filter_->situation(state));
    return known >= 0 && write_filtered(known, state, mask);
}

void TokenPda::filtered(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                        bool leading, std::span<std::int32_t> mask) {
    const bool is_known = guarded_.run([&] {
        measuring_engine();  // forgets what is known of stacks if it is much
        return write_filtered(made_filtered(lexing, stack, state, leading), state, mask);
    });
    if (is_known) return;
    const auto most = static_cast<double>(budget_.states());
    throw LimitExceeded(
        "states", most + 1, most,
        "canonical: the search for tokens after which the tokenizer's own can go on read_set at "
        "so many places, and found none, as in a word of thousands of letters");
}

bool TokenPda::filtered_allows(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                               bool leading, std::int32_t token) {
    return guarded_.run([&] {
        const auto& [within, across, read_set, cut] =
            filtered_[static_cast<std::size_t>(made_filtered(lexing, stack, state, leading))];
        if (has_bit(filtered_rows_.row(across), token)) return true;
        return has_bit(filtered_rows_.row(within), token) && filter_->may_follow(state, token);
    });
}

std::string TokenPda::forced_bytes(LexerConfiguration lexing, PersistentStack stack, std::size_t limit) {
    const auto shared = guarded_.run([this] { return star(); });
    return find_forced_bytes(machine_, *shared, lexing, std::move(stack), limit,
                             [this](const LexerConfiguration& at, std::int32_t speller_state,
                                    const StackView& view) { return is_live(at, speller_state, view); });
}

std::int64_t TokenPda::shortest_completion(const LexerConfiguration& lexing, PersistentStack stack,
                                           std::string* out, std::size_t most) {
    const auto length =
        guarded_.run([&] { return measuring_engine().shortest_completion(lexing, stack, out, most); });
    if (length != Completion::kNone) return length;
    if (guarded_.origin())
        throw guarded_.origin()->damage(
            ArtifactDamage("the artifact is damaged: a text that nothing completes"));
    throw std::logic_error("no completion: a position that is not live was accepted");
}

TokenPda::Statistics TokenPda::statistics() {
    const std::lock_guard hold(guarded_.lock());
    const auto& lexer = machine_.lexer;
    return {static_cast<std::size_t>(lexer.num_states()),
            static_cast<std::size_t>(lexer.num_classes()),
            static_cast<std::size_t>(machine_.tables.num_states),
            static_cast<std::size_t>(lexer.num_contexts()),
            static_cast<std::size_t>(lexer.lookahead()),
            masks_computed_,
            masks_.size(),
            lexer.held() + held(),
            left_,
            filtered_.size(),
            filtered_cuts_};
}

}  // namespace pdacon
