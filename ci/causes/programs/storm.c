// storm MS PARALLEL [PAUSE]      short processes, one after the other, each of which computes for MS ms; PARALLEL at a time
//
// Each is a new program, as in a build: it has a process ID of its own, and is gone before anybody can look. PAUSE is the
// time between the end of one and the start of the next, ms.
#include "own.h"
#include <limits.h>
#include <sys/wait.h>

int main(int argc, char ** argv) {
    if (argc == 2) { // one of the short ones
        compute_for(ms_argument(argc, argv, 1));
        return 0;
    }
    end_with_parent();
    // Not by /proc/self/exe itself, since the kernel would name the short ones "exe".
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) {
        return 1;
    }
    const int64_t pause = ms_argument(argc, argv, 3);
    for (int running = 0, parallel = argc > 2 ? atoi(argv[2]) : 1;;) {
        for (; running < parallel; running++) {
            if (fork() == 0) {
                execl(self, "storm", argv[1], NULL);
                _exit(1);
            }
        }
        if (wait(NULL) > 0) {
            running--;
        }
        if (pause) {
            sleep_until(clock_ns(CLOCK_MONOTONIC) + pause);
        }
    }
}
