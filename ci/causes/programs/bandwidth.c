// bandwidth MB [OF EVERY]      reads and writes MB megabytes again and again: memory traffic from one CPU,
//                              without a pause, or for OF ms of every EVERY ms
#include "own.h"

enum { PIECE = 1 << 16 };

int main(int argc, char ** argv) {
    end_with_parent();
    const size_t words = (size_t) (argc > 1 ? atoi(argv[1]) : 256) * 1000000 / 2 / sizeof(uint64_t);
    const int64_t of = ms_argument(argc, argv, 2), every = ms_argument(argc, argv, 3);
    uint64_t *a = malloc(words * sizeof *a), *b = malloc(words * sizeof *b);
    if (!a || !b) {
        return 1;
    }
    memset(a, 1, words * sizeof *a);
    memset(b, 1, words * sizeof *b);
    int64_t begun = clock_ns(CLOCK_MONOTONIC);
    for (uint64_t turn = 0;; turn++) {
        for (size_t i = 0; i < words; i++) {
            b[i] = a[i] + turn;
            if (every && i % PIECE == 0 && clock_ns(CLOCK_MONOTONIC) - begun >= of) {
                sleep_until(begun + every);
                begun = clock_ns(CLOCK_MONOTONIC);
            }
        }
        // Other data than before, so that no compiler leaves a turn out.
        uint64_t * other = a;
        a = b, b = other;
        __asm__ volatile("" ::: "memory");
    }
}
