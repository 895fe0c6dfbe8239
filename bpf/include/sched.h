/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Scheduler level: what is remembered of threads and CPUs between two tracepoints.
 *
 * Everything here is known by the kernel's own thread ids: tracepoints tell no others. An engine in a PID namespace has
 * two, so that each thread's entry holds the ids by which the agent knows it.
 */
#ifndef PROFINFER_SCHED_H
#define PROFINFER_SCHED_H

#include "maps.h"

/* Where the tracepoints have their fields, from their `format` files. Set before loading: they differ from kernel to
 * kernel, and no BTF tells them. */
const volatile struct sched_format sched_format = {};

enum sched_state {
	SCHED_RUNNING = 1, /* on `cpu` */
	SCHED_WAITING = 2, /* on `cpu`, where it is counted in sched_waiting */
	SCHED_OFF = 3,     /* asleep */
	SCHED_WAKING = 4,  /* being woken since `since`: the kernel is choosing a CPU */
};

/* A thread of a traced process. */
struct sched_thread {
	__u32 tid; /* as the agent knows it */
	__u32 tgid;
	__u32 state;
	__u32 cpu;
	__u64 since;
};

/* By the kernel's thread id. Entries leave when their threads end. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct sched_thread);
} sched_threads SEC(".maps");

/* How many threads of engines wait for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCHED_CPUS);
	__type(key, __u32);
	__type(value, __u32);
} sched_waiting SEC(".maps");

/* What a CPU is in the middle of. */
struct sched_cpu {
	__u64 lost_since; /* when the first of the events was lost that no gap has told of yet; 0: none */
	__u64 irq_start;  /* an interrupt that took the CPU from a thread of an engine; 0: none */
	__u64 softirq_start;
	char irq_name[TASK_COMM];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sched_cpu);
} sched_cpus SEC(".maps");

#define SCHED_COUNT(field) ADD(cpu_totals()->sched.field, 1)

#endif
