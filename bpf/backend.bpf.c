/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Functions of backends other than the CPU, by the symbols of the backend profiles
 * (boards/backends).
 *
 * Some compute one complete operator of a split that the backend was given
 * (ggml_cl_compute_forward): a span. Others do the work of an operator, or part of it, from
 * within (CLBlast's ggml_cl_mul_mat in the CPU's matrix product, compute_submat_mul in RKNN's):
 * nested calls, which do not affect the operator around them. Threads that run no operator
 * themselves may call them.
 *
 * Each function has a slot with its own programs, because on Linux 5.10 a program cannot find
 * out which of its uprobes was hit. */
#include "include/maps.h"

/* Set before loading: index of the tensor argument, from 0, or NO_TENSOR; and whether a call is
 * one complete operator. */
const volatile __u8 backend_tensor[BACKEND_SLOTS] = {};
const volatile __u8 backend_whole[BACKEND_SLOTS] = {};

static __always_inline struct nested_counters *nested_counters(void)
{
	return &cpu_totals()->nested;
}

static __always_inline int is_whole(__u32 slot)
{
	return slot < BACKEND_SLOTS && backend_whole[slot];
}

/* Drops functions from index `keep` on. Their returns were not seen, because of an exception or
 * because their returns were not probed yet. */
static __noinline int drop(struct thread *t, __u64 keep)
{
	struct nested_counters *i = nested_counters();
	struct counters *c = counters();

#pragma unroll
	for (__u32 k = 0; k < BACKEND_DEPTH; k++) {
		if (k < keep || k >= t->backend_depth)
			continue;
		if (is_whole(t->backend_calls[k].function))
			ADD(c->spans_no_end, 1);
		else
			ADD(i->no_end, 1);
	}
	t->backend_depth = keep;
	return 0;
}

#define ARGUMENT(number, parameter) \
	do { \
		__u64 value = parameter(ctx); \
		barrier_var(value); \
		if (backend_tensor[slot] == (number)) \
			tensor = value; \
	} while (0)

/* The tensor argument of a function. Checked one after the other, because the verifier does not
 * accept register reads with a computed index. */
static __noinline __u64 tensor_of(struct pt_regs *ctx, __u32 slot)
{
	__u64 tensor = 0;

	ARGUMENT(0, PT_REGS_PARM1);
	ARGUMENT(1, PT_REGS_PARM2);
	ARGUMENT(2, PT_REGS_PARM3);
	ARGUMENT(3, PT_REGS_PARM4);
	ARGUMENT(4, PT_REGS_PARM5);
	return tensor;
}

/* Shared by the programs of all slots: one copy per slot would be a tenth of the agent. */
static __noinline int backend_enter(struct pt_regs *ctx, __u32 slot)
{
	struct thread *t = thread_of(pid_tgid());
	struct backend_call *call;
	__u64 at;

	if (!t)
		return 0;
	if (backend_whole[slot])
		ADD(counters()->span_starts, 1);
	else
		ADD(nested_counters()->starts, 1);
	/* A complete operator is never nested, and nothing nests deeper than this: remaining
	 * entries were left without a seen return. */
	if (t->backend_depth && (backend_whole[slot] || t->backend_depth >= BACKEND_DEPTH))
		drop(t, 0);
	at = t->backend_depth;
	barrier_var(at); /* the next line is for the verifier, and must stay */
	if (at >= BACKEND_DEPTH)
		return 0;
	call = &t->backend_calls[at];
	call->tensor = tensor_of(ctx, slot);
	call->function = slot;
	call->cpu = bpf_get_smp_processor_id();
	t->backend_depth = at + 1;
	call->start = bpf_ktime_get_ns();
	return 0;
}

/* One complete operator: a span like the CPU's, in the split that this thread gave to the
 * backend. */
static __noinline int send_whole(struct thread *t, const struct backend_call *call, __u64 now)
{
	struct counters *c = counters();
	struct event_op *e;

	ADD(c->span_ends, 1);
	if (!t->split) {
		/* The split was running when the probes were attached. */
		ADD(c->spans_no_start, 1);
		return 0;
	}
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		ADD(c->spans_ring_full, 1);
		return 0;
	}
	head(&e->head, EVENT_OP, t->id, call->cpu | bpf_get_smp_processor_id() << 16);
	e->start_ns = call->start;
	e->end_ns = now;
	e->node = e->last = call->tensor;
	e->graph = t->split;
	bpf_ringbuf_submit(e, wakeup());
	return 0;
}

/* The graph call that a nested call belongs to: that of the CPU operator that the thread runs,
 * or else the backend's split. */
static __noinline __u64 graph_around(const struct thread *t)
{
	const struct engine_state *s = state_of(t);
	__u64 cpu = t->cpu_start ? t->cpu_start : s->cpu_graph;
	__u64 split = t->split ? t->split : s->split;

	/* Without probes on the CPU's operators, there is no operator. */
	return t->op_node || !split ? cpu : split;
}

static __noinline int send_nested(struct thread *t, const struct backend_call *call, __u64 depth, __u64 now)
{
	struct nested_counters *i = nested_counters();
	__u64 graph = graph_around(t);
	struct event_nested *e;

	ADD(i->ends, 1);
	if (!graph) {
		ADD(i->no_start, 1);
		return 0;
	}
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		ADD(i->ring_full, 1);
		return 0;
	}
	head(&e->head, EVENT_NESTED, t->id, call->function | (__u32)depth << 16);
	e->start_ns = call->start;
	e->end_ns = now;
	/* The operator that the thread runs on the CPU or the backend, or else the argument of
	 * the first function. */
	e->node = t->op_node ? t->op_node : t->backend_calls[0].tensor;
	if (!e->node)
		e->node = call->tensor;
	e->graph = graph;
	bpf_ringbuf_submit(e, wakeup());
	return 0;
}

/* A return whose entry was not seen. */
static __noinline int leave_alone(__u32 slot)
{
	struct nested_counters *i = nested_counters();
	struct counters *c = counters();

	if (is_whole(slot)) {
		ADD(c->span_ends, 1);
		ADD(c->spans_no_start, 1);
	} else {
		ADD(i->ends, 1);
		ADD(i->no_start, 1);
	}
	return 0;
}

/* Number of the innermost call of the function, from 1; 0: none is running. */
static __noinline __u64 find_call(const struct thread *t, __u32 slot)
{
	__u64 found = 0;

#pragma unroll
	for (__u64 k = 0; k < BACKEND_DEPTH; k++)
		if (k < t->backend_depth && t->backend_calls[k].function == slot)
			found = k + 1;
	return found;
}

static __noinline int backend_leave(__u32 slot)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread *t = thread_of(pid_tgid());
	struct backend_call *call;
	__u64 at, found;

	if (!t)
		return 0;
	found = find_call(t, slot);
	if (!found)
		return leave_alone(slot);
	if (t->backend_depth > found)
		drop(t, found);
	at = found - 1;
	t->backend_depth = at;
	barrier_var(at);
	if (at >= BACKEND_DEPTH)
		return 0;
	call = &t->backend_calls[at];
	return is_whole(slot) ? send_whole(t, call, now) : send_nested(t, call, at, now);
}

#define BACKEND_SLOT(n) \
	SEC("uprobe") \
	int backend_enter_##n(struct pt_regs *ctx) \
	{ \
		return backend_enter(ctx, n); \
	} \
	SEC("uretprobe") \
	int backend_leave_##n(UNUSED struct pt_regs *ctx) \
	{ \
		return backend_leave(n); \
	}

BACKEND_SLOT(0)
BACKEND_SLOT(1)
BACKEND_SLOT(2)
BACKEND_SLOT(3)
BACKEND_SLOT(4)
BACKEND_SLOT(5)
BACKEND_SLOT(6)
BACKEND_SLOT(7)
BACKEND_SLOT(8)
BACKEND_SLOT(9)
BACKEND_SLOT(10)
BACKEND_SLOT(11)
