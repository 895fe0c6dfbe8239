/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the engine does for itself between operators: it copies the state of a sequence (a checkpoint during a
 * prompt, or a finished prompt for the cache), allocates the memory of a graph anew, and waits for backends that
 * compute on their own.
 */
#include "include/maps.h"

/* wire's housekeeping::kind */
enum { SAVE_STATE = 0, RESTORE_STATE = 1, ALLOCATE_GRAPH = 2, SYNCHRONIZE = 3 };

/* A shorter wait is not sent: the engine also asks where nothing is left to wait for. ns */
#define WAIT_MIN 5000

static __noinline int housekeeping_send(__u64 id, __u32 kind, __u64 start, __u64 bytes)
{
	struct event_housekeeping *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (e) {
		head(&e->head, EVENT_HOUSEKEEPING, id, kind);
		e->start_ns = start;
		e->end_ns = bpf_ktime_get_ns();
		e->bytes = bytes;
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	} else {
		COUNT(calls_ring_full);
	}
	return 0;
}

static __noinline int housekeeping_ends(__u32 kind, __u64 bytes)
{
	struct thread *t = thread_of(pid_tgid());

	if (!t || !t->housekeeping_start)
		return 0;
	housekeeping_send(t->id, kind, t->housekeeping_start, bytes);
	t->housekeeping_start = 0;
	return 0;
}

SEC("uprobe")
int housekeeping_enter(UNUSED struct pt_regs *ctx)
{
	struct thread *t = thread_of(pid_tgid());

	if (t)
		t->housekeeping_start = bpf_ktime_get_ns();
	return 0;
}

/* llama_state_seq_get_data(…) returns the number of bytes. */
SEC("uretprobe")
int save_state_return(struct pt_regs *ctx)
{
	return housekeeping_ends(SAVE_STATE, PT_REGS_RC(ctx));
}

/* llama_state_seq_set_data(…) returns it, too. */
SEC("uretprobe")
int restore_state_return(struct pt_regs *ctx)
{
	return housekeeping_ends(RESTORE_STATE, PT_REGS_RC(ctx));
}

/* ggml_gallocr_reserve_n(…) */
SEC("uretprobe")
int allocate_graph_return(UNUSED struct pt_regs *ctx)
{
	return housekeeping_ends(ALLOCATE_GRAPH, 0);
}

/* ggml_backend_sched_synchronize(…) */
SEC("uprobe")
int synchronize_enter(UNUSED struct pt_regs *ctx)
{
	struct thread *t = thread_of(pid_tgid());

	if (t)
		t->synchronize_start = bpf_ktime_get_ns();
	return 0;
}

SEC("uretprobe")
int synchronize_return(UNUSED struct pt_regs *ctx)
{
	struct thread *t = thread_of(pid_tgid());
	__u64 start;

	if (!t || !t->synchronize_start)
		return 0;
	start = t->synchronize_start;
	t->synchronize_start = 0;
	if (bpf_ktime_get_ns() - start >= WAIT_MIN)
		housekeeping_send(t->id, SYNCHRONIZE, start, 0);
	return 0;
}
