/* A text from llama.cpp in C that is held by a constraint.
 *
 *     cc llama_sampler.c -lllama $(pdacon config --cflags --libs) -o llama_sampler
 *     ./llama_sampler model.gguf json.pda "Describe a person as JSON:"
 *
 * The constraint is compiled in Python, for the tokens of the same model:
 *
 *     from pdacon.integrations.llama_cpp import vocabulary
 *     pdacon.compile("json", vocabulary(Llama("model.gguf"))).save("json.pda")
 */
#include <llama.h>
#include <pdacon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 100, MOST_OF_A_PROMPT = 256 };

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

/* A constraint that fails is no reason to go on without one. */
static void require(pdacon_status status) {
    if (status != PDACON_OK) fail(pdacon_last_error());
}

/* A constraint for other tokens would allow the wrong ones. */
static void require_same_tokens(const struct llama_vocab *vocab, const pdacon_constraint *constraint) {
    size_t count = pdacon_constraint_num_tokens(constraint);
    if ((size_t)llama_vocab_n_tokens(vocab) != count) fail("the constraint is for another vocabulary");
    for (size_t token = 0; token < count; ++token) {
        const char *bytes;
        size_t size;
        char piece[512];
        require(pdacon_constraint_token(constraint, token, &bytes, &size));
        int length = size == 0 ? 0 : llama_token_to_piece(vocab, token, piece, sizeof piece, 0, false);
        if (length < 0 || (size_t)length != size || memcmp(piece, bytes, size) != 0)
            fail("the constraint is for another vocabulary");
    }
}

static struct llama_sampler *sampler_of(const char *file, const struct llama_vocab *vocab) {
    pdacon_constraint *constraint;
    pdacon_matcher *matcher;
    struct llama_sampler *sampler;
    pdacon_llama llama = PDACON_LLAMA_INIT;
    require(pdacon_constraint_load(file, false, &constraint));
    require_same_tokens(vocab, constraint);
    require(pdacon_matcher_new(constraint, NULL, &matcher));
    require(pdacon_llama_sampler_new(matcher, &llama, &sampler));
    pdacon_matcher_free(matcher); /* the sampler has what it needs */
    pdacon_constraint_free(constraint);
    return sampler;
}

static void no_log(enum ggml_log_level level, const char *text, void *data) {
    (void)level, (void)text, (void)data;
}

int main(int count, char **arguments) {
    if (count != 4) fail("usage: llama_sampler MODEL CONSTRAINT PROMPT");
    llama_log_set(no_log, NULL);
    struct llama_model *model = llama_model_load_from_file(arguments[1], llama_model_default_params());
    if (model == NULL) fail("this is no model");
    struct llama_context *context = llama_init_from_model(model, llama_context_default_params());
    const struct llama_vocab *vocab = llama_model_get_vocab(model);

    struct llama_sampler *chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
    struct llama_sampler *constraint = sampler_of(arguments[2], vocab);
    llama_sampler_chain_add(chain, constraint); /* before those that leave candidates out */
    llama_sampler_chain_add(chain, llama_sampler_init_top_k(40));
    llama_sampler_chain_add(chain, llama_sampler_init_dist(1));

    llama_token tokens[MOST_OF_A_PROMPT];
    int length = llama_tokenize(vocab, arguments[3], strlen(arguments[3]), tokens, MOST_OF_A_PROMPT, true, true);
    if (length < 0) fail("the prompt is too long");
    struct llama_batch batch = llama_batch_get_one(tokens, length);
    for (int written = 0; written < MOST_TOKENS; ++written) {
        if (llama_decode(context, batch) != 0) fail("llama.cpp failed");
        llama_token token = llama_sampler_sample(chain, context, -1);
        require(pdacon_llama_sampler_check(constraint)); /* else an end may stand for a failure */
        if (llama_vocab_is_eog(vocab, token)) break;
        char piece[512];
        int size = llama_token_to_piece(vocab, token, piece, sizeof piece, 0, false);
        if (size > 0) fwrite(piece, 1, size, stdout);
        batch = llama_batch_get_one(&token, 1);
    }
    printf("\n");
    llama_sampler_free(chain);
    llama_free(context);
    llama_model_free(model);
    return 0;
}
