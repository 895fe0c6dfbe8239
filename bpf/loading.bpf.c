/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Start of an engine: when it loads a model, and when it creates a context. The agent samples the
 * process's counts then. */
#include "include/maps.h"

/* wire's start_up::moment */
enum { MODEL_BEGINS = 3, MODEL_LOADED = 4, CONTEXT_BEGINS = 5, CONTEXT_CREATED = 6 };

static __noinline int loading(__u32 moment)
{
	__u64 id = pid_tgid();
	struct event_wake *e;

	if (stopped || slot_of(id) >= ENGINES)
		return 0;
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e)
		return 0;
	head(&e->head, EVENT_LOADING, id, moment);
	e->at_ns = bpf_ktime_get_ns();
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("uprobe")
int load_model_enter(UNUSED struct pt_regs *ctx)
{
	return loading(MODEL_BEGINS);
}

SEC("uretprobe")
int load_model_return(UNUSED struct pt_regs *ctx)
{
	return loading(MODEL_LOADED);
}

SEC("uprobe")
int new_context_enter(UNUSED struct pt_regs *ctx)
{
	return loading(CONTEXT_BEGINS);
}

SEC("uretprobe")
int new_context_return(UNUSED struct pt_regs *ctx)
{
	return loading(CONTEXT_CREATED);
}
