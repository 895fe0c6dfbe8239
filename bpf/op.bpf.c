/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Operator level: one record for every operator that a thread ran.
 *
 * The start probe sits on the call that every dispatched node makes, the end probe on the branch that
 * all of them reach before the barrier. These two programs run some thousand times a token, so they do
 * the least that can be done: remember, and write one record.
 */
#include "include/maps.h"

static __always_inline int op_begin(struct pt_regs *ctx, __u64 last)
{
	__u64 id = pid_tgid();
	struct thread *t = thread_of(id);
	struct counters *c = counters();

	if (!t || !c)
		return 0;
	c->span_starts++;
	if (t->op_node)
		c->spans_no_end++;
	t->op_node = PT_REGS_PARM2(ctx);
	t->op_last = last ? last : t->op_node;
	t->op_cpu = bpf_get_smp_processor_id();
	t->op_start = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int op_finish(void)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 id = pid_tgid();
	__u32 tid = (__u32)id;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);
	struct counters *c = counters();
	struct event_op *e;
	struct engine *g;
	__u64 graph;

	if (!c || stopped)
		return 0;
	if (!t || !t->op_node) {
		if (t || engine_of(id)) {
			c->span_ends++;
			c->spans_no_start++;
		}
		return 0;
	}
	c->span_ends++;
	graph = t->cpu_start;
	if (!graph) {
		g = engine_of(id);
		graph = g ? g->cpu_graph : 0;
	}
	if (!graph) {
		/* The graph was running when the probes were attached. */
		c->spans_no_start++;
		t->op_node = 0;
		return 0;
	}
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		c->spans_ring_full++;
		t->op_node = 0;
		return 0;
	}
	head(&e->head, EVENT_OP, id, t->op_cpu | bpf_get_smp_processor_id() << 16);
	e->start_ns = t->op_start;
	e->end_ns = now;
	e->node = t->op_node;
	e->last = t->op_last;
	e->graph = graph;
	t->op_node = 0;
	bpf_ringbuf_submit(e, wakeup());
	return 0;
}

/* call ggml_cpu_extra_compute_forward(params, tensor) */
SEC("uprobe")
int op_start(struct pt_regs *ctx)
{
	return op_begin(ctx, 0);
}

/* call ggml_compute_forward_…_fused(params, first, last) */
SEC("uprobe")
int op_fused(struct pt_regs *ctx)
{
	return op_begin(ctx, PT_REGS_PARM3(ctx));
}

SEC("uprobe")
int op_end(UNUSED struct pt_regs *ctx)
{
	return op_finish();
}

/* ggml_compute_forward(params, tensor) where it is a function. Old builds call it in three phases. */
SEC("uprobe")
int op_enter(struct pt_regs *ctx)
{
	struct engine *e = engine_of(pid_tgid());
	__u32 phase = 0;

	if (!e)
		return 0;
	if (e->has_phase) {
		bpf_probe_read_user(&phase, sizeof(phase), (void *)PT_REGS_PARM1(ctx));
		if (phase != 1)
			return 0;
	}
	return op_begin(ctx, 0);
}

SEC("uretprobe")
int op_return(UNUSED struct pt_regs *ctx)
{
	__u32 tid = (__u32)pid_tgid();
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);

	/* The other phases of old builds return without having started. */
	if (t && t->op_node)
		return op_finish();
	return 0;
}
