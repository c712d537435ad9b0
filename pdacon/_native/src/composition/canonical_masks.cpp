#include "composition/canonical_masks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "detokenizer/token_set.hpp"

namespace pdacon {

CanonicalMasks::CanonicalMasks(MaskResources& resources, std::shared_ptr<CanonicalFilter> filter)
    : MaskCache(resources),
      filter_(std::move(filter)),
      proven_{resources.cells(), {}},
      masks_(resources.tokens().words()) {}

std::size_t CanonicalMasks::bytes() const {
    auto bytes = masks_.bytes();
    for (const auto& [situation, trie] : tries_) bytes += trie->bytes();
    return bytes;
}

void CanonicalMasks::make_room() {
    forget_rows();
    if (settled_) settled_->forget();
}

void CanonicalMasks::forget() {
    settled_.reset();
    forget_rows();
}

void CanonicalMasks::forget_rows() {
    masks_.forget();
    rows_ = {};
    ids_.clear();
    tries_.clear();
    leading_ = -1;
}

std::int32_t CanonicalMasks::find(const LexerConfiguration& lexing, const StackView& stack,
                                  const CanonicalFilter::Situation& situation) const {
    const auto trie = tries_.find(situation);
    return trie == tries_.end() ? -1 : trie->second->find(lexing, stack);
}

MaskTrie& CanonicalMasks::trie_of(const CanonicalFilter::Situation& situation) {
    auto& trie = tries_[situation];
    if (!trie)
        trie = std::make_unique<MaskTrie>(static_cast<std::size_t>(resources_.machine().lexer.num_states()),
                                          resources_.machine().layout.newline >= 0);
    return *trie;
}

Coaccessibility& CanonicalMasks::settled() {
    const auto* star = filter_->settled();
    if (star == nullptr) return resources_.engine().coaccessibility();
    if (!settled_) {
        settled_table_.emplace(resources_.machine());
        settled_ = std::make_unique<Coaccessibility>(resources_.machine(), *star, *settled_table_,
                                                     resources_.budget());
    }
    return *settled_;
}

CanonicalSearch CanonicalMasks::search() {
    auto& engine = resources_.engine();
    auto completion = [&engine](const LexerConfiguration& lexing, const PersistentStack& stack,
                                std::size_t most) {
        std::string text;
        const auto length = engine.shortest_completion(lexing, stack, &text, most);
        return CanonicalSearch::CompletionText{text, std::ssize(text) == length};
    };
    const auto& machine = resources_.machine();
    if (!free_characters_) free_characters_.emplace(machine.lexer, CanonicalFilter::Use(*filter_).pretokens);
    return CanonicalSearch(machine, engine.coaccessibility(), settled(), engine.classes_by_state(),
                           resources_.trie(), *filter_, *free_characters_, std::move(completion), proven_,
                           resources_.budget());
}

CanonicalSearch::Found CanonicalMasks::found(std::int32_t id) const {
    const auto words = static_cast<std::ptrdiff_t>(masks_.words());
    const auto* within = masks_.row(rows(id).within).words();
    const auto* across = masks_.row(rows(id).across).words();
    return {{within, within + words}, {across, across + words}, rows(id).cut};
}

std::int32_t CanonicalMasks::make(const LexerConfiguration& lexing, const StackView& stack,
                                  const CanonicalFilter::Situation& situation) {
    if (const auto known = find(lexing, stack, situation); known >= 0) return known;
    ReadSet read_set;
    CanonicalSearch::Found from_start;
    const bool starts = situation.text == TextStates::kStart;
    if (!starts) {
        const auto known = make(lexing, stack, {situation.set, TextStates::kStart});
        from_start = found(known);
        read_set = rows(known).read_set;
    } else {
        resources_.make_room();
    }
    auto search = this->search();
    auto answer = search.find(lexing, stack, filter_->places_of(situation.set), situation.text, false,
                              starts ? nullptr : &from_start, read_set);
    const bool has_answers = search.is_long() && starts && !answer.cut;
    const auto id = keep(std::move(answer), read_set);
    trie_of(situation).add(lexing, stack, read_set, id);
    if (has_answers) keep_answers(search, read_set);
    return id;
}

void CanonicalMasks::keep_answers(CanonicalSearch& search, const ReadSet& read_set) {
    auto left = std::min(kMostAnswerBytes, resources_.guarded().max_bytes() / 16);
    search.for_each_answer(
        read_set, [&](const LexerConfiguration& lexing, const StackView& stack, const ReadSet& read,
                      std::int32_t place, std::int32_t text, CanonicalSearch::Found answer) {
            auto& trie = trie_of({filter_->set_of(place), text});
            if (trie.find(lexing, stack) >= 0) return true;
            if (!trie.has_room(read)) return false;
            const auto before = trie.bytes();
            trie.add(lexing, stack, read, keep(std::move(answer), read));
            const auto bytes = 2 * masks_.row_bytes() + sizeof(Rows) + trie.bytes() - before;
            left -= std::min(left, bytes);
            return left > 0;
        });
}

std::int32_t CanonicalMasks::make(const LexerConfiguration& lexing, const StackView& stack,
                                  std::int32_t state, bool leading) {
    const auto situation = filter_->situation(state);
    if (!leading) return make(lexing, stack, situation);
    if (leading_ < 0) {
        ReadSet read_set;
        const auto places = filter_->places_of(situation.set);
        leading_ =
            keep(search().find(lexing, stack, places, situation.text, true, nullptr, read_set), read_set);
    }
    return leading_;
}

std::int32_t CanonicalMasks::keep(CanonicalSearch::Found found, const ReadSet& read_set) {
    if (found.cut) ++num_cut_;
    auto& pool = resources_.trie().masks();
    const Rows made{masks_.intern(pool.of_words(found.within)), masks_.intern(pool.of_words(found.across)),
                    read_set, found.cut};
    const auto [at, is_new] =
        ids_.emplace(std::array{made.within, made.across, static_cast<std::int32_t>(read_set.states),
                                static_cast<std::int32_t>(read_set.columns), made.cut ? 1 : 0},
                     static_cast<std::int32_t>(rows_.size()));
    if (is_new) rows_.push_back(made);
    return at->second;
}

CanonicalSearch::Found CanonicalMasks::live(const LexerConfiguration& lexing, const StackView& stack,
                                            std::int32_t state, bool leading) {
    return found(make(lexing, stack, state, leading));
}

bool CanonicalMasks::combine(std::int32_t id, std::int32_t state, std::span<std::int32_t> mask) const {
    filter_->combine(state, masks_.row(rows(id).within).words(), masks_.row(rows(id).across).words(), mask);
    return !rows(id).cut || std::ranges::any_of(mask, [](auto word) { return word != 0; });
}

bool CanonicalMasks::write_known(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                                 bool leading, std::span<std::int32_t> mask) const {
    return resources_.guarded().look([&] {
        const auto known = leading ? leading_ : find(lexing, stack, filter_->situation(state));
        return known >= 0 && combine(known, state, mask);
    });
}

void CanonicalMasks::write(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                           bool leading, std::span<std::int32_t> mask) {
    const bool is_known = resources_.guarded().run([&] {
        resources_.measuring_engine();  // forgets what is known of stacks if it is much
        return combine(make(lexing, stack, state, leading), state, mask);
    });
    if (is_known) return;
    const auto most = static_cast<double>(resources_.budget().states());
    throw LimitExceeded("states", most + 1, most,
                        "canonical: the search for tokens after which the tokenizer's own can go on looked "
                        "at so many places, "
                        "and found none, as in a word of thousands of letters");
}

bool CanonicalMasks::allows(const LexerConfiguration& lexing, const StackView& stack, std::int32_t state,
                            bool leading, std::int32_t token) {
    return resources_.guarded().run([&] {
        const auto& made = rows(make(lexing, stack, state, leading));
        if (masks_.row(made.across).has(token)) return true;
        return masks_.row(made.within).has(token) && filter_->may_follow(state, token);
    });
}

}  // namespace pdacon
