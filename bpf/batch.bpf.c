/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Batches that an engine fills by functions (llama_batch_ext_*, llama.cpp 0.6.0 and later), which
 * llama_process then gets. The object itself has no documented layout, so these functions' arguments
 * are read instead: sequence, position and output of each token. The token itself is not read.
 *
 * Before each llama_process call, the engine clears a batch and adds its tokens, in one thread.
 */
#include "part.bpf.c"

/* The thread's batch, if that is the one at this address. */
static __always_inline struct thread *filling(__u64 batch)
{
	struct thread *t = known_thread(pid_tgid());

	return t && t->filled && t->filled == batch ? t : 0;
}

/* Adds the last token to the parts: its fields are complete when the next one is added. */
static __noinline int batch_flush(struct thread *t)
{
	if (!t->filled_n)
		return 0;
	COUNT(part_tokens);
	if (!part_add(t, &t->filled_last, t->filled_n - 1))
		COUNT(part_left_out);
	return 0;
}

SEC("uprobe")
int batch_clear(struct pt_regs *ctx)
{
	struct thread *t = thread_of(pid_tgid());

	COUNT(batch_hits);
	if (!t)
		return 0;
	t->filled = PT_REGS_PARM1(ctx);
	t->filled_id = bpf_ktime_get_ns();
	t->filled_n = 0;
	part_begin(t, t->filled_id);
	return 0;
}

SEC("uprobe")
int batch_add(struct pt_regs *ctx)
{
	struct thread *t = filling(PT_REGS_PARM1(ctx));

	COUNT(batch_hits);
	if (!t)
		return 0;
	batch_flush(t);
	t->filled_n++;
	t->filled_last.seq = (__s32)PT_REGS_PARM2(ctx);
	t->filled_last.n_seq = 1;
	t->filled_last.told = PART_SEQ | PART_OUTPUTS;
	t->filled_last.pos = 0;
	t->filled_last.output = 0;
	return 0;
}

SEC("uprobe")
int batch_add_sequence(struct pt_regs *ctx)
{
	struct thread *t = filling(PT_REGS_PARM1(ctx));

	COUNT(batch_hits);
	if (t && (__u32)PT_REGS_PARM2(ctx) == t->filled_n - 1)
		t->filled_last.n_seq++;
	return 0;
}

SEC("uprobe")
int batch_set_position(struct pt_regs *ctx)
{
	struct thread *t = filling(PT_REGS_PARM1(ctx));

	COUNT(batch_hits);
	if (!t || (__u32)PT_REGS_PARM2(ctx) != t->filled_n - 1)
		return 0;
	if (bpf_probe_read_user(&t->filled_last.pos, sizeof(t->filled_last.pos), (void *)PT_REGS_PARM3(ctx)))
		COUNT(part_unreadable);
	else
		t->filled_last.told |= PART_POS;
	return 0;
}

/* An output of a token that was added before others belongs to the part that is being read, or was
 * sent without it. */
SEC("uprobe")
int batch_set_output(struct pt_regs *ctx)
{
	struct thread *t = filling(PT_REGS_PARM1(ctx));
	__u32 i = (__u32)PT_REGS_PARM2(ctx);
	__u32 asked = (__u8)PT_REGS_PARM3(ctx) != 0;

	COUNT(batch_hits);
	if (!t)
		return 0;
	if (i == t->filled_n - 1)
		t->filled_last.output = asked;
	else if (asked && t->part_n && i >= t->part_first && i < t->part_first + t->part_n)
		t->part_outputs++;
	return 0;
}

/* Ends the parts of the batch at this address, of which a call begins, and takes it. Returns
 * whether the thread has filled it. */
static __noinline int batch_take(struct thread *t, __u64 batch)
{
	if (!t->filled || t->filled != batch)
		return 0;
	batch_flush(t);
	part_send(t->id);
	t->filled = 0;
	return 1;
}
