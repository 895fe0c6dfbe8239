/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Experts: which ones the router of a mixture-of-experts model selected, read when a MUL_MAT_ID
 * starts to use the selection.
 *
 * The ids are a table in the engine's memory: one row per token with n_used values of 32 bits. The
 * node that wrote it is complete, because its barrier has passed. Only the thread that called the
 * graph reads it, which is the first of the graph's threads. The products of one layer share one
 * selection, which is sent once.
 *
 * Global functions, as in graph.bpf.c: a prompt's selection is read in rounds of pieces.
 */
#include "include/maps.h"

enum { PIECES = 64, EXPERT_UNREADABLE = -2147483647 - 1 };

/* Reads `n` experts from position `at` into the record. The engine's own -1 means that the product is
 * skipped. */
static __noinline int read_experts(struct thread *t, __u32 at, __u32 n)
{
	struct event_experts *e = &t->out.experts;
	__u32 used = t->expert_used;
	__u64 row;

	for (__u32 k = 0; k < EXPERTS_MAX; k++) {
		if (k >= n || !used)
			break;
		row = t->expert_data + (at + k) / used * t->expert_stride;
		if (bpf_probe_read_user(&e->ids[k], sizeof(e->ids[k]), (void *)(row + (at + k) % used * 4ULL)))
			e->ids[k] = EXPERT_UNREADABLE;
	}
	return 0;
}

/* Sends the next piece of the selection. Returns 0 after the last one. */
__attribute__((noinline)) int expert_piece(__u64 id)
{
	struct thread *t = known_thread(id);
	struct event_experts *e;
	__u32 n, at;

	if (!t || t->expert_at >= t->expert_total)
		return 0;
	at = t->expert_at;
	n = t->expert_total - at;
	if (n > EXPERTS_MAX)
		n = EXPERTS_MAX;
	t->expert_at = at + n;
	e = &t->out.experts;
	head(&e->head, EVENT_EXPERTS, id, n);
	e->graph = t->cpu_start;
	e->node = t->op_node;
	e->first = at;
	e->n_used = t->expert_used;
	read_experts(t, at, n);
	if (bpf_ringbuf_output(&events, e, sizeof(*e), wakeup()))
		ADD(counters()->experts_ring_full, n);
	return 1;
}

__attribute__((noinline)) int expert_pieces(__u64 id)
{
	for (int k = 0; k < PIECES; k++)
		if (!expert_piece(id))
			return 0;
	return 1;
}

/* The ids tensor that the thread's node, a MUL_MAT_ID, uses; 0 if there is none. */
static __noinline __u64 find_ids(struct thread *t)
{
	const struct engine_config *g = config_of(t);
	__u64 *src = t->expert_src;

	bpf_probe_read_user(src, sizeof(t->expert_src), (void *)(t->op_node + g->src));
	/* The ids are the third source; before llama.cpp b2591 the first. */
	bpf_probe_read_user(&t->expert_type, sizeof(t->expert_type), (void *)(src[2] + g->type));
	if (src[2] && t->expert_type == g->index_type)
		return src[2];
	bpf_probe_read_user(&t->expert_type, sizeof(t->expert_type), (void *)(src[0] + g->type));
	return src[0] && t->expert_type == g->index_type ? src[0] : 0;
}

/* Sends the selection that the thread's node, a MUL_MAT_ID, uses, unless it was sent already. */
static __noinline int expert_selection(struct thread *t)
{
	const struct engine_config *g = config_of(t);
	struct counters *c = counters();
	__u64 *ne = t->expert_ne, ids = find_ids(t), total;

	if (!ids || (t->expert_ids == ids && t->expert_graph == t->cpu_start))
		return 0;
	t->expert_ids = ids;
	t->expert_graph = t->cpu_start;
	t->expert_data = t->expert_stride = ne[0] = 0;
	bpf_probe_read_user(ne, sizeof(t->expert_ne), (void *)(ids + g->ne));
	bpf_probe_read_user(&t->expert_stride, sizeof(t->expert_stride), (void *)(ids + g->nb + 8));
	bpf_probe_read_user(&t->expert_data, sizeof(t->expert_data), (void *)(ids + g->data));
	if (!ne[0] || !ne[1] || ne[0] > EXPERTS_ALL || ne[1] > EXPERTS_ALL)
		return 0;
	total = ne[0] * ne[1];
	ADD(c->experts_chosen, total);
	if (total > EXPERTS_ALL || !t->expert_data || ne[2] != 1 || ne[3] != 1) {
		ADD(c->experts_unreadable, total);
		return 0;
	}
	t->expert_used = ne[0];
	t->expert_total = total;
	t->expert_at = 0;
	for (int k = 0; k < PIECES; k++)
		if (!expert_pieces(t->id))
			break;
	return 0;
}

/* Every operator of a graph with experts passes here, so only its kind is read. */
static __noinline int expert_begin(struct thread *t)
{
	__u32 op = 0;

	bpf_probe_read_user(&op, sizeof(op), (void *)(t->op_node + t->cpu_op));
	return op == t->cpu_experts ? expert_selection(t) : 0;
}
