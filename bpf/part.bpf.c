/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Parts: which sequences the tokens of a batch belong to, at which positions, and of how many an output is asked for. A server
 * gives each of its slots a sequence, so that its requests can be told apart. What the tokens are is not read.
 *
 * A part is a stretch of tokens of one sequence (or of the same number of sequences with the same first one) whose positions follow
 * each other. A prompt is one part, whatever its length; what a slot answers is a part of one token in each batch.
 *
 * Global functions, as in graph.bpf.c: a batch is read in rounds of tokens.
 */
#include "include/capture.h"

/* Tokens that are looked at: four times what a server puts into a batch. And parts: a server with as many slots has other troubles. */
enum { PART_ROUND = 64, PART_ROUNDS = 128, PARTS_MAX = 256 };

/* The fields of llama.h, at these places in every release looked at, b1660 (2023-12) to 0.7.0 (2026-10); until b3889 others follow. */
struct llama_batch {
	__s32 n_tokens;
	__u32 pad;
	__u64 token;
	__u64 embd;
	__u64 pos;    /* a number of 32 bits a token, like the next */
	__u64 n_seq;
	__u64 seq;    /* an address a token, of n_seq numbers of 32 bits */
	__u64 outputs; /* a byte a token */
};

/* Tells the part that was read. */
__attribute__((noinline)) int part_send(__u64 id)
{
	struct thread *t = known_thread(id);
	struct event_part *e;

	if (!t || !t->part_n)
		return 0;
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		ADD(counters()->part_ring_full, t->part_n);
	} else {
		head(&e->head, EVENT_PART, id, t->part_told);
		e->call = t->decode_start;
		e->first = t->part_first;
		e->n = t->part_n;
		e->seq = t->part_seq;
		e->n_seq = t->part_n_seq;
		e->pos = t->part_pos;
		e->outputs = t->part_outputs;
		bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	}
	t->part_n = 0;
	t->batch_parts++;
	return 0;
}

/* Whether a token at this position goes on with the part. The second token decides whether positions follow or are the same. */
static __always_inline int part_goes_on(struct thread *t, __s32 seq, __u32 n_seq, __s32 pos)
{
	if (!t->part_n || seq != t->part_seq || n_seq != t->part_n_seq)
		return 0;
	if (!(t->part_told & PART_POS))
		return 1;
	if (t->part_n == 1 && pos == t->part_pos)
		t->part_told |= PART_SAME;
	if (t->part_told & PART_SAME)
		return pos == t->part_pos;
	return pos == t->part_pos + (__s32)t->part_n;
}

/* Reads the next token. Returns 0 after the last one, and where there are too many parts. */
__attribute__((noinline)) int part_token(__u64 id)
{
	struct thread *t = known_thread(id);
	__s32 pos = 0, seq = 0;
	__u32 i, n_seq = 0, told = 0;
	__u64 list = 0, failed = 0;
	__u8 output = 0;

	if (!t || t->batch_at >= t->batch_n || t->batch_parts >= PARTS_MAX)
		return 0;
	i = t->batch_at;
	t->batch_at = i + 1;
	if (t->batch_pos) {
		told |= PART_POS;
		failed |= bpf_probe_read_user(&pos, sizeof(pos), (void *)(t->batch_pos + i * 4ULL));
	}
	if (t->batch_seq && t->batch_n_seq) {
		told |= PART_SEQ;
		failed |= bpf_probe_read_user(&n_seq, sizeof(n_seq), (void *)(t->batch_n_seq + i * 4ULL));
		failed |= bpf_probe_read_user(&list, sizeof(list), (void *)(t->batch_seq + i * 8ULL));
		failed |= bpf_probe_read_user(&seq, sizeof(seq), (void *)list);
	}
	if (t->batch_outputs) {
		told |= PART_OUTPUTS;
		failed |= bpf_probe_read_user(&output, sizeof(output), (void *)(t->batch_outputs + i));
	}
	if (failed) {
		part_send(id);
		ADD(counters()->part_unreadable, 1);
		return 1;
	}
	if (!part_goes_on(t, seq, n_seq, pos)) {
		part_send(id);
		if (t->batch_parts >= PARTS_MAX) {
			t->batch_at = i;
			return 0;
		}
		t->part_first = i;
		t->part_told = told;
		t->part_seq = seq;
		t->part_n_seq = n_seq;
		t->part_pos = pos;
		t->part_outputs = 0;
	}
	t->part_n++;
	t->part_outputs += output != 0;
	return 1;
}

__attribute__((noinline)) int part_round(__u64 id)
{
	for (int k = 0; k < PART_ROUND; k++)
		if (!part_token(id))
			return 0;
	return 1;
}

__attribute__((noinline)) int part_rounds(__u64 id)
{
	struct thread *t = known_thread(id);

	for (int k = 0; k < PART_ROUNDS; k++)
		if (!part_round(id))
			break;
	part_send(id);
	if (t && t->batch_at < t->batch_n)
		ADD(counters()->part_left_out, t->batch_n - t->batch_at);
	return 0;
}

/* Tells the parts of the batch of a token call that begins. */
static __always_inline void parts(struct thread *t, __u64 id, const struct llama_batch *batch)
{
	if (batch->n_tokens <= 0)
		return;
	ADD(counters()->part_tokens, batch->n_tokens);
	t->batch_pos = batch->pos;
	t->batch_n_seq = batch->n_seq;
	t->batch_seq = batch->seq;
	t->batch_outputs = batch->outputs;
	t->batch_n = batch->n_tokens;
	t->batch_at = 0;
	t->batch_parts = 0;
	t->part_n = 0;
	if (!batch->pos && !batch->seq && !batch->outputs) {
		/* It tells nothing, so that there is nothing to read token by token. */
		t->part_first = t->part_told = t->part_n_seq = t->part_outputs = 0;
		t->part_seq = t->part_pos = 0;
		t->part_n = batch->n_tokens;
		part_send(id);
		return;
	}
	part_rounds(id);
}
