#include "composition/shared_engine.hpp"

#include <utility>

#include "liveness/newline_liveness.hpp"

namespace pdacon {

SharedEngine::SharedEngine(std::shared_ptr<const Pushdown> machine, const SharedTrie& trie,
                           std::shared_ptr<LivenessTable> table, std::shared_ptr<const CompletionHints> hints,
                           std::int64_t max_states)
    : machine_(std::move(machine)),
      trie_(trie),
      labels_(trie.tokens()->size(), {}),
      hints_(std::move(hints)),
      budget_(max_states, 0),
      guarded_(kMostBytes, nullptr, [this] { forget(); }),
      liveness_table_(std::move(table)),
      filed_(static_cast<std::size_t>(machine_->lexer.num_states()), machine_->layout.newline >= 0),
      masks_(trie.words()) {}

MaskEngine& SharedEngine::engine(const Futures* futures) {
    if (engine_) return *engine_;
    if (!star_) star_ = std::make_shared<const VocabularyStar>(trie_, budget_);
    engine_ = std::make_unique<MaskEngine>(*machine_, trie_, labels_, *star_, *liveness_table_, cells_,
                                           budget_, futures, hints_);
    hints_ = engine_->coaccessibility().hints();
    engine_->find_loops();
    return *engine_;
}

void SharedEngine::prepare(const Budget& budget, const Futures* futures) {
    const MemoryLimit::Pause not_the_callers;
    guarded_.run([&] {
        if (engine_) return true;
        struct Clock {
            ~Clock() { budget.stop_clock(); }
            Budget& budget;
        };
        budget_ = budget;
        const Clock stopped{budget_};
        engine(futures);
        return true;
    });
}

// Nothing where the work met a limit.
template <class Work>
auto SharedEngine::attempt(Work work) -> decltype(work()) {
    const MemoryLimit::Pause not_the_callers;
    try {
        return guarded_.run([&] {
            make_room();
            return work();
        });
    } catch (const LimitExceeded&) {
        return {};
    } catch (const std::bad_alloc&) {
        return {};
    }
}

MaskSet::Row SharedEngine::mask(const LexerConfiguration& lexing, const StackView& stack, ReadSet& read_set) {
    return attempt([&] {
        read_set = {};
        if (const auto known = filed_.find(lexing, stack, &read_set); known >= 0) return masks_.pooled(known);
        read_set = {};
        const auto id = masks_.intern(trie_.masks().of(engine().compute(lexing, stack, read_set)));
        filed_.add(lexing, stack, read_set, id);
        return masks_.pooled(id);
    });
}

MaskSet::Row SharedEngine::leading_mask() {
    return attempt([&] {
        if (leading_mask_ < 0) leading_mask_ = masks_.intern(trie_.masks().of(engine().compute_leading()));
        return masks_.pooled(leading_mask_);
    });
}

std::optional<bool> SharedEngine::is_live(const LexerConfiguration& lexing, std::int32_t speller_state,
                                          const StackView& stack) {
    return attempt([&] {
        ReadSet read_set;
        const Overlay here(stack, read_set);
        return std::optional(NewlineLiveness(*machine_, engine().coaccessibility(), budget_, here)
                                 .is_live(lexing, speller_state));
    });
}

void SharedEngine::make_room() {
    if (guarded_.held() < static_cast<std::int64_t>(kMostBytes / 2)) return;
    if (engine_) engine_->forget();
    forget_masks();
}

void SharedEngine::forget_masks() {
    filed_.forget();
    masks_.forget();
    leading_mask_ = -1;
}

void SharedEngine::forget() {
    engine_.reset();
    forget_masks();
}

}  // namespace pdacon
