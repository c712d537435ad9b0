// Room `engines`: a matcher in the shape in which an engine that is written in C calls it.
//
// In: a matcher, and the sizes of the engine's structures. Out: one of llama.cpp's samplers. It needs none of
// llama.cpp's headers: the structures below are those of its llama.h, and a llama.cpp whose structures have
// other sizes is refused.
//
// A sampler removes the candidates that the grammar does not allow, so that no sampler after it in the chain
// can choose one. Nothing is thrown into llama.cpp. What goes wrong is kept: from then on an end token is the
// only candidate that is left, and `check` throws what was kept.
//
// Cost of `apply`: that of a mask, and a look at each candidate.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matching/matcher.hpp"

namespace pdacon::llama {

struct Interface;

// llama_sampler
struct Sampler {
    const Interface* interface;
    void* context;
};

// llama_token_data
struct Candidate {
    std::int32_t token;
    float logit;
    float probability;
};

// llama_token_data_array
struct Candidates {
    Candidate* data;
    std::size_t size;
    std::int64_t selected;  // an index into `data`; -1: none is
    bool sorted;
};

using Init = Sampler* (*)(const Interface* interface, void* context);  // llama_sampler_init

// The llama.cpp that a program uses: the sizes of its structures, in bytes, and its function that allocates.
struct Engine {
    std::size_t sampler, interface, candidate, candidates;
    Init init;
};

// A sampler with a fork of the matcher, which the caller frees by llama_sampler_free. Throws
// std::invalid_argument for a llama.cpp that is not known, or a vocabulary without an end token.
Sampler* make_sampler(const Matcher& matcher, const Engine& engine);

// Throws what went wrong since the start of the text; MatcherMisuse if nothing was sampled, and
// std::invalid_argument if this is another sampler.
void check(const Sampler* sampler);

}  // namespace pdacon::llama
