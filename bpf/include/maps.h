/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Maps: state that the programs keep between two hits. */
#ifndef PROFINFER_MAPS_H
#define PROFINFER_MAPS_H

#include "event.h"

/* One traced process, as configured by the agent. The programs only read it. */
struct engine_config {
	__u32 tgid; /* 0: free slot */
	__u32 pad;
	__u64 ops_from; /* operators are captured in calls that begin in this window, see capture.h */
	__u64 ops_until;
	__u32 hold; /* stop at the first llama_decode call or graph until the operators are attached */
	__u32 read_topology;
	/* Offsets, from the engine's own files; 0 in `layout` means that topologies cannot be
	 * read. */
	__u32 layout;
	__u32 tensor_size;
	__u32 ne;
	__u32 nb;
	__u32 op;
	__u32 src;
	__u32 type;
	__u32 data;
	__u32 n_nodes;
	__u32 nodes;
	__u32 uid;       /* 0: this engine's graphs have none */
	__u32 has_phase; /* params begin with the phase; only COMPUTE (1) counts */
	/* Numbers of operators and types. */
	__u32 expert_op;  /* MUL_MAT_ID; 0: experts are not read */
	__u32 rope_op;    /* ROPE; 0: positions are not read */
	__u32 index_type; /* i32, the type of ids and positions */
	__u32 ith; /* offset of the thread's index in the parameters of an operator */
};

/* State of the same process, written by the programs. The agent initializes it once, before the
 * process gets the slot. */
struct engine_state {
	__u64 cpu_graph; /* start_ns of the CPU graph being computed, 0 if none */
	__u64 split;     /* start_ns of the split that another backend computes, 0 if none */
	__u64 held;      /* it was stopped at its first llama_decode call or graph */
	__u64 cpu_skip;  /* the operators of that CPU graph are not captured */
	__u64 cpu_topology; /* its topology */
	__u64 calls; /* number of decode calls that have returned */
};

/* Nesting depth of calls of backends' functions: ggml_rk_compute_forward, ggml_rk_mul_mat,
 * compute_submat_mul, rknn_matmul_run. */
#define BACKEND_DEPTH 4

/* A running function of a backend, see backend.bpf.c. */
struct backend_call {
	__u64 start;
	__u64 tensor; /* its tensor argument, 0 if none */
	__u32 function; /* its slot */
	__u32 cpu;
};

/* The fields of llama.h, at the same offsets in every known release, b1660 (2023-12) to 0.7.0
 * (2026-10); until b3889 others follow. */
struct llama_batch {
	__s32 n_tokens;
	__u32 pad;
	__u64 token;
	__u64 embd;
	__u64 pos;    /* 32 bits per token, like the next */
	__u64 n_seq;
	__u64 seq;    /* an address per token, to n_seq values of 32 bits */
	__u64 outputs; /* a byte per token */
};

/* The fields of one token of a batch. */
struct part_of_token {
	__s32 pos;
	__s32 seq;
	__u32 n_seq;
	__u32 told; /* enum part_told */
	__u64 list; /* address of its sequences */
	__u32 output;
};

enum { SOURCES = 10, WALK_LIST = 64 };

/* A tensor up to its sources. Every ggml since 2024 has this layout, so that one read gets all
 * fields. */
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

struct uid_key {
	__u64 nodes;
	__u64 uid;
	__u32 tgid;
	__u32 n;
};

struct seen_key {
	__u64 address;
	__u64 walk; /* when the walk began */
};

/* Topologies that the agent has. The agent deletes those that it drops. */
struct topology_facts {
	__u64 positions; /* tensor of the batch's positions, 0 if there is none */
	__u32 experts;   /* the graph has a MUL_MAT_ID */
	__u32 pad;
};

/* A topology of which the agent has some parts. */
struct walk {
	__u64 id;     /* as in seen_key */
	__u32 next;   /* the node that is sent next */
	__u32 leafs;
	struct topology_facts facts;
};

/* One thread of a traced process. Also the place for the programs' variables that do not fit
 * into their stacks, see STACK_MAX. */
struct thread {
	/* Everything that each operator needs is adjacent: between two operators the engine's
	 * data evicts the cache, and each line is a miss. */
	__u64 id; /* pid_tgid */
	__u64 op_start;
	__u64 op_node; /* 0: no operator is running */
	__u64 op_last;
	__u32 op_cpu;
	__u32 op_filtered; /* a filter excludes the running operator */
	__u64 cpu_start; /* start_ns of the CPU graph that this thread called, 0 if none */
	__u64 cpu_topology;
	__u32 slot;        /* of its process, in engine_configs and engine_states */
	__u32 cpu_skip;    /* operators of that graph are not captured, see capture.h */
	__u32 cpu_experts; /* number of MUL_MAT_ID in that graph, and the offset of a node's operator */
	__u32 cpu_op;
	__u32 decode_depth;
	__u32 decode_skip; /* operators of the thread's running decode call are not captured */
	__u64 decode_start;
	__u64 decode_context;
	__u64 decode_batch;
	__s32 decode_tokens;
	__u32 decode_function;
	__u64 sched_start;
	/* Counters of the running operator, see counter.h. */
	__u32 counting; /* 1: on a CPU, 2: off */
	__u32 count_seq; /* how often the thread was switched out, in total */
	__u32 count_switches;
	__u32 count_missing;
	__u32 count_why;
	__u32 count_core;
	__u64 count_off; /* time in which the first event did not count */
	__u64 count_at[COUNTER_SLOTS];
	__u64 count_sum[COUNTER_SLOTS];
	/* Experts, see expert.bpf.c. */
	__u64 expert_ids;   /* tensor of the last selection sent, and its graph call */
	__u64 expert_graph;
	__u64 expert_data;
	__u64 expert_stride;
	__u64 expert_ne[4];
	__u64 expert_src[3];
	__u32 expert_used;
	__u32 expert_total;
	__u32 expert_at;
	__u32 expert_type;
	/* Other backends. */
	__u64 split; /* start_ns of the split that this thread gave to one, 0 if none */
	__u64 backend_depth;
	struct backend_call backend_calls[BACKEND_DEPTH];
	/* The batch of the decode call that begins, see part.bpf.c. */
	struct llama_batch batch;
	/* The batch that the thread fills by functions, see batch.bpf.c. */
	__u64 filled;    /* its address, 0 if none */
	__u64 filled_id; /* when it was cleared */
	__u32 filled_n;  /* number of its tokens */
	struct part_of_token filled_last; /* its last token */
	__u32 batch_at;
	__u32 batch_parts; /* number of parts sent */
	/* The part that is being read. */
	__u64 part_batch; /* of its batch, as in event_decode */
	__u32 part_first;
	__u32 part_n;
	__u32 part_told;
	__s32 part_seq;
	__u32 part_n_seq;
	__s32 part_pos;
	__u32 part_outputs;
	/* The last output that was taken: calls of the process by then, its context, its index, and how many
	 * outputs of that call were sent. */
	__u64 taken_calls;
	__u64 taken_context;
	__s32 taken_index;
	__u32 taken_n;
	/* Start of the running function of bpf/housekeeping.bpf.c, 0 if none. */
	__u64 housekeeping_start;
	/* Start of the running wait for the backends, 0 if none. Other functions of that file wait, too. */
	__u64 synchronize_start;
	/* Walk over a graph's nodes, see topology.bpf.c. */
	__u32 walk_n;
	__u32 walk_i;
	__u32 walk_leafs;
	__u32 walk_failed; /* enum walk_failure */
	__u32 walk_slot;
	__u32 walk_experts; /* the graph has a MUL_MAT_ID */
	__u32 walk_one;
	__u64 walk_positions; /* tensor of the batch's positions in the walked graph, 0 if none */
	__u64 walk_nodes;
	__u64 walk_topology;
	__u64 walk_hash;
	__u64 walk_before; /* the node hashed last */
	__u64 walk_node;
	struct uid_key walk_uid;
	struct seen_key walk_seen;
	struct topology_facts walk_facts;
	struct walk walk_begun;
	__u64 walk_bytes; /* sent in this hit */
	__u64 walk_until; /* when this hit's part ends, for a large graph */
	struct tensor_head walk_head;
	__u64 walk_list[WALK_LIST]; /* the next nodes */
	/* Records that need the engine's memory are built here and written to the ring buffer in
	 * one step. A record that is reserved but not submitted would block the ring buffer's
	 * reader for as long as its thread has no CPU. */
	union {
		struct event_graph graph;
		struct event_tensor tensor;
		struct event_experts experts;
	} out;
};

/* Totals per CPU, with the names of the wire's Loss record. */
struct counters {
	__u64 span_starts;
	__u64 span_ends;
	__u64 spans_ring_full;
	__u64 spans_no_start;
	__u64 spans_no_end;
	__u64 calls_ring_full;
	__u64 tensors_ring_full;
	__u64 no_state;
	/* As in the wire's ExpertLoss record. */
	__u64 experts_chosen;
	__u64 experts_ring_full;
	__u64 experts_unreadable;
	/* As in the wire's PartLoss record. */
	__u64 part_tokens;
	__u64 part_ring_full;
	__u64 part_unreadable;
	__u64 part_left_out;
	/* Hits of the programs of bpf/batch.bpf.c and bpf/edit.bpf.c. */
	__u64 batch_hits;
	/* As in the wire's CaptureLoss record. */
	__u64 spans_filtered;
	__u64 spans_gated;
	__u64 starts_gated;
	/* As in the wire's TraceLoss record. */
	__u64 spans_empty;
	__u64 graphs_too_large;
	__u64 graphs_unreadable;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024); /* the agent may choose another size before loading */
} events SEC(".maps");

/* Most processes traced at the same time. */
#define ENGINES 64

/* Slots of traced processes, by tgid. An entry is created once and deleted when its process has
 * ended; it never moves in between. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ENGINES);
	__type(key, __u32);
	__type(value, __u32);
} engine_slots SEC(".maps");

/* By slot, in memory that the agent maps. Not elements of a hash map: an update there moves the
 * value, and the old place may become another process's while a preempted program still reads
 * it. */
struct engine_config engine_configs[ENGINES] = {};
struct engine_state engine_states[ENGINES] = {};

/* Not an LRU map: it would give an element to another thread while a preempted program still
 * uses it. A thread's entry is deleted when the thread ends (process.bpf.c), which matters for
 * engines that create new threads for every graph. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64); /* address of the kernel's task, which sched_switch provides without a known layout */
	__type(value, struct thread);
} threads SEC(".maps");

/* Totals of nested calls, with the names of the wire's NestedLoss record. */
struct nested_counters {
	__u64 starts;
	__u64 ends;
	__u64 ring_full;
	__u64 no_start;
	__u64 no_end;
};

/* Totals of the scheduler level, with the names of the wire's SchedLoss record. */
struct sched_counters {
	__u64 switches;
	__u64 wakes;
	__u64 migrations;
	__u64 interrupts;
	__u64 switches_ring_full;
	__u64 wakes_ring_full;
	__u64 migrations_ring_full;
	__u64 interrupts_ring_full;
	__u64 threads_no_room;
};

/* Totals of the CPUs' use, with the names of the wire's CpuUseLoss record. */
struct cpu_use_counters {
	__u64 windows;
	__u64 windows_late;
	__u64 small_ns;
	__u64 switches_no_room;
};

/* Totals of one CPU, on separate cache lines. */
struct cpu_totals {
	struct counters ops;
	struct nested_counters nested;
	struct sched_counters sched;
	struct cpu_use_counters cpu_use;
} __attribute__((aligned(64)));

/* Memory that the agent maps, not maps that it reads by system call. While a process reads a map
 * with the bpf system call, no tracepoint program runs on its CPU, and before Linux 6.0 no
 * uprobe program (bpf_disable_instrumentation), even if the process is preempted in the middle.
 * Kernels before 6.7 do not count these misses. CPUs beyond this number share totals. */
#define TOTALS_CPUS 64
struct cpu_totals totals[TOTALS_CPUS] = {};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct topology_facts);
} topologies SEC(".maps");

/* Key of the topology by the uid of a graph: a reused graph needs no reading of its nodes. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct uid_key);
	__type(value, __u64);
} uids SEC(".maps");

/* Walks that go on at the next hit, by key of the topology. The agent deletes those that it drops. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, struct walk);
} walks SEC(".maps");

/* Tensors already sent in a walk, so that a leaf with several readers is sent once. A large graph has
 * more tensors than this map: the oldest are evicted, which hardly any later node reads. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct seen_key);
	__type(value, __u32);
} seen SEC(".maps");

/* Set before loading. A process in its own PID namespace sees other ids than the kernel's. */
const volatile __u64 pidns_dev = 0;
const volatile __u64 pidns_ino = 0;

/* Offsets of the ids that the kernel keeps for a task, one per PID namespace. Set before loading from
 * the kernel's BTF; upid_size is 0 if it is not known (agent-static/src/bpf/pid_layout.rs). */
struct pid_layout {
	__u32 thread_pid; /* in task_struct */
	__u32 group_leader;
	__u32 level; /* in pid */
	__u32 numbers;
	__u32 upid_size; /* of an element of numbers */
	__u32 nr; /* in upid */
	__u32 ns;
	__u32 inum; /* in pid_namespace */
};
const volatile struct pid_layout pid_layout = {};
#define PID_LEVELS 33 /* the kernel's MAX_PID_NS_LEVEL, and the initial namespace */

/* Set by the agent when a session ends. Probes are removed one after the other, and hits of the
 * last ones belong to calls whose end is no longer seen. */
volatile __u64 stopped = 0;

/* Bytes of stack that a function may use.
 *
 * Since Linux 6.13 (x86-64; arm64 later), a function of a uprobe or tracepoint program that uses
 * 49 bytes or more gets a per-CPU stack. Programs on uprobes can be preempted, so two tasks on
 * one CPU then write to the same stack, which has crashed kernels. So larger variables are in
 * the thread's state, and long functions are split with __noinline: the limit applies to each
 * function. agent-static/build.rs checks this object, and agent-static/src/bpf/verified.rs
 * checks the verifier's results. */
#define STACK_MAX 48

/* A value of kernel memory; 0 if it cannot be read. */
static __always_inline __u64 kernel_u64(__u64 at)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)at);
	return value;
}

static __always_inline __u32 kernel_u32(__u64 at)
{
	__u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)at);
	return value;
}

/* The place in `struct pid` of the ids in the agent's PID namespace; 0 if the task has none there.
 * The initial namespace, at level 0, is not that of this agent. */
static __noinline __u32 agents_upid(__u64 task)
{
	__u64 pid = kernel_u64(task + pid_layout.thread_pid);
	__u32 level = kernel_u32(pid + pid_layout.level);
	__u32 at = pid_layout.numbers;

	for (__u32 i = 1; i < PID_LEVELS && i <= level; i++) {
		__u64 ns;

		at += pid_layout.upid_size;
		ns = kernel_u64(pid + at + pid_layout.ns);
		if (kernel_u32(ns + pid_layout.inum) == (__u32)pidns_ino)
			return at;
	}
	return 0;
}

/* The helper knows only tasks of the namespace itself. This translates those of namespaces below. */
static __noinline __u64 pid_tgid_below(void)
{
	__u64 task = bpf_get_current_task();
	__u32 at = agents_upid(task);
	__u64 leader, pid, tgid;

	if (!at)
		return 0;
	leader = kernel_u64(task + pid_layout.group_leader);
	pid = kernel_u64(task + pid_layout.thread_pid);
	tgid = kernel_u64(leader + pid_layout.thread_pid);
	pid = kernel_u32(pid + at + pid_layout.nr);
	tgid = kernel_u32(tgid + at + pid_layout.nr);
	return tgid << 32 | pid;
}

static __noinline __u64 pid_tgid(void)
{
	struct bpf_pidns_info ns = {};

	if (!pidns_ino)
		return bpf_get_current_pid_tgid();
	if (!bpf_get_ns_current_pid_tgid(pidns_dev, pidns_ino, &ns, sizeof(ns)))
		return (__u64)ns.tgid << 32 | ns.pid;
	return pid_layout.upid_size ? pid_tgid_below() : 0;
}

/* The state of the calling thread, 0 if it has none. Compares the id, because an address may be
 * reused by another thread. */
static __noinline struct thread *known_thread(__u64 id)
{
	__u64 task = bpf_get_current_task();
	struct thread *t = bpf_map_lookup_elem(&threads, &task);

	return t && t->id == id ? t : 0;
}

static __always_inline struct cpu_totals *cpu_totals(void)
{
	return &totals[bpf_get_smp_processor_id() & (TOTALS_CPUS - 1)];
}

static __always_inline struct counters *counters(void)
{
	return &cpu_totals()->ops;
}

/* Newer kernels run programs on uprobes with preemption, and interrupts occur during other
 * programs: one CPU's total has several writers. */
#define ADD(total, n) ((void)__sync_fetch_and_add(&(total), (n)))

#define COUNT(field) \
	do { \
		ADD(counters()->field, 1); \
	} while (0)

/* The slot of a process; ENGINES if it is not traced. */
static __noinline __u32 slot_of(__u64 id)
{
	__u32 tgid = id >> 32;
	__u32 *slot = bpf_map_lookup_elem(&engine_slots, &tgid);

	return slot ? *slot : ENGINES;
}

static __always_inline const struct engine_config *engine_of(__u64 id)
{
	__u32 slot = slot_of(id);

	return slot < ENGINES ? &engine_configs[slot] : 0;
}

static __always_inline const struct engine_config *config_of(const struct thread *t)
{
	return &engine_configs[t->slot & (ENGINES - 1)];
}

static __always_inline struct engine_state *state_of(const struct thread *t)
{
	return &engine_states[t->slot & (ENGINES - 1)];
}

/* The scheduler level is on. Set before loading; if off, its maps and programs are not created. */
const volatile __u32 sched_on = 0;

/* sched.bpf.c */
static __noinline void sched_seen(__u64 id);

/* Too large for a program's stack. */
static const struct thread no_thread = {};

/* Creates the state of the calling thread, if its process is traced. */
static __noinline struct thread *new_thread(__u64 id)
{
	__u64 task = bpf_get_current_task();
	__u32 slot = slot_of(id);
	struct thread *t;

	if (slot >= ENGINES)
		return 0;
	if (bpf_map_update_elem(&threads, &task, &no_thread, BPF_ANY)) {
		COUNT(no_state);
		return 0;
	}
	t = bpf_map_lookup_elem(&threads, &task);
	if (!t)
		return 0;
	t->slot = slot;
	t->id = id;
	if (sched_on)
		sched_seen(id);
	return t;
}

/* The state of the calling thread, created for a new thread of a traced process. */
static __always_inline struct thread *thread_of(__u64 id)
{
	struct thread *t;

	if (stopped)
		return 0;
	t = known_thread(id);
	return t ? t : new_thread(id);
}

/* The agent polls the ring buffer by a timer; it is woken only if a quarter of it is full. */
const volatile __u64 wakeup_bytes = 256 * 1024;

/* Whether at most this many quarters of the ring wait for the agent. Events that explain the
 * engine's time have lower priority than the engine's own: a flood of interrupts, possibly of the
 * serial line that carries the stream, must not cost operators.
 */
static __always_inline int ring_below(__u64 quarters)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) <= quarters * wakeup_bytes;
}

static __always_inline __u64 wakeup(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > wakeup_bytes ? BPF_RB_FORCE_WAKEUP :
									      BPF_RB_NO_WAKEUP;
}

static __always_inline void head(struct event_head *h, __u32 kind, __u64 id, __u32 arg)
{
	h->kind = kind;
	h->tid = (__u32)id;
	h->tgid = id >> 32;
	h->arg = arg;
}

#endif
