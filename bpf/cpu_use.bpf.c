/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Use of the CPUs: which task had which CPU, whether or not a thread of an engine waited for it.
 *
 * Times are summed per CPU in windows of 10 ms. A window ends at a switch, so a task that keeps its
 * CPU makes it longer: all times are exact. Before a long turn it ends too, so that the turn is not
 * mixed with what was before it. If the ring buffer has no space, the window goes on,
 * and nothing is lost but its limits. What is open when the session ends is read by the agent.
 */
#include "include/cpu_use.h"

/* Opens a window. */
static __noinline int cpu_use_open(struct cpu_use *u, __u64 at)
{
	u->out.from_ns = at;
	u->out.idle_ns = 0;
	u->out.others_ns = 0;
	__builtin_memset(u->out.tasks, 0, sizeof(u->out.tasks));
	u->foreign_ns = 0;
	u->late = 0;
	return 0;
}

/* The place of a task in the window: its own, a free one, or that of the task with the least time,
 * which is not an engine's. 0 if engines' threads have all. */
static __noinline struct cpu_use_task *cpu_use_place(struct cpu_use *u, __u32 pid)
{
	struct cpu_use_task *least = 0;
	__u64 least_ns = ~0ULL;

	for (__u32 i = 0; i < CPU_USE_TASKS; i++) {
		struct cpu_use_task *t = &u->out.tasks[i];

		if (t->pid == pid || !t->pid)
			return t;
		if (!t->tgid && t->busy_ns < least_ns) {
			least_ns = t->busy_ns;
			least = t;
		}
	}
	return least;
}

/* The task `pid`, which leaves, had the CPU for this time; `p` if it is an engine's thread. */
static __noinline int cpu_use_add(void *ctx, struct cpu_use *u, struct sched_thread *p, __u32 pid, __u64 ns)
{
	struct cpu_use_task *t;

	if (!pid) {
		u->out.idle_ns += ns;
		return 0;
	}
	/* One engine is another task for a second one. */
	if (!p || cpu_use_engines > 1)
		u->foreign_ns += ns;
	t = cpu_use_place(u, pid);
	/* The time of an engine's thread must never be taken for that of others: rather unknown. */
	if (!t)
		return 0;
	if (t->pid && t->pid != pid) {
		if (!p && t->busy_ns >= ns) {
			u->out.others_ns += ns;
			return 0;
		}
		u->out.others_ns += t->busy_ns;
		t->busy_ns = 0;
	}
	t->pid = pid;
	t->busy_ns += ns;
	if (p) {
		t->tid = p->tid;
		t->tgid = p->tgid;
		return 0;
	}
	t->tid = pid;
	t->tgid = 0;
	/* Each time: a task that called exec has another name now. */
	bpf_probe_read_kernel(t->comm, sizeof(t->comm), (char *)ctx + sched_format.prev_comm);
	return 0;
}

/* Ends the window and opens the next one. */
static __noinline int cpu_use_end(struct cpu_use *u, __u64 now)
{
	if (u->foreign_ns < CPU_USE_LEAST) {
		CPU_USE_ADD(small_ns, u->foreign_ns);
		return cpu_use_open(u, now);
	}
	head(&u->out.head, EVENT_CPU_USE, 0, bpf_get_smp_processor_id());
	u->out.to_ns = now;
	if (!ring_below(2) || bpf_ringbuf_output(&events, &u->out, sizeof(u->out), wakeup())) {
		if (!u->late)
			CPU_USE_ADD(windows_late, 1);
		u->late = 1;
		return 0;
	}
	CPU_USE_ADD(windows, 1);
	return cpu_use_open(u, now);
}

/* The window of this CPU; 0 if nothing is recorded. */
static __noinline struct cpu_use *cpu_use_here(__u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (!cpu_use_since || now <= cpu_use_since)
		return 0;
	if (cpu >= SCHED_CPUS) {
		CPU_USE_ADD(switches_no_room, 1);
		return 0;
	}
	return &cpu_uses[cpu & (SCHED_CPUS - 1)];
}

/* A task leaves the CPU; `p` if it is an engine's thread. */
static __noinline int cpu_use_leaves(void *ctx, struct sched_thread *p, __u32 pid, __u64 now)
{
	struct cpu_use *u = cpu_use_here(now);
	__u64 since = cpu_use_since;

	if (!u)
		return 0;
	if (u->at_ns < since) {
		/* The first switch: the task has had the CPU all the time. */
		cpu_use_open(u, since);
		u->at_ns = since;
		u->running = pid;
	}
	if (now - u->at_ns >= CPU_USE_LONG && u->at_ns > u->out.from_ns)
		cpu_use_end(u, u->at_ns);
	if (u->running == pid)
		cpu_use_add(ctx, u, p, pid, now - u->at_ns);
	else
		/* A switch was missed: the time is unknown. The window is sent, so that the time does not
		 * count as idle. */
		u->foreign_ns += now - u->at_ns;
	u->at_ns = now;
	return 0;
}

/* A task gets the CPU; `n` if it is an engine's thread. */
static __noinline int cpu_use_enters(struct sched_thread *n, __u32 pid, __u64 now)
{
	struct cpu_use *u = cpu_use_here(now);

	if (!u)
		return 0;
	u->running = pid;
	u->running_tid = n ? n->tid : pid;
	u->running_tgid = n ? n->tgid : 0;
	return now - u->out.from_ns < CPU_USE_WINDOW ? 0 : cpu_use_end(u, now);
}
