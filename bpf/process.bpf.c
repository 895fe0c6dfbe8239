/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* New programs, for an agent that waits for an engine by name; library loads of watched
 * processes; and the end of threads. */
#include "include/maps.h"

/* The same events for the thread that stops new processes at once
 * (agent-static/src/target/catch.rs). */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024); /* at least one page of any size */
} executions SEC(".maps");

static __always_inline void send_exec(void *ring)
{
	struct event_process *p = bpf_ringbuf_reserve(ring, sizeof(*p), 0);

	if (!p)
		return;
	head(&p->head, EVENT_EXEC, pid_tgid(), 0);
	p->at_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(p->comm, sizeof(p->comm));
	bpf_ringbuf_submit(p, BPF_RB_FORCE_WAKEUP);
}

/* Only attached while the agent waits. The kernel sets the new name before this tracepoint. */
SEC("raw_tp/sched_process_exec")
int process_exec(UNUSED void *ctx)
{
	send_exec(&executions);
	send_exec(&events);
	return 0;
}

/* A thread ends: its state is freed. None of its programs runs any more. */
SEC("raw_tp/sched_process_exit")
int thread_exit(UNUSED void *ctx)
{
	__u64 task = bpf_get_current_task();

	bpf_map_delete_elem(&threads, &task);
	return 0;
}

/* The dynamic linker calls _dl_debug_state before and after every change of the loaded
 * libraries, as a breakpoint location for debuggers. The stop here lets the agent attach to a
 * library before its first instruction runs. */
SEC("uprobe")
int library_event(UNUSED struct pt_regs *ctx)
{
	__u32 slot = slot_of(pid_tgid());

	if (slot < ENGINES && to_be_held(&engine_configs[slot], &engine_states[slot]))
		bpf_send_signal_thread(SIGURG);
	return 0;
}
