/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Graph level: calls. topology.bpf.c reads the structure of graphs. */
#include "include/capture.h"
#include "topology.bpf.c"

/* wire's graph::layer */
enum { SCHEDULER = 0, BACKEND = 1 };

/* CPU_GUID: first four bytes of the CPU backend's GUID. Its graphs are reported by the CPU's own
 * function, since llama.cpp b2717. agent-static/build.rs takes it from boards/backends/cpu.toml. */

/* Starts the record of a call; the callers set the other fields. */
static __noinline struct event_graph *graph_record(struct thread *t, __u32 kind, __u32 layer)
{
	struct event_graph *e = &t->out.graph;

	__builtin_memset(e, 0, sizeof(*e));
	head(&e->head, kind, t->id, layer);
	e->n_past = -1;
	return e;
}

static __noinline int send_graph(struct thread *t)
{
	/* Before the next part of a topology, the agent must read this one. */
	__u64 flags = t->out.graph.unknown == WALK_UNFINISHED ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;

	if (bpf_ringbuf_output(&events, &t->out.graph, sizeof(t->out.graph), flags))
		COUNT(calls_ring_full);
	return 0;
}

/* Reads the size of a graph, and the fields of its first node that show the number of tokens. */
static __noinline int read_graph(struct thread *t, __u64 cgraph)
{
	const struct engine_config *g = config_of(t);
	struct event_graph *e = &t->out.graph;

	if (!g->layout)
		return 0;
	bpf_probe_read_user(&e->n_nodes, sizeof(e->n_nodes), (void *)(cgraph + g->n_nodes));
	bpf_probe_read_user(&t->walk_nodes, sizeof(t->walk_nodes), (void *)(cgraph + g->nodes));
	if (e->n_nodes && !bpf_probe_read_user(&t->walk_node, sizeof(t->walk_node), (void *)t->walk_nodes)) {
		bpf_probe_read_user(&e->first_ne1, sizeof(e->first_ne1), (void *)(t->walk_node + g->ne + 8));
		bpf_probe_read_user(&e->first_op, sizeof(e->first_op), (void *)(t->walk_node + g->op));
	}
	return 0;
}

/* The scheduler continues: the split that this thread gave to another backend has ended. The
 * agent does the same. */
static __always_inline void end_split(struct thread *t, struct engine_state *s)
{
	if (s->split == t->split)
		s->split = 0;
	t->split = 0;
}

SEC("uprobe")
int scheduler_graph_enter(struct pt_regs *ctx)
{
	struct thread *t = thread_of(pid_tgid());
	struct event_graph *e;

	if (!t)
		return 0;
	hold(t);
	t->sched_start = bpf_ktime_get_ns();
	e = graph_record(t, EVENT_GRAPH_START, SCHEDULER);
	e->start_ns = t->sched_start;
	read_graph(t, PT_REGS_PARM2(ctx));
	return send_graph(t);
}

SEC("uretprobe")
int scheduler_graph_return(UNUSED struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread *t = thread_of(pid_tgid());
	struct event_graph *e;

	if (!t || !t->sched_start)
		return 0;
	e = graph_record(t, EVENT_GRAPH_END, SCHEDULER);
	e->start_ns = t->sched_start;
	e->end_ns = now;
	send_graph(t);
	t->sched_start = 0;
	end_split(t, state_of(t));
	return 0;
}

/* Number of tokens already in the context: the position of the batch's first token, which the
 * rotary embedding reads. A graph's inputs are set before it is computed. */
static __noinline __s32 past_of(const struct thread *t)
{
	const struct engine_config *g = config_of(t);
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

/* Reads the graph while the engine is stopped here, then starts the call's time. */
static __always_inline int begin_cpu_graph(struct thread *t, __u64 cgraph)
{
	const struct engine_config *g = config_of(t);
	struct engine_state *s = state_of(t);

	t->cpu_topology = structure_of(t, cgraph);
	t->cpu_experts = t->cpu_topology && t->walk_experts ? g->expert_op : 0;
	t->cpu_op = g->op;
	graph_record(t, EVENT_GRAPH_START, BACKEND);
	read_graph(t, cgraph);
	t->out.graph.n_past = past_of(t);
	t->cpu_start = bpf_ktime_get_ns();
	t->cpu_skip = t->decode_depth ? t->decode_skip : skips(g, t->cpu_start);
	if (t->cpu_skip)
		t->cpu_experts = 0;
	s->cpu_skip = t->cpu_skip;
	s->cpu_topology = t->cpu_topology;
	s->cpu_graph = t->cpu_start;
	return 0;
}

SEC("uprobe")
int cpu_graph_enter(struct pt_regs *ctx)
{
	struct thread *t = thread_of(pid_tgid());
	struct event_graph *e;

	if (!t)
		return 0;
	hold(t);
	end_split(t, state_of(t));
	begin_cpu_graph(t, PT_REGS_PARM1(ctx));
	e = &t->out.graph;
	e->start_ns = t->cpu_start;
	e->topology = t->cpu_topology;
	e->unknown = t->walk_failed;
	e->skipped = t->cpu_skip;
	return send_graph(t);
}

SEC("uretprobe")
int cpu_graph_return(UNUSED struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread *t = thread_of(pid_tgid());
	struct engine_state *s;
	struct event_graph *e;

	if (!t || !t->cpu_start)
		return 0;
	e = graph_record(t, EVENT_GRAPH_END, BACKEND);
	e->start_ns = t->cpu_start;
	e->end_ns = now;
	e->topology = t->cpu_topology;
	e->skipped = t->cpu_skip;
	send_graph(t);
	s = state_of(t);
	if (s->cpu_graph == t->cpu_start)
		s->cpu_graph = 0;
	t->cpu_start = 0;
	return 0;
}

/* First bytes of a backend's GUID. */
static __noinline __u64 backend_of(__u64 backend)
{
	__u64 guid = 0, first = 0;

	bpf_probe_read_user(&guid, sizeof(guid), (void *)backend);
	bpf_probe_read_user(&first, sizeof(first), (void *)guid);
	return first;
}

/* ggml_backend_graph_compute_async(backend, cgraph): the scheduler gives a split of a graph to a
 * backend. The return is not probed, because a backend with a separate processor returns before
 * the work is done. The split ends when the scheduler continues. */
SEC("uprobe")
int backend_graph_enter(struct pt_regs *ctx)
{
	__u64 backend = backend_of(PT_REGS_PARM1(ctx)), topology;
	struct thread *t;
	struct event_graph *e;

	if (!backend || (__u32)backend == CPU_GUID)
		return 0;
	t = thread_of(pid_tgid());
	if (!t)
		return 0;
	topology = structure_of(t, PT_REGS_PARM2(ctx));
	e = graph_record(t, EVENT_GRAPH_START, BACKEND);
	read_graph(t, PT_REGS_PARM2(ctx));
	t->split = bpf_ktime_get_ns();
	state_of(t)->split = t->split;
	e->start_ns = t->split;
	e->topology = topology;
	e->unknown = t->walk_failed;
	e->backend = backend;
	return send_graph(t);
}
