// Room `engines`: a matcher in the shape in which an engine that is written in C calls it.
//
// In: a matcher, and the sizes of the engine's structures. Out: one of llama.cpp's samplers. It needs none of
// llama.cpp's headers: the structures below are those of its llama.h, and a llama.cpp whose structures have
// other sizes is refused.
//
// A sampler leaves the candidates that the grammar allows, and no others, so that what samples after it
// cannot choose another one. Nothing is thrown into llama.cpp. What goes wrong is kept: from then on nothing
// but an end of the text is left, and `check` throws it.
//
// Cost: `apply` that of a mask, and a look at each candidate.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matching/matcher.hpp"

namespace pdacon::llama {

struct Interface;

struct Sampler {
    const Interface* interface;
    void* context;
};

struct Candidate {
    std::int32_t token;
    float logit;
    float probability;
};

struct Candidates {
    Candidate* data;
    std::size_t size;
    std::int64_t selected;
    bool sorted;
};

using Init = Sampler* (*)(const Interface* interface, void* context);  // llama_sampler_init

// What is asked of the llama.cpp that is there.
struct Engine {
    std::size_t sampler, interface, candidate, candidates;  // sizes of its structures
    Init init;
};

// A sampler at the place of the matcher, and independent of it. llama.cpp frees it. Throws
// std::invalid_argument for a llama.cpp that is not known, or a vocabulary without an end.
Sampler* make_sampler(const Matcher& matcher, const Engine& engine);

// Throws what went wrong since the start of the text; MatcherMisuse if nothing was sampled, and
// std::invalid_argument if this is another sampler.
void check(const Sampler* sampler);

}  // namespace pdacon::llama
