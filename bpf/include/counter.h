/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Counters of one operator: the counts of its own thread only.
 *
 * The events count per CPU. Per-thread events would have to be opened after the thread is created,
 * and some engines create new threads for every graph. A thread's share is the sum over its
 * intervals on a CPU. An interval begins at the operator's start and whenever the scheduler puts
 * the thread on a CPU. It ends when the thread leaves the CPU, and at the operator's end.
 */
#ifndef PROFINFER_COUNTER_H
#define PROFINFER_COUNTER_H

#include "maps.h"

/* Slots in use; the first ones are hardware counters. 0: no counters. Set before loading. */
const volatile __u32 counter_slots = 0;
const volatile __u32 counter_hardware = 0;

/* Descriptors of the events, by slot and CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, COUNTER_SLOTS *COUNTER_CPUS);
	__type(key, __u32);
	__type(value, __u32);
} events_of_cpu SEC(".maps");

/* Core type of each CPU, 1 or more; 0 if nothing is counted there. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTER_CPUS);
	__type(key, __u32);
	__type(value, __u32);
} core_of_cpu SEC(".maps");

/* Reads a slot on this CPU. */
static __noinline int count_slot(struct thread *t, __u32 k, __u32 cpu, int closing)
{
	struct bpf_perf_event_value v = {};

	if (k >= COUNTER_SLOTS)
		return 0;
	if (bpf_perf_event_read_value(&events_of_cpu, k * COUNTER_CPUS + cpu, &v, sizeof(v))) {
		t->count_missing |= 1 << k;
		return 0;
	}
	if (closing) {
		/* An emulated PMU was seen to go backwards. */
		if (v.counter < t->count_at[k])
			t->count_why |= COUNT_UNREAD;
		t->count_sum[k] += v.counter - t->count_at[k];
		/* The hardware counters are one group: multiplexing of the first applies to all. */
		if (k == 0 && counter_hardware && v.enabled - v.running != t->count_off)
			t->count_why |= COUNT_MULTIPLEXED;
	} else {
		t->count_at[k] = v.counter;
		if (k == 0)
			t->count_off = v.enabled - v.running;
	}
	return 0;
}

static __noinline __u32 core_of(__u32 cpu)
{
	__u32 *core = bpf_map_lookup_elem(&core_of_cpu, &cpu);

	return core ? *core : 0;
}

/* Reads all slots on this CPU. `closing` adds the counts since the last reading. A thread that
 * is preempted during the reading stays on this CPU, and count_seq marks its reading as torn. */
static __noinline int count_read(struct thread *t, int closing)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 core;

	if (cpu >= COUNTER_CPUS) {
		t->count_why |= COUNT_UNREAD;
		return 0;
	}
	if (!closing) {
		core = core_of(cpu);
		if (t->count_core && t->count_core != core)
			t->count_why |= COUNT_MIXED;
		t->count_core = core;
	}
	for (__u32 k = 0; k < COUNTER_SLOTS; k++) {
		if (k >= counter_slots)
			break;
		count_slot(t, k, cpu, closing);
	}
	return 0;
}

static __always_inline void count_begin(struct thread *t)
{
	__u32 seq = t->count_seq;

	t->counting = 0;
	t->count_why = t->count_missing = t->count_switches = 0;
	t->count_core = 0;
	for (__u32 k = 0; k < COUNTER_SLOTS; k++)
		t->count_sum[k] = 0;
	count_read(t, 0);
	t->counting = 1;
	if (seq != *(volatile __u32 *)&t->count_seq)
		t->count_why |= COUNT_TORN;
}

static __always_inline void count_end(struct thread *t)
{
	__u32 seq = t->count_seq;

	/* Its switch to this CPU was not seen: there is no reading to subtract. */
	if (t->counting != 1)
		t->count_why |= COUNT_UNREAD;
	t->counting = 0;
	count_read(t, 1);
	if (seq != *(volatile __u32 *)&t->count_seq)
		t->count_why |= COUNT_TORN;
}

#endif
