/* What the library answers where a file is damaged, and where memory runs out; for test_sweeps.py.
 *
 *     sweeps bits FILE FIRST STEP SIGNED       changes a bit of the file: FIRST, FIRST + STEP, ...
 *     sweeps allocations FILE FIRST STEP LASTS lets an allocation fail: FIRST, FIRST + STEP, ...
 *     sweeps limits FILE BYTES COUNT           leaves BYTES, 2 * BYTES, ... of memory to a process of its own
 *
 * It prints how often each status was returned, and ends with 1 and a line that says what should not have been.
 * SIGNED: the checksums are made right again. LASTS: all later allocations of the same call fail as well.
 *
 * The functions of malloc below take the place of the C library's, which is glibc. So allocations can be counted
 * and made to fail, and what is never given back is seen.
 */
#define _GNU_SOURCE
#include <pdacon.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- allocations ---------------------------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *storage, size_t size);
void __libc_free(void *storage);

static long live, seen, failing = -1; /* blocks in use; allocations so far; the one that fails, -1: none */
static bool lasts, failed;

static bool fails(void) {
    const long number = seen++;
    if (failing < 0 || !(number == failing || (lasts && number > failing))) return false;
    return failed = true;
}

static void *counted(void *storage) {
    live += storage != NULL;
    return storage;
}

void *malloc(size_t size) { return fails() ? NULL : counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : counted(__libc_calloc(count, size)); }
void *realloc(void *storage, size_t size) {
    if (storage == NULL) return malloc(size);
    return fails() ? NULL : __libc_realloc(storage, size);
}
void free(void *storage) {
    live -= storage != NULL;
    __libc_free(storage);
}

/* -- answers -------------------------------------------------------------------------------------------- */

static long statuses[PDACON_INTERNAL_ERROR + 1];
static uint64_t digest;
static const char *place = "";
static long number = -1;

static void fault(const char *what) {
    printf("%s %ld: %s (%s)\n", place, number, what, pdacon_last_error());
    exit(1);
}

static void add(const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t at = 0; at < size; ++at) digest = (digest ^ bytes[at]) * 0x100000001b3;
}

static pdacon_status noted(pdacon_status status) {
    if (status < PDACON_OK || status > PDACON_INTERNAL_ERROR) fault("no such status");
    ++statuses[status];
    const char *message = pdacon_last_error();
    if (status != PDACON_OK && message[0] == 0) fault("a status without a message");
    if (status == PDACON_INTERNAL_ERROR) fault("an internal error");
    return status;
}

static bool is_ok(pdacon_status status) {
    add(&status, sizeof status);
    return status == PDACON_OK;
}

/* Whether a call returns PDACON_OK. Where memory ran out it is called again, with memory: nothing has changed. */
#define IS_OK(call) \
    (noted(status = (call)) == PDACON_OUT_OF_MEMORY ? (failing = -1, noted(status = (call))) : status, is_ok(status))

enum { kWords = 4096, kRoom = 512 };
static int32_t mask[kWords];
static char text[kRoom];

/* An allowed token, rather one that does not end the text; -1: none. */
static int64_t chosen(size_t tokens, int round) {
    int64_t last = -1;
    int count = 0;
    for (size_t token = 0; token < tokens; ++token)
        if (mask[token / 32] >> token % 32 & 1)
            if (last < 0 || count++ % 7 == round % 7) last = (int64_t)token;
    return last;
}

static void ask_for_tokens(const pdacon_constraint *constraint) {
    pdacon_status status;
    const char *bytes;
    size_t size;
    for (int64_t token = -1; token < 300; ++token)
        if (IS_OK(pdacon_constraint_token(constraint, token, &bytes, &size))) add(bytes, size);
    const int32_t *ends;
    if (IS_OK(pdacon_constraint_end_tokens(constraint, &ends, &size))) add(ends, size * sizeof *ends);
    if (IS_OK(pdacon_constraint_settings(constraint, &bytes, &size))) add(bytes, size);
}

static pdacon_matcher *begun(const pdacon_constraint *constraint, const pdacon_matcher_options *options) {
    pdacon_status status;
    pdacon_matcher *matcher = NULL;
    if (!IS_OK(pdacon_matcher_new(constraint, options, &matcher)) && matcher != NULL) fault("a matcher and an error");
    return matcher;
}

static void ask_for_texts(const pdacon_constraint *constraint) {
    pdacon_status status;
    pdacon_matcher *matcher = begun(constraint, NULL);
    size_t size;
    if (matcher == NULL) return;
    if (IS_OK(pdacon_matcher_forced_bytes(matcher, 64, text, kRoom, &size))) add(text, size);
    if (IS_OK(pdacon_matcher_shortest_completion(matcher, text, kRoom, &size))) add(text, size < kRoom ? size : kRoom);
    pdacon_matcher_free(matcher);
}

static void ask_for_bytes(const pdacon_constraint *constraint) {
    pdacon_status status;
    pdacon_matcher *matcher = begun(constraint, NULL);
    if (matcher == NULL) return;
    for (int byte = 0; byte < 256; ++byte) {
        const char given = (char)byte;
        if (IS_OK(pdacon_matcher_accept_bytes(matcher, &given, 1))) IS_OK(pdacon_matcher_rollback(matcher, 1));
    }
    pdacon_matcher_free(matcher);
}

static void walk(const pdacon_constraint *constraint, const pdacon_matcher_options *options) {
    pdacon_status status;
    pdacon_matcher *matcher = begun(constraint, options);
    if (matcher == NULL) return;
    const size_t tokens = pdacon_constraint_num_tokens(constraint);
    const size_t words = pdacon_constraint_mask_words(constraint);
    for (int round = 0; round < 10 && words <= kWords; ++round) {
        bool answer = false;
        size_t size = 0;
        if (IS_OK(pdacon_matcher_is_terminated(matcher, &answer)) && answer) break;
        if (!IS_OK(pdacon_matcher_fill_mask(matcher, mask, kWords))) break;
        add(mask, sizeof mask);
        const int64_t token = chosen(tokens, round);
        const int64_t draft[] = {token, 'a', 1};
        if (token >= 0 && IS_OK(pdacon_matcher_validate_tokens(matcher, draft, 3, &size))) add(&size, sizeof size);
        pdacon_matcher *fork = NULL;
        if (IS_OK(pdacon_matcher_fork(matcher, &fork))) {
            IS_OK(pdacon_matcher_is_allowed(fork, round));
            IS_OK(pdacon_matcher_accept_bytes(fork, "a", 1));
            if (IS_OK(pdacon_matcher_shortest_completion(fork, text, kRoom, &size))) add(text, size < kRoom ? size : kRoom);
            pdacon_matcher_free(fork);
        }
        if (!IS_OK(pdacon_matcher_accept_token(matcher, token))) break;
        if (IS_OK(pdacon_matcher_is_accepting(matcher, &answer))) add(&answer, sizeof answer);
        if (round % 3 == 2) IS_OK(pdacon_matcher_rollback(matcher, 1));
    }
    IS_OK(pdacon_matcher_reset(matcher));
    pdacon_matcher_free(matcher);
}

static void ask_for_masks(const pdacon_constraint *constraint) { walk(constraint, NULL); }

static void ask_with_options(const pdacon_constraint *constraint) {
    pdacon_matcher_options options = PDACON_MATCHER_OPTIONS_INIT;
    if (pdacon_constraint_num_tokens(constraint) < 1000) { /* takes seconds where there are many */
        options.max_tokens = 12;
        walk(constraint, &options);
        options.max_tokens = -1;
    }
    options.max_rollback = 1;
    options.strip_leading_space = true;
    walk(constraint, &options);
}

/* As much of llama.cpp as a sampler is called by. */
struct llama_sampler_i {
    const char *(*name)(const struct llama_sampler *);
    void (*accept)(struct llama_sampler *, int32_t);
    void (*apply)(struct llama_sampler *, void *);
    void (*reset)(struct llama_sampler *);
    struct llama_sampler *(*clone)(const struct llama_sampler *);
    void (*free)(struct llama_sampler *);
    void (*others[6])(void);
};
struct llama_sampler {
    const struct llama_sampler_i *interface;
    void *context;
};
struct candidate {
    int32_t token;
    float logit, probability;
};
struct candidates {
    struct candidate *data;
    size_t size;
    int64_t selected;
    bool sorted;
};

static struct llama_sampler *sampler_init(const struct llama_sampler_i *interface, void *context) {
    struct llama_sampler *made = malloc(sizeof *made);
    if (made != NULL) *made = (struct llama_sampler){interface, context};
    return made;
}
static void sampler_free(struct llama_sampler *sampler) {
    if (sampler == NULL) return;
    sampler->interface->free(sampler);
    free(sampler);
}

static void ask_a_sampler(const pdacon_constraint *constraint) {
    pdacon_status status;
    pdacon_matcher *matcher = begun(constraint, NULL);
    if (matcher == NULL) return;
    const pdacon_llama llama = {sizeof llama, sizeof(struct llama_sampler), sizeof(struct llama_sampler_i),
                                sizeof(struct candidate), sizeof(struct candidates), (void (*)(void))sampler_init};
    struct llama_sampler *sampler = NULL;
    if (IS_OK(pdacon_llama_sampler_new(matcher, &llama, &sampler))) {
        struct llama_sampler *const clone = sampler->interface->clone(sampler);
        struct candidate data[300];
        for (int round = 0; round < 4; ++round) {
            struct candidates candidates = {data, 300, -1, false};
            for (int32_t token = 0; token < 300; ++token) data[token] = (struct candidate){token, 0, 0};
            sampler->interface->apply(sampler, &candidates);
            if (candidates.size == 0 || candidates.size > 300) fault("no candidate is left");
            sampler->interface->accept(sampler, data[candidates.size / 2].token);
        }
        /* What ran out of memory has failed until it is reset. */
        if (noted(pdacon_llama_sampler_check(sampler)) == PDACON_OUT_OF_MEMORY) failing = -1;
        sampler->interface->reset(sampler);
        if (clone != NULL) noted(pdacon_llama_sampler_check(clone));
        sampler_free(clone);
        sampler_free(sampler);
    }
    pdacon_matcher_free(matcher);
}

static void (*const questions[])(const pdacon_constraint *) = {ask_for_masks, ask_for_texts,    ask_for_bytes,
                                                               ask_for_tokens, ask_with_options, ask_a_sampler};
enum { kQuestions = sizeof questions / sizeof *questions };

/* What each question was answered, as a number; 0 where something was damaged, or memory ran out for good. */
struct answers {
    uint64_t of[kQuestions];
};

/* All questions, in turn; any of them may be the first. What one finds damaged the others have to survive. */
static struct answers answers(const pdacon_constraint *constraint, long first) {
    struct answers answers;
    for (int at = 0; at < kQuestions; ++at) {
        const long lost = statuses[PDACON_BAD_ARTIFACT] + statuses[PDACON_OUT_OF_MEMORY];
        digest = 0xcbf29ce484222325;
        questions[(first + at) % kQuestions](constraint);
        const bool whole = failed || lost == statuses[PDACON_BAD_ARTIFACT] + statuses[PDACON_OUT_OF_MEMORY];
        answers.of[(first + at) % kQuestions] = whole ? digest : 0;
    }
    return answers;
}

/* -- files ---------------------------------------------------------------------------------------------- */

struct file {
    unsigned char *bytes;
    size_t size;
};

static struct file read_file(const char *path) {
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) fault("the file cannot be read");
    const long size = ftell(stream);
    struct file file = {malloc((size_t)size), (size_t)size};
    rewind(stream);
    if (fread(file.bytes, 1, file.size, stream) != file.size) fault("the file cannot be read");
    fclose(stream);
    return file;
}

/* As base/checksum.hpp says. */
static uint64_t mixed(uint64_t lane, uint64_t word) {
    const uint64_t product = (lane ^ word) * 0x9fb21c651e98df25;
    return product << 31 | product >> 33;
}
static uint64_t word_at(const unsigned char *bytes, size_t size) {
    uint64_t word = 0;
    memcpy(&word, bytes, size);
    return word;
}
static uint64_t checksum(const unsigned char *bytes, size_t size) {
    uint64_t lanes[8], sum = size;
    size_t at = 0;
    for (size_t lane = 0; lane < 8; ++lane) lanes[lane] = 0x9fb21c651e98df25 * (lane + 1);
    for (; at + 64 <= size; at += 64)
        for (size_t lane = 0; lane < 8; ++lane) lanes[lane] = mixed(lanes[lane], word_at(bytes + at + lane * 8, 8));
    for (size_t lane = 0; lane < 8; ++lane) sum = mixed(sum, lanes[lane]);
    for (; at + 8 <= size; at += 8) sum = mixed(sum, word_at(bytes + at, 8));
    sum = mixed(sum, word_at(bytes + at, size - at));
    return sum ^ sum >> 32;
}

/* Makes the checksums right, if the table of sections is one still. */
static void sign(struct file file) {
    const uint64_t sections = word_at(file.bytes + 12, 4);
    if (sections > (file.size - 32) / 32) return;
    for (uint64_t at = 0; at < sections; ++at) {
        unsigned char *const entry = file.bytes + 32 + 32 * at;
        const uint64_t offset = word_at(entry + 8, 8), size = word_at(entry + 16, 8);
        if (offset > file.size || size > file.size - offset) continue;
        const uint64_t sum = checksum(file.bytes + offset, size);
        memcpy(entry + 24, &sum, 8);
    }
    memset(file.bytes + 24, 0, 8);
    const uint64_t sum = checksum(file.bytes, 32 + 32 * sections);
    memcpy(file.bytes + 24, &sum, 8);
}

/* -- sweeps --------------------------------------------------------------------------------------------- */

/* What one thread does: it loads a file, from its path if there is one, and asks. */
struct work {
    struct file file;
    const char *path;
    long first, fails;
    struct answers answers;
};

static void *worked(void *given) {
    struct work *const work = given;
    pdacon_status status;
    pdacon_constraint *constraint = NULL;
    failing = work->fails;
    seen = 0;
    failed = false;
    const bool loaded = work->path == NULL
                            ? IS_OK(pdacon_constraint_from_bytes(work->file.bytes, work->file.size, false, &constraint))
                            : IS_OK(pdacon_constraint_load(work->path, false, &constraint));
    if (loaded != (constraint != NULL)) fault("a constraint and an error");
    if (loaded) work->answers = answers(constraint, work->first);
    pdacon_constraint_free(constraint);
    failing = -1;
    return NULL;
}

/* In a thread of its own, whose first message needs memory, too. */
static struct answers in_thread(struct file file, const char *path, long first, long fails_at) {
    struct work work = {file, path, first, fails_at, {{0}}};
    pthread_t thread;
    if (pthread_create(&thread, NULL, worked, &work) != 0) fault("no thread");
    pthread_join(thread, NULL);
    return work.answers;
}

/* What is in use after a file that is whole: what the library has once, and nothing more each time. */
static long live_at_rest(struct file file) {
    const bool before = failed;
    in_thread(file, NULL, 0, -1);
    failed = before;
    return live;
}

static void sweep_bits(const char *path, long first, long step, bool is_signed) {
    const struct file file = read_file(path);
    const struct file copy = {malloc(file.size), file.size};
    place = "bit";
    live_at_rest(file);
    const struct answers expected = in_thread(file, NULL, 0, -1);
    const long before = live_at_rest(file);
    memset(statuses, 0, sizeof statuses);
    for (number = first; number < (long)file.size * 8; number += step) {
        memcpy(copy.bytes, file.bytes, file.size);
        copy.bytes[number / 8] ^= (unsigned char)(1 << number % 8);
        if (is_signed) sign(copy);
        const struct answers answers = in_thread(copy, NULL, number, -1);
        for (int at = 0; at < kQuestions && !is_signed; ++at)
            if (answers.of[at] != 0 && answers.of[at] != expected.of[at]) fault("another answer, and no error");
    }
    if (live_at_rest(file) != before) fault("memory was not given back");
}

static void sweep_allocations(const char *path, long first, long step, bool last) {
    const struct file file = read_file(path);
    place = "allocation";
    lasts = last;
    live_at_rest(file);
    for (int order = 0; order < kQuestions; ++order) {
        const char *const mapped = order % 2 == 0 ? path : NULL;
        number = -1;
        const struct answers expected = in_thread(file, mapped, order, -1);
        const long before = live_at_rest(file);
        bool any = true;
        for (number = first; any; number += step) {
            const struct answers answers = in_thread(file, mapped, order, number);
            any = failed;
            if (memcmp(&answers, &expected, sizeof answers) != 0) fault("another answer");
            if (live_at_rest(file) != before) fault("memory was not given back");
        }
    }
}

static size_t address_space(void) {
    size_t pages = 0;
    FILE *stream = fopen("/proc/self/statm", "r");
    if (stream == NULL || fscanf(stream, "%zu", &pages) != 1) fault("no /proc/self/statm");
    fclose(stream);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void touch_stack(void) { /* a stack that cannot grow ends a process, whatever the library does */
    volatile char stack[1 << 20];
    for (size_t at = 0; at < sizeof stack; at += 4096) stack[at] = 0;
}

/* Whether memory ran out somewhere. When there is memory again, all is as if that had not been. */
static bool runs_out_within(const char *path, size_t bytes) {
    pdacon_status status;
    pdacon_constraint *constraint = NULL, *other = NULL;
    if (!IS_OK(pdacon_constraint_load(path, false, &constraint))) fault("the file is no good");
    memset(statuses, 0, sizeof statuses);
    touch_stack();
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    const rlim_t unlimited = limit.rlim_cur;
    limit.rlim_cur = address_space() + bytes;
    setrlimit(RLIMIT_AS, &limit);
    answers(constraint, number);
    limit.rlim_cur = unlimited;
    setrlimit(RLIMIT_AS, &limit);
    const bool ran_out = statuses[PDACON_OUT_OF_MEMORY] > 0;
    const struct answers after = answers(constraint, 0);
    if (!IS_OK(pdacon_constraint_load(path, false, &other))) fault("the file is no good");
    const struct answers expected = answers(other, 0);
    if (memcmp(&after, &expected, sizeof after) != 0) fault("another answer");
    return ran_out;
}

static void sweep_limits(const char *path, size_t bytes, long count) {
    place = "limit";
    for (number = 0; number < count; ++number) {
        const pid_t child = fork();
        if (child == 0) _exit(runs_out_within(path, bytes * (size_t)number) ? 3 : 0);
        int ended = 0;
        waitpid(child, &ended, 0);
        if (!WIFEXITED(ended) || (WEXITSTATUS(ended) != 0 && WEXITSTATUS(ended) != 3)) fault("the process was ended");
        ++statuses[WEXITSTATUS(ended) == 0 ? PDACON_OK : PDACON_OUT_OF_MEMORY];
    }
}

int main(int count, char **arguments) {
    const long first = count > 3 ? atol(arguments[3]) : 0, second = count > 4 ? atol(arguments[4]) : 0;
    const bool third = count > 5 && atoi(arguments[5]) != 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (count == 6 && strcmp(arguments[1], "bits") == 0)
        sweep_bits(arguments[2], first, second, third);
    else if (count == 6 && strcmp(arguments[1], "allocations") == 0)
        sweep_allocations(arguments[2], first, second, third);
    else if (count == 5 && strcmp(arguments[1], "limits") == 0)
        sweep_limits(arguments[2], (size_t)first, second);
    else
        fault("see the head of this file");
    for (int status = 0; status <= PDACON_INTERNAL_ERROR; ++status) printf("%ld ", statuses[status]);
    printf("\n");
    return 0;
}
