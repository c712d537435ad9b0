// What a matcher is asked by more than one call of Python: its mask and its steps, with a wait only where
// there is something to compute, and without Python's lock then.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "bindings/gil.hpp"
#include "matching/matcher.hpp"

namespace pdacon {

template <class Work>
auto without_gil(Work work) {
    const WithoutGil release;
    return work();
}

// While the refusal of the whole is handled: the limit on depth is met, since nobody knows whether a stack so
// deep may be. Throws that, or on what has other reasons than the grammar.
[[noreturn]] inline void refuse_depth(const TooDeep& deep) {
    try {
        throw;
    } catch (nanobind::python_error& error) {
        if (!error.matches(nanobind::module_::import_("pdacon.errors").attr("GrammarError"))) throw;
    }
    throw LimitExceeded("depth", static_cast<double>(deep.given), static_cast<double>(deep.limit));
}

// Asks a matcher of what is made as texts are read behind the lock of its automaton, and goes over to the
// whole where that is needed.
template <class Work>
auto answered(Matcher& matcher, Work work) {
    if (!matcher.is_nested()) return work();
    const auto nested = matcher.shared_nested();
    const auto asked = [&] {
        const auto lock = held(nested->lock());
        return work();
    };
    if (!nested->is_closed() || nested->is_broken()) {
        try {
            return asked();
        } catch (const NeedsWhole&) {
        }
    }
    try {
        matcher.complete();
    } catch (...) {
        if (nested->is_closed()) throw;
        std::optional<TooDeep> deep;
        try {
            return asked();  // there is no whole; perhaps it was missed only while another thread tried it
        } catch (const TooDeep& error) {
            deep = error;
        } catch (const NeedsWhole&) {
        }
        if (deep) refuse_depth(*deep);
        throw;
    }
    return work();
}

inline Mask mask_of(const Matcher& matcher) {
    const auto known = matcher.known_mask();
    return known.id >= 0 ? known : without_gil([&] { return matcher.mask(); });
}

// The step if it is allowed; what is known already is found without a wait.
template <class What>
std::optional<Matcher::Step> allowed_step(const Matcher& matcher, What what) {
    auto step = matcher.step(what);
    if (step && !step->allowed && !without_gil([&] { return matcher.is_allowed(*step); })) step.reset();
    return step;
}

// A token: one that a label has may take more than a look.
inline std::optional<Matcher::Step> allowed_token(const Matcher& matcher, std::int64_t token) {
    if (matcher.is_labelled(token) || matcher.is_filtered())
        return without_gil([&] { return matcher.step(token); });
    return allowed_step(matcher, token);
}

inline bool accept(Matcher& matcher, std::optional<Matcher::Step> step) {
    if (step) matcher.accept(std::move(*step));
    return step.has_value();
}

// Takes a token if it is allowed.
inline bool accept_token(Matcher& matcher, std::int64_t token) {
    return matcher.accept_within_lexeme(token) || accept(matcher, allowed_token(matcher, token));
}

}  // namespace pdacon
