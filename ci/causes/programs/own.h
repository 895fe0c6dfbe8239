// What the planted programs share: clocks, and an end with the process that started them.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static inline int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void sleep_until(int64_t ns) {
    struct timespec t = { ns / 1000000000, ns % 1000000000 };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)) {
    }
}

// Uses the CPU for that long. CPU time, not wall time: a program that is preempted has no less to do.
static inline void compute_for(int64_t ns) {
    const int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
    }
}

static inline void end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

// Argument `i` in milliseconds, as ns
static inline int64_t ms_argument(int argc, char ** argv, int i) { return i < argc ? (int64_t) (atof(argv[i]) * 1e6) : 0; }
