#include "composition/token_pda.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace pdacon {

namespace {

std::string failed(const std::exception& error) {
    return std::string("the constraint failed before and cannot be used any more: ") + error.what();
}

}  // namespace

template <class Work>
auto TokenPda::guarded(Work work) {
    const std::lock_guard hold(lock_);
    if (damage_) throw *damage_;
    if (!failure_.empty()) throw std::runtime_error(failure_);
    const MemoryLimit memory(static_cast<std::int64_t>(max_bytes_), held_);
    for (;;) {
        try {
            auto result = work();
            is_fresh_ = false;
            return result;
        } catch (...) {
            if (!recovers()) throw;
        }
    }
}

// Called where work has ended in an exception. Damage is for good. After anything else all that may be half
// done is forgotten; and where a limit was met, or memory ran out, whether the work is to be done again
// without what earlier work had left behind, which may be why.
bool TokenPda::recovers() {
    const bool again = !is_fresh_;
    try {
        throw;
    } catch (const ArtifactDamage& error) {
        damage_ = error;
        throw;
    } catch (const std::logic_error& error) {
        if (!origin_) {
            failure_ = failed(error);
            throw;
        }
        damage_ = origin_->damage(ArtifactDamage(std::string("the artifact is damaged: ") + error.what()));
        throw *damage_;
    } catch (const LimitExceeded&) {
        start_afresh();
        return again;
    } catch (const OutOfBytes& error) {
        start_afresh();
        if (again) return true;
        throw LimitExceeded("bytes", static_cast<double>(error.given), static_cast<double>(error.limit));
    } catch (const std::bad_alloc&) {
        start_afresh();
        return again;
    } catch (...) {
        start_afresh();
        return false;
    }
}

TokenPda::TokenPda(Pushdown machine, std::shared_ptr<const Trie> trie, Budget budget, std::int64_t max_depth,
                   std::int64_t max_bytes, const Futures* known)
    : machine_(std::move(machine)),
      trie_(std::make_shared<const LazyTrie>(std::move(trie))),
      budget_(budget),
      max_depth_(max_depth),
      max_bytes_(max_bytes > 0 ? static_cast<std::size_t>(max_bytes)
                               : std::size_t{std::numeric_limits<std::int64_t>::max()}),
      liveness_table_(machine_),
      masks_(tokens().words()),
      decisions_(static_cast<std::size_t>(machine_.lexer.num_states()), machine_.layout.newline >= 0) {
    std::vector<std::int32_t> ends(tokens().words(), 0);
    for (const auto token : tokens().end_tokens()) set_bit(ends, token);
    end_mask_ = at(masks_.intern(std::move(ends)));
    guarded([&] {
        engine_ =
            std::make_unique<Engine>(machine_, trie_->get(), *speller(), liveness_table_, budget_, known);
        engine_->classes.find_loops();
        return true;
    });
    is_fresh_ = true;
    empty_language();  // makes the first mask
    budget_.stop_clock();
}

TokenPda::Engine& TokenPda::engine() {
    if (engine_) return *engine_;
    const auto make = [this] {
        engine_ = std::make_unique<Engine>(machine_, trie_->get(), *speller(), liveness_table_, budget_);
    };
    if (!origin_) {
        make();
        engine_->classes.find_loops();
        return *engine_;
    }
    origin_->watch([&] {
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
    guarded([this] { return &engine(); });
}

const std::shared_ptr<const Speller>& TokenPda::speller() {
    if (!speller_) speller_ = std::make_shared<const Speller>(trie_->get(), budget_);
    return speller_;
}

void TokenPda::start_afresh() {
    engine_.reset();
    if (decisions_.bytes_of_answers() > max_bytes_ / 2) decisions_.forget();
    is_fresh_ = true;
}

// Thrown where no lock is held and nothing is half done: a constraint that is full still knows what it knew.
TokenPda::Mask TokenPda::in_bytes(const Mask& found) const {
    if (found.id >= 0) return found;
    throw LimitExceeded("bytes", static_cast<double>(masks_.bytes() + masks_.row_bytes()),
                        static_cast<double>(max_bytes_));
}

// What can be forgotten and made again.
std::size_t TokenPda::cached_bytes() const { return (engine_ ? engine_->bytes() : 0) + decisions_.bytes(); }

void TokenPda::make_room() {
    if (masks_.bytes() + cached_bytes() < max_bytes_) return;
    engine().forget();
    decisions_.forget();
}

bool TokenPda::empty_language() {
    const PersistentStack stack(machine_.start.start_state);
    const auto reading = boundary(machine_, stack, 0);
    const auto first = mask(reading, stack.view());
    const auto allows = [](std::int32_t word) { return word != 0; };
    if (std::any_of(first.words, first.words + tokens().words(), allows)) return false;
    return !alive(reading, stack.view());  // a vocabulary may have no token that ends a text
}

Liveness TokenPda::known_alive(const Reading& reading, const StackView& stack) const {
    const auto known = liveness_table_.at(liveness_table_.row(reading), stack.top->state);
    if (known == Liveness::kMustLive && liveness_table_.is_column_independent(reading)) return known;
    return known == Liveness::kDead ? known : Liveness::kUnknown;
}

bool TokenPda::alive(const Reading& reading, const StackView& stack) {
    const auto known = known_alive(reading, stack);
    return known == Liveness::kUnknown ? alive_in(reading, 0, stack) : known == Liveness::kMustLive;
}

// In the middle of a token: with what is spelled of it.
bool TokenPda::alive_in(const Reading& reading, std::int32_t speller_state, const StackView& stack) {
    return guarded([&] {
        ReadSet looked;
        Overlay here(stack, looked);
        return NewlineLiveness(machine_, engine().coaccessibility, budget_, here)
            .is_live(reading, speller_state);
    });
}

ExpectedTerminals TokenPda::expected_terminals(const Reading& reading, const StackView& stack,
                                               std::string_view text) {
    return guarded([&] {
        return ExpectedTerminalsSearch(machine_, engine().coaccessibility, budget_)
            .find(reading, stack, text);
    });
}

// A mask that is known, or one that is computed and filed: `compute` returns its words and a function of its
// id.
template <class Compute>
TokenPda::Mask TokenPda::known_or(std::int32_t id, Compute compute) {
    if (id >= 0) return at(id);
    make_room();
    auto [words, file] = compute();
    id = masks_.intern(std::move(words), max_bytes_);
    if (id < 0) return {};
    file(id);
    ++masks_computed_;
    return at(id);
}

TokenPda::Mask TokenPda::mask(const Reading& reading, const StackView& stack) {
    return in_bytes(guarded([&] {
        return known_or(decisions_.find(reading, stack), [&] {
            ReadSet looked;
            auto words = compute(reading, stack, looked);
            return std::pair(std::move(words),
                             [&, looked](std::int32_t id) { decisions_.add(reading, stack, looked, id); });
        });
    }));
}

std::optional<ReadSet> TokenPda::file_mask(const Reading& reading, const PersistentStack& stack,
                                           bool columns_meant) {
    std::optional<LimitExceeded> full;  // thrown where nothing is half done
    auto filed = guarded([&]() -> std::optional<ReadSet> {
        full.reset();
        if (masks_.bytes() + cached_bytes() >= max_bytes_) engine().forget();
        ReadSet looked;
        auto words = compute(reading, stack.view(), looked);
        const bool nothing =
            std::all_of(words.begin(), words.end(), [](std::int32_t word) { return word == 0; });
        if (nothing || (looked.columns && !columns_meant)) return looked;
        if (!decisions_.has_room_beside_texts(looked)) return std::nullopt;
        const auto bytes = masks_.bytes() + masks_.row_bytes() + decisions_.bytes();
        if (bytes > max_bytes_) {
            full.emplace("bytes", static_cast<double>(bytes), static_cast<double>(max_bytes_));
            return std::nullopt;
        }
        decisions_.add(reading, stack.view(), looked, masks_.intern(std::move(words)));
        ++masks_computed_;
        return looked;
    });
    if (full) throw *full;
    return filed;
}

TokenPda::Mask TokenPda::known_mask(const Reading& reading, const StackView& stack) {
    const std::unique_lock hold(lock_, std::try_to_lock);
    if (!hold.owns_lock()) return {};
    const auto id = decisions_.find(reading, stack);
    return id < 0 ? Mask{} : at(id);
}

TokenPda::Mask TokenPda::leading_mask() {
    return in_bytes(guarded([&] {
        return known_or(leading_mask_, [&] {
            return std::pair(compute_leading(), [this](std::int32_t id) { leading_mask_ = id; });
        });
    }));
}

TokenPda::Mask TokenPda::known_leading_mask() {
    const std::unique_lock hold(lock_, std::try_to_lock);
    return hold.owns_lock() && leading_mask_ >= 0 ? at(leading_mask_) : Mask{};
}

std::size_t TokenPda::num_masks() {
    const std::lock_guard hold(lock_);
    return masks_.size();
}

TokenPda::Mask TokenPda::mask(std::int32_t id) {
    const std::lock_guard hold(lock_);
    if (id < 0 || static_cast<std::size_t>(id) >= masks_.size())
        throw std::out_of_range("no mask has this id");
    return at(id);
}

std::vector<std::int32_t> TokenPda::compute(const Reading& reading, const StackView& stack, ReadSet& looked) {
    std::vector<std::int32_t> mask(tokens().words(), 0);
    auto& found = engine();
    found.selection.add_allowed(found.classes.of_state(reading.state), reading, stack, looked, mask);
    Overlay here(stack, looked);
    if (ends(machine_, here, reading))
        for (const auto token : tokens().end_tokens()) set_bit(mask, token);
    return mask;
}

// Tokens that begin with a space are read without it, the others as always.
std::vector<std::int32_t> TokenPda::compute_leading() {
    const PersistentStack stack(machine_.start.start_state);
    const auto reading = boundary(machine_, stack, 0);
    ReadSet looked;
    auto mask = compute(reading, stack.view(), looked);
    const auto& trie = trie_->get();
    const auto space = trie.child(0, ' ');
    if (space < 0) return mask;
    const auto end = trie.first_token(trie.subtree_end(space));
    for (auto position = trie.first_token(space); position < end; ++position)
        clear_bit(mask, trie.token(position));
    auto& found = engine();
    found.selection.add_allowed(found.classes.below(space, reading.state), reading, stack.view(), looked,
                                mask);
    return mask;
}

std::string TokenPda::forced_bytes(Reading reading, PersistentStack stack, std::size_t limit) {
    struct Move {
        Reading reading;
        std::int32_t speller_state;
        PersistentStack stack;
    };
    const auto& lexer = machine_.lexer;
    const auto shared = guarded([this] { return speller(); });  // the engine may be forgotten meanwhile
    const auto& speller = *shared;
    std::string forced;
    std::int32_t speller_state = 0;
    std::vector<std::int32_t> pending;
    const auto viable = [&](const Speller::Edge& edge) -> std::optional<Move> {
        pending.assign(1, lexer.byte_class(edge.byte));
        if (lexer.next(reading.state, pending[0]) == LexingAutomaton::kDead) return std::nullopt;
        Move move{reading, edge.next, stack};
        if (!read(machine_, move.stack, move.reading, pending)) return std::nullopt;
        if (!alive_in(move.reading, move.speller_state, move.stack.view())) return std::nullopt;
        return move;
    };
    while (forced.size() < limit) {
        ReadSet looked;
        Overlay here(stack.view(), looked);
        const auto at = static_cast<std::size_t>(speller_state);
        if (speller.boundary[at] && ends(machine_, here, reading)) break;
        std::optional<Move> only;
        std::uint8_t byte = 0;
        std::array<std::int32_t, 256> dead;  // of each byte class: a speller state after it that is no way on
        dead.fill(-1);
        for (const auto& edge : speller.edges[at]) {
            auto& known = dead[static_cast<std::size_t>(lexer.byte_class(edge.byte))];
            if (known == edge.next) continue;
            auto move = viable(edge);
            if (!move) {
                known = edge.next;
                continue;
            }
            if (only) return forced;
            only = std::move(move);
            byte = edge.byte;
        }
        if (!only) break;  // only where the text has to end
        reading = only->reading;
        speller_state = only->speller_state;
        stack = std::move(only->stack);
        forced.push_back(static_cast<char>(byte));
    }
    return forced;
}

std::int64_t TokenPda::shortest_completion(const Reading& reading, PersistentStack stack, std::string* out,
                                           std::size_t most) {
    const auto length = guarded([&] {
        auto& [speller, coaccessibility, classes, selection, completion] = engine();
        if (!completion)
            completion = std::make_unique<Completion>(machine_, speller, coaccessibility.futures(), budget_);
        if (out != nullptr) out->clear();
        return completion->shortest(reading, stack, out, most);
    });
    if (length != Completion::kNone) return length;
    if (origin_)
        throw origin_->damage(ArtifactDamage("the artifact is damaged: a text that nothing completes"));
    throw std::logic_error("no completion: a position that is not alive was accepted");
}

TokenPda::Statistics TokenPda::statistics() {
    const std::lock_guard hold(lock_);
    const auto& lexer = machine_.lexer;
    const auto tables =
        lexer.transition_bytes() + machine_.tables.action.bytes() + machine_.tables.go.bytes();
    return {static_cast<std::size_t>(lexer.num_states()),
            static_cast<std::size_t>(lexer.num_classes()),
            static_cast<std::size_t>(machine_.tables.num_states),
            static_cast<std::size_t>(lexer.num_contexts()),
            static_cast<std::size_t>(lexer.lookahead()),
            masks_computed_,
            masks_.size(),
            tables + masks_.bytes() + cached_bytes(),
            left_};
}

namespace {

struct Numbers {
    std::int64_t max_states, max_depth, max_bytes, end_mask, leading_mask, left;
};

}  // namespace

void TokenPda::save(ArtifactWriter& artifact, std::int32_t start) {
    guarded([&] {
        if (start == 0) {
            machine_.lexer.save(artifact);
            trie_->save(artifact);
        }
        machine_.save(artifact, start);
        liveness_table_.save(artifact, start);
        decisions_.save(artifact, start);
        StoredMasks::save(artifact, start, masks_.words(), masks_.size(),
                          [&](std::size_t id) { return masks_.row(static_cast<std::int32_t>(id)); });
        const Numbers numbers{budget_.states(), max_depth_,    static_cast<std::int64_t>(max_bytes_),
                              end_mask_.id,     leading_mask_, left_};
        artifact.add(Part::kTokenPda, start, std::span(&numbers, 1));
        return true;
    });
}

TokenPda::TokenPda(std::shared_ptr<const LexingAutomaton> lexer, std::shared_ptr<const LazyTrie> trie,
                   const ArtifactReader& artifact, std::int32_t start)
    : machine_(std::move(lexer), artifact, start),
      origin_(artifact.origin()),
      trie_(std::move(trie)),
      budget_(0, 0),
      liveness_table_(machine_, artifact, start),
      masks_(StoredMasks(artifact, start, tokens().words())),
      decisions_(static_cast<std::size_t>(machine_.lexer.num_states()), machine_.layout.newline >= 0,
                 masks_.size(), artifact, start) {
    const auto given = artifact.array<Numbers>(Part::kTokenPda, start);
    require_artifact(given.size() == 1, "numbers of the constraint");
    const auto& numbers = given[0];
    const auto masks = static_cast<std::int64_t>(masks_.size());
    require_artifact(numbers.max_states >= 0 && numbers.max_depth >= 0 && numbers.max_bytes >= 0 &&
                         numbers.end_mask >= 0 && numbers.end_mask < masks && numbers.leading_mask >= -1 &&
                         numbers.leading_mask < masks,
                     "numbers of the constraint");
    budget_ = Budget(numbers.max_states, 0);
    max_depth_ = numbers.max_depth;
    max_bytes_ = static_cast<std::size_t>(numbers.max_bytes);
    end_mask_ = at(static_cast<std::int32_t>(numbers.end_mask));
    leading_mask_ = static_cast<std::int32_t>(numbers.leading_mask);
    left_ = numbers.left;
}

}  // namespace pdacon
