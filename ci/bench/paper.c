/* paper: records the operators of a running engine the paper's way, until SIGINT. See paper.bpf.c.
 *
 *   paper OBJECT PID LIBRARY OFFSET      OFFSET of the function that every operator passes, in the file
 */
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
	if (argc != 5)
		return fprintf(stderr, "paper OBJECT PID LIBRARY OFFSET\n"), 2;
	struct bpf_object *o = bpf_object__open_file(argv[1], NULL);
	if (!o || bpf_object__load(o))
		return fprintf(stderr, "%s cannot be loaded\n", argv[1]), 1;
	struct bpf_program *entry = bpf_object__find_program_by_name(o, "operator_entry");
	struct bpf_program *leave = bpf_object__find_program_by_name(o, "operator_return");
	unsigned long at = strtoul(argv[4], NULL, 0);
	out = fopen("/dev/null", "w");
	/* As BCC has it: 64 pages a CPU. */
	struct perf_buffer *buffer =
		perf_buffer__new(bpf_object__find_map_fd_by_name(o, "events"), 64, on_record, on_lost, NULL, NULL);
	if (!buffer || !out || !bpf_program__attach_uprobe(entry, false, atoi(argv[2]), argv[3], at) ||
	    !bpf_program__attach_uprobe(leave, true, atoi(argv[2]), argv[3], at))
		return fprintf(stderr, "cannot attach to %s+%s\n", argv[3], argv[4]), 1;
	signal(SIGINT, on_signal);
	while (!stop)
		perf_buffer__poll(buffer, 100);
	fprintf(stderr, "%llu records, %llu lost\n", records, lost);
	return 0;
}
