/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the engine does between two decode calls: it takes outputs, and edits the memory of a context.
 *
 * Both are rare next to the work of a call: an output is taken once or twice per token, memory is edited
 * for each verification of guesses, each copied prompt and each cleared context.
 */
#include "include/maps.h"

/* Index of all outputs together; and most taken outputs of a call that are sent: 64 guesses and the token before. */
enum { ALL_OUTPUTS = -2147483647 - 1, TAKEN_MAX = 65 };

/* wire's edit::kind */
enum { EDIT_CUT = 0, EDIT_COPY = 1, EDIT_CLEAR = 2 };

/* Begins the record of an edit of all sequences and positions; 0 if there is no space. */
static __always_inline struct event_edit *edit(struct pt_regs *ctx, __u32 kind)
{
	__u64 id = pid_tgid();
	struct event_edit *e;

	COUNT(batch_hits);
	if (!id)
		return 0;
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		COUNT(calls_ring_full);
		return 0;
	}
	head(&e->head, EVENT_EDIT, id, kind);
	e->at_ns = bpf_ktime_get_ns();
	e->memory = PT_REGS_PARM1(ctx);
	e->seq = e->from = e->to = e->target = -1;
	return e;
}

/* llama_memory_seq_rm(memory, sequence, from, to): after each verification of guesses, the engine removes
 * those that it rejected. */
SEC("uprobe")
int sequence_cut(struct pt_regs *ctx)
{
	struct event_edit *e = edit(ctx, EDIT_CUT);

	if (!e)
		return 0;
	e->seq = (__s32)PT_REGS_PARM2(ctx);
	e->from = (__s32)PT_REGS_PARM3(ctx);
	e->to = (__s32)PT_REGS_PARM4(ctx);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

/* llama_memory_seq_cp(memory, sequence, target, from, to): a prompt that several answers share. */
SEC("uprobe")
int sequence_copy(struct pt_regs *ctx)
{
	struct event_edit *e = edit(ctx, EDIT_COPY);

	if (!e)
		return 0;
	e->seq = (__s32)PT_REGS_PARM2(ctx);
	e->target = (__s32)PT_REGS_PARM3(ctx);
	e->from = (__s32)PT_REGS_PARM4(ctx);
	e->to = (__s32)PT_REGS_PARM5(ctx);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

/* llama_memory_clear(memory, …) */
SEC("uprobe")
int memory_clear(struct pt_regs *ctx)
{
	struct event_edit *e = edit(ctx, EDIT_CLEAR);

	if (e)
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

/* An output of the context's last call is taken. The same one again is left out: samplers ask in several ways
 * for it. So are those after the most that a call with guesses has: a program that takes thousands of outputs
 * of a call costs no more records. The thread that takes them need not be the one that decodes. */
static __noinline int taken(__u64 context, __s32 index)
{
	struct thread *t = thread_of(pid_tgid());
	struct event_taken *e;
	__u64 calls;

	COUNT(batch_hits);
	if (!t)
		return 0;
	calls = state_of(t)->calls;
	if (t->taken_calls != calls || t->taken_context != context)
		t->taken_n = 0;
	else if (t->taken_index == index || t->taken_n >= TAKEN_MAX)
		return 0;
	t->taken_calls = calls;
	t->taken_context = context;
	t->taken_index = index;
	t->taken_n++;
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		COUNT(calls_ring_full);
		return 0;
	}
	head(&e->head, EVENT_TAKEN, t->id, 0);
	e->context = context;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

/* llama_get_logits_ith(context, index) and others */
SEC("uprobe")
int output_taken(struct pt_regs *ctx)
{
	return taken(PT_REGS_PARM1(ctx), (__s32)PT_REGS_PARM2(ctx));
}

/* llama_get_logits(context) and others: all outputs, which count as one. */
SEC("uprobe")
int outputs_taken(struct pt_regs *ctx)
{
	return taken(PT_REGS_PARM1(ctx), ALL_OUTPUTS);
}
