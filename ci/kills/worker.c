// One engine, and one agent after the other that is killed.
#define _GNU_SOURCE
#include "kills.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 180 // s that this program waits itself: it may be stopped meanwhile. A busy machine takes seconds to release an agent's uprobes
#define BETWEEN_REPAIRS 20
#define MOST_DYING 24
#define LOOK 50 // microseconds between two looks

static const struct plan *plan;
static const struct calls *alone;
static pid_t engine, agent;
static char calls[256], told[256], recording[256], pid_text[16];
static long offset, compared;
// Learnt as it goes, s: from an agent's start to the engine's halt, the halt, from SIGINT to the second halt, and that.
static double halts_after = 0.01, halted = 0.005, out_after = 0.05, out_halted = 0.001;

static double any(double most) { return most * ((double)random() / (double)RAND_MAX); }
static void learn(double *value, double seen) { *value += (seen - *value) / 4; }

static void look_after_engine(void) {
	int status;
	if (waitpid(engine, &status, WNOHANG) != engine) return;
	engine = 0;
	fail("the engine is gone: %s %d", WIFSIGNALED(status) ? "signal" : "exit status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

// Whether the agent has ended by itself.
static bool ended(void) {
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)agent, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == agent;
}

// What the agent has said.
static char *last_words(void) {
	static char text[512];
	FILE *file = fopen(told, "r");
	size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
	if (file) fclose(file);
	text[n] = 0;
	return text;
}

// Waits until the engine is traced, or is not; false: the agent ended first, or its halt was too short to be seen.
static bool until_traced(bool traced) {
	double began = now();
	for (long n = 1; (tracer_of(engine) != 0) != traced; n++) {
		usleep(LOOK);
		if (ended()) return false;
		if (traced && n % 100 == 0 && (strstr(last_words(), "are in") || now() > began + 20 + 4 * halts_after)) return false;
		if (n > PATIENCE * 1000000L / LOOK) fail("the agent %s after %d s", traced ? "does not attach" : "holds the engine", PATIENCE);
	}
	return true;
}

// Lengths of time that are mostly short, up to somewhat more than the whole.
static double moment(double whole) {
	static const double parts[] = {0.1, 0.4, 1, 1.5};
	return any(whole * parts[random() % 4]);
}

// Waits for the moment. Its kind is counted if the agent is there still.
static _Atomic long *wait_for_moment(void) {
	struct counts *c = plan->counts;
	double began = now();
	long kind = random() % 20;
	if (kind >= 18) {
		pause_for(any(halts_after * 1.5 + 0.05));
		return NULL;
	}
	pause_for(halts_after * 0.6);
	if (!until_traced(true)) {
		halts_after *= 0.8;
		return NULL;
	}
	double first = now();
	learn(&halts_after, first - began);
	if (kind < 13) {
		pause_for(moment(halted));
		return &c->attaching;
	}
	if (!until_traced(false)) return NULL;
	learn(&halted, now() - first);
	pause_for(any(0.1));
	kill(agent, SIGINT);
	double asked = now();
	if (kind == 13) {
		pause_for(any(out_after * 1.5));
		return &c->out;
	}
	if (!until_traced(true)) return NULL;
	learn(&out_after, now() - asked);
	if (kind < 17) {
		pause_for(moment(out_halted));
		return &c->out;
	}
	double second = now();
	until_traced(false);
	learn(&out_halted, now() - second);
	return &c->out;
}

static void check_progress(void) {
	for (long n = 0; !compare_calls(calls, &offset, &compared, alone); n++) {
		look_after_engine();
		if (n > PATIENCE * 100) fail("the engine does not go on");
		usleep(10000);
	}
}

static void repair(void) {
	char where[600];
	char *command[] = {(char *)plan->agent, "repair", "--pid", pid_text, NULL};
	pid_t pid = start(command, "/dev/null", told, 0);
	int status;
	if (waitpid(pid, &status, 0) != pid || status != 0) fail("repair: status %d, %s", status, last_words());
	plan->counts->repairs++;
	plan->counts->repaired += !strstr(last_words(), ": 0 places") && strstr(last_words(), "places put back");
	if (differs(engine, where, sizeof where)) fail("after repair its code differs at %s", where);
	long before = compared;
	check_progress();
	check_progress();
	plan->counts->calls += compared - before;
}

// A killed agent's files are closed for up to seconds, and nobody waits for it. One that `ended` by itself must have done so well.
static void bury(bool by_itself) {
	static pid_t dying[MOST_DYING];
	int status;
	if (by_itself) {
		waitpid(agent, &status, 0);
		// A busy machine: it is refused, and nothing was done.
		bool refused = strstr(last_words(), "does not stop") != NULL;
		plan->counts->refused += refused;
		if (status != 0 && !refused) fail("an agent ended by itself: %d, %s", status, last_words());
		return;
	}
	while (!exiting(agent)) usleep(100);
	for (int n = 0;; n = (n + 1) % MOST_DYING) {
		if (dying[n] == 0 || waitpid(dying[n], &status, WNOHANG) == dying[n]) {
			dying[n] = agent;
			return;
		}
		if (n == MOST_DYING - 1) usleep(10000);
	}
}

static void kill_one(void) {
	struct counts *c = plan->counts;
	char where[600];
	bool duty = random() % 5 == 0;
	char *whole[] = {(char *)plan->agent, "record", "--out", recording, "--probes", "direct", "--levels", "token,graph,op", "--pid", pid_text,
		duty ? "--duty" : NULL, "10%", NULL};
	char *alone_one[] = {(char *)plan->alone, pid_text, duty ? "--duty" : NULL, NULL};
	agent = start(plan->alone ? alone_one : whole, "/dev/null", told, 0);
	_Atomic long *kind = wait_for_moment();
	bool ran = !ended();
	bool stopped = tracer_of(engine) != 0;
	double killed = now();
	kill(agent, SIGKILL);
	for (long n = 0; tracer_of(engine) != 0; n++) {
		usleep(500);
		if (n > PATIENCE * 2000) fail("the engine is still held by the killed agent");
	}
	long stall = stopped ? (long)((now() - killed) * 1e6) : 0;
	bury(!ran);
	usleep(1000);
	look_after_engine();
	c->next += strstr(last_words(), "places put back first") != NULL;
	c->kills += ran;
	c->stopped += ran && stopped;
	c->duty += ran && duty;
	if (ran && kind) ++*kind;
	c->changed += ran && differs(engine, where, sizeof where) != 0;
	for (long most = c->stall_us; stall > most && !atomic_compare_exchange_weak(&c->stall_us, &most, stall);) {}
}

static void end_engine(void) {
	if (engine > 0) kill(engine, SIGKILL);
	if (agent > 0) kill(agent, SIGKILL);
}

void work(const struct plan *of, int number, const struct calls *undisturbed) {
	plan = of;
	alone = undisturbed;
	srandom((unsigned)(getpid() ^ (long)(now() * 1e6)));
	snprintf(calls, sizeof calls, "%s/calls.%d", of->folder, number);
	snprintf(told, sizeof told, "%s/told.%d", of->folder, number);
	snprintf(recording, sizeof recording, "%s/out.%d", of->folder, number);
	char *command[] = {(char *)of->nodes, "-m", (char *)of->model, "-t", "2", "-p", "5", "-n", "40", "-c", "512", "--fresh", "-r", "100000000", NULL};
	engine = start(command, calls, "/dev/null", 15);
	atexit(end_engine);
	setpriority(PRIO_PROCESS, 0, -10); // looks, and sleeps: a moment is met only by who runs at once
	snprintf(pid_text, sizeof pid_text, "%d", engine);
	check_progress();
	for (long n = 1; of->counts->kills < of->kills && now() < of->deadline && !of->counts->failed; n++) {
		kill_one();
		if (n % BETWEEN_REPAIRS == 0) repair();
	}
	repair();
}
