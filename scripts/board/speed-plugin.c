// A QEMU plugin that slows CPUs of the emulated board while it runs, so that slow cores and clocks that fall are there
// to be found.
//
//   -plugin speed-plugin.so,speeds=PATH[,pace=N]
//
// PATH has one byte for each CPU: its speed in per cent, 1 to 99; any other value is full speed. It may be written at any time.
//
// Without a pace it is per cent of what QEMU can do: for each time t that a CPU has computed, it sleeps t * (100 - speed) / speed. What counts
// is the CPU time of the thread that emulates it, so that neither its idle time nor other load on this machine is multiplied.
//
// With a pace it is per cent of N million instructions a second: a CPU sleeps until the time at which one of this speed would have come so
// far. As long as this machine can emulate all CPUs faster than that, the board's times are those of instructions, however fast this machine is
// and whatever else it does; sums of speeds near what it can do give nothing of the kind.
//
// QEMU 7.2 and 10.0.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

// The part of qemu-plugin.h that is used; its types are opaque here.
typedef uint64_t PluginId;
struct Block;
enum { NO_REGISTERS = 0 };
void   qemu_plugin_register_vcpu_tb_trans_cb(PluginId, void (*)(PluginId, struct Block *));
size_t qemu_plugin_tb_n_insns(const struct Block *);
void   qemu_plugin_register_vcpu_tb_exec_cb(struct Block *, void (*)(unsigned, void *), int, void *);
__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { MAX_CPUS = 16 };
static const volatile uint8_t * speeds; // of MAX_CPUS bytes

// Instructions between two looks at the clock, some 50 us; sleeps that are worth it, ns; and how much of a sleep that became
// too long is made up for: on a machine with other load that may be long, and a CPU that sprints is no slow one.
enum { ROUND = 20000, SHORTEST_NS = 100000, MOST_CREDIT_NS = 2000000 };

// With a pace: instructions a microsecond at full speed, 0 without; time between two looks at the clock; and how far a CPU may be behind its time and
// still make up for it. It is behind whenever it was idle, too, so that this is as short as what a sleep of this machine is too long by.
static uint64_t pace;
enum { PACE_ROUND_NS = 100000, PACE_CREDIT_NS = 500000 };

// Of each CPU, whose thread alone uses it.
static struct Pace {
    uint64_t instructions, round;
    int64_t  at_ns, owed_ns; // with a pace, at_ns is when it would have come so far
    char     own_cache_line[32];
} paces[MAX_CPUS] __attribute__((aligned(64)));

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void slow_down(struct Pace * p, int percent) {
    const int64_t at = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (p->at_ns == 0) {
        prctl(PR_SET_TIMERSLACK, 1);
        p->at_ns = at;
    }
    const int64_t computed = at - p->at_ns;
    p->at_ns = at;
    if (percent < 1 || percent > 99) {
        p->owed_ns = 0;
        return;
    }
    p->owed_ns += computed * (100 - percent) / percent;
    if (p->owed_ns < SHORTEST_NS) {
        return;
    }
    const int64_t         start = clock_ns(CLOCK_MONOTONIC);
    const struct timespec t     = { p->owed_ns / 1000000000, p->owed_ns % 1000000000 };
    nanosleep(&t, NULL);
    p->owed_ns -= clock_ns(CLOCK_MONOTONIC) - start;
    if (p->owed_ns < -MOST_CREDIT_NS) {
        p->owed_ns = -MOST_CREDIT_NS;
    }
}

// Waits until a CPU of this speed would have computed so many instructions. Returns how many it has until the next look.
static uint64_t keep_pace(struct Pace * p, int percent, uint64_t instructions) {
    if (percent < 1 || percent > 99) {
        return ROUND;
    }
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (p->at_ns == 0) {
        prctl(PR_SET_TIMERSLACK, 1);
    }
    if (p->at_ns < now - PACE_CREDIT_NS) {
        p->at_ns = now - PACE_CREDIT_NS;
    }
    p->at_ns += instructions * 100000 / (pace * percent);
    if (p->at_ns > now + PACE_ROUND_NS / 2) {
        const struct timespec t = { p->at_ns / 1000000000, p->at_ns % 1000000000 };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
    return pace * percent * PACE_ROUND_NS / 100000;
}

static void on_block(unsigned cpu, void * n_instructions) {
    struct Pace * p = &paces[cpu % MAX_CPUS];
    p->instructions += (uintptr_t) n_instructions;
    const int percent = speeds[cpu % MAX_CPUS];
    if (pace) {
        if (p->instructions >= p->round) {
            p->round        = keep_pace(p, percent, p->instructions);
            p->instructions = 0;
        }
    } else if (p->instructions >= ROUND) {
        p->instructions = 0;
        slow_down(p, percent);
    }
}

static void on_translation(PluginId id, struct Block * block) {
    (void) id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, NO_REGISTERS, (void *) qemu_plugin_tb_n_insns(block));
}

__attribute__((visibility("default"))) int qemu_plugin_install(PluginId id, const void * info, int argc, char ** argv) {
    (void) info;
    const char * path = NULL;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "speeds=", 7)) {
            path = argv[i] + 7;
        } else if (!strncmp(argv[i], "pace=", 5)) {
            pace = strtoull(argv[i] + 5, NULL, 10);
        }
    }
    const int    fd   = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *       file = fd >= 0 && lseek(fd, 0, SEEK_END) >= MAX_CPUS ? mmap(NULL, MAX_CPUS, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (file == MAP_FAILED) {
        fprintf(stderr, "speed-plugin: needs speeds=PATH, a file of %d bytes; got %s\n", MAX_CPUS, argc ? argv[0] : "nothing");
        return 1;
    }
    speeds = file;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
