// busy [OF EVERY]      uses a CPU without a pause, or OF ms of CPU time of every EVERY ms
//
// Place and priority are set by who starts it: taskset, nice, chrt.
#include "own.h"

int main(int argc, char ** argv) {
    end_with_parent();
    const int64_t of = ms_argument(argc, argv, 1), every = ms_argument(argc, argv, 2);
    if (!every) {
        for (volatile uint64_t i = 0;; i++) {
        }
    }
    for (int64_t next = clock_ns(CLOCK_MONOTONIC);;) {
        compute_for(of);
        next += every;
        // A turn that came too late is left out: there is never more than one to do.
        const int64_t now = clock_ns(CLOCK_MONOTONIC);
        if (next < now) {
            next = now;
        }
        sleep_until(next);
    }
}
