#include "engines/llama_sampler.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace pdacon::llama {

// llama.cpp's llama_sampler_i. The first six functions are in every llama.cpp that has samplers; later ones
// have more of them. Those in `graph` sample within a computation graph; where they are null, llama.cpp
// calls `apply` instead.
struct Interface {
    const char* (*name)(const Sampler*);
    void (*accept)(Sampler*, std::int32_t token);
    void (*apply)(Sampler*, Candidates*);
    void (*reset)(Sampler*);
    Sampler* (*clone)(const Sampler*);
    void (*free)(Sampler*);
    std::array<void (*)(), 5> graph;
    void (*copy)(const Sampler* from, Sampler* to);
};

namespace {

constexpr std::size_t kLeastInterface = 6 * sizeof(void (*)());

// The context of a sampler. Without a matcher it has failed for good: `reset` does not help.
struct State {
    std::shared_ptr<TokenPda> pda;
    Init init;
    std::unique_ptr<Matcher> matcher;
    std::exception_ptr failure;  // what was thrown first since the start of the text
    bool asked = false;          // whether `apply` was called since then

    // The same with a fork of the matcher. What forking throws is the fork's failure; only std::bad_alloc for
    // the fork itself is thrown.
    State forked() const {
        State fork{pda, init, nullptr, failure, asked};
        if (!matcher) return fork;
        try {
            const Matcher::Use use(*matcher);
            fork.matcher = std::make_unique<Matcher>(*matcher);
        } catch (...) {
            if (!failure) fork.failure = std::current_exception();
        }
        return fork;
    }

    // Does the work, unless something has failed before, and keeps what it throws.
    template <class Work>
    void guarded(Work work) noexcept {
        if (failure) return;
        try {
            const Matcher::Use use(*matcher);
            work();
        } catch (...) {
            failure = std::current_exception();
        }
    }
};

State& state_of(const Sampler* sampler) { return *static_cast<State*>(sampler->context); }

// The others are removed, not given a low score: where all scores are low, a sampler after this one could
// choose any of them.
void keep_allowed(const Matcher& matcher, Candidates& candidates) {
    const auto mask = matcher.mask().view;
    const auto size = matcher.pda()->tokens().size();
    const auto forbidden = [&](const Candidate& candidate) {
        const auto token = static_cast<std::uint32_t>(candidate.token);  // a negative one is too large
        return token >= size || !mask.has(candidate.token);
    };
    auto* const end = candidates.data + candidates.size;
    auto* const kept_end = std::remove_if(candidates.data, end, forbidden);
    if (kept_end == candidates.data)
        throw MatcherMisuse("none of the " + std::to_string(candidates.size) +
                            " candidates is allowed; put the constraint before samplers that leave some out");
    candidates.size = static_cast<std::size_t>(kept_end - candidates.data);
    candidates.selected = -1;
}

void replace_all(Candidates& candidates, std::int32_t token) {
    if (candidates.size == 0 || candidates.data == nullptr) return;  // llama.cpp finds nothing to choose
    candidates.data[0] = {token, 0.0F, 0.0F};
    candidates.size = 1;
    candidates.selected = -1;
}

const char* name(const Sampler*) noexcept { return "pdacon"; }

void apply(Sampler* sampler, Candidates* candidates) noexcept {
    auto& state = state_of(sampler);
    state.asked = true;
    state.guarded([&] { keep_allowed(*state.matcher, *candidates); });
    if (state.failure) replace_all(*candidates, state.pda->tokens().end_tokens()[0]);
}

void accept(Sampler* sampler, std::int32_t token) noexcept {
    auto& state = state_of(sampler);
    state.guarded([&] {
        auto step = state.matcher->step(token);
        if (!step || !state.matcher->is_allowed(*step))
            throw MatcherMisuse("token " + std::to_string(token) +
                                " was chosen, which the constraint does not allow");
        state.matcher->accept(std::move(*step));
    });
}

void reset(Sampler* sampler) noexcept {
    auto& state = state_of(sampler);
    if (!state.matcher) return;
    state.failure = nullptr;
    state.asked = false;
    state.guarded([&] { state.matcher->reset(); });
}

// llama.cpp frees the sampler itself.
void destroy(Sampler* sampler) noexcept { delete &state_of(sampler); }

Sampler* clone(const Sampler* sampler) noexcept;

void copy(const Sampler* from, Sampler* to) noexcept {
    try {
        state_of(to) = state_of(from).forked();
    } catch (...) {
        state_of(to).failure = std::current_exception();
    }
}

constexpr Interface kInterface{name, accept, apply, reset, clone, destroy, {}, copy};

// llama.cpp allocates the sampler, because its llama_sampler_free gives it back. Null if it has no memory.
Sampler* new_sampler(State state) {
    const auto init = state.init;
    auto owned = std::make_unique<State>(std::move(state));
    auto* const sampler = init(&kInterface, owned.get());
    if (sampler != nullptr) owned.release();
    return sampler;
}

Sampler* clone(const Sampler* sampler) noexcept {
    try {
        return new_sampler(state_of(sampler).forked());
    } catch (...) {
        return nullptr;  // no memory; llama.cpp cannot go on with this
    }
}

}  // namespace

Sampler* make_sampler(const Matcher& matcher, const Engine& engine) {
    const bool known = engine.sampler == sizeof(Sampler) && engine.interface >= kLeastInterface &&
                       engine.interface <= sizeof(Interface) && engine.candidate == sizeof(Candidate) &&
                       engine.candidates == sizeof(Candidates);
    if (!known)
        throw std::invalid_argument(
            "this llama.cpp has other structures than those that pdacon knows; a logits processor is for it");
    const auto& ends = matcher.pda()->tokens().end_tokens();
    if (ends.empty()) throw std::invalid_argument("no token of this vocabulary ends a text");
    auto* const sampler =
        new_sampler({matcher.pda(), engine.init, std::make_unique<Matcher>(matcher), nullptr});
    if (sampler == nullptr) throw std::bad_alloc();
    return sampler;
}

void check(const Sampler* sampler) {
    if (sampler->interface != &kInterface) throw std::invalid_argument("this is no sampler of pdacon's");
    const auto& state = state_of(sampler);
    if (state.failure) std::rethrow_exception(state.failure);
    if (!state.asked)
        throw MatcherMisuse(
            "the constraint was not asked for a single token: no text, or llama.cpp has left it out");
}

}  // namespace pdacon::llama
