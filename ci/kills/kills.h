// Kills agents at random moments and looks after the engines: what the parts share. How to run it: ci/direct-kills.sh.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Counts of all workers, in shared memory.
struct counts {
	_Atomic long kills;     // agents that got SIGKILL while they ran
	_Atomic long attaching; // of these: the engine was stopped by them, or had been within the last halts' length, while attaching
	_Atomic long out;       // while or shortly before they took the probes out, after SIGINT
	_Atomic long duty;      // with a duty cycle
	_Atomic long stopped;   // at the kill the engine stood still
	_Atomic long changed;   // left changed code
	_Atomic long next;      // whose places the next agent put back
	_Atomic long repairs, repaired; // runs of `repair`, and those that put places back
	_Atomic long calls;     // llama_decode calls of engines, compared with an undisturbed run
	_Atomic long stall_us;  // the longest time that an engine stood still after a kill
	_Atomic long release_us; // the longest time until the kernel had taken a killed agent's uprobes out
	_Atomic long probed; // uprobes were in the engine's code at the kill
	_Atomic long refused;  // agents that ended because the engine's threads did not run, and so did not stop, within a second
	_Atomic long killing;  // workers that have not killed their last agent yet
	_Atomic long speed_ppm; // the sum over workers of an engine's speed afterwards, to that of a new engine
	_Atomic long failed;
};

struct plan {
	const char *agent, *nodes, *model, *folder;
	const char *alone; // direct probes without the rest of an agent; NULL: kill complete agents
	bool uprobes;    // kill complete agents with uprobes: after each, the kernel removes its breakpoints from the engine's code
	long kills;      // of all workers
	double deadline; // monotonic, seconds
	struct counts *counts;
};

// One llama_decode call: number of input tokens, and the token that the engine chose.
struct call {
	int in, best;
};
struct calls {
	struct call *of;
	long n;
};

double now(void);
void pause_for(double seconds);
// Ends the worker; the program fails.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *need(void *allocated);

// process.c
pid_t start(char *const *arguments, const char *out, const char *err, int niceness);
pid_t tracer_of(pid_t pid); // thread; 0: none
// Runs no instruction any more.
bool exiting(pid_t pid);
// First address of `pid` at which code differs from its file; 0: none. Breakpoints of uprobes count only on request: they are the kernel's
// to remove.
uint64_t differs(pid_t pid, char *where, unsigned size, bool breakpoints);
// How many of its threads are stopped.
int stopped_threads(pid_t pid);
// Its signals that are blocked, ignored and caught, as the kernel writes them.
void signals_of(pid_t pid, char *text, unsigned size);

// tokens.c
struct calls calls_of(const char *path);
// Compares what an engine wrote from *offset on with `alone`, again and again, and moves *offset and *n on; false: nothing new.
bool compare_calls(const char *path, long *offset, long *n, const struct calls *alone);

// worker.c
void work(const struct plan *plan, int number, const struct calls *alone);

// uprobes.c
struct engine {
	pid_t pid;
	const char *recording; // of the agent
	char signals[256];     // before the first agent
};
// How long until the agent is killed.
double uprobes_moment(const char *recording);
// The BPF programs that the kernel holds.
long bpf_programs(void);
// After the kill: what the agent left goes away, and nothing else of it stays.
void uprobes_gone(const struct plan *plan, const struct engine *engine, bool ran);
