// storm MS PARALLEL      short processes, one after the other, each of which computes for MS ms; PARALLEL at a time
//
// Each is a new program, as in a build: it has a process ID of its own, and is gone before anybody can look.
#include "own.h"
#include <sys/wait.h>

int main(int argc, char ** argv) {
    if (argc > 3) { // one of the short ones
        compute_for(ms_argument(argc, argv, 1));
        return 0;
    }
    end_with_parent();
    for (int running = 0, parallel = argc > 2 ? atoi(argv[2]) : 1;;) {
        for (; running < parallel; running++) {
            if (fork() == 0) {
                execl("/proc/self/exe", "storm", argv[1], argv[2], "short", NULL);
                _exit(1);
            }
        }
        if (wait(NULL) > 0) {
            running--;
        }
    }
}
