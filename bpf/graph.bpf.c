/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Graph level: calls, and the topology of every graph that the agent does not know yet.
 *
 * The topology is read here and not by the agent, because only here the engine stands still: the same
 * memory holds another graph a moment later.
 *
 *   cpu_graph_enter ─▶ uid known? ─▶ done
 *        │ no
 *        ▼
 *   hash_nodes … over all nodes ─▶ topology known? ─▶ done
 *        │ no
 *        ▼
 *   send_slot … one record per node and per leaf
 *
 * They are global functions of scalars: the verifier looks at such a function once and not again at every
 * call, so that loops over thousands of nodes pass on Linux 5.10, which has no bpf_loop, and so that loading takes
 * milliseconds on a board: loops within loops, each in a function of its own.
 */
#include "include/capture.h"

/* wire's graph::layer */
enum { SCHEDULER = 0, BACKEND = 1 };

/* A graph is walked in rounds of rounds. A node has eleven slots: ten sources and itself. */
enum { ROUND = 64, SOURCES = 10, MAX_NODES = 8192 };
/* Nodes that are hashed in one function. All functions of a call share 512 bytes of stack, which older kernels count without the
 * fall of a function that has ended: of what leads to hash_node, 480 are used. */
enum { HASHED = 4 };
enum { HASH_ROUNDS = MAX_NODES / ROUND, SEND_ROUNDS = MAX_NODES * (SOURCES + 1) / ROUND / ROUND };

/* CPU_GUID: first four bytes of the CPU backend's GUID, whose graphs its own function reports: from llama.cpp b2717
 * on. It comes from boards/backends/cpu.toml, by agent-static/build.rs. */

static __always_inline int graph_event(__u64 id, __u32 kind, __u32 layer, __u64 backend, __u64 start, __u64 end,
				       __u64 topology, const struct engine_config *g, __u64 cgraph, __s32 n_past,
				       __u32 skipped)
{
	struct event_graph *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	__u64 nodes = 0, node = 0, ne1 = 0;
	__u32 n = 0, op = 0;

	if (!e) {
		COUNT(calls_ring_full);
		return 0;
	}
	if (cgraph && g->layout) {
		bpf_probe_read_user(&n, sizeof(n), (void *)(cgraph + g->n_nodes));
		bpf_probe_read_user(&nodes, sizeof(nodes), (void *)(cgraph + g->nodes));
		if (n && !bpf_probe_read_user(&node, sizeof(node), (void *)nodes)) {
			bpf_probe_read_user(&ne1, sizeof(ne1), (void *)(node + g->ne + 8));
			bpf_probe_read_user(&op, sizeof(op), (void *)(node + g->op));
		}
	}
	head(&e->head, kind, id, layer);
	e->start_ns = start;
	e->end_ns = end;
	e->topology = topology;
	e->first_ne1 = ne1;
	e->first_op = op;
	e->n_nodes = n;
	e->backend = backend;
	e->n_past = n_past;
	e->skipped = skipped;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The scheduler goes on: the split that this thread handed over to another backend is over, as the agent has it too. */
static __always_inline void end_split(struct thread *t, struct engine_state *s)
{
	if (s->split == t->split)
		s->split = 0;
	t->split = 0;
}

SEC("uprobe")
int scheduler_graph_enter(struct pt_regs *ctx)
{
	__u64 id = pid_tgid();
	struct thread *t = thread_of(id);
	const struct engine_config *g = engine_of(id);
	struct engine_state *s = engine_state_of(id);

	if (!t || !g || !s)
		return 0;
	hold(g, s, id);
	t->sched_start = bpf_ktime_get_ns();
	return graph_event(id, EVENT_GRAPH_START, SCHEDULER, 0, t->sched_start, 0, 0, g, PT_REGS_PARM2(ctx), -1, 0);
}

SEC("uretprobe")
int scheduler_graph_return(UNUSED struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 id = pid_tgid();
	struct thread *t = thread_of(id);
	const struct engine_config *g = engine_of(id);
	struct engine_state *s = engine_state_of(id);

	if (!t || !g || !s || !t->sched_start)
		return 0;
	graph_event(id, EVENT_GRAPH_END, SCHEDULER, 0, t->sched_start, now, 0, g, 0, -1, 0);
	t->sched_start = 0;
	end_split(t, s);
	return 0;
}

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* A tensor up to its sources. In every ggml since 2024 its fields lie here, so that one read has them all. */
struct tensor_head {
	__u32 type;
	__u32 flags;
	__u64 buffer;
	__u64 ne[4];
	__u64 nb[4];
	__u32 op;
	__u32 params[16];
	__u32 more;
	__u64 src[SOURCES];
};

static __always_inline void read_head(struct tensor_head *h, const struct engine_config *g, __u64 node)
{
	if (g->ne == offsetof(struct tensor_head, ne) && g->op == offsetof(struct tensor_head, op) &&
	    g->src == offsetof(struct tensor_head, src)) {
		bpf_probe_read_user(h, sizeof(*h), (void *)node);
		return;
	}
	bpf_probe_read_user(h, offsetof(struct tensor_head, ne), (void *)node);
	bpf_probe_read_user(h->ne, sizeof(h->ne), (void *)(node + g->ne));
	bpf_probe_read_user(&h->op, sizeof(h->op), (void *)(node + g->op));
	bpf_probe_read_user(h->src, sizeof(h->src), (void *)(node + g->src));
}

/* Hashes what of a node makes its graph another one. Not: op_params (the offset in the KV cache moves with every token) and data. A
 * read is what costs here, some tens of ns each: in engines without a uid this runs for every node of every graph. */
static __noinline __u64 hash_node(struct thread *t, const struct engine_config *g, __u64 h, __u64 before, __u64 node)
{
	struct tensor_head head;
	/* On a stack of 512 bytes for all: what was read before is in the hash already. */
	__u64 *src = head.src, *first = head.nb;

	read_head(&head, g, node);
	if (g->expert_op && head.op == g->expert_op)
		t->walk_experts = 1;
	if (g->rope_op && head.op == g->rope_op && !t->walk_positions)
		t->walk_positions = src[1];
	h = mix(h, node);
	h = mix(h, (__u64)head.op << 32 | head.type);
	h = mix(h, head.buffer);
	for (int j = 0; j < 4; j++)
		h = mix(h, head.ne[j]);
	for (int j = 0; j < SOURCES; j++)
		h = mix(h, src[j]);
	/* Type and buffer of the first source: another model at recycled addresses. Those of the node before are in already. */
	if (src[0] && src[0] != before) {
		bpf_probe_read_user(first, 2 * sizeof(*first), (void *)src[0]);
		h = mix(h, first[0] & 0xffffffff);
		h = mix(h, first[1]);
	}
	return h;
}

/* The next nodes. Returns 0 after the last one. */
__attribute__((noinline)) int hash_nodes(__u64 id)
{
	struct thread *t = known_thread(id);
	const struct engine_config *g = engine_of(id);
	__u64 nodes[HASHED], before, h;
	__u32 n;

	if (!t || !g || t->walk_i >= t->walk_n)
		return 0;
	n = t->walk_n - t->walk_i;
	h = t->walk_hash;
	before = t->walk_before;
	if (n > HASHED)
		n = HASHED;
	/* What is read behind the last node is not used; where nothing lies there, one is read after the other. */
	if (bpf_probe_read_user(nodes, sizeof(nodes), (void *)(t->walk_nodes + 8ULL * t->walk_i))) {
		bpf_probe_read_user(nodes, sizeof(*nodes), (void *)(t->walk_nodes + 8ULL * t->walk_i));
		n = 1;
	}
#define HASH(k) \
	do { \
		if (n > (k)) { \
			h = hash_node(t, g, h, before, nodes[k]); \
			before = nodes[k]; \
		} \
	} while (0)
	/* By hand: a variable offset in the stack is none that the verifier lets be read. */
	HASH(0);
	HASH(1);
	HASH(2);
	HASH(3);
#undef HASH
	t->walk_hash = h;
	t->walk_before = before;
	t->walk_i += n;
	return t->walk_i < t->walk_n;
}

__attribute__((noinline)) int hash_round(__u64 id)
{
	for (int k = 0; k < ROUND; k++)
		if (!hash_nodes(id))
			return 0;
	return 1;
}

/* Sends the next slot: a leaf is sent when it is first met, and after a node's sources the node itself. The
 * nodes among the sources were sent before, in the order of the graph. Returns 0 when there is no more to send. */
__attribute__((noinline)) int send_slot(__u64 id)
{
	__u32 size, one = 1, index = ~0U;
	struct thread *t = known_thread(id);
	const struct engine_config *g = engine_of(id);
	struct seen_key key = {};
	__u64 node = 0, address = 0;
	struct event_tensor *e;

	if (!t || !g || t->walk_i >= t->walk_n || t->walk_failed > 1)
		return 0;
	key.walk = t->walk_hash;
	if (bpf_probe_read_user(&node, sizeof(node), (void *)(t->walk_nodes + 8ULL * t->walk_i)))
		t->walk_failed = 2;
	if (t->walk_slot < SOURCES) {
		if (bpf_probe_read_user(&address, sizeof(address), (void *)(node + g->src + 8ULL * t->walk_slot)))
			t->walk_failed = 2;
		t->walk_slot++;
		key.address = address;
		if (!address || bpf_map_lookup_elem(&seen, &key))
			return 1;
		t->walk_leafs++;
	} else {
		address = node;
		index = t->walk_i;
		t->walk_slot = 0;
		t->walk_i++;
	}
	key.address = address;
	bpf_map_update_elem(&seen, &key, &one, BPF_ANY);
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		t->walk_failed = 2;
		return 0;
	}
	head(&e->head, EVENT_TENSOR, id, index);
	e->topology = t->walk_topology;
	e->address = address;
	size = g->tensor_size;
	if (size > TENSOR_MAX)
		size = TENSOR_MAX;
	if (bpf_probe_read_user(e->raw, size, (void *)address))
		t->walk_failed = 2;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return t->walk_i < t->walk_n;
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

/* Sends the topology of walk_topology; walk_failed says whether it is whole. */
static __always_inline void send_structure(struct thread *t, __u64 id)
{
	struct event_topology *e;

	t->walk_i = 0;
	t->walk_hash = bpf_ktime_get_ns(); /* names this walk in `seen` */
	t->walk_failed = 2;
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e)
		return;
	head(&e->head, EVENT_TOPOLOGY, id, 0);
	e->topology = t->walk_topology;
	e->n_nodes = t->walk_n;
	e->n_leafs = 0;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	t->walk_failed = 1;
	for (int i = 0; i < SEND_ROUNDS; i++)
		if (!send_rounds(id))
			break;
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e)
		return;
	t->walk_failed = t->walk_failed > 1 || t->walk_i < t->walk_n;
	head(&e->head, EVENT_TOPOLOGY_END, id, t->walk_failed);
	e->topology = t->walk_topology;
	e->n_nodes = t->walk_n;
	e->n_leafs = t->walk_leafs;
	/* At once: the agent looks where the weights lie while the engine has them. */
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

/* Finds the key of the topology, and sends the topology when the agent does not have it. 0: unknown. */
static __always_inline __u64 structure_of(struct thread *t, const struct engine_config *g, __u64 id, __u64 cgraph)
{
	struct uid_key key = {};
	__u64 *known, hash;
	struct topology_facts *held, facts = {};

	if (!g->layout || !g->read_topology)
		return 0;
	t->walk_i = t->walk_n = t->walk_slot = t->walk_leafs = t->walk_failed = t->walk_experts = 0;
	t->walk_nodes = t->walk_uid = t->walk_positions = t->walk_before = 0;
	bpf_probe_read_user(&t->walk_n, sizeof(t->walk_n), (void *)(cgraph + g->n_nodes));
	bpf_probe_read_user(&t->walk_nodes, sizeof(t->walk_nodes), (void *)(cgraph + g->nodes));
	if (!t->walk_n)
		return 0;
	if (t->walk_n > MAX_NODES) {
		COUNT(tensors_ring_full);
		return 0;
	}
	if (g->uid)
		bpf_probe_read_user(&t->walk_uid, sizeof(t->walk_uid), (void *)(cgraph + g->uid));
	key.nodes = t->walk_nodes;
	key.uid = t->walk_uid;
	key.tgid = id >> 32;
	key.n = t->walk_n;
	if (t->walk_uid) {
		known = bpf_map_lookup_elem(&uids, &key);
		held = known ? bpf_map_lookup_elem(&topologies, known) : 0;
		if (held) {
			t->walk_experts = held->experts;
			t->walk_positions = held->positions;
			return *known;
		}
	}
	t->walk_hash = 0xcbf29ce484222325ULL ^ (id >> 32) ^ ((__u64)t->walk_n << 32);
	for (int i = 0; i < HASH_ROUNDS; i++)
		if (!hash_round(id))
			break;
	hash = t->walk_hash ? t->walk_hash : 1;
	if (!bpf_map_lookup_elem(&topologies, &hash)) {
		t->walk_topology = hash;
		send_structure(t, id);
		if (t->walk_failed) {
			COUNT(tensors_ring_full);
			return 0;
		}
		facts.experts = t->walk_experts;
		facts.positions = t->walk_positions;
		bpf_map_update_elem(&topologies, &hash, &facts, BPF_ANY);
	}
	if (t->walk_uid)
		bpf_map_update_elem(&uids, &key, &hash, BPF_ANY);
	return hash;
}

/* How many tokens are in the context already: the position of the batch's first one, which the rotary embedding reads. The inputs of
 * a graph are set before it is computed. */
static __always_inline __s32 past_of(struct thread *t, const struct engine_config *g)
{
	__u32 type = 0;
	__u64 data = 0;
	__s32 first = -1;

	if (!t->cpu_topology || !t->walk_positions)
		return -1;
	bpf_probe_read_user(&type, sizeof(type), (void *)(t->walk_positions + g->type));
	bpf_probe_read_user(&data, sizeof(data), (void *)(t->walk_positions + g->data));
	if (type != g->index_type || !data || bpf_probe_read_user(&first, sizeof(first), (void *)data))
		return -1;
	return first;
}

SEC("uprobe")
int cpu_graph_enter(struct pt_regs *ctx)
{
	__u64 id = pid_tgid();
	__u64 cgraph = PT_REGS_PARM1(ctx);
	struct thread *t = thread_of(id);
	const struct engine_config *g = engine_of(id);
	struct engine_state *s = engine_state_of(id);
	__s32 n_past;

	if (!t || !g || !s)
		return 0;
	hold(g, s, id);
	end_split(t, s);
	t->cpu_topology = structure_of(t, g, id, cgraph);
	t->cpu_experts = t->cpu_topology && t->walk_experts ? g->expert_op : 0;
	t->cpu_op = g->op;
	n_past = past_of(t, g);
	/* The nodes were read with the engine standing still: the call's time begins now. */
	t->cpu_start = bpf_ktime_get_ns();
	t->cpu_skip = t->decode_depth ? t->decode_skip : skips(id, t->cpu_start);
	if (t->cpu_skip)
		t->cpu_experts = 0;
	s->cpu_skip = t->cpu_skip;
	s->cpu_topology = t->cpu_topology;
	s->cpu_graph = t->cpu_start;
	return graph_event(id, EVENT_GRAPH_START, BACKEND, 0, t->cpu_start, 0, t->cpu_topology, g, cgraph, n_past,
			   t->cpu_skip);
}

SEC("uretprobe")
int cpu_graph_return(UNUSED struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 id = pid_tgid();
	struct thread *t = thread_of(id);
	const struct engine_config *g = engine_of(id);
	struct engine_state *s = engine_state_of(id);

	if (!t || !g || !s || !t->cpu_start)
		return 0;
	graph_event(id, EVENT_GRAPH_END, BACKEND, 0, t->cpu_start, now, t->cpu_topology, g, 0, -1, t->cpu_skip);
	if (s->cpu_graph == t->cpu_start)
		s->cpu_graph = 0;
	t->cpu_start = 0;
	return 0;
}

/* ggml_backend_graph_compute_async(backend, cgraph): the scheduler hands a split of a graph to a backend. Its return is not
 * probed: a backend with a processor of its own returns when it has its work. The split ends where the scheduler
 * goes on. */
SEC("uprobe")
int backend_graph_enter(struct pt_regs *ctx)
{
	__u64 id = pid_tgid();
	__u64 guid = 0, backend = 0, topology, cgraph = PT_REGS_PARM2(ctx);
	struct thread *t = thread_of(id);
	const struct engine_config *g = engine_of(id);
	struct engine_state *s = engine_state_of(id);

	if (!t || !g || !s)
		return 0;
	bpf_probe_read_user(&guid, sizeof(guid), (void *)PT_REGS_PARM1(ctx));
	bpf_probe_read_user(&backend, sizeof(backend), (void *)guid);
	if (!backend || (__u32)backend == CPU_GUID)
		return 0;
	topology = structure_of(t, g, id, cgraph);
	t->split = bpf_ktime_get_ns();
	s->split = t->split;
	return graph_event(id, EVENT_GRAPH_START, BACKEND, backend, t->split, 0, topology, g, cgraph, -1, 0);
}
