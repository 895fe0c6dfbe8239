// stopper PID OF EVERY [TID]      stops a process for OF ms of every EVERY ms, or one of its threads
//
// A process gets SIGSTOP and SIGCONT, which whoever is asked to end it repairs. One thread can only be stopped as a debugger does.
#include "own.h"
#include <sys/ptrace.h>
#include <sys/wait.h>

static pid_t process;

static void release(int signal) {
    (void) signal;
    kill(process, SIGCONT);
    _exit(0);
}

static void set(pid_t thread, int stop) {
    if (!thread) {
        kill(process, stop ? SIGSTOP : SIGCONT);
    } else if (stop) {
        ptrace(PTRACE_INTERRUPT, thread, 0, 0);
        waitpid(thread, NULL, __WALL);
    } else {
        ptrace(PTRACE_CONT, thread, 0, 0);
    }
}

int main(int argc, char ** argv) {
    if (argc < 4) {
        return 2;
    }
    process = atoi(argv[1]);
    const pid_t thread = argc > 4 ? atoi(argv[4]) : 0;
    if (thread && ptrace(PTRACE_SEIZE, thread, 0, 0)) {
        perror("stopper: the thread cannot be traced");
        return 1;
    }
    signal(SIGTERM, release);
    const int64_t of = ms_argument(argc, argv, 2), every = ms_argument(argc, argv, 3);
    for (int64_t next = clock_ns(CLOCK_MONOTONIC); kill(process, 0) == 0; next += every) {
        set(thread, 1);
        sleep_until(next + of);
        set(thread, 0);
        sleep_until(next + every);
    }
    return 0;
}
