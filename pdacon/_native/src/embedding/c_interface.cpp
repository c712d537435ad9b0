// Room `embedding`: the core for programs without Python.
//
// In: a constraint that was saved. Out: masks, by the functions of pdacon.h. It does not know how a
// constraint is compiled, and nothing is computed here.
//
// Each function checks its arguments, does its work, and turns what was thrown into a status and a line of
// text.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "composition/stored_constraint.hpp"
#include "embedding/mapped_file.hpp"
#include "embedding/pdacon.h"
#include "embedding/thread_message.hpp"
#include "engines/llama_sampler.hpp"
#include "matching/matcher.hpp"

struct pdacon_constraint {
    pdacon::StoredConstraint stored;
};

struct pdacon_matcher {
    template <class... Arguments>
    explicit pdacon_matcher(Arguments&&... arguments) : matcher(std::forward<Arguments>(arguments)...) {}
    pdacon::Matcher matcher;
};

namespace pdacon {
namespace {

constexpr const char* kWayOut = "compile the grammar again and save that (pdacon compile)";

struct EmptyLanguage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

pdacon_status failed(pdacon_status status, const char* message) noexcept {
    keep_thread_message(message);
    return status;
}

pdacon_status exceeded(const char* what, double given, double limit, const char* detail) noexcept {
    std::array<char, 1024> message{};
    std::snprintf(message.data(), message.size(),
                  "%s: %.0f exceeds the limit of %.0f%s%s; compile with pdacon.Limits(%s=...)", what, given,
                  limit, detail[0] == 0 ? "" : "; ", detail, what);
    return failed(PDACON_LIMIT_EXCEEDED, message.data());
}

// Does the work of a function of pdacon.h. The work gets the function's name, for messages.
template <class Work>
pdacon_status guarded(const char* function, Work work) noexcept {
    try {
        return work(function);
    } catch (const LimitExceeded& error) {
        return exceeded(error.what(), error.given, error.limit, error.detail.c_str());
    } catch (const OutOfBytes& error) {
        return exceeded(error.what(), static_cast<double>(error.given), static_cast<double>(error.limit), "");
    } catch (const ArtifactDamage& error) {
        return failed(PDACON_BAD_ARTIFACT, error.what());
    } catch (const MatcherMisuse& error) {
        return failed(PDACON_MATCHER_MISUSE, error.what());
    } catch (const EmptyLanguage& error) {
        return failed(PDACON_EMPTY_LANGUAGE, error.what());
    } catch (const UnreadableFile& error) {
        return failed(PDACON_CANNOT_READ, error.what());
    } catch (const std::invalid_argument& error) {
        return failed(PDACON_INVALID_ARGUMENT, error.what());
    } catch (const std::out_of_range& error) {
        return failed(PDACON_INVALID_ARGUMENT, error.what());
    } catch (const std::bad_alloc&) {
        return failed(PDACON_OUT_OF_MEMORY, kNoMemory);
    } catch (const std::length_error&) {
        return failed(PDACON_OUT_OF_MEMORY, kNoMemory);
    } catch (const std::exception& error) {
        return failed(PDACON_INTERNAL_ERROR, error.what());
    } catch (...) {
        return failed(PDACON_INTERNAL_ERROR, "something unknown was thrown");
    }
}

void require_argument(const char* function, bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(std::string(function) + ": " + what);
}

template <class... Pointers>
void require_pointers(const char* function, const Pointers*... pointers) {
    require_argument(function, (... && (pointers != nullptr)), "a null pointer was given");
}

pdacon_status forbidden(const char* function, const std::string& what) {
    return failed(PDACON_FORBIDDEN, (std::string(function) + ": the grammar does not allow " + what).c_str());
}

std::string named(std::int64_t token) { return "token " + std::to_string(token) + " here"; }

pdacon_constraint* loaded(std::span<const std::uint8_t> memory, std::shared_ptr<const void> owner,
                          bool verify, std::string name) {
    // Constraints with the same tokens share their trie, and those with the same tokenizer its filter.
    static const auto tries = std::make_shared<Tries>();
    static Filters filters;
    return new pdacon_constraint{
        StoredConstraint(memory, std::move(owner), verify, tries, filters, std::move(name), kWayOut)};
}

// The step that a token or bytes make; nothing where the mask does not have the token, or the grammar the
// bytes.
template <class What>
std::optional<Matcher::Step> allowed_step(const Matcher& matcher, What what) {
    auto step = matcher.step(what);
    if (step && !matcher.is_allowed(*step)) step.reset();
    return step;
}

bool allows_nothing(const Matcher& matcher) {
    return matcher.mask().view.is_empty(matcher.pda()->tokens().words());
}

// As many bytes of a text as there is room for, and its size.
pdacon_status write_text(const std::string& text, char* bytes, std::size_t capacity, std::size_t* size) {
    if (!text.empty() && capacity > 0) std::memcpy(bytes, text.data(), std::min(capacity, text.size()));
    *size = text.size();
    return PDACON_OK;
}

}  // namespace
}  // namespace pdacon

using namespace pdacon;

std::uint32_t pdacon_abi_version() { return PDACON_ABI_VERSION; }

const char* pdacon_version() { return PDACON_VERSION; }

const char* pdacon_last_error() { return thread_message(); }

pdacon_status pdacon_constraint_load(const char* path, bool verify, pdacon_constraint** constraint) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, path, constraint);
        require_argument(function, path[0] != 0, "the path is empty");
        auto [memory, owner] = map_file(path);
        *constraint = loaded(memory, std::move(owner), verify, path);
        return PDACON_OK;
    });
}

pdacon_status pdacon_constraint_from_bytes(const void* data, std::size_t size, bool verify,
                                           pdacon_constraint** constraint) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, data, constraint);
        require_argument(function, size <= std::numeric_limits<std::size_t>::max() / 2,
                         "the size is no size");
        // Artifacts have to be aligned to 8 bytes, which a copy into such integers is.
        auto copied = std::make_shared<std::vector<std::uint64_t>>(size / sizeof(std::uint64_t) + 1);
        std::memcpy(copied->data(), data, size);
        const std::span memory(reinterpret_cast<const std::uint8_t*>(copied->data()), size);
        *constraint = loaded(memory, std::move(copied), verify, "these bytes");
        return PDACON_OK;
    });
}

void pdacon_constraint_free(pdacon_constraint* constraint) { delete constraint; }

std::size_t pdacon_constraint_num_tokens(const pdacon_constraint* constraint) {
    return constraint == nullptr ? 0 : constraint->stored.tokens().size();
}

std::size_t pdacon_constraint_mask_words(const pdacon_constraint* constraint) {
    return constraint == nullptr ? 0 : constraint->stored.tokens().words();
}

pdacon_status pdacon_constraint_token(const pdacon_constraint* constraint, std::int64_t token,
                                      const char** bytes, std::size_t* size) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, constraint, bytes, size);
        const auto& tokens = constraint->stored.tokens();
        require_argument(function, token >= 0 && static_cast<std::size_t>(token) < tokens.size(),
                         "the token is not in the vocabulary");
        const auto id = static_cast<std::int32_t>(token);
        const auto text = tokens.has_text(id) ? tokens.bytes_of(id) : std::string_view();
        *bytes = text.data();
        *size = text.size();
        return PDACON_OK;
    });
}

pdacon_status pdacon_constraint_end_tokens(const pdacon_constraint* constraint, const std::int32_t** tokens,
                                           std::size_t* count) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, constraint, tokens, count);
        const auto& ends = constraint->stored.tokens().end_tokens();
        *tokens = ends.data();
        *count = ends.size();
        return PDACON_OK;
    });
}

std::size_t pdacon_constraint_num_starts(const pdacon_constraint* constraint) {
    return constraint == nullptr ? 0 : constraint->stored.pdas().size();
}

pdacon_status pdacon_constraint_settings(const pdacon_constraint* constraint, const char** json,
                                         std::size_t* size) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, constraint, json, size);
        const auto text = constraint->stored.text(Part::kSettings);
        *json = text.data();
        *size = text.size();
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_new(const pdacon_constraint* constraint, const pdacon_matcher_options* options,
                                 pdacon_matcher** matcher) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, constraint, matcher);
        pdacon_matcher_options given = PDACON_MATCHER_OPTIONS_INIT;
        if (options != nullptr) {
            require_argument(
                function, options->size == sizeof given,
                "options.size is not that of this version; begin with PDACON_MATCHER_OPTIONS_INIT");
            given = *options;
        }
        const auto& pdas = constraint->stored.pdas();
        require_argument(function, given.start < pdas.size(), "the grammar has no such start");
        require_argument(function, given.max_rollback >= -1, "max_rollback must be at least -1");
        require_argument(function, given.max_tokens >= -1, "max_tokens must be at least -1");
        const auto& pda = pdas[given.start];
        require_argument(function, given.max_tokens < 0 || pda->labels().size() == 0,
                         "max_tokens is not for a grammar that has tokens without text");
        const auto* filter = pda->filter();
        require_argument(function, filter == nullptr || given.max_tokens < 0,
                         "max_tokens is not for a constraint with canonical");
        require_argument(
            function, filter == nullptr || !given.strip_leading_space || filter->prefixed(),
            "strip_leading_space is for canonical where the tokenizer puts a space before texts");
        auto made = std::make_unique<pdacon_matcher>(
            pda, given.max_rollback, given.strip_leading_space,
            /*keep_text=*/false, Matcher::Limit::of(Matcher::Unit::kTokens, given.max_tokens));
        if (given.max_tokens >= 0) {
            const auto least = made->matcher.least(Matcher::Unit::kTokens);
            require_argument(
                function, least == TokenDistances::kNone || least <= given.max_tokens,
                ("the shortest sentence has " + std::to_string(least) + " tokens, and max_tokens is less")
                    .c_str());
        }
        if (allows_nothing(made->matcher))
            throw EmptyLanguage("no text that the vocabulary can spell is a sentence of this start");
        *matcher = made.release();
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_fork(const pdacon_matcher* matcher, pdacon_matcher** fork) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher, fork);
        const Matcher::Use use(matcher->matcher);
        *fork = new pdacon_matcher(matcher->matcher);
        return PDACON_OK;
    });
}

void pdacon_matcher_free(pdacon_matcher* matcher) { delete matcher; }

pdacon_status pdacon_matcher_reset(pdacon_matcher* matcher) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher);
        const Matcher::Use use(matcher->matcher);
        matcher->matcher.reset();
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_fill_mask(const pdacon_matcher* matcher, std::int32_t* mask, std::size_t words) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher, mask);
        const Matcher::Use use(matcher->matcher);
        const auto needed = matcher->matcher.pda()->tokens().words();
        require_argument(function, words >= needed, "the mask has fewer words than the vocabulary needs");
        matcher->matcher.mask().view.write(mask, needed);
        std::fill(mask + needed, mask + words, 0);
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_is_allowed(const pdacon_matcher* matcher, std::int64_t token) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher);
        const Matcher::Use use(matcher->matcher);
        return allowed_step(matcher->matcher, token) ? PDACON_OK : forbidden(function, named(token));
    });
}

pdacon_status pdacon_matcher_accept_token(pdacon_matcher* matcher, std::int64_t token) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher);
        const Matcher::Use use(matcher->matcher);
        auto step = allowed_step(matcher->matcher, token);
        if (!step) return forbidden(function, named(token));
        matcher->matcher.accept(std::move(*step));
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_accept_bytes(pdacon_matcher* matcher, const char* bytes, std::size_t size) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher);
        require_argument(function, bytes != nullptr || size == 0, "a null pointer was given");
        const Matcher::Use use(matcher->matcher);
        const std::string_view text(bytes, size);
        auto step =
            matcher->matcher.may_spell_label(text) ? std::nullopt : allowed_step(matcher->matcher, text);
        if (!step) return forbidden(function, "these " + std::to_string(size) + " bytes here");
        matcher->matcher.accept(std::move(*step));
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_validate_tokens(const pdacon_matcher* matcher, const std::int64_t* tokens,
                                             std::size_t count, std::size_t* valid) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher, valid);
        require_argument(function, tokens != nullptr || count == 0, "a null pointer was given");
        const Matcher::Use use(matcher->matcher);
        *valid = matcher->matcher.validate_tokens({tokens, count});
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_rollback(pdacon_matcher* matcher, std::size_t count) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher);
        const Matcher::Use use(matcher->matcher);
        constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
        matcher->matcher.rollback(static_cast<std::int64_t>(std::min(count, kMost)));
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_is_accepting(const pdacon_matcher* matcher, bool* accepting) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher, accepting);
        const Matcher::Use use(matcher->matcher);
        *accepting = matcher->matcher.is_accepting();
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_is_terminated(const pdacon_matcher* matcher, bool* terminated) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher, terminated);
        const Matcher::Use use(matcher->matcher);
        *terminated = matcher->matcher.is_terminated();
        return PDACON_OK;
    });
}

pdacon_status pdacon_matcher_forced_bytes(const pdacon_matcher* matcher, std::size_t limit, char* bytes,
                                          std::size_t capacity, std::size_t* size) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher, size);
        require_argument(function, bytes != nullptr || capacity == 0, "a null pointer was given");
        const Matcher::Use use(matcher->matcher);
        return write_text(matcher->matcher.forced_bytes(limit), bytes, capacity, size);
    });
}

pdacon_status pdacon_matcher_shortest_completion(const pdacon_matcher* matcher, char* bytes,
                                                 std::size_t capacity, std::size_t* size) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher, size);
        require_argument(function, bytes != nullptr || capacity == 0, "a null pointer was given");
        const Matcher::Use use(matcher->matcher);
        if (matcher->matcher.is_filtered())
            throw MatcherMisuse(
                "the shortest completion is the grammar's, and with canonical the tokens so far need not "
                "go on with it; go on with what the mask allows");
        const auto text = matcher->matcher.shortest_completion();
        if (matcher->matcher.may_spell_label(text))
            throw MatcherMisuse(
                "the shortest completion has a token that is no text; go on with what the mask allows");
        return write_text(text, bytes, capacity, size);
    });
}

pdacon_status pdacon_llama_sampler_new(const pdacon_matcher* matcher, const pdacon_llama* llama,
                                       llama_sampler** sampler) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, matcher, llama, sampler);
        require_argument(function, llama->size == sizeof *llama,
                         "llama.size is not that of this version; begin with PDACON_LLAMA_INIT");
        require_argument(function, llama->sampler_init != nullptr, "a null pointer was given");
        const Matcher::Use use(matcher->matcher);
        auto* const made = llama::make_sampler(
            matcher->matcher, {llama->sampler_size, llama->interface_size, llama->candidate_size,
                               llama->candidates_size, reinterpret_cast<llama::Init>(llama->sampler_init)});
        *sampler = reinterpret_cast<llama_sampler*>(made);
        return PDACON_OK;
    });
}

pdacon_status pdacon_llama_sampler_check(const llama_sampler* sampler) {
    return guarded(__func__, [&](const char* function) {
        require_pointers(function, sampler);
        llama::check(reinterpret_cast<const llama::Sampler*>(sampler));
        return PDACON_OK;
    });
}
