/* traps: what a pair of probes costs a thread, part by part. Interleaved batches on a function of its own, which passes a `call` and a
 * `jmp` with nothing between them, as the agent's calibration does.
 *
 *   traps OBJECT [ROUNDS] [THREADS]      prints, for each part, the lower quartile and the median of a pair's ns over the batches
 */
#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Both instructions in turn, `pairs` times; `tensor` stays in the second argument's register. */
void pass(unsigned long pairs, void *tensor);
extern char pass_start[], pass_end[], pass_callee[];
__asm__(".text\n.balign 64\n.globl pass, pass_start, pass_end, pass_callee\n"
	"pass:\n"
#if defined(__x86_64__)
	"1:\npass_start: call pass_callee\npass_end: jmp 2f\n2: dec %rdi\n jnz 1b\n ret\n"
	".balign 16\npass_callee: push %rbp\n pop %rbp\n ret\n"
#elif defined(__aarch64__)
	"mov x9, x30\n1:\npass_start: bl pass_callee\npass_end: b 2f\n2: subs x0, x0, #1\n b.ne 1b\n ret x9\n"
	".balign 16\npass_callee: stp x29, x30, [sp, -16]!\n ldp x29, x30, [sp], 16\n ret\n"
#endif
);

enum { PAIRS = 256, MOST = 4096 };

/* How a pair is probed: at the two instructions, or at the entry and the return of the callee. */
static const struct part {
	const char *name, *start, *end;
	int function;
} parts[] = {
	{ "no probe", NULL, NULL, 0 },
	{ "two traps, empty programs", "empty", "empty", 0 },
	{ "the same with the clock", "with_clock", "with_clock", 0 },
	{ "with a thread's state", "with_state", "with_state", 0 },
	{ "with a ring buffer record at the end", "empty", "with_ring", 0 },
	{ "entry and return, empty", "empty", "empty", 1 },
	{ "entry and return, the paper's way", "operator_entry", "operator_return", 1 },
};
enum { PARTS = sizeof parts / sizeof *parts };

static struct bpf_object *object;
static double figures[PARTS][MOST];
static int count[PARTS];
static pthread_barrier_t both;
static volatile int done;
static char tensor[512];

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static unsigned long offset(const char *address)
{
	char line[512];
	unsigned long from, to, at;
	FILE *f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &at) == 3 && from <= (unsigned long)address && (unsigned long)address < to)
			return fclose(f), (unsigned long)address - from + at;
	exit(fprintf(stderr, "traps: not found in its own memory map\n"));
}

static struct bpf_link *put(const char *name, const char *address, int retprobe)
{
	struct bpf_program *p = bpf_object__find_program_by_name(object, name);
	struct bpf_link *l = bpf_program__attach_uprobe(p, retprobe, getpid(), "/proc/self/exe", offset(address));
	if (!l)
		exit(fprintf(stderr, "traps: cannot attach %s\n", name));
	return l;
}

static void *other(void *x)
{
	for (;;) {
		pthread_barrier_wait(&both);
		if (done)
			return x;
		pass(PAIRS, tensor);
	}
}

static int by_size(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;
	return (d > 0) - (d < 0);
}

static int ignore(void *x, void *data, size_t size)
{
	(void)x, (void)data, (void)size;
	return 0;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 20, threads = argc > 3 ? atoi(argv[3]) : 1;
	object = argc > 1 ? bpf_object__open_file(argv[1], NULL) : NULL;
	if (!object || bpf_object__load(object))
		return fprintf(stderr, "traps OBJECT [ROUNDS] [THREADS]\n"), 2;
	struct ring_buffer *ring = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "ring"), ignore, NULL, NULL);
	pthread_t t[64];
	pthread_barrier_init(&both, NULL, (unsigned)threads);
	for (int n = 1; n < threads; n++)
		pthread_create(&t[n], NULL, other, NULL);
	strcpy(tensor + 256, "blk.0.attn_q.weight");
	for (int r = 0; r < rounds; r++)
		for (int k = 0; k < PARTS; k++) {
			const struct part *p = &parts[k];
			struct bpf_link *a = NULL, *b = NULL;
			if (p->start) {
				a = put(p->start, p->function ? pass_callee : pass_start, 0);
				b = put(p->end, p->function ? pass_callee : pass_end, p->function);
			}
			for (int n = 0; n < 8 && count[k] < MOST; n++) {
				pthread_barrier_wait(&both);
				double begun = now_ns();
				pass(PAIRS, tensor);
				figures[k][count[k]++] = (now_ns() - begun) / PAIRS;
				ring_buffer__consume(ring);
			}
			bpf_link__destroy(a);
			bpf_link__destroy(b);
		}
	done = 1;
	pthread_barrier_wait(&both);
	for (int k = 0; k < PARTS; k++) {
		qsort(figures[k], (size_t)count[k], sizeof(double), by_size);
		printf("%-40s %8.0f %8.0f\n", parts[k].name, figures[k][count[k] / 4], figures[k][count[k] / 2]);
	}
	return 0;
}
