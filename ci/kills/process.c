// Properties of a process: its tracer, and whether its code equals its files.
#include "kills.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

pid_t start(char *const *arguments, const char *out, const char *err, int niceness) {
	int to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600), told = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	pid_t pid = fork();
	if (pid < 0) fail("fork failed");
	if (pid > 0) {
		close(to);
		close(told);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL); // nothing outlives the worker
	dup2(to, 1);
	dup2(told, 2);
	setpriority(PRIO_PROCESS, 0, niceness);
	execv(arguments[0], arguments);
	_exit(127);
}

// The text of /proc/PID/NAME, empty when there is none.
static void read_text(pid_t pid, const char *name, char *text, size_t size) {
	char path[400];
	snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
	int file = open(path, O_RDONLY);
	ssize_t n = file < 0 ? 0 : read(file, text, size - 1);
	close(file);
	text[n > 0 ? n : 0] = 0;
}

pid_t tracer_of(pid_t pid) {
	char text[4096];
	read_text(pid, "status", text, sizeof text);
	char *at = strstr(text, "TracerPid:");
	return at ? atoi(at + 10) : 0;
}

int stopped_threads(pid_t pid) {
	char path[64], text[1024];
	int n = 0;
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	for (struct dirent *task; tasks && (task = readdir(tasks));) {
		if (task->d_name[0] == '.') continue;
		char name[300];
		snprintf(name, sizeof name, "task/%s/stat", task->d_name);
		read_text(pid, name, text, sizeof text);
		char *name_end = strrchr(text, ')');
		n += name_end && (name_end[2] == 't' || name_end[2] == 'T');
	}
	if (tasks) closedir(tasks);
	return n;
}

void signals_of(pid_t pid, char *to, unsigned size) {
	char text[4096];
	read_text(pid, "status", text, sizeof text);
	to[0] = 0;
	static const char *const names[] = {"SigBlk:", "SigIgn:", "SigCgt:"};
	for (unsigned i = 0; i < 3; i++) {
		char *at = strstr(text, names[i]);
		unsigned used = (unsigned)strlen(to);
		if (at) snprintf(to + used, size - used, "%.*s ", (int)strcspn(at, "\n"), at);
	}
}

bool exiting(pid_t pid) {
	char text[1024];
	read_text(pid, "stat", text, sizeof text);
	char state = 'X', *name_end = strrchr(text, ')');
	unsigned flags = 0;
	if (name_end) sscanf(name_end + 2, "%c %*d %*d %*d %*d %*d %u", &state, &flags);
	return state == 'X' || state == 'Z' || (flags & 4) != 0; // PF_EXITING of the kernel
}

// Offset of the first difference, n: there is none.
static size_t first_difference(const unsigned char *is, const unsigned char *has, size_t n, bool breakpoints) {
	if (memcmp(is, has, n) == 0) return n;
	for (size_t i = 0; i < n; i++) {
		if (is[i] == has[i]) continue;
		if (breakpoints) return i;
#if defined __aarch64__
		static const unsigned char breakpoint[4] = {0xa0, 0, 0x20, 0xd4};
		if (i % 4 == 0 && memcmp(is + i, breakpoint, 4) == 0) {
			i += 3;
			continue;
		}
#else
		if (is[i] == 0xcc) continue;
#endif
		return i;
	}
	return n;
}

static void read_all(int file, unsigned char *to, size_t size, off_t from) {
	size_t done = 0;
	ssize_t n;
	while (done < size && (n = pread(file, to + done, size - done, from + (off_t)done)) > 0) done += (size_t)n;
	memset(to + done, 0, size - done); // zeros are mapped after the end of a file
}

uint64_t differs(pid_t pid, char *where, unsigned size, bool breakpoints) {
	static unsigned char *is, *has;
	static size_t room;
	char path[128], line[1024];
	uint64_t found = 0;
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	int memory = open(path, O_RDONLY);
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "r");
	while (!found && maps && memory >= 0 && fgets(line, sizeof line, maps)) {
		unsigned long from, to, offset;
		char rights[8], name[512] = "";
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511s", &from, &to, rights, &offset, name) < 5) continue;
		if (strcmp(rights, "r-xp") != 0 || name[0] != '/') continue;
		size_t n = to - from;
		if (n > room) is = need(realloc(is, n)), has = need(realloc(has, n)), room = n;
		snprintf(path, sizeof path, "/proc/%d/map_files/%lx-%lx", pid, from, to);
		int file = open(path, O_RDONLY);
		if (file < 0) continue; // it ends just now
		read_all(file, has, n, (off_t)offset);
		close(file);
		read_all(memory, is, n, (off_t)from);
		size_t at = first_difference(is, has, n, breakpoints);
		if (at == n) continue;
		found = from + at;
		snprintf(where, size, "%#lx in %s", (unsigned long)found, name);
	}
	if (maps) fclose(maps);
	close(memory);
	return found;
}
