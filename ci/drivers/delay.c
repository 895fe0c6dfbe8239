// delay: two milliseconds of nothing between two token calls, preloaded into an unmodified engine's program.
//
// A program reads the logits of a token when the call is over, and the next call begins behind that: what passes here is neither in
// a call nor in a graph. DELAY_US sets how long it sleeps, 2000 if it is not set.
//   LD_PRELOAD=libdelay.so PROGRAM ...

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

float * llama_get_logits_ith(void * context, int32_t i) {
    static float * (*real)(void *, int32_t);
    static useconds_t us = 2000;
    if (!real) {
        const char * set = getenv("DELAY_US");
        us               = set ? (useconds_t) atoi(set) : us;
        real             = (float * (*) (void *, int32_t)) dlsym(RTLD_NEXT, "llama_get_logits_ith");
    }
    usleep(us);
    return real(context, i);
}
