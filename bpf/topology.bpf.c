/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The topology of every graph that the agent does not know yet.
 *
 * It is read here and not by the agent, because the engine is stopped only here: the same memory
 * contains another graph a moment later.
 *
 *   structure_of ─▶ uid known? ─▶ done
 *        │ no
 *        ▼
 *   hash_nodes … over all nodes ─▶ topology known? ─▶ done
 *        │ no
 *        ▼
 *   send_slot … one record per node and per leaf
 *        │ the graph is large, or the ring buffer full
 *        ▼
 *   walks: goes on from there at the next hit
 *
 * The engine waits during a hit, and the agent must empty the ring buffer in between. So a large
 * graph is sent in parts, one per hit. Until its end mark, its calls have no topology.
 *
 * Global functions with scalar arguments: the verifier checks such a function once and not at every
 * call. So loops over thousands of nodes pass on Linux 5.10, which has no bpf_loop, and loading
 * takes milliseconds on a board. Nested loops are in separate functions.
 */
#include "include/maps.h"

/* A graph is walked in rounds of rounds. A node has eleven slots: ten sources and itself. */
enum { ROUND = 64, MAX_NODES = 16384 };
/* Nodes that one call of the function hashes, which saves lookups. */
enum { HASHED = 8 };
/* A larger graph is sent in parts. Smaller ones fit into an empty ring buffer of 2 MiB with their
 * leafs, and must arrive at the first hit: a prefill may be computed only once. */
enum { AT_ONCE = 4096 };
/* Longest time of a hit that sends a part, and shortest time for sending: on a slow CPU, hashing alone
 * takes longer than such a hit. */
enum { HIT_NS = 5000000, SEND_NS = 1000000 };
enum { HASH_ROUNDS = MAX_NODES / ROUND / HASHED, SEND_ROUNDS = MAX_NODES * (SOURCES + 1) / ROUND / ROUND };

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static __noinline int read_head(struct thread *t, __u64 node)
{
	const struct engine_config *g = config_of(t);
	struct tensor_head *h = &t->walk_head;

	if (g->ne == offsetof(struct tensor_head, ne) && g->op == offsetof(struct tensor_head, op) &&
	    g->src == offsetof(struct tensor_head, src)) {
		bpf_probe_read_user(h, sizeof(*h), (void *)node);
		return 0;
	}
	bpf_probe_read_user(h, offsetof(struct tensor_head, ne), (void *)node);
	bpf_probe_read_user(h->ne, sizeof(h->ne), (void *)(node + g->ne));
	bpf_probe_read_user(&h->op, sizeof(h->op), (void *)(node + g->op));
	bpf_probe_read_user(h->src, sizeof(h->src), (void *)(node + g->src));
	return 0;
}

/* Hashes the fields of a node that identify its graph. Not included: op_params (the offset in
 * the KV cache changes with every token) and data. The reads dominate the cost, some tens of ns
 * each: in engines without a uid this runs for every node of every graph. */
static __noinline int hash_node(struct thread *t, __u64 node)
{
	const struct engine_config *g = config_of(t);
	struct tensor_head *head = &t->walk_head;
	__u64 h = t->walk_hash;

	read_head(t, node);
	if (g->expert_op && head->op == g->expert_op)
		t->walk_experts = 1;
	if (g->rope_op && head->op == g->rope_op && !t->walk_positions)
		t->walk_positions = head->src[1];
	h = mix(h, node);
	h = mix(h, (__u64)head->op << 32 | head->type);
	h = mix(h, head->buffer);
	for (int j = 0; j < 4; j++)
		h = mix(h, head->ne[j]);
	for (int j = 0; j < SOURCES; j++)
		h = mix(h, head->src[j]);
	/* Type and buffer of the first source: they detect another model at recycled addresses.
	 * Those of the previous node are included already. */
	if (head->src[0] && head->src[0] != t->walk_before) {
		/* Overwrites the node's own strides, which are not hashed. */
		bpf_probe_read_user(head->nb, 2 * sizeof(*head->nb), (void *)head->src[0]);
		h = mix(h, head->nb[0] & 0xffffffff);
		h = mix(h, head->nb[1]);
	}
	t->walk_hash = h;
	t->walk_before = node;
	return 0;
}

/* Reads the addresses of the next WALK_LIST nodes, or of the remaining ones. */
static __noinline int read_list(struct thread *t)
{
	__u32 n = t->walk_n - t->walk_i;

	if (n > WALK_LIST)
		n = WALK_LIST;
	if (bpf_probe_read_user(t->walk_list, n * sizeof(*t->walk_list), (void *)(t->walk_nodes + 8ULL * t->walk_i)))
		t->walk_failed = WALK_UNREADABLE;
	return 0;
}

/* Hashes the next nodes. Returns 0 after the last one. */
__attribute__((noinline)) int hash_nodes(__u64 id)
{
	struct thread *t = known_thread(id);

	if (!t)
		return 0;
	for (int k = 0; k < HASHED; k++) {
		if (t->walk_i >= t->walk_n || t->walk_failed)
			return 0;
		if (t->walk_i % WALK_LIST == 0)
			read_list(t);
		hash_node(t, t->walk_list[t->walk_i % WALK_LIST]);
		t->walk_i++;
	}
	return 1;
}

__attribute__((noinline)) int hash_round(__u64 id)
{
	for (int k = 0; k < ROUND; k++)
		if (!hash_nodes(id))
			return 0;
	return 1;
}

/* Writes a tensor to the ring buffer. */
static __noinline int send_tensor(struct thread *t, __u64 address, __u32 index)
{
	struct event_tensor *e = &t->out.tensor;
	__u32 size = config_of(t)->tensor_size;

	if (size > TENSOR_MAX)
		size = TENSOR_MAX;
	head(&e->head, EVENT_TENSOR, t->id, index);
	e->topology = t->walk_topology;
	e->address = address;
	if (bpf_probe_read_user(e->raw, size, (void *)address))
		t->walk_failed = WALK_UNREADABLE;
	else if (bpf_ringbuf_output(&events, e, sizeof(*e), BPF_RB_NO_WAKEUP))
		t->walk_failed = WALK_RING_FULL;
	else
		t->walk_bytes += sizeof(*e);
	return 0;
}

/* Whether enough was sent in this hit. */
static __always_inline int part_ends(const struct thread *t)
{
	return t->walk_n > AT_ONCE && (t->walk_bytes >= 2 * wakeup_bytes || bpf_ktime_get_ns() >= t->walk_until);
}

/* Begins the next node: reads its sources. Returns 0 after the last one, and at the end of this
 * hit's part. */
static __noinline int begin_node(struct thread *t)
{
	__u64 *src = t->walk_head.src;

	if (t->walk_i >= t->walk_n || part_ends(t))
		return 0;
	if (bpf_probe_read_user(&t->walk_node, sizeof(t->walk_node), (void *)(t->walk_nodes + 8ULL * t->walk_i)) ||
	    bpf_probe_read_user(src, SOURCES * sizeof(*src), (void *)(t->walk_node + config_of(t)->src)))
		t->walk_failed = WALK_UNREADABLE;
	return !t->walk_failed;
}

/* Sends the next slot: a leaf at its first appearance, and a node after its sources. The nodes
 * among the sources were sent before, in the order of the graph. Returns 0 at the end.
 *
 * A walk goes on at the beginning of a node. Leafs of that node may have been sent already; they
 * are in `seen`. */
__attribute__((noinline)) int send_slot(__u64 id)
{
	struct thread *t = known_thread(id);
	struct seen_key *key;
	__u32 index = ~0U, slot;

	if (!t || t->walk_failed || (t->walk_slot == 0 && !begin_node(t)))
		return 0;
	key = &t->walk_seen;
	slot = t->walk_slot;
	for (int k = 0; k < SOURCES && slot < SOURCES && !t->walk_head.src[slot]; k++)
		slot++;
	t->walk_slot = slot + 1;
	if (slot < SOURCES) {
		key->address = t->walk_head.src[slot];
		if (bpf_map_lookup_elem(&seen, key))
			return 1;
	} else {
		key->address = t->walk_node;
		index = t->walk_i;
	}
	send_tensor(t, key->address, index);
	if (t->walk_failed)
		return 0;
	bpf_map_update_elem(&seen, key, &t->walk_one, BPF_ANY);
	if (index == ~0U) {
		t->walk_leafs++;
	} else {
		t->walk_slot = 0;
		t->walk_i++;
	}
	return 1;
}

__attribute__((noinline)) int send_round(__u64 id)
{
	for (int k = 0; k < ROUND; k++)
		if (!send_slot(id))
			return 0;
	return 1;
}

__attribute__((noinline)) int send_rounds(__u64 id)
{
	for (int k = 0; k < ROUND; k++)
		if (!send_round(id))
			return 0;
	return 1;
}

/* Writes the begin or end mark of a topology to the ring buffer. Returns 0 if there was no
 * space. */
static __noinline int send_mark(struct thread *t, __u32 kind)
{
	struct event_topology *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		t->walk_failed = WALK_RING_FULL;
		return 0;
	}
	head(&e->head, kind, t->id, t->walk_failed != 0);
	e->topology = t->walk_topology;
	e->n_nodes = t->walk_n;
	e->n_leafs = t->walk_leafs;
	/* Wake the agent at the end: it locates the weights while the engine has them. */
	bpf_ringbuf_submit(e, kind == EVENT_TOPOLOGY_END ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return 1;
}

/* Remembers where the walk goes on at the next hit. */
static __noinline int pause_walk(struct thread *t)
{
	t->walk_begun.id = t->walk_seen.walk;
	t->walk_begun.next = t->walk_i;
	t->walk_begun.leafs = t->walk_leafs;
	t->walk_begun.facts = t->walk_facts;
	bpf_map_update_elem(&walks, &t->walk_topology, &t->walk_begun, BPF_ANY);
	return 0;
}

/* Begins to send the topology with the key walk_topology. Returns 0 if there was no space. */
static __noinline int begin_structure(struct thread *t)
{
	t->walk_i = t->walk_leafs = 0;
	t->walk_seen.walk = bpf_ktime_get_ns();
	return send_mark(t, EVENT_TOPOLOGY);
}

/* Sends the topology with the key walk_topology, or its next part; walk_failed is set if it is
 * still incomplete. */
static __noinline int send_structure(struct thread *t)
{
	__u64 least;

	t->walk_slot = 0;
	t->walk_bytes = 0;
	least = bpf_ktime_get_ns() + SEND_NS;
	if (t->walk_until < least)
		t->walk_until = least;
	for (int i = 0; i < SEND_ROUNDS; i++)
		if (!send_rounds(t->id))
			break;
	if (!t->walk_failed && t->walk_i < t->walk_n)
		t->walk_failed = WALK_UNFINISHED;
	/* After a failed read the graph may be another one: the agent drops what it has. */
	if (!t->walk_failed || t->walk_failed == WALK_UNREADABLE)
		send_mark(t, EVENT_TOPOLOGY_END);
	if (t->walk_failed == WALK_UNFINISHED || t->walk_failed == WALK_RING_FULL)
		pause_walk(t);
	else
		bpf_map_delete_elem(&walks, &t->walk_topology);
	return 0;
}

/* Whether the agent has the topology with the key walk_topology; if so, sets walk_facts. */
static __noinline int is_held(struct thread *t)
{
	struct topology_facts *held = bpf_map_lookup_elem(&topologies, &t->walk_topology);

	if (!held)
		return 0;
	t->walk_facts = *held;
	/* An LRU map may give an element to another key at any time, even during the copy; in
	 * that case the second lookup differs. */
	return held == bpf_map_lookup_elem(&topologies, &t->walk_topology);
}

/* Whether some parts of the topology with the key walk_topology were sent; if so, sets walk_facts
 * and goes on after these parts. */
static __noinline int is_begun(struct thread *t)
{
	struct walk *begun = bpf_map_lookup_elem(&walks, &t->walk_topology);

	if (!begun)
		return 0;
	t->walk_begun = *begun;
	/* As in is_held. */
	if (begun != bpf_map_lookup_elem(&walks, &t->walk_topology))
		return 0;
	t->walk_seen.walk = t->walk_begun.id;
	t->walk_i = t->walk_begun.next;
	t->walk_leafs = t->walk_begun.leafs;
	t->walk_facts = t->walk_begun.facts;
	return 1;
}

/* Whether the key of the topology is known from the graph's uid; if so, sets walk_topology. */
static __noinline int has_uid(struct thread *t)
{
	__u64 *known;

	if (!t->walk_uid.uid)
		return 0;
	known = bpf_map_lookup_elem(&uids, &t->walk_uid);
	if (!known)
		return 0;
	t->walk_topology = *known;
	return known == bpf_map_lookup_elem(&uids, &t->walk_uid);
}

/* Finds the key of the topology from all nodes. */
static __noinline int hash_structure(struct thread *t)
{
	t->walk_i = 0;
	t->walk_hash = 0xcbf29ce484222325ULL ^ (t->id >> 32) ^ ((__u64)t->walk_n << 32);
	for (int i = 0; i < HASH_ROUNDS; i++)
		if (!hash_round(t->id))
			break;
	t->walk_topology = t->walk_hash ? t->walk_hash : 1;
	if (t->walk_uid.uid && !t->walk_failed)
		bpf_map_update_elem(&uids, &t->walk_uid, &t->walk_topology, BPF_ANY);
	return 0;
}

/* Starts a walk: reads the number and location of the nodes. */
static __noinline int begin_walk(struct thread *t, __u64 cgraph)
{
	const struct engine_config *g = config_of(t);

	t->walk_i = t->walk_n = t->walk_slot = t->walk_leafs = t->walk_failed = t->walk_experts = 0;
	t->walk_nodes = t->walk_positions = t->walk_before = t->walk_topology = 0;
	t->walk_uid.uid = 0;
	if (bpf_probe_read_user(&t->walk_n, sizeof(t->walk_n), (void *)(cgraph + g->n_nodes)) ||
	    bpf_probe_read_user(&t->walk_nodes, sizeof(t->walk_nodes), (void *)(cgraph + g->nodes)) ||
	    (g->uid && bpf_probe_read_user(&t->walk_uid.uid, sizeof(t->walk_uid.uid), (void *)(cgraph + g->uid))))
		t->walk_failed = WALK_UNREADABLE;
	if (t->walk_n > MAX_NODES)
		t->walk_failed = WALK_TOO_LARGE;
	t->walk_uid.nodes = t->walk_nodes;
	t->walk_uid.tgid = t->id >> 32;
	t->walk_uid.n = t->walk_n;
	return 0;
}

/* Sends the next part of the topology with the key walk_topology, whose facts are walk_experts and
 * walk_positions. */
static __always_inline int go_on(struct thread *t, int begun)
{
	if (!begun && !begin_structure(t))
		return 0;
	t->walk_facts.experts = t->walk_experts;
	t->walk_facts.positions = t->walk_positions;
	send_structure(t);
	if (!t->walk_failed)
		bpf_map_update_elem(&topologies, &t->walk_topology, &t->walk_facts, BPF_ANY);
	return 0;
}

/* Finds the key of the topology, and sends the topology if the agent does not have it. Returns 0
 * if it is unknown, because of walk_failed. */
static __always_inline __u64 find_topology(struct thread *t)
{
	int held = 0, begun = 0;

	t->walk_until = bpf_ktime_get_ns() + HIT_NS;
	if (has_uid(t)) {
		held = is_held(t);
		begun = !held && is_begun(t);
	}
	if (held || begun) {
		t->walk_experts = t->walk_facts.experts;
		t->walk_positions = t->walk_facts.positions;
	} else {
		hash_structure(t);
		if (t->walk_failed)
			return 0;
		held = is_held(t);
		begun = !held && is_begun(t);
	}
	if (!held)
		go_on(t, begun);
	return t->walk_failed ? 0 : t->walk_topology;
}

static __noinline __u64 structure_of(struct thread *t, __u64 cgraph)
{
	const struct engine_config *g = config_of(t);
	__u64 key;

	if (!g->layout || !g->read_topology) {
		t->walk_experts = t->walk_failed = 0;
		t->walk_positions = 0;
		return 0;
	}
	begin_walk(t, cgraph);
	if (!t->walk_n && !t->walk_failed)
		return 0;
	key = t->walk_failed ? 0 : find_topology(t);
	if (t->walk_failed == WALK_RING_FULL)
		COUNT(tensors_ring_full);
	else if (t->walk_failed == WALK_TOO_LARGE)
		COUNT(graphs_too_large);
	else if (t->walk_failed == WALK_UNREADABLE)
		COUNT(graphs_unreadable);
	return key;
}
