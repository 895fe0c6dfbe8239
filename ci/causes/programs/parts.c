// parts: a prompt in equal parts, with pauses between them. Preloaded into an unmodified engine's program.
//
// Applications do so that read a prompt while they do other work.
//   PARTS=N PAUSE_MS=T LD_PRELOAD=libparts.so PROGRAM ...
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

// llama_batch: the number of tokens, and arrays of one element for each: token, embd, pos, n_seq_id, seq_id, logits
struct batch {
    int32_t  n_tokens;
    int32_t * token;
    float *   embd;
    int32_t * pos;
    int32_t * n_seq_id;
    int32_t ** seq_id;
    int8_t *  logits;
};

// Fewer tokens are no prompt.
enum { PROMPT = 32 };

static int before_last; // tokens before the last part

static void pause_ms(long ms) {
    struct timespec left = { ms / 1000, ms % 1000 * 1000000 };
    while (nanosleep(&left, &left)) {
    }
}

static long number(const char * name, long usual) {
    const char * text = getenv(name);
    return text ? atol(text) : usual;
}

int llama_decode(void * context, struct batch all) {
    static int (*decode)(void *, struct batch);
    if (!decode) {
        decode = (int (*)(void *, struct batch)) dlsym(RTLD_NEXT, "llama_decode");
    }
    before_last = 0;
    const int n = (int) number("PARTS", 4);
    if (all.n_tokens < PROMPT || n < 2 || !all.token || !all.pos || !all.n_seq_id || !all.seq_id || !all.logits) {
        return decode(context, all);
    }
    for (int i = 0, from = 0; i < n; i++) {
        const int    to   = all.n_tokens * (i + 1) / n;
        struct batch part = { to - from, all.token + from, NULL, all.pos + from, all.n_seq_id + from, all.seq_id + from, all.logits + from };
        const int result = decode(context, part);
        if (result) {
            return result;
        }
        before_last = from;
        from        = to;
        if (i + 1 < n) {
            pause_ms(number("PAUSE_MS", 50));
        }
    }
    return 0;
}

// The application counts in its own batch.
float * llama_get_logits_ith(void * context, int32_t i) {
    static float * (*logits)(void *, int32_t);
    if (!logits) {
        logits = (float * (*)(void *, int32_t)) dlsym(RTLD_NEXT, "llama_get_logits_ith");
    }
    return logits(context, i < 0 ? i : i - before_last);
}
