/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Scheduler level: state of threads and CPUs between two tracepoints.
 *
 * All keys are the kernel's own thread ids, because tracepoints contain no others. An engine's
 * thread in a PID namespace has two ids, so each entry also contains the ids that the agent knows.
 */
#ifndef PROFINFER_SCHED_H
#define PROFINFER_SCHED_H

#include "maps.h"

/* Layout of the tracepoints, from their `format` files. Set before loading: it differs between
 * kernels, and BTF does not describe it. */
const volatile struct sched_format sched_format = {};

/* A 32-bit field of a tracepoint's record. */
static __noinline __u32 field_at(void *ctx, __u32 offset)
{
	__u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (char *)ctx + offset);
	return value;
}
#define FIELD(name) field_at(ctx, sched_format.name)

enum sched_state {
	SCHED_RUNNING = 1, /* on `cpu` */
	SCHED_WAITING = 2, /* for `cpu`, counted in sched_waiting */
	SCHED_OFF = 3,     /* asleep */
	SCHED_WAKING = 4,  /* being woken since `since`: the kernel is choosing a CPU */
};

/* A thread of a traced process. */
struct sched_thread {
	__u32 tid; /* as known to the agent */
	__u32 tgid;
	__u32 state;
	__u32 cpu;
	__u64 since;
};

/* By the kernel's thread id. Entries are deleted when their threads end. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct sched_thread);
} sched_threads SEC(".maps");

/* Number of engine threads that wait for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCHED_CPUS);
	__type(key, __u32);
	__type(value, __u32);
} sched_waiting SEC(".maps");

/* Events in progress on a CPU. */
struct sched_cpu {
	__u64 lost_since; /* time of the first lost event since the last reported gap; 0: none */
	__u64 irq_start;  /* start of an interrupt of an engine's thread; 0: none */
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
