/* A stand-in for the loaders of Android and OpenHarmony, for LD_PRELOAD: on SIGUSR1, the code of loaded libraries is mapped out
 * of an archive (APK, HAP) instead of their own files.
 *
 *     PACKED=LIST      a file: the path of the archive, then for each library its path, a tab, and where it begins in the archive
 *
 * Real: the mappings, as /proc/PID/maps shows them, and the code that runs. Not real: the data of the libraries, and their
 * constants behind the code, stay mapped from their own files, because they are relocated by now. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST = 4096, LIBRARIES = 32, MAPPINGS = 256 };

struct library {
	char path[LONGEST];
	uint64_t at;
};

struct mapping {
	uint64_t start, end, offset;
	int protection, library;
};

static struct library libraries[LIBRARIES];
static struct mapping mappings[MAPPINGS];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* The list; returns the number of libraries. */
static int read_list(char archive[LONGEST])
{
	FILE *list = fopen(getenv("PACKED"), "r");
	int n = 0;

	if (!list || !fgets(archive, LONGEST, list))
		fail("PACKED");
	archive[strcspn(archive, "\n")] = 0;
	while (n < LIBRARIES && fscanf(list, "%4095[^\t]\t%lu\n", libraries[n].path, &libraries[n].at) == 2)
		n++;
	fclose(list);
	return n;
}

/* Their heads and their code; returns the number of mappings. */
static int read_mappings(int n_libraries)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[LONGEST + 128], mode[8], path[LONGEST];
	int n = 0;

	if (!maps)
		fail("/proc/self/maps");
	while (n < MAPPINGS && fgets(line, sizeof(line), maps)) {
		struct mapping *m = &mappings[n];

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &m->start, &m->end, mode, &m->offset, path) != 5)
			continue;
		if (mode[2] != 'x' && (m->offset || mode[1] == 'w'))
			continue;
		m->protection = PROT_READ | (mode[2] == 'x' ? PROT_EXEC : 0);
		for (m->library = 0; m->library < n_libraries; m->library++)
			if (!strcmp(libraries[m->library].path, path))
				break;
		n += m->library < n_libraries;
	}
	fclose(maps);
	return n;
}

static void *pack(void *signals)
{
	char archive[LONGEST];
	int signal, file, n;

	sigwait(signals, &signal);
	n = read_mappings(read_list(archive));
	file = open(archive, O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < n; i++) {
		struct mapping *m = &mappings[i];

		if (mmap((void *)m->start, m->end - m->start, m->protection, MAP_PRIVATE | MAP_FIXED, file,
			 (off_t)(libraries[m->library].at + m->offset)) == MAP_FAILED)
			fail(archive);
	}
	close(file);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	static sigset_t signals;
	pthread_t thread;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	if (pthread_create(&thread, NULL, pack, &signals))
		fail("a thread");
}
