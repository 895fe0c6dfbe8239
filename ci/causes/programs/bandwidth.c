// bandwidth MB      reads and writes MB megabytes again and again: memory traffic from one CPU
#include "own.h"

int main(int argc, char ** argv) {
    end_with_parent();
    const size_t words = (size_t) (argc > 1 ? atoi(argv[1]) : 256) * 1000000 / 2 / sizeof(uint64_t);
    uint64_t *a = malloc(words * sizeof *a), *b = malloc(words * sizeof *b);
    if (!a || !b) {
        return 1;
    }
    memset(a, 1, words * sizeof *a);
    for (uint64_t turn = 0;; turn++) {
        for (size_t i = 0; i < words; i++) {
            b[i] = a[i] + turn;
        }
        // Other data than before, so that no compiler leaves a turn out.
        uint64_t * other = a;
        a = b, b = other;
        __asm__ volatile("" ::: "memory");
    }
}
