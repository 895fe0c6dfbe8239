// Agents with uprobes: when they are killed, and what must be as before afterwards.
#define _GNU_SOURCE
#include "kills.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATIENCE 180 // s; a busy machine takes seconds to release an agent's uprobes
#define RECORDS 20000 // bytes of a recording that has operators

static double any(double most) { return most * ((double)random() / (double)RAND_MAX); }

static long size_of(const char *path) {
	struct stat file;
	return stat(path, &file) == 0 ? (long)file.st_size : 0;
}

long bpf_programs(void) {
	// BPF_PROG_GET_NEXT_ID of linux/bpf.h: the next after the first word, into the second.
	struct { uint32_t after, next, flags; uint64_t room[13]; } ask = {0};
	long n = 0;
	while (syscall(SYS_bpf, 11, &ask, sizeof ask) == 0) ask.after = ask.next, n++;
	return n;
}

double uprobes_moment(const char *recording) {
	// A third while it looks through the engine's files and loads its programs, the others once it records.
	if (random() % 3 == 0) return any(0.4);
	for (double began = now(); size_of(recording) < RECORDS && now() < began + 20;) usleep(1000);
	return any(0.5);
}

void uprobes_gone(const struct plan *plan, const struct engine *engine, bool ran) {
	struct counts *c = plan->counts;
	char where[600], signals[256];
	double killed = now();
	bool probed = false;
	while (differs(engine->pid, where, sizeof where, true)) {
		probed = true;
		if (now() > killed + PATIENCE) fail("%d s after the agent's death its probes are there still: %s", PATIENCE, where);
		usleep(10000);
	}
	c->probed += ran && probed;
	long took = (long)((now() - killed) * 1e6);
	for (long most = c->release_us; took > most && !atomic_compare_exchange_weak(&c->release_us, &most, took);) {}
	if (tracer_of(engine->pid) != 0) fail("the engine is traced by %d", tracer_of(engine->pid));
	for (double began = now(); stopped_threads(engine->pid) != 0; usleep(10000))
		if (now() > began + PATIENCE) fail("%d threads of the engine are stopped", stopped_threads(engine->pid));
	// The C library blocks all of them for a moment when a thread is made.
	for (double began = now(); signals_of(engine->pid, signals, sizeof signals), strcmp(signals, engine->signals) != 0; usleep(1000))
		if (now() > began + PATIENCE) fail("the engine's signals were %s and are %s", engine->signals, signals);
}
