// One engine, and one agent after the other that is killed.
#define _GNU_SOURCE
#include "kills.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE 180 // s that this program waits itself: it may be stopped meanwhile. A busy machine takes seconds to release an agent's uprobes
#define BETWEEN_REPAIRS 20
#define MOST_DYING 24
#define LOOK 50 // microseconds between two looks

static const struct plan *plan;
static const struct calls *alone;
static pid_t engine, agent, other;
static int orders = -1, answers = -1; // of a `direct-alone --each`
static char calls[256], told[256], recording[256], pid_text[16];
static long offset, compared;
static struct engine engine_before;
// Learnt as it goes, s: from an agent's start to the engine's halt, the halt, from SIGINT to the second halt, and that.
static double halts_after = 0.002, halted = 0.005, out_after = 0.05, out_halted = 0.001;

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

// Messages of the agent.
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

// Durations that are mostly short, up to somewhat more than the complete time.
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
	if (differs(engine, where, sizeof where, false)) fail("after repair its code differs at %s", where);
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

// One that reads the engine's files once, and begins an agent for each byte that it gets. Its agents become the worker's children.
static void start_nursery(void) {
	int in[2], out[2];
	char *command[] = {(char *)plan->alone, pid_text, "--each", NULL};
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail("no pipes");
	pid_t pid = fork();
	if (pid < 0) fail("fork failed");
	if (pid > 0) {
		close(in[0]);
		close(out[1]);
		orders = in[1], answers = out[0];
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(in[0], 0);
	dup2(out[1], 1);
	dup2(open(told, O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
	setpriority(PRIO_PROCESS, 0, 0);
	execv(command[0], command);
	_exit(127);
}

static pid_t start_agent(bool duty) {
	char line[16] = "";
	if (!plan->alone) {
		unlink(recording);
		char *command[] = {(char *)plan->agent, "record", "--out", recording, "--probes", plan->uprobes ? "uprobe" : "direct", "--levels", "token,graph,op", "--pid", pid_text,
			duty ? "--duty" : NULL, "10%", NULL};
		return start(command, "/dev/null", told, 0);
	}
	if (orders < 0) start_nursery();
	if (truncate(told, 0) != 0 && errno != ENOENT) fail("truncating %s", told);
	if (write(orders, duty ? "d" : ".", 1) != 1) fail("the agents' parent is gone: %s", last_words());
	for (size_t n = 0; n < sizeof line - 1 && !strchr(line, '\n'); n++) {
		if (read(answers, line + n, 1) != 1) fail("the agents' parent is gone: %s", last_words());
	}
	return atoi(line);
}

static void kill_one_with_uprobes(void) {
	struct counts *c = plan->counts;
	bool duty = random() % 5 == 0;
	agent = start_agent(duty);
	pause_for(uprobes_moment(recording));
	bool ran = !ended();
	kill(agent, SIGKILL);
	bury(!ran);
	look_after_engine();
	uprobes_gone(plan, &engine_before, ran);
	c->kills += ran;
	c->duty += ran && duty;
	long before = compared;
	check_progress();
	c->calls += compared - before;
}

static void kill_one(void) {
	struct counts *c = plan->counts;
	char where[600];
	bool duty = random() % 5 == 0;
	agent = start_agent(duty);
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
	c->changed += ran && differs(engine, where, sizeof where, false) != 0;
	for (long most = c->stall_us; stall > most && !atomic_compare_exchange_weak(&c->stall_us, &most, stall);) {}
}

// Calls of an engine in half a second in which the other stands still.
static long calls_in_turn(pid_t runs, pid_t waits, const char *path, long *at, long *n) {
	kill(waits, SIGSTOP);
	kill(runs, SIGCONT);
	compare_calls(path, at, n, alone);
	long before = *n;
	pause_for(0.5);
	compare_calls(path, at, n, alone);
	return *n - before;
}

// What agents that were killed cost from then on: the engine in turn with one that no agent ever saw, both in both orders.
static void compare_speed(char *const *command) {
	char path[300];
	long at = 0, n = 0, ours = 0, fresh = 0;
	snprintf(path, sizeof path, "%s.new", calls);
	other = start(command, path, "/dev/null", 15);
	while (!compare_calls(path, &at, &n, alone)) usleep(10000);
	for (plan->counts->killing--; plan->counts->killing > 0 && !plan->counts->failed;) usleep(10000);
	for (int i = 0; i < 10; i++) {
		if (i % 2 == 0) ours += calls_in_turn(engine, other, calls, &offset, &compared);
		fresh += calls_in_turn(other, engine, path, &at, &n);
		if (i % 2 == 1) ours += calls_in_turn(engine, other, calls, &offset, &compared);
	}
	kill(engine, SIGCONT);
	kill(other, SIGKILL);
	if (fresh == 0 || ours == 0) fail("%ld calls, and %ld of a new engine", ours, fresh);
	plan->counts->speed_ppm += ours * 1000000 / fresh;
}

static void end_engine(void) {
	if (other > 0) kill(other, SIGKILL);
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
	engine_before.pid = engine, engine_before.recording = recording;
	signals_of(engine, engine_before.signals, sizeof engine_before.signals);
	for (long n = 1; of->counts->kills < of->kills && now() < of->deadline && !of->counts->failed; n++) {
		if (of->uprobes) {
			kill_one_with_uprobes();
			continue;
		}
		kill_one();
		if (n % BETWEEN_REPAIRS == 0) repair();
	}
	if (of->uprobes) compare_speed(command);
	else repair();
}
