// delay: two milliseconds of nothing between two token calls, preloaded into an unmodified engine's program.
//
// A program reads the logits of a token when the call is over, and the next call begins behind that: what passes here is neither in
// a call nor in a graph. DELAY_US sets how long, 2000 if it is not set. The last 200 us of it are spent looking at the clock, so that a short
// delay is as long as it says; what is longer is slept.
//   LD_PRELOAD=libdelay.so PROGRAM ...

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t) t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

float * llama_get_logits_ith(void * context, int32_t i) {
    static float * (*real)(void *, int32_t);
    static int64_t us = 2000;
    if (!real) {
        const char * set = getenv("DELAY_US");
        us               = set ? atoi(set) : us;
        real             = (float * (*) (void *, int32_t)) dlsym(RTLD_NEXT, "llama_get_logits_ith");
    }
    const int64_t end = now_us() + us;
    if (us > 200) {
        usleep((useconds_t) (us - 200));
    }
    while (now_us() < end) {
    }
    return real(context, i);
}
