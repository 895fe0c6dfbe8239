/* tracer: puts programs of tracer.bpf.c into a running engine until SIGINT, and throws away what they record.
 *
 *   tracer OBJECT PID LIBRARY PROGRAM@OFFSET…      OFFSET in the file
 */
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t stop;
static unsigned long long records, lost;
static FILE *out;

static void on_signal(int n) { (void)n; stop = 1; }
static void on_record(void *to, int cpu, void *data, unsigned size)
{
	(void)to, (void)cpu;
	records++;
	fwrite(data, 1, size, out);
}
static void on_lost(void *to, int cpu, unsigned long long n) { (void)to, (void)cpu; lost += n; }
static int on_ring(void *to, void *data, size_t size) { return on_record(to, 0, data, (unsigned)size), 0; }

static int put(struct bpf_object *o, int pid, const char *library, char *place)
{
	char *at = strchr(place, '@');
	if (!at)
		return 0;
	*at++ = 0;
	struct bpf_program *p = bpf_object__find_program_by_name(o, place);
	return p && bpf_program__attach_uprobe(p, !strcmp(bpf_program__section_name(p), "uretprobe"), pid, library, strtoul(at, NULL, 0));
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return fprintf(stderr, "tracer OBJECT PID LIBRARY PROGRAM@OFFSET...\n"), 2;
	struct bpf_object *o = bpf_object__open_file(argv[1], NULL);
	if (!o || bpf_object__load(o))
		return fprintf(stderr, "%s cannot be loaded\n", argv[1]), 1;
	out = fopen("/dev/null", "w");
	/* As BCC has it: 64 pages a CPU. */
	struct perf_buffer *buffer =
		perf_buffer__new(bpf_object__find_map_fd_by_name(o, "events"), 64, on_record, on_lost, NULL, NULL);
	struct ring_buffer *ring = ring_buffer__new(bpf_object__find_map_fd_by_name(o, "ring"), on_ring, NULL, NULL);
	if (!buffer || !ring || !out)
		return fprintf(stderr, "no buffer\n"), 1;
	for (int k = 4; k < argc; k++)
		if (!put(o, atoi(argv[2]), argv[3], argv[k]))
			return fprintf(stderr, "cannot attach %s to %s\n", argv[k], argv[3]), 1;
	signal(SIGINT, on_signal);
	while (!stop) {
		perf_buffer__poll(buffer, 50);
		ring_buffer__consume(ring);
	}
	fprintf(stderr, "%llu records, %llu lost\n", records, lost);
	return 0;
}
