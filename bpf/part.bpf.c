/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Parts: sequences and positions of a batch's tokens, and the number of requested outputs. A server
 * assigns a sequence to each of its slots, which distinguishes its requests. The tokens themselves
 * are not read.
 *
 * A part is a range of tokens of one sequence (or of the same number of sequences with the same
 * first one) with consecutive positions. A prompt of any length is one part. A generating slot has
 * a part of one token in each batch.
 *
 * Global functions, as in graph.bpf.c: a batch is read in rounds of tokens.
 */
#include "include/capture.h"

/* Most tokens that are examined: four times the batch of a server. And most parts: no server has
 * that many slots. */
enum { PART_ROUND = 64, PART_ROUNDS = 128, PARTS_MAX = 256 };

/* Sends the part that was read. */
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
		e->batch = t->part_batch;
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

/* Whether a token at this position continues the part. The second token decides whether
 * positions are consecutive or equal. */
static __always_inline int part_goes_on(struct thread *t, const struct part_of_token *p)
{
	if (!t->part_n || p->seq != t->part_seq || p->n_seq != t->part_n_seq)
		return 0;
	if (!(t->part_told & PART_POS))
		return 1;
	if (t->part_n == 1 && p->pos == t->part_pos)
		t->part_told |= PART_SAME;
	if (t->part_told & PART_SAME)
		return p->pos == t->part_pos;
	return p->pos == t->part_pos + (__s32)t->part_n;
}

/* Reads token `i`. Returns nonzero if some of it could not be read. */
static __noinline int part_read(const struct thread *t, struct part_of_token *p, __u32 i)
{
	const struct llama_batch *b = &t->batch;
	int failed = 0;

	if (b->pos) {
		p->told |= PART_POS;
		failed |= bpf_probe_read_user(&p->pos, sizeof(p->pos), (void *)(b->pos + i * 4ULL)) != 0;
	}
	if (b->seq && b->n_seq) {
		p->told |= PART_SEQ;
		failed |= bpf_probe_read_user(&p->n_seq, sizeof(p->n_seq), (void *)(b->n_seq + i * 4ULL)) != 0;
		failed |= bpf_probe_read_user(&p->list, sizeof(p->list), (void *)(b->seq + i * 8ULL)) != 0;
		failed |= bpf_probe_read_user(&p->seq, sizeof(p->seq), (void *)p->list) != 0;
	}
	if (b->outputs) {
		p->told |= PART_OUTPUTS;
		failed |= bpf_probe_read_user(&p->output, 1, (void *)(b->outputs + i)) != 0;
	}
	return failed;
}

/* Begins the parts of a batch. */
static __always_inline void part_begin(struct thread *t, __u64 batch)
{
	t->part_batch = batch;
	t->batch_parts = 0;
	t->part_n = 0;
}

/* Adds token `i`. Returns 0 if there are too many parts. */
static __noinline int part_add(struct thread *t, const struct part_of_token *p, __u32 i)
{
	if (!part_goes_on(t, p)) {
		part_send(t->id);
		if (t->batch_parts >= PARTS_MAX)
			return 0;
		t->part_first = i;
		t->part_told = p->told;
		t->part_seq = p->seq;
		t->part_n_seq = p->n_seq;
		t->part_pos = p->pos;
		t->part_outputs = 0;
	}
	t->part_n++;
	t->part_outputs += p->output != 0;
	return 1;
}

/* Reads the next token. Returns 0 after the last one, and if there are too many parts. */
__attribute__((noinline)) int part_token(__u64 id)
{
	struct thread *t = known_thread(id);
	struct part_of_token p = {};
	__u32 i;

	if (!t || t->batch.n_tokens <= 0 || t->batch_at >= (__u32)t->batch.n_tokens || t->batch_parts >= PARTS_MAX)
		return 0;
	i = t->batch_at;
	t->batch_at = i + 1;
	if (part_read(t, &p, i)) {
		part_send(id);
		COUNT(part_unreadable);
		return 1;
	}
	if (!part_add(t, &p, i)) {
		t->batch_at = i;
		return 0;
	}
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
	if (t && t->batch.n_tokens > 0 && t->batch_at < (__u32)t->batch.n_tokens)
		ADD(counters()->part_left_out, t->batch.n_tokens - t->batch_at);
	return 0;
}

/* Sends the parts of the batch of a decode call that begins. */
static __noinline int parts(struct thread *t)
{
	const struct llama_batch *b = &t->batch;

	if (b->n_tokens <= 0)
		return 0;
	ADD(counters()->part_tokens, b->n_tokens);
	t->batch_at = 0;
	part_begin(t, t->decode_start);
	if (!b->pos && !b->seq && !b->outputs) {
		/* It has no arrays, so there is nothing to read per token. */
		t->part_first = t->part_told = t->part_n_seq = t->part_outputs = 0;
		t->part_seq = t->part_pos = 0;
		t->part_n = b->n_tokens;
		part_send(t->id);
		return 0;
	}
	part_rounds(t->id);
	return 0;
}
