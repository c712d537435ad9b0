/* pdacon: constraints for language models, without Python.
 *
 * A constraint is compiled in Python and saved (`pdacon compile GRAMMAR --tokenizer NAME -o FILE`); this
 * interface loads the file and says at each step which tokens may come next. Link with libpdacon.
 *
 *     pdacon_constraint *constraint;
 *     pdacon_matcher *matcher;
 *     if (pdacon_constraint_load("json.pda", false, &constraint) != PDACON_OK) fail(pdacon_last_error());
 *     if (pdacon_matcher_new(constraint, NULL, &matcher) != PDACON_OK) fail(pdacon_last_error());
 *     for (;;) {
 *         if (pdacon_matcher_fill_mask(matcher, mask, words) != PDACON_OK) fail(pdacon_last_error());
 *         token = ...;  // sampled among those whose bit is 1
 *         if (pdacon_matcher_accept_token(matcher, token) != PDACON_OK) fail(pdacon_last_error());
 *         if (the matcher is terminated) break;
 *     }
 *
 * Errors. Every function that can fail returns a pdacon_status, and nothing has changed if it is not
 * PDACON_OK, what its pointers point to included. What went wrong, and what to do, is then in
 * pdacon_last_error(). No C++ exception crosses this border. Never go on without a constraint where one
 * fails: the model would write anything. A null pointer is PDACON_INVALID_ARGUMENT, unless its size is 0; of
 * the functions that return a number, 0.
 *
 * Threads. A constraint is used by any number of threads at once. A matcher is for one thread at a time, and
 * says PDACON_MATCHER_MISUSE if a second one comes; give each its own by pdacon_matcher_fork.
 *
 * Memory. What `new`, `load`, `from_bytes` and `fork` make is given back by `free`, which takes NULL as well.
 * A matcher keeps what it needs of its constraint alive: their order does not matter. Pointers that a
 * function hands out stay valid as long as the constraint.
 *
 * Compatibility. Functions and numbers keep their meaning as long as PDACON_ABI_VERSION is the same; new ones
 * may be added. A file is read by the version of pdacon whose format it has (see docs/artifacts.md).
 */
#ifndef PDACON_H
#define PDACON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(PDACON_BUILD)
#define PDACON_API __declspec(dllexport)
#elif defined(_WIN32)
#define PDACON_API __declspec(dllimport)
#else
#define PDACON_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PDACON_ABI_VERSION 1

/* A constraint: a grammar compiled for a vocabulary. */
typedef struct pdacon_constraint pdacon_constraint;
/* A position in one text that is being generated or read. */
typedef struct pdacon_matcher pdacon_matcher;

typedef enum pdacon_status {
    PDACON_OK = 0,
    PDACON_FORBIDDEN = 1, /* the grammar does not allow it */
    PDACON_INVALID_ARGUMENT =
        2, /* such as a null pointer, a token that is not in the vocabulary, a mask too small */
    PDACON_CANNOT_READ = 3,    /* the file: what the operating system says is in the message */
    PDACON_BAD_ARTIFACT = 4,   /* no constraint, a damaged one, or one of another version of the format */
    PDACON_LIMIT_EXCEEDED = 5, /* one of the limits that the constraint was compiled with */
    PDACON_MATCHER_MISUSE = 6, /* two threads at once, or more taken back than there is */
    PDACON_EMPTY_LANGUAGE = 7, /* no text that the vocabulary can spell is a sentence */
    PDACON_OUT_OF_MEMORY = 8,
    PDACON_INTERNAL_ERROR = 9
} pdacon_status;

/* PDACON_ABI_VERSION of the library that runs, to be compared with that of this header. */
PDACON_API uint32_t pdacon_abi_version(void);
/* The version of pdacon, such as "0.1.0". */
PDACON_API const char* pdacon_version(void);
/* What the last function of this thread said that did not return PDACON_OK: a line of UTF-8 (names of files
 * are as they were given), "" if there was none. Valid until the next such function of this thread. */
PDACON_API const char* pdacon_last_error(void);

/* -- constraints ------------------------------------------------------------------------------------------
 */

/* Loads a file. It is mapped into memory, and shared by all processes that do so: never change it, put
 * another one in its place. `verify`: check all of it now, not each part when it is first used. Cost: about a
 * millisecond for 131,072 tokens. */
PDACON_API pdacon_status pdacon_constraint_load(const char* path, bool verify,
                                                pdacon_constraint** constraint);
/* The same for the content of a file, which is copied. */
PDACON_API pdacon_status pdacon_constraint_from_bytes(const void* data, size_t size, bool verify,
                                                      pdacon_constraint** constraint);
PDACON_API void pdacon_constraint_free(pdacon_constraint* constraint);

/* Tokens of the vocabulary. */
PDACON_API size_t pdacon_constraint_num_tokens(const pdacon_constraint* constraint);
/* Words of a mask: one for 32 tokens. */
PDACON_API size_t pdacon_constraint_mask_words(const pdacon_constraint* constraint);
/* The bytes that a token stands for; none if it stands for no text, as end tokens do. Compare them with the
 * model's own vocabulary: a constraint for another one allows the wrong tokens. */
PDACON_API pdacon_status pdacon_constraint_token(const pdacon_constraint* constraint, int64_t token,
                                                 const char** bytes, size_t* size);
/* The ids that end a text. */
PDACON_API pdacon_status pdacon_constraint_end_tokens(const pdacon_constraint* constraint,
                                                      const int32_t** tokens, size_t* count);
/* The grammar's start symbols. */
PDACON_API size_t pdacon_constraint_num_starts(const pdacon_constraint* constraint);
/* A JSON object that says where the constraint comes from: "name", "starts" (their names, in order),
 * "grammar" and "vocabulary" (fingerprints), "strip_leading_space" and others. Not terminated by a zero byte.
 */
PDACON_API pdacon_status pdacon_constraint_settings(const pdacon_constraint* constraint, const char** json,
                                                    size_t* size);

/* -- matchers ---------------------------------------------------------------------------------------------
 */

typedef struct pdacon_matcher_options {
    size_t size;              /* of this structure, so that later versions can have more fields at its end */
    size_t start;             /* which start symbol; 0: the first */
    int64_t max_rollback;     /* how many accepts can be taken back; -1: all */
    int64_t max_tokens;       /* the text ends within so many tokens, end tokens not counted; -1: no budget */
    bool strip_leading_space; /* one leading space of the first token with text is not part of the text: for
                                 the start of a text, where the settings say so (SentencePiece) */
} pdacon_matcher_options;
#define PDACON_MATCHER_OPTIONS_INIT {sizeof(pdacon_matcher_options), 0, -1, -1, false}

/* A matcher at the start of a text. `options` may be NULL, which stands for PDACON_MATCHER_OPTIONS_INIT.
 * PDACON_INVALID_ARGUMENT also if no sentence has so few tokens (the message says how many the shortest has),
 * or the grammar has indentation or tokens that are no text, for which there are no budgets. */
PDACON_API pdacon_status pdacon_matcher_new(const pdacon_constraint* constraint,
                                            const pdacon_matcher_options* options, pdacon_matcher** matcher);
/* An independent matcher at the same position, with the same history. */
PDACON_API pdacon_status pdacon_matcher_fork(const pdacon_matcher* matcher, pdacon_matcher** fork);
PDACON_API void pdacon_matcher_free(pdacon_matcher* matcher);
/* Back to the start of the text. */
PDACON_API pdacon_status pdacon_matcher_reset(pdacon_matcher* matcher);

/* Writes which tokens may come next: token t is bit t % 32 of mask[t / 32]. `words`: of `mask`, at least
 * pdacon_constraint_mask_words; those beyond become 0.
 * Cost: a look-up, and the copy; a mask that nobody has asked for before is computed. */
PDACON_API pdacon_status pdacon_matcher_fill_mask(const pdacon_matcher* matcher, int32_t* mask, size_t words);
/* PDACON_OK if the token may come next, PDACON_FORBIDDEN if not. Cheaper than a mask.
 * This and the next two: PDACON_LIMIT_EXCEEDED if more brackets, say, would be open than Limits.depth allows,
 * where a mask may have the token still. */
PDACON_API pdacon_status pdacon_matcher_is_allowed(const pdacon_matcher* matcher, int64_t token);
/* Goes on by a token, or PDACON_FORBIDDEN. After an end token only end tokens are allowed. */
PDACON_API pdacon_status pdacon_matcher_accept_token(pdacon_matcher* matcher, int64_t token);
/* Goes on by bytes, or PDACON_FORBIDDEN. They count as one accept, and as one token of a budget. */
PDACON_API pdacon_status pdacon_matcher_accept_bytes(pdacon_matcher* matcher, const char* bytes, size_t size);
/* How many of the tokens, such as a draft's, could be accepted in turn. Changes nothing. */
PDACON_API pdacon_status pdacon_matcher_validate_tokens(const pdacon_matcher* matcher, const int64_t* tokens,
                                                        size_t count, size_t* valid);
/* Takes back so many accepts. */
PDACON_API pdacon_status pdacon_matcher_rollback(pdacon_matcher* matcher, size_t count);
/* Whether the text may end here. */
PDACON_API pdacon_status pdacon_matcher_is_accepting(const pdacon_matcher* matcher, bool* accepting);
/* Whether an end token was accepted. */
PDACON_API pdacon_status pdacon_matcher_is_terminated(const pdacon_matcher* matcher, bool* terminated);

/* Texts are written into memory of the caller: at most `capacity` bytes of them, and no zero byte after
 * them. `size` becomes the length of the whole text; if it is more than `capacity`, ask again with more room.
 */

/* The bytes with which every continuation starts, at most `limit`. */
PDACON_API pdacon_status pdacon_matcher_forced_bytes(const pdacon_matcher* matcher, size_t limit, char* bytes,
                                                     size_t capacity, size_t* size);
/* The shortest text that makes a sentence of what was accepted: to close what was cut off.
 * PDACON_MATCHER_MISUSE if it has a token that is no text, or is longer than 16 MiB. */
PDACON_API pdacon_status pdacon_matcher_shortest_completion(const pdacon_matcher* matcher, char* bytes,
                                                            size_t capacity, size_t* size);

/* -- llama.cpp --------------------------------------------------------------------------------------------
 */

/* What is asked of llama.cpp. Where llama.h is included, PDACON_LLAMA_INIT says it of the llama.cpp that the
 * program is built with. */
typedef struct pdacon_llama {
    size_t size;                                                          /* of this structure */
    size_t sampler_size, interface_size, candidate_size, candidates_size; /* of those of llama.h */
    void (*sampler_init)(void);                                           /* llama_sampler_init */
} pdacon_llama;
#define PDACON_LLAMA_INIT                                                                      \
    {sizeof(pdacon_llama),     sizeof(struct llama_sampler),   sizeof(struct llama_sampler_i), \
     sizeof(llama_token_data), sizeof(llama_token_data_array), (void (*)(void))llama_sampler_init}
struct llama_sampler; /* of llama.h */

/* A sampler at the place of the matcher, and independent of it. Put it into a chain before the samplers that
 * leave candidates out (top-k and the like); the chain frees it, and llama_sampler_free one without a chain.
 * It is cloned with its place, and begins a new text by llama_sampler_reset. Do not let it accept a prompt.
 *
 * Candidates that the grammar does not allow are removed. Where something goes wrong nothing but an end of
 * the text is left, and pdacon_llama_sampler_check says what it was: ask it when the text is there.
 * PDACON_INVALID_ARGUMENT for a llama.cpp with other structures. Cost of a token: that of a mask, and a look
 * at each candidate. */
PDACON_API pdacon_status pdacon_llama_sampler_new(const pdacon_matcher* matcher, const pdacon_llama* llama,
                                                  struct llama_sampler** sampler);
/* PDACON_OK if the text is held by the constraint: whole if its last token was an end, and else a beginning.
 * Else what went wrong since its start; PDACON_MATCHER_MISUSE also if nothing was sampled, if none of the
 * candidates was allowed, and if a token was accepted that is not. */
PDACON_API pdacon_status pdacon_llama_sampler_check(const struct llama_sampler* sampler);

#ifdef __cplusplus
}
#endif

#endif
