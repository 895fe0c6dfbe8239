// Loaded into an engine of one thread: after SIGUSR1 it forks, and the child goes on with another output ($LIFE_CHILD); at SIGUSR2 it
// becomes another program.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void become(int signal) {
	(void)signal;
	execl("/bin/sleep", "sleep", "60", (char *)NULL);
}

static void ask(int signal) { (void)signal, asked = 1; }

// Between two calls of the engine, when the driver writes a line: a child that begins in the middle of a product would have lost the CPU's
// tiles (AMX), which Linux does not hand on, and die of it in any case.
int printf(const char *format, ...) {
	if (asked) {
		asked = 0;
		if (fork() == 0) dup2(open(getenv("LIFE_CHILD"), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
	}
	va_list values;
	va_start(values, format);
	int n = vprintf(format, values);
	va_end(values);
	return n;
}

__attribute__((constructor)) static void begin(void) {
	signal(SIGUSR1, ask);
	signal(SIGUSR2, become);
}
