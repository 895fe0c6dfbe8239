/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Operator level: one record for every operator that a thread runs.
 *
 * The start probe is on the call that every dispatched node makes. The end probe is on the branch
 * that all of them reach before the barrier. These two programs run several thousand times per
 * token, so they do the minimum: store some values, and write one record.
 */
#include "include/capture.h"
#include "include/counter.h"

/* The end of the previous operator was not seen. */
static __always_inline void no_end(const struct thread *t, struct counters *c)
{
	/* The operator began in a call that is not captured, and its end probe was removed
	 * before it ended, perhaps before its start probe. */
	if (skips(config_of(t), t->op_start))
		ADD(c->starts_gated, 1);
	else
		ADD(c->spans_no_end, 1);
}

static __always_inline void fill(struct event_op *e, const struct thread *t, __u32 kind, __u64 now, __u64 graph)
{
	head(&e->head, kind, t->id, t->op_cpu | bpf_get_smp_processor_id() << 16);
	e->start_ns = t->op_start;
	e->end_ns = now;
	e->node = t->op_node;
	e->last = t->op_last;
	e->graph = graph;
}

static __noinline int send(struct thread *t, __u64 now, __u64 graph)
{
	struct event_op *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e)
		return 0;
	fill(e, t, EVENT_OP, now, graph);
	bpf_ringbuf_submit(e, wakeup());
	return 1;
}

static __noinline int send_counted(struct thread *t, __u64 now, __u64 graph)
{
	struct event_op_counted *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e)
		return 0;
	fill(&e->op, t, EVENT_OP_COUNTED, now, graph);
	e->switches = t->count_switches;
	e->missing = t->count_missing;
	e->why = t->count_why;
	for (__u32 k = 0; k < COUNTER_SLOTS; k++)
		e->counts[k] = t->count_sum[k];
	bpf_ringbuf_submit(e, wakeup());
	return 1;
}

static __noinline int op_finish(struct thread *t, __u64 now)
{
	struct counters *c = counters();
	struct engine_state *s = state_of(t);
	__u64 graph, topology;
	__u32 skip;
	int sent;

	ADD(c->span_ends, 1);
	if (counter_slots)
		count_end(t);
	graph = t->cpu_start;
	topology = t->cpu_topology;
	skip = t->cpu_skip;
	if (!graph) {
		graph = s->cpu_graph;
		topology = s->cpu_topology;
		skip = s->cpu_skip;
	}
	if (!graph) {
		/* The graph was running when the probes were attached. */
		ADD(c->spans_no_start, 1);
	} else if (skip) {
		ADD(c->spans_gated, 1);
	} else if (t->op_filtered || (filter_nodes && t->op_last == t->op_node && node_left_out(topology, t->op_node))) {
		ADD(c->spans_filtered, 1);
	} else {
		if (counter_slots)
			sent = send_counted(t, now, graph);
		else
			sent = send(t, now, graph);
		if (!sent)
			ADD(c->spans_ring_full, 1);
	}
	t->op_node = 0;
	return 0;
}

/* An end whose start was not seen. */
static __noinline int end_alone(const struct thread *t)
{
	struct counters *c = counters();
	const struct engine_state *s = state_of(t);

	ADD(c->span_ends, 1);
	if (!t->cpu_start && !s->cpu_graph) {
		/* The graph was running when the probes were attached. */
		ADD(c->spans_no_start, 1);
	} else if (t->cpu_start ? t->cpu_skip : s->cpu_skip) {
		/* In a call that is not captured, the start probe may be attached later or
		 * removed earlier. */
		ADD(c->spans_gated, 1);
	} else {
		/* The graph's start was seen, and its probe is attached last, so the start probe
		 * was in place. The engine did not dispatch this node because it has no
		 * elements: nothing was computed. */
		ADD(c->spans_no_start, 1);
		ADD(c->spans_empty, 1);
	}
	return 0;
}

static __always_inline int op_begin(struct pt_regs *ctx, __u64 last)
{
	__u64 id = pid_tgid();
	struct thread *t = thread_of(id);
	struct counters *c = counters();

	if (!t)
		return 0;
	ADD(c->span_starts, 1);
	if (t->op_node)
		no_end(t, c);
	if (filter_threads || filter_tids)
		t->op_filtered = thread_left_out(t, PT_REGS_PARM1(ctx));
	t->op_node = PT_REGS_PARM2(ctx);
	t->op_last = last ? last : t->op_node;
	t->op_cpu = bpf_get_smp_processor_id();
	/* Before the operator's time begins; only on the thread that called the graph, and only
	 * if there are experts. */
	if (t->cpu_experts && t->cpu_start)
		expert_begin(t);
	if (counter_slots)
		count_begin(t);
	t->op_start = bpf_ktime_get_ns();
	/* The span lasts until the thread's next start, which the agent determines. */
	return starts_only ? op_finish(t, 0) : 0;
}

static __always_inline int op_over(__u64 now)
{
	/* A thread whose first node has no elements ends before it starts. */
	struct thread *t = thread_of(pid_tgid());

	if (!t)
		return 0;
	return t->op_node ? op_finish(t, now) : end_alone(t);
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
	return op_over(bpf_ktime_get_ns());
}

/* ggml_compute_forward(params, tensor), if it is a function. Old builds call it in three phases. */
SEC("uprobe")
int op_enter(struct pt_regs *ctx)
{
	const struct engine_config *e = engine_of(pid_tgid());
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
	__u64 now = bpf_ktime_get_ns();
	struct thread *t = known_thread(pid_tgid());

	/* The other phases of old builds return without having started. */
	if (!t || stopped || !t->op_node)
		return 0;
	return op_finish(t, now);
}
