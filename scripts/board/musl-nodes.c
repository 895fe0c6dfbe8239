// musl-nodes: what ci/drivers/nodes.cpp does, for a llama.cpp that comes without its headers.
//
// The large structures of llama.h are opaque here. By the procedure call standard of arm64 they are
// returned through a pointer and passed by one, so that more room than they need is as good as the
// exact size. (Not so on x86-64.) It has no `--list`: the callback is a member of such a structure.
//
// Output as nodes.cpp's:
//   decode CALL MODEL N_TOKENS START END NEXT_TOKEN MINOR_FAULTS MAJOR_FAULTS

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifndef __aarch64__
#error "structures of unknown size can be passed on arm64 only"
#endif

typedef struct { char room[8192]; } Params;
typedef struct { char room[512]; } Batch;

void         ggml_backend_load_all(void);
Params       llama_model_default_params(void);
Params       llama_context_default_params(void);
void *       llama_model_load_from_file(const char *, Params);
void *       llama_init_from_model(void *, Params);
void         llama_set_n_threads(void *, int32_t, int32_t);
const void * llama_model_get_vocab(const void *);
int32_t      llama_vocab_n_tokens(const void *);
Batch        llama_batch_get_one(int32_t *, int32_t);
int32_t      llama_decode(void *, Batch);
float *      llama_get_logits_ith(void *, int32_t);
void         llama_log_set(void (*)(int, const char *, void *), void *);
void         llama_free(void *);
void         llama_model_free(void *);

static void quiet(int level, const char * text, void * unused) {
    (void) level, (void) text, (void) unused;
}

static long long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int32_t decode(void * ctx, int n_vocab, int call, int32_t * tokens, int n) {
    const Batch   batch = llama_batch_get_one(tokens, n);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    const long long start  = now_ns();
    const int       status = llama_decode(ctx, batch);
    const long long end    = now_ns();
    getrusage(RUSAGE_SELF, &after);
    if (status != 0) {
        fprintf(stderr, "nodes: llama_decode of %d tokens failed with %d\n", n, status);
        exit(1);
    }
    const float * logits = llama_get_logits_ith(ctx, -1);
    int32_t       best   = 0;
    for (int i = 1; i < n_vocab; i++) {
        if (logits[i] > logits[best]) {
            best = i;
        }
    }
    printf("decode\t%d\t0\t%d\t%lld\t%lld\t%d\t%ld\t%ld\n", call, n, start, end, best, after.ru_minflt - before.ru_minflt,
           after.ru_majflt - before.ru_majflt);
    fflush(stdout);
    return best;
}

int main(int argc, char ** argv) {
    const char * path = NULL;
    int          n_threads = 1, n_prompt = 8, n_gen = 8;
    for (int c; (c = getopt(argc, argv, "m:t:p:n:")) != -1;) {
        switch (c) {
            case 'm': path = optarg; break;
            case 't': n_threads = atoi(optarg); break;
            case 'p': n_prompt = atoi(optarg); break;
            case 'n': n_gen = atoi(optarg); break;
            default: path = NULL, optind = argc + 1; break;
        }
    }
    if (!path || optind != argc || n_threads < 1 || n_prompt < 1 || n_prompt > 512 || n_gen < 0) {
        fputs("nodes -m MODEL.gguf [-t THREADS] [-p PROMPT_TOKENS, at most 512] [-n TOKENS]\n", stderr);
        return 2;
    }
    llama_log_set(quiet, NULL);
    ggml_backend_load_all();
    void * model = llama_model_load_from_file(path, llama_model_default_params());
    void * ctx   = model ? llama_init_from_model(model, llama_context_default_params()) : NULL;
    if (!ctx) {
        fprintf(stderr, "nodes: cannot load the model '%s'\n", path);
        return 1;
    }
    llama_set_n_threads(ctx, n_threads, n_threads);
    const int n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
    int32_t   prompt[512];
    for (int i = 0; i < n_prompt; i++) {
        prompt[i] = i + 1;
    }
    int32_t next = decode(ctx, n_vocab, 0, prompt, n_prompt);
    for (int i = 1; i <= n_gen; i++) {
        next = decode(ctx, n_vocab, i, &next, 1);
    }
    llama_free(ctx);
    llama_model_free(model);
    return 0;
}
