/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Scheduler level: switches, wake-ups and migrations of the engine's threads, every switch on a CPU
 * for which one of them waits, and interrupts on the CPUs that they use.
 *
 * Plain tracepoints: every kernel describes the layout of their records in text, unlike that of
 * other kinds. Fields are read with bpf_probe_read_kernel, because the verifier accepts only
 * constant offsets of a context. All programs run with preemption disabled, so that per-CPU state
 * is consistent. On PREEMPT_RT those of interrupts do not, and are not attached
 * (agent-static/src/observe/sched). Only sched_seen is called from uprobes, and it uses no per-CPU
 * state.
 */
#include "include/sched.h"

static __noinline struct sched_cpu *sched_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&sched_cpus, &zero);
}

/* Called before the next event of this CPU: reports lost events. Returns 0 if there is still no
 * space. */
static __noinline int sched_room(struct sched_cpu *c, __u64 now)
{
	struct event_gap *g;

	if (!c || !ring_below(3))
		return 0;
	if (!c->lost_since)
		return 1;
	g = bpf_ringbuf_reserve(&events, sizeof(*g), 0);
	if (!g)
		return 0;
	head(&g->head, EVENT_GAP, 0, bpf_get_smp_processor_id());
	g->from_ns = c->lost_since;
	g->to_ns = now;
	bpf_ringbuf_submit(g, BPF_RB_NO_WAKEUP);
	c->lost_since = 0;
	return 1;
}

static __always_inline void sched_lost(struct sched_cpu *c, __u64 now)
{
	if (c && !c->lost_since)
		c->lost_since = now;
}

static __noinline int sched_waits(struct sched_thread *s, __u32 cpu)
{
	__u32 *n = bpf_map_lookup_elem(&sched_waiting, &cpu);

	s->state = SCHED_WAITING;
	s->cpu = cpu;
	if (n)
		__sync_fetch_and_add(n, 1);
	return 0;
}

static __noinline int sched_waits_no_more(struct sched_thread *s)
{
	__u32 cpu = s->cpu;
	__u32 *n;

	if (s->state != SCHED_WAITING)
		return 0;
	s->state = SCHED_OFF;
	n = bpf_map_lookup_elem(&sched_waiting, &cpu);
	if (n)
		__sync_fetch_and_add(n, -1);
	return 0;
}

/* Starts to follow a thread that runs here. */
static __noinline struct sched_thread *sched_follow(__u32 tid, __u64 id)
{
	struct sched_thread new = {
		.tid = (__u32)id,
		.tgid = id >> 32,
		.state = SCHED_RUNNING,
		.cpu = bpf_get_smp_processor_id(),
	};

	if (bpf_map_update_elem(&sched_threads, &tid, &new, BPF_ANY)) {
		SCHED_COUNT(threads_no_room);
		return 0;
	}
	return bpf_map_lookup_elem(&sched_threads, &tid);
}

static __noinline int sched_forget(__u32 tid, struct sched_thread *s)
{
	sched_waits_no_more(s);
	bpf_map_delete_elem(&sched_threads, &tid);
	return 0;
}

static __noinline struct sched_thread *sched_known(__u32 tid)
{
	return bpf_map_lookup_elem(&sched_threads, &tid);
}

static __always_inline struct event_switch *sched_switch_event(__u64 now)
{
	struct sched_cpu *c = sched_cpu();
	struct event_switch *e = 0;

	SCHED_COUNT(switches);
	if (sched_room(c, now))
		e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		SCHED_COUNT(switches_ring_full);
		sched_lost(c, now);
	}
	return e;
}

/* A thread of an engine hits its first probe. This code can be preempted, so it does not change
 * the CPU and thread state that the tracepoints keep. The agent ignores the event if it knows
 * the thread's location from an earlier switch: then the thread was preempted here. */
static __noinline void sched_seen(__u64 id)
{
	__u64 now = bpf_ktime_get_ns();
	struct event_wake *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	/* Its loss needs no gap: nothing is recorded for an unknown thread. */
	if (!e)
		return;
	head(&e->head, EVENT_SEEN, id, bpf_get_smp_processor_id());
	e->at_ns = now;
	bpf_ringbuf_submit(e, wakeup());
}

/* sched:sched_wakeup, sched:sched_wakeup_new; and the switch to a thread whose wake-up was
 * missed. */
static __noinline int sched_woken(struct sched_thread *s, __u32 cpu, __u64 now)
{
	int wakes = s->state != SCHED_WAITING;
	__u64 at = s->state == SCHED_WAKING ? s->since : now;
	struct sched_cpu *c = sched_cpu();
	struct event_wake *e = 0;

	sched_waits_no_more(s);
	sched_waits(s, cpu);
	if (wakes)
		SCHED_COUNT(wakes);
	else
		SCHED_COUNT(migrations);
	if (sched_room(c, now))
		e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		if (wakes)
			SCHED_COUNT(wakes_ring_full);
		else
			SCHED_COUNT(migrations_ring_full);
		sched_lost(c, now);
		return 0;
	}
	head(&e->head, wakes ? EVENT_WAKE : EVENT_MIGRATION, (__u64)s->tgid << 32 | s->tid, cpu);
	e->at_ns = at;
	bpf_ringbuf_submit(e, wakeup());
	return 0;
}

/* The thread that leaves the CPU, which is the calling one; 0 if it does not belong to a traced
 * process. */
static __noinline struct sched_thread *sched_leaving(__u32 tid)
{
	struct sched_thread *s = sched_known(tid);
	__u64 id = pid_tgid();
	int traced = slot_of(id) < ENGINES;

	/* The id was reused, or the process is no longer traced. */
	if (s && (!traced || s->tgid != id >> 32)) {
		sched_forget(tid, s);
		s = 0;
	}
	return s || !traced ? s : sched_follow(tid, id);
}

/* Whether threads of an engine wait for a CPU. */
static __noinline int sched_wanted(__u32 cpu)
{
	__u32 *waiting = bpf_map_lookup_elem(&sched_waiting, &cpu);

	return waiting && *waiting;
}

static __noinline __u64 sched_state(void *ctx)
{
	__u64 state = 0;

	if (sched_format.prev_state_size != 8)
		return FIELD(prev_state);
	bpf_probe_read_kernel(&state, sizeof(state), (char *)ctx + sched_format.prev_state);
	return state;
}

static __noinline int sched_send_switch(void *ctx, struct sched_thread *p, struct sched_thread *n, __u64 state, __u64 now)
{
	struct event_switch *e = sched_switch_event(now);

	if (!e)
		return 0;
	head(&e->head, EVENT_SWITCH, 0, bpf_get_smp_processor_id());
	e->at_ns = now;
	e->state = state;
	e->prev = p ? p->tid : FIELD(prev_pid);
	e->next = n ? n->tid : FIELD(next_pid);
	e->prev_tgid = p ? p->tgid : 0;
	e->next_tgid = n ? n->tgid : 0;
	if (!p && e->prev)
		bpf_probe_read_kernel(e->prev_comm, sizeof(e->prev_comm), (char *)ctx + sched_format.prev_comm);
	if (!n && e->next)
		bpf_probe_read_kernel(e->next_comm, sizeof(e->next_comm), (char *)ctx + sched_format.next_comm);
	bpf_ringbuf_submit(e, wakeup());
	return 0;
}

/* The thread `p` leaves the CPU and the thread `n` gets it; 0 stands for another program's task. */
static __noinline int sched_switched(void *ctx, struct sched_thread *p, struct sched_thread *n, __u64 now)
{
	__u64 state = sched_state(ctx);
	__u32 cpu = bpf_get_smp_processor_id();

	if (n && n->state == SCHED_WAKING)
		sched_woken(n, cpu, now);
	if (p) {
		sched_waits_no_more(p); /* its switch to a CPU was missed */
		if (!state || state & sched_format.preempted)
			sched_waits(p, cpu);
		else
			p->state = SCHED_OFF;
	}
	if (n) {
		sched_waits_no_more(n);
		n->state = SCHED_RUNNING;
		n->cpu = cpu;
	}
	sched_send_switch(ctx, p, n, state, now);
	if (p && !(state & sched_format.preempted) && state & sched_format.dead)
		sched_forget(FIELD(prev_pid), p);
	return 0;
}

/* sched:sched_switch. The calling thread is the one that leaves. */
SEC("tracepoint")
int sched_on_switch(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct sched_thread *p, *n;
	__u32 pid;
	int concerns;

	if (stopped)
		return 0;
	pid = FIELD(prev_pid);
	p = pid ? sched_leaving(pid) : 0;
	cpu_use_leaves(ctx, p, pid, now);
	pid = FIELD(next_pid);
	n = pid ? sched_known(pid) : 0;
	cpu_use_enters(n, pid, now);
	concerns = sched_wanted(bpf_get_smp_processor_id());
	/* One by one: the compiler would combine the pointers into one number, which the
	 * verifier rejects. */
	if (p)
		concerns = 1;
	barrier_var(concerns);
	if (n)
		concerns = 1;
	barrier_var(concerns);
	return concerns ? sched_switched(ctx, p, n, now) : 0;
}

/* sched:sched_waking: before the kernel chooses a CPU. */
SEC("tracepoint")
int sched_on_waking(void *ctx)
{
	struct sched_thread *s;

	if (stopped)
		return 0;
	s = sched_known(FIELD(waking_pid));
	if (s && s->state == SCHED_OFF) {
		s->since = bpf_ktime_get_ns();
		s->state = SCHED_WAKING;
	}
	return 0;
}

static __noinline int sched_on_woken(__u32 pid, __u32 cpu)
{
	struct sched_thread *s = sched_known(pid);

	/* A running thread may be woken: it was about to sleep. A thread that waits already is
	 * not woken again. */
	if (s && s->state != SCHED_RUNNING && s->state != SCHED_WAITING)
		sched_woken(s, cpu, bpf_ktime_get_ns());
	return 0;
}

SEC("tracepoint")
int sched_on_wakeup(void *ctx)
{
	return stopped ? 0 : sched_on_woken(FIELD(wakeup_pid), FIELD(wakeup_cpu));
}

/* The calling thread started the task `pid`. A thread of a traced process is followed from here on: it
 * may wait long for its first CPU, and some engines start threads for each graph. A started process looks
 * the same; it is forgotten when it leaves its CPU for the first time. */
static __noinline int sched_started(__u32 pid)
{
	__u64 id = pid_tgid();
	struct sched_thread *s;

	/* In a namespace of process ids, the agent's number of a task is known only in the task. */
	if (pidns_ino || slot_of(id) >= ENGINES || sched_known(pid))
		return 0;
	s = sched_follow(pid, id >> 32 << 32 | pid);
	if (s)
		s->state = SCHED_OFF;
	return 0;
}

SEC("tracepoint")
int sched_on_wakeup_new(void *ctx)
{
	__u32 pid;

	if (stopped)
		return 0;
	pid = FIELD(wakeup_new_pid);
	sched_started(pid);
	return sched_on_woken(pid, FIELD(wakeup_new_cpu));
}

SEC("tracepoint")
int sched_on_migrate(void *ctx)
{
	struct sched_thread *s;
	__u32 cpu;

	if (stopped)
		return 0;
	s = sched_known(FIELD(migrate_pid));
	if (!s || s->state != SCHED_WAITING)
		return 0;
	cpu = FIELD(migrate_cpu);
	if (cpu != s->cpu)
		sched_woken(s, cpu, bpf_ktime_get_ns());
	return 0;
}

static __always_inline int interrupted(void)
{
	return !stopped && slot_of(pid_tgid()) < ENGINES;
}

static __noinline int sched_interrupt(__u64 start, __u32 soft, __u32 vec, const char *name)
{
	struct event_interrupt *e = 0;

	SCHED_COUNT(interrupts);
	if (ring_below(2))
		e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		SCHED_COUNT(interrupts_ring_full);
		return 0;
	}
	head(&e->head, EVENT_INTERRUPT, 0, bpf_get_smp_processor_id() | soft << 16);
	e->start_ns = start;
	e->end_ns = bpf_ktime_get_ns();
	e->vec = vec;
	e->pad = 0;
	if (name)
		__builtin_memcpy(e->name, name, sizeof(e->name));
	else
		__builtin_memset(e->name, 0, sizeof(e->name));
	bpf_ringbuf_submit(e, wakeup());
	return 0;
}

/* irq:irq_handler_entry */
SEC("tracepoint")
int sched_on_irq(void *ctx)
{
	struct sched_cpu *c = sched_cpu();

	if (!c)
		return 0;
	c->irq_start = 0;
	if (!interrupted())
		return 0;
	/* A dynamic array: its position in the record, and its length in the upper half. */
	bpf_probe_read_kernel_str(c->irq_name, sizeof(c->irq_name), (char *)ctx + (FIELD(irq_name) & 0xffff));
	c->irq_start = bpf_ktime_get_ns();
	return 0;
}

/* irq:irq_handler_exit */
SEC("tracepoint")
int sched_on_irq_exit(UNUSED void *ctx)
{
	struct sched_cpu *c = sched_cpu();

	if (c && c->irq_start && !stopped) {
		sched_interrupt(c->irq_start, 0, 0, c->irq_name);
		c->irq_start = 0;
	}
	return 0;
}

/* irq:softirq_entry */
SEC("tracepoint")
int sched_on_softirq(UNUSED void *ctx)
{
	struct sched_cpu *c = sched_cpu();

	if (c)
		c->softirq_start = interrupted() ? bpf_ktime_get_ns() : 0;
	return 0;
}

/* irq:softirq_exit */
SEC("tracepoint")
int sched_on_softirq_exit(void *ctx)
{
	struct sched_cpu *c = sched_cpu();

	if (c && c->softirq_start && !stopped) {
		sched_interrupt(c->softirq_start, 1, FIELD(softirq_vec), 0);
		c->softirq_start = 0;
	}
	return 0;
}
