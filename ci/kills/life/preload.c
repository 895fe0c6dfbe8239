// Loaded into an engine of one thread: at SIGUSR1 it forks, and the child goes on with another output ($LIFE_CHILD); at SIGUSR2 it
// becomes another program.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void become(int signal) {
	(void)signal;
	execl("/bin/sleep", "sleep", "60", (char *)NULL);
}

static void split(int signal) {
	(void)signal;
	if (fork() != 0) return;
	dup2(open(getenv("LIFE_CHILD"), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
}

__attribute__((constructor)) static void begin(void) {
	signal(SIGUSR1, split);
	signal(SIGUSR2, become);
}
