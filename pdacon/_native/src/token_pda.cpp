#include "token_pda.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

namespace pdacon {

namespace {

std::uint64_t hash_of(const std::vector<std::int32_t>& mask) {
    std::uint64_t lanes[4] = {1, 2, 3, 4};
    for (std::size_t at = 0; at < mask.size(); ++at) {
        auto& lane = lanes[at % 4];
        lane = (lane ^ static_cast<std::uint32_t>(mask[at])) * 0xff51afd7ed558ccdULL;
    }
    return lanes[0] ^ (lanes[1] >> 7) ^ (lanes[2] >> 19) ^ (lanes[3] >> 31);
}

}  // namespace

TokenPda::TokenPda(Pushdown machine, std::shared_ptr<const Trie> trie, Budget budget, std::int64_t max_depth)
    : machine_(std::move(machine)),
      trie_(std::move(trie)),
      budget_(budget),
      max_depth_(max_depth),
      speller_(*trie_, budget_),
      coaccessibility_(machine_, speller_, budget_),
      classes_(machine_.lexer, coaccessibility_, *trie_, budget_),
      roots_(static_cast<std::size_t>(machine_.lexer.num_states())),
      decisions_(roots_) {
    std::vector<std::int32_t> ends(trie_->words(), 0);
    for (const auto token : trie_->end_tokens()) set_bit(ends, token);
    end_mask_ = at(intern_mask(std::move(ends)));
    prepare();
    budget_.stop_clock();
}

template <class Work>
auto TokenPda::guarded(Work work) {
    const std::lock_guard hold(lock_);
    if (!failure_.empty()) throw std::runtime_error(failure_);
    try {
        return work();
    } catch (const std::exception& error) {
        failure_ = std::string("the constraint failed before and cannot be used any more: ") + error.what();
        throw;
    }
}

bool TokenPda::empty_language() {
    const PersistentStack stack(machine_.start.start_state);
    return !alive(boundary(machine_, stack, 0), stack.node());
}

void TokenPda::prepare() {
    guarded([&] {
        for (std::int32_t state = 0; state < machine_.tables.num_states; ++state) {
            const auto context = machine_.tables.context[static_cast<std::size_t>(state)];
            for (std::int32_t behind = 0; behind < machine_.lexer.num_behind(); ++behind)
                if (const auto entry = machine_.lexer.entry(context, behind); entry >= 0)
                    coaccessibility_.verdict(coaccessibility_.future(entry), state);
        }
        return true;
    });
}

Verdict TokenPda::known_alive(std::int32_t lexer_state, const StackNode* stack) const {
    const auto known = coaccessibility_.known(coaccessibility_.future(lexer_state), stack->state);
    return known == Verdict::kDepends ? Verdict::kUnknown : known;
}

bool TokenPda::alive(std::int32_t lexer_state, const StackNode* stack) {
    const auto known = known_alive(lexer_state, stack);
    if (known != Verdict::kUnknown) return known == Verdict::kAlways;
    return guarded([&] {
        std::uint32_t looked = 0;
        Overlay here(stack, looked);
        return coaccessibility_.alive(coaccessibility_.future(lexer_state), here);
    });
}

// The same in the middle of a token: with what is spelled of it.
bool TokenPda::alive_in(std::int32_t lexer_state, std::int32_t speller_state, const StackNode* stack) {
    if (speller_state == 0) return alive(lexer_state, stack);
    return guarded([&] {
        std::uint32_t looked = 0;
        const Overlay here(stack, looked);
        return coaccessibility_.reaches_end(coaccessibility_.futures().of(lexer_state, speller_state), here);
    });
}

TokenPda::Mask TokenPda::mask(std::int32_t lexer_state, const StackNode* stack) {
    return guarded([&] {
        auto id = lookup(lexer_state, stack);
        if (id < 0) {
            std::uint32_t looked = 0;
            id = intern_mask(compute(lexer_state, stack, looked));
            remember(lexer_state, stack, looked, id);
            ++masks_computed_;
        }
        return at(id);
    });
}

TokenPda::Mask TokenPda::known_mask(std::int32_t lexer_state, const StackNode* stack) {
    const std::unique_lock hold(lock_, std::try_to_lock);
    if (!hold.owns_lock()) return {};
    const auto id = lookup(lexer_state, stack);
    return id < 0 ? Mask{} : at(id);
}

TokenPda::Mask TokenPda::leading_mask() {
    return guarded([&] {
        if (leading_mask_ < 0) {
            leading_mask_ = intern_mask(compute_leading());
            ++masks_computed_;
        }
        return at(leading_mask_);
    });
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

TokenPda::Branches::const_iterator TokenPda::find(const Branches& branches, std::int32_t state) {
    return std::lower_bound(branches.begin(), branches.end(), state,
                            [](const auto& branch, std::int32_t wanted) { return branch.first < wanted; });
}

std::int32_t TokenPda::lookup(std::int32_t lexer_state, const StackNode* stack) const {
    const auto* at = &decisions_[static_cast<std::size_t>(lexer_state)];
    for (; at->mask < 0; stack = stack->below) {
        const auto next = find(at->next, stack->state);
        if (next == at->next.end() || next->first != stack->state) return -1;
        at = &decisions_[static_cast<std::size_t>(next->second)];
    }
    return at->mask;
}

void TokenPda::remember(std::int32_t lexer_state, const StackNode* stack, std::uint32_t looked,
                        std::int32_t mask) {
    // Where each text nests differently, and a token can end any number of rules, no answer comes twice.
    if (decisions_.size() + looked > roots_ + kMaxDecisions) decisions_.assign(roots_, {});
    if (looked > kMaxDecisions) return;
    auto at = static_cast<std::size_t>(lexer_state);
    for (; looked > 0; --looked, stack = stack->below) {
        auto& branches = decisions_[at].next;
        const auto known = find(branches, stack->state);
        if (known != branches.end() && known->first == stack->state) {
            at = static_cast<std::size_t>(known->second);
            continue;
        }
        at = decisions_.size();
        branches.emplace(known, stack->state, static_cast<std::int32_t>(at));
        decisions_.emplace_back();
    }
    decisions_[at].mask = mask;
}

std::vector<std::int32_t> TokenPda::compute(std::int32_t lexer_state, const StackNode* stack,
                                            std::uint32_t& looked) {
    std::vector<std::int32_t> mask(trie_->words(), 0);
    add_allowed(classes_.of_state(lexer_state), Overlay(stack, looked), mask);
    Overlay here(stack, looked);
    if (ends(machine_, here, lexer_state))
        for (const auto token : trie_->end_tokens()) set_bit(mask, token);
    return mask;
}

void TokenPda::add_allowed(TokenClasses::Node& root, const Overlay& stack, std::vector<std::int32_t>& mask) {
    std::vector<std::pair<TokenClasses::Node*, Overlay>> open;
    open.emplace_back(&root, stack);
    while (!open.empty()) {
        auto [node, here] = std::move(open.back());
        open.pop_back();
        for (const auto& staying : node->staying)
            if (coaccessibility_.alive(staying.future, here)) staying.tokens->add_to(mask);
        for (auto& crossing : node->crossings) {
            auto after = here;
            if (!feed_label(machine_, after, crossing.label)) continue;
            const auto context = machine_.tables.context[static_cast<std::size_t>(after.top())];
            open.emplace_back(&classes_.after(crossing, context), std::move(after));
        }
    }
}

// Tokens that begin with a space are read without it, the others as always.
std::vector<std::int32_t> TokenPda::compute_leading() {
    const PersistentStack stack(machine_.start.start_state);
    const auto lexer_state = boundary(machine_, stack, 0);
    std::uint32_t looked = 0;
    auto mask = compute(lexer_state, stack.node(), looked);
    const auto space = trie_->child(0, ' ');
    if (space < 0) return mask;
    const auto end = trie_->first_token(trie_->subtree_end(space));
    for (auto position = trie_->first_token(space); position < end; ++position)
        clear_bit(mask, trie_->token(position));
    add_allowed(classes_.below(space, lexer_state), Overlay(stack.node(), looked), mask);
    return mask;
}

std::string TokenPda::forced_bytes(std::int32_t lexer_state, PersistentStack stack, std::size_t limit) {
    struct Move {
        std::int32_t lexer_state, speller_state;
        PersistentStack stack;
    };
    const auto& lexer = machine_.lexer;
    std::string forced;
    std::int32_t speller_state = 0;
    std::vector<std::int32_t> pending;
    const auto viable = [&](const Speller::Edge& edge) -> std::optional<Move> {
        pending.assign(1, lexer.byte_class(edge.byte));
        if (lexer.next(lexer_state, pending[0]) == LexingAutomaton::kDead) return std::nullopt;
        Move move{lexer_state, edge.next, stack};
        if (!read(machine_, move.stack, move.lexer_state, pending)) return std::nullopt;
        if (!alive_in(move.lexer_state, move.speller_state, move.stack.node())) return std::nullopt;
        return move;
    };
    while (forced.size() < limit) {
        std::uint32_t looked = 0;
        Overlay here(stack.node(), looked);
        const auto at = static_cast<std::size_t>(speller_state);
        if (speller_.boundary[at] && ends(machine_, here, lexer_state)) break;
        std::optional<Move> only;
        std::uint8_t byte = 0;
        std::array<std::int32_t, 256> dead;  // of each byte class: a speller state after it that is no way on
        dead.fill(-1);
        for (const auto& edge : speller_.edges[at]) {
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
        lexer_state = only->lexer_state;
        speller_state = only->speller_state;
        stack = std::move(only->stack);
        forced.push_back(static_cast<char>(byte));
    }
    return forced;
}

std::int32_t TokenPda::intern_mask(std::vector<std::int32_t> mask) {
    const auto hash = hash_of(mask);
    const auto [begin, end] = mask_ids_.equal_range(hash);
    for (auto known = begin; known != end; ++known)
        if (masks_[static_cast<std::size_t>(known->second)] == mask) return known->second;
    const auto id = static_cast<std::int32_t>(masks_.size());
    masks_.push_back(std::move(mask));
    mask_ids_.emplace(hash, id);
    return id;
}

std::int64_t TokenPda::shortest_completion(std::int32_t lexer_state, PersistentStack stack,
                                           std::string& out) {
    std::optional<LimitExceeded> exceeded;  // masks do not need what is given up then
    const auto length = guarded([&] {
        try {
            if (!completion_)
                completion_ =
                    std::make_unique<Completion>(machine_, speller_, coaccessibility_.futures(), budget_);
            return completion_->shortest(lexer_state, std::move(stack), out);
        } catch (const LimitExceeded& error) {
            completion_.reset();
            exceeded = error;
            return Completion::kNone;
        }
    });
    if (exceeded) throw *exceeded;
    return length;
}

TokenPda::Statistics TokenPda::statistics() {
    const std::lock_guard hold(lock_);
    const auto& lexer = machine_.lexer;
    const auto tables =
        static_cast<std::size_t>(lexer.num_states()) * static_cast<std::size_t>(lexer.num_classes()) +
        machine_.tables.action.size() + machine_.tables.go.size();
    return {static_cast<std::size_t>(lexer.num_states()),
            static_cast<std::size_t>(lexer.num_classes()),
            static_cast<std::size_t>(machine_.tables.num_states),
            static_cast<std::size_t>(lexer.num_contexts()),
            static_cast<std::size_t>(lexer.lookahead()),
            masks_computed_,
            masks_.size(),
            tables * sizeof(std::int32_t) + classes_.bytes() +
                masks_.size() * trie_->words() * sizeof(std::int32_t) + decisions_.size() * sizeof(Decision)};
}

}  // namespace pdacon
