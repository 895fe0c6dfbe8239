/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Ring-buffer records, private to these programs and the agent.
 *
 * The agent gets them through the skeleton that is generated from these declarations. It reads
 * every field by name, see struct generated at the end.
 */
#ifndef PROFINFER_EVENT_H
#define PROFINFER_EVENT_H

#include "portable.h"

/* First field of every record. */
enum event_kind {
	EVENT_EXEC = 1,
	EVENT_HOLD = 2,
	EVENT_DECODE_START = 3,
	EVENT_DECODE_END = 4,
	EVENT_GRAPH_START = 5,
	EVENT_GRAPH_END = 6,
	EVENT_TOPOLOGY = 7,
	EVENT_TENSOR = 8,
	EVENT_TOPOLOGY_END = 9,
	EVENT_OP = 10,
	EVENT_OP_COUNTED = 11,
	EVENT_EXPERTS = 12,
	EVENT_PART = 13,
	EVENT_EDIT = 14,
	EVENT_TAKEN = 15,
	EVENT_HOUSEKEEPING = 16,
	EVENT_LOADING = 19,
	EVENT_NESTED = 20,
	EVENT_SWITCH = 30,
	EVENT_WAKE = 31,
	EVENT_MIGRATION = 32,
	EVENT_GAP = 33,
	EVENT_INTERRUPT = 34,
	EVENT_SEEN = 35,
	EVENT_CPU_USE = 36,
};

enum limit {
	/* The longest known struct ggml_tensor has 368 bytes (llama.cpp b1660). */
	TENSOR_MAX = 384,
	/* Experts in one record, and most of one selection: 4096 tokens of 64. */
	EXPERTS_MAX = 64,
	EXPERTS_ALL = 262144,
	/* Hardware counters of one core (a cycle counter and six others), and software counters. */
	COUNTER_SLOTS = 10,
	COUNTER_CPUS = 64,
	/* Functions of backends that may be probed. */
	BACKEND_SLOTS = 12,
	/* A backend's function without a tensor argument. */
	NO_TENSOR = 255,
	/* Size of a task's name in the kernel. */
	TASK_COMM = 16,
	/* CPUs for which waiting threads are counted, and whose use is recorded. */
	SCHED_CPUS = 256,
	/* Tasks that are distinguished in one window of a CPU's use. */
	CPU_USE_TASKS = 7,
	/* Windows are not sent if tasks other than the engine had the CPU for less, ns. */
	CPU_USE_LEAST = 50000,
};

/* Why the hardware counters of an operator are absent. The agent asserts that these equal the
 * wire's counter::why. */
enum count_why {
	COUNT_UNREAD = 1,      /* the kernel did not read them */
	COUNT_MIXED = 2,       /* the thread moved to a core of another type */
	COUNT_MULTIPLEXED = 4, /* they did not count all the time: another program uses the counters too */
	COUNT_TORN = 8,        /* the thread was preempted while they were read */
};

/* Which arrays a batch provides for its tokens. Without an array, the engine decides. */
enum part_told {
	PART_SEQ = 1,
	PART_POS = 2,
	PART_OUTPUTS = 4,
	PART_SAME = 8, /* all tokens of the part have the same position, as for an image */
};

/* Why the topology of a graph is unknown. */
enum walk_failure {
	WALK_RING_FULL = 1,  /* no space for its tensors */
	WALK_TOO_LARGE = 2,  /* it has too many nodes to walk */
	WALK_UNREADABLE = 3, /* some of its memory could not be read */
	WALK_UNFINISHED = 4, /* it is large: the rest of its tensors follows at its next calls */
};

struct event_head {
	__u32 kind;
	__u32 tid;
	__u32 tgid;
	__u32 arg;
};

/* EXEC: a process called exec. HOLD: a held process reached its first llama_decode call or
 * graph. */
struct event_process {
	struct event_head head;
	__u64 at_ns;
	char comm[16];
};

/* LOADING: a function of the loader begins or ends; head.arg is wire's start_up::moment. Uses
 * struct event_wake. */

/* DECODE_START, DECODE_END; head.arg is the function (wire's token::function). */
struct event_decode {
	struct event_head head;
	__u64 start_ns;
	__u64 end_ns;   /* 0 in DECODE_START */
	__u64 context;
	__u64 batch;    /* together with the thread, the key of its batch; 0 if it cannot be read */
	__s32 n_tokens; /* -1: not readable from the arguments */
	__s32 status;
};

/* GRAPH_START, GRAPH_END; head.arg is the layer (wire's graph::layer). */
struct event_graph {
	struct event_head head;
	__u64 start_ns; /* together with the thread, the key of the call */
	__u64 end_ns;   /* 0 in GRAPH_START */
	__u64 topology;    /* key of the topology, 0 if it was not read */
	__u64 first_ne1; /* ne[1] of the first node */
	__u32 first_op;  /* operator number of the first node */
	__u32 n_nodes;
	__u64 backend;   /* first bytes of the backend's GUID, 0 for the CPU's own function */
	__s32 n_past;    /* position of the batch's first token, -1 if unknown */
	__u32 skipped;   /* 1: the operators of the call are not captured */
	__u32 unknown;   /* why the topology is unknown, enum walk_failure; 0: known, or not requested */
	__u32 pad;
};

/* TOPOLOGY: a topology follows, possibly in several hits. TOPOLOGY_END: it is complete (head.arg 0)
 * or not (1). */
struct event_topology {
	struct event_head head;
	__u64 topology;
	__u32 n_nodes;
	__u32 n_leafs; /* in TOPOLOGY_END */
};

/* TENSOR: head.arg is the node's index, or ~0 for a leaf. A leaf may come again, and a node may also
 * come as a leaf. */
struct event_tensor {
	struct event_head head;
	__u64 topology;
	__u64 address;
	__u8 raw[TENSOR_MAX];
};

/* OP: one operator on one thread. */
struct event_op {
	struct event_head head; /* arg: CPU at start in the low half, at end in the high half */
	__u64 start_ns;
	__u64 end_ns;
	__u64 node;
	__u64 last;  /* last node of a fused kernel, or equal to node */
	__u64 graph; /* start_ns of the CPU graph call, 0 if unknown */
};

/* OP_COUNTED: the same, with the thread's counts. */
struct event_op_counted {
	struct event_op op;
	__u32 switches; /* how often the thread was switched out */
	__u16 missing;  /* bit mask of slots that could not be read */
	__u16 why;      /* why the hardware counters are absent, enum count_why; 0: present */
	__u64 counts[COUNTER_SLOTS];
};

/* NESTED: one call of a backend's function inside an operator. */
struct event_nested {
	struct event_head head; /* arg: the function's slot in the low half, the nesting depth in the high half */
	__u64 start_ns;
	__u64 end_ns;
	__u64 node;  /* of the operator that the thread runs, or else the tensor argument; 0: none */
	__u64 graph; /* start_ns of the graph call */
};

/* PART: consecutive tokens of one sequence in a batch; head.arg: what the batch provides, enum
 * part_told. Comes after the DECODE_START of its batch, or before it if the engine fills batches by
 * functions. */
struct event_part {
	struct event_head head;
	__u64 batch;   /* as in event_decode */
	__u32 first;   /* index of the first token in the batch */
	__u32 n;
	__s32 seq;     /* first sequence of each token */
	__u32 n_seq;   /* number of sequences of each token */
	__s32 pos;     /* position of the first token; the others are consecutive, or equal with PART_SAME */
	__u32 outputs; /* tokens with requested output */
};

/* EDIT: the engine edits the memory of a context; head.arg is wire's edit::kind. Negative: all sequences,
 * from the first position, to the last one. */
struct event_edit {
	struct event_head head;
	__u64 at_ns;
	__u64 memory; /* of older engines, the context itself */
	__s32 seq;
	__s32 from;
	__s32 to;
	__s32 target; /* the sequence that gets a copy */
};

/* TAKEN: the engine takes an output of the context's last call. */
struct event_taken {
	struct event_head head;
	__u64 context;
};

/* HOUSEKEEPING: the engine copied the state of a sequence, or allocated the memory of a graph; head.arg is
 * wire's housekeeping::kind. */
struct event_housekeeping {
	struct event_head head;
	__u64 start_ns;
	__u64 end_ns;
	__u64 bytes; /* copied */
};

/* EXPERTS: a consecutive range of a router's selection; head.arg is the number of experts. */
struct event_experts {
	struct event_head head;
	__u64 graph;  /* start_ns of the CPU graph call */
	__u64 node;   /* the MUL_MAT_ID */
	__u32 first;  /* position: token * n_used + rank */
	__u32 n_used;
	__s32 ids[EXPERTS_MAX]; /* EXPERT_UNREADABLE: not readable */
};

/* SWITCH: head.arg is the CPU. */
struct event_switch {
	struct event_head head;
	__u64 at_ns;
	__u64 state; /* prev_state of the tracepoint */
	__u32 prev;  /* thread id: for an engine's thread as the agent knows it, otherwise the kernel's */
	__u32 next;
	__u32 prev_tgid; /* process of an engine's thread, or 0 */
	__u32 next_tgid;
	char prev_comm[TASK_COMM]; /* for other tasks; not set for the idle task */
	char next_comm[TASK_COMM];
};

/* WAKE, MIGRATION: head.tid waits to run on the CPU head.arg. SEEN: it was running there. */
struct event_wake {
	struct event_head head;
	__u64 at_ns;
};

/* GAP: events of the CPU head.arg were lost in this time. */
struct event_gap {
	struct event_head head;
	__u64 from_ns;
	__u64 to_ns;
};

/* INTERRUPT: head.arg is the CPU, with bit 16 set for a softirq. */
struct event_interrupt {
	struct event_head head;
	__u64 start_ns;
	__u64 end_ns;
	__u32 vec; /* for a softirq */
	__u32 pad;
	char name[TASK_COMM]; /* for a device interrupt */
};

/* A task that had a CPU in a window. */
struct cpu_use_task {
	__u32 pid;  /* the kernel's thread id; 0: a free place */
	__u32 tid;  /* thread id: for an engine's thread as the agent knows it, otherwise the kernel's */
	__u32 tgid; /* process of an engine's thread, or 0 */
	__u32 pad;
	__u64 busy_ns;
	char comm[TASK_COMM]; /* for other tasks, when it last left the CPU */
};

/* CPU_USE: who had the CPU head.arg in a window. The rest of the window is unknown. */
struct event_cpu_use {
	struct event_head head;
	__u64 from_ns;
	__u64 to_ns;
	__u64 idle_ns;
	__u64 others_ns; /* of tasks without a place: those with the least time */
	struct cpu_use_task tasks[CPU_USE_TASKS];
};

/* Layout of the scheduler level's tracepoints: offsets in their records, unless noted otherwise. */
struct sched_format {
	__u32 prev_comm;
	__u32 prev_pid;
	__u32 prev_state;
	__u32 prev_state_size; /* 4 or 8 bytes */
	__u32 next_comm;
	__u32 next_pid;
	__u32 preempted; /* bit of prev_state: still runnable */
	__u32 dead;	 /* bits of prev_state: ended */
	__u32 waking_pid;
	__u32 wakeup_pid;
	__u32 wakeup_cpu;
	__u32 wakeup_new_pid;
	__u32 wakeup_new_cpu;
	__u32 migrate_pid;
	__u32 migrate_cpu;
	__u32 irq_name;
	__u32 softirq_vec;
	__u32 page_ino; /* 8 bytes */
	__u32 page_dev;
	__u32 page_order; /* 1 byte: 2^order pages; 0: the kernel has no such field, and adds one page */
};

/* Types that the agent needs by name from the skeleton. The skeleton is generated from the BTF
 * of maps and variables, and BTF describes nothing else. This pointer, which is never read, adds
 * these types. */
struct generated {
	enum event_kind kind;
	enum limit limit;
	enum count_why why;
	enum part_told told;
	enum walk_failure walk;
	struct event_head head;
	struct event_process process;
	struct event_decode decode;
	struct event_graph graph;
	struct event_topology topology;
	struct event_tensor tensor;
	struct event_op op;
	struct event_op_counted op_counted;
	struct event_nested nested;
	struct event_experts experts;
	struct event_part part;
	struct event_edit edit;
	struct event_taken taken;
	struct event_housekeeping housekeeping;
	struct event_switch switch_;
	struct event_wake wake;
	struct event_gap gap;
	struct event_interrupt interrupt;
	struct event_cpu_use cpu_use;
};
struct generated *const volatile generated = 0;

#endif
