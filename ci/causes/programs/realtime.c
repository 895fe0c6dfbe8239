// realtime PRIORITY COMMAND…      becomes a command with real-time scheduling, as `chrt -f` does; a board's busybox has none
#include "own.h"
#include <sched.h>

int main(int argc, char ** argv) {
    const struct sched_param p = { .sched_priority = argc > 2 ? atoi(argv[1]) : 0 };
    if (sched_setscheduler(0, SCHED_FIFO, &p)) {
        perror("sched_setscheduler");
        return 1;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 1;
}
