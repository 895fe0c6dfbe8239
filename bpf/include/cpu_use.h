/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Use of the CPUs: the window that is open on each CPU. */
#ifndef PROFINFER_CPU_USE_H
#define PROFINFER_CPU_USE_H

#include "sched.h"

/* A window ends at the first switch after this time, ns. */
#define CPU_USE_WINDOW (10 * 1000 * 1000)

/* A turn of this length is in a window that begins with it, ns. Shorter than a time slice. */
#define CPU_USE_LONG (2 * 1000 * 1000)

/* The open window of one CPU. */
struct cpu_use {
	struct event_cpu_use out; /* up to the last switch */
	__u64 at_ns;       /* time of the last switch */
	__u64 foreign_ns;  /* of tasks that are not the engine's */
	__u32 running;     /* who has had the CPU since then: as in struct cpu_use_task */
	__u32 running_tid;
	__u32 running_tgid;
	__u32 late;        /* there was no space to send it */
};

/* By CPU, in memory that the agent maps: it reads the windows that are open when a session ends.
 * Only the tracepoint of switches writes to them, which runs with interrupts disabled. */
struct cpu_use cpu_uses[SCHED_CPUS] = {};

/* Set by the agent: since when an engine is traced, 0 while none is; and how many are. */
volatile __u64 cpu_use_since = 0;
volatile __u64 cpu_use_engines = 0;

#define CPU_USE_ADD(field, n) ADD(cpu_totals()->cpu_use.field, n)

#endif
