// kills N WORKERS SECONDS AGENT NODES MODEL FOLDER [ALONE | --uprobes]: kills N agents, or as many as the time allows, around WORKERS engines; see ci/direct-kills.sh.
#define _GNU_SOURCE
#include "kills.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct plan plan;

double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void pause_for(double seconds) {
	struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	while (nanosleep(&t, &t) != 0 && errno == EINTR) {}
}

void fail(const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	char text[1024];
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	plan.counts->failed++;
	printf("FAILED after %ld kills: %s\n", (long)plan.counts->kills, text);
	fflush(stdout);
	exit(1);
}

void *need(void *allocated) {
	if (!allocated) fail("no memory");
	return allocated;
}

static void report(double began) {
	const struct counts *c = plan.counts;
	double took = now() - began;
	if (plan.uprobes) {
		printf("%ld kills in %.0f s (%.2f s each): at %ld probes were in the engine's code, gone after at most %.2f s; %ld with a duty cycle; "
		       "%ld token calls compared\n",
			c->kills, took, took / (double)(c->kills ? c->kills : 1), c->probed, (double)c->release_us * 1e-6, c->duty, c->calls);
		fflush(stdout);
		return;
	}
	printf("%ld kills in %.0f s (%.2f s each): %ld while attaching, %ld while taking out, %ld with a duty cycle; the engine stood still at %ld; "
	       "%ld left changed code, %ld repaired by the next agent, %ld by %ld runs of `repair`; %ld token calls compared; stood still at most %.1f s; %ld agents were refused\n",
		c->kills, took, took / (double)(c->kills ? c->kills : 1), c->attaching, c->out, c->duty, c->stopped, c->changed, c->next, c->repaired,
		c->repairs, c->calls, (double)c->stall_us * 1e-6, c->refused);
	fflush(stdout);
}

int main(int n, char **arguments) {
	if (n != 8 && n != 9) {
		fprintf(stderr, "usage: kills N WORKERS SECONDS AGENT NODES MODEL FOLDER [ALONE | --uprobes]\n");
		return 2;
	}
	plan.counts = mmap(NULL, sizeof *plan.counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	plan.kills = atol(arguments[1]);
	int workers = atoi(arguments[2]);
	plan.agent = arguments[4], plan.nodes = arguments[5], plan.model = arguments[6], plan.folder = arguments[7], plan.alone = arguments[8];
	if (n == 9 && strcmp(arguments[8], "--uprobes") == 0) plan.uprobes = true, plan.alone = NULL;

	char path[512];
	int status;
	snprintf(path, sizeof path, "%s/alone", plan.folder);
	char *command[] = {(char *)plan.nodes, "-m", (char *)plan.model, "-t", "2", "-p", "5", "-n", "40", "-c", "512", "--fresh", "-r", "1", NULL};
	pid_t pid = start(command, path, "/dev/null", 0);
	waitpid(pid, &status, 0);
	struct calls alone = calls_of(path);
	if (status != 0 || alone.n == 0) fail("the engine does not run: %d", status);

	long programs = plan.uprobes ? bpf_programs() : 0;
	plan.counts->killing = workers;
	double began = now(), said = began;
	plan.deadline = began + atof(arguments[3]);
	for (int i = 0; i < workers; i++) {
		if (fork() != 0) continue;
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		work(&plan, i, &alone);
		exit(0);
	}
	for (int left = workers; left > 0;) {
		pid_t done = waitpid(-1, &status, WNOHANG);
		if (done > 0) left--;
		if (done > 0 && status != 0 && !plan.counts->failed) fail("a worker ended with status %d", status);
		if (now() > said + 30) report(began), said = now();
		usleep(20000);
	}
	report(began);
	if (plan.uprobes && !plan.counts->failed) {
		// The kernel frees what nobody holds any more when it gets to it.
		long more = 1;
		for (double asked = now(); (more = bpf_programs() - programs) > 0 && now() < asked + 180;) usleep(100000);
		if (more > 0) fail("%ld more BPF programs than before", more);
		printf("as many BPF programs as before: %ld; the engines' speed, to that of new ones in turn: %.3f\n", programs,
			(double)plan.counts->speed_ppm * 1e-6 / workers);
	}
	printf(plan.counts->failed ? "FAILED\n" : "every engine lives, every token the same, code as in the files\n");
	return plan.counts->failed != 0;
}
