/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Scheduler level: switches, wake-ups and migrations of the engine's threads, every switch on a CPU for which one of them
 * waits, and interrupts on the CPUs that they have.
 *
 * Tracepoints in the plain form: their records are the only ones whose layout every kernel tells, in text. A field is read
 * by bpf_probe_read_kernel, because the verifier takes no offset of a context but one that is in the instruction.
 * All run with preemption off, so that what belongs to a CPU is not torn.
 */
#include "include/sched.h"

#define READ(to, field) bpf_probe_read_kernel(&(to), sizeof(to), (char *)ctx + sched_format.field)

static __always_inline struct sched_cpu *sched_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&sched_cpus, &zero);
}

/* Before the next event of this CPU: tells of those that were lost. 0 when there is no room for that either. */
static __always_inline int sched_room(struct sched_cpu *c, __u64 now)
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

static __always_inline void sched_waits(struct sched_thread *s, __u32 cpu)
{
	__u32 *n = bpf_map_lookup_elem(&sched_waiting, &cpu);

	s->state = SCHED_WAITING;
	s->cpu = cpu;
	if (n)
		__sync_fetch_and_add(n, 1);
}

static __always_inline void sched_waits_no_more(struct sched_thread *s)
{
	__u32 cpu = s->cpu;
	__u32 *n;

	if (s->state != SCHED_WAITING)
		return;
	s->state = SCHED_OFF;
	n = bpf_map_lookup_elem(&sched_waiting, &cpu);
	if (n)
		__sync_fetch_and_add(n, -1);
}

/* Begins to follow the calling thread. */
static __always_inline struct sched_thread *sched_follow(__u32 tid, __u64 id)
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

static __always_inline void sched_forget(__u32 tid, struct sched_thread *s)
{
	sched_waits_no_more(s);
	bpf_map_delete_elem(&sched_threads, &tid);
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

/* A thread of an engine hits its first probe: from here on it is known to run, without having been switched to. */
static __always_inline void sched_seen(__u64 id)
{
	__u64 now = bpf_ktime_get_ns();
	struct event_switch *e;
	struct sched_thread *s;
	__u32 tid;

	if (!sched_on)
		return;
	tid = (__u32)bpf_get_current_pid_tgid();
	s = bpf_map_lookup_elem(&sched_threads, &tid);
	if (s && s->tgid == id >> 32)
		return;
	if (s)
		sched_forget(tid, s);
	if (!sched_follow(tid, id))
		return;
	e = sched_switch_event(now);
	if (!e)
		return;
	head(&e->head, EVENT_SWITCH, id, bpf_get_smp_processor_id());
	e->at_ns = now;
	e->state = 0;
	e->prev = e->next = (__u32)id;
	e->prev_tgid = e->next_tgid = id >> 32;
	bpf_ringbuf_submit(e, wakeup());
}

/* sched:sched_wakeup, sched:sched_wakeup_new; and the switch to a thread whose wake-up was missed. */
static __always_inline void sched_woken(struct sched_thread *s, __u32 cpu, __u64 now)
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
		return;
	}
	head(&e->head, wakes ? EVENT_WAKE : EVENT_MIGRATION, (__u64)s->tgid << 32 | s->tid, cpu);
	e->at_ns = at;
	bpf_ringbuf_submit(e, wakeup());
}

/* sched:sched_switch. The calling thread is the one that leaves. */
SEC("tracepoint")
int sched_on_switch(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 cpu = bpf_get_smp_processor_id();
	struct sched_thread *p = 0, *n = 0;
	struct event_switch *e;
	__u32 prev = 0, next = 0, small = 0, ended = 0;
	__u64 id = 0, state = 0;
	__u32 *waiting;
	int wanted = 0;

	if (stopped)
		return 0;
	READ(prev, prev_pid);
	READ(next, next_pid);
	if (prev) {
		id = pid_tgid();
		p = bpf_map_lookup_elem(&sched_threads, &prev);
		if (engine_of(id)) {
			if (p && p->tgid != id >> 32) {
				sched_forget(prev, p);
				p = 0;
			}
			if (!p)
				p = sched_follow(prev, id);
		} else if (p) {
			/* The number is used again, or the process is traced no more. */
			sched_forget(prev, p);
			p = 0;
		}
	}
	if (next)
		n = bpf_map_lookup_elem(&sched_threads, &next);
	waiting = bpf_map_lookup_elem(&sched_waiting, &cpu);
	/* One by one: the compiler would join the pointers into one number, which the verifier does not take. */
	if (waiting)
		wanted = *waiting;
	if (p)
		wanted = 1;
	barrier_var(wanted);
	if (n)
		wanted = 1;
	barrier_var(wanted);
	if (!wanted)
		return 0;
	if (sched_format.prev_state_size == 8) {
		READ(state, prev_state);
	} else {
		READ(small, prev_state);
		state = small;
	}
	if (n && n->state == SCHED_WAKING)
		sched_woken(n, cpu, now);
	if (p) {
		sched_waits_no_more(p); /* it was put on a CPU unseen */
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
	e = sched_switch_event(now);
	if (e) {
		head(&e->head, EVENT_SWITCH, p ? id : 0, cpu);
		e->at_ns = now;
		e->state = state;
		e->prev = p ? p->tid : prev;
		e->next = n ? n->tid : next;
		e->prev_tgid = p ? p->tgid : 0;
		e->next_tgid = n ? n->tgid : 0;
		if (!p && prev)
			READ(e->prev_comm, prev_comm);
		if (!n && next)
			READ(e->next_comm, next_comm);
		bpf_ringbuf_submit(e, wakeup());
	}
	ended = p && !(state & sched_format.preempted) && state & sched_format.dead;
	if (ended)
		sched_forget(prev, p);
	return 0;
}

/* sched:sched_waking: before the kernel chooses a CPU. */
SEC("tracepoint")
int sched_on_waking(void *ctx)
{
	struct sched_thread *s;
	__u32 pid = 0;

	if (stopped)
		return 0;
	READ(pid, waking_pid);
	s = bpf_map_lookup_elem(&sched_threads, &pid);
	if (s && s->state == SCHED_OFF) {
		s->since = bpf_ktime_get_ns();
		s->state = SCHED_WAKING;
	}
	return 0;
}

static __always_inline int sched_on_woken(__u32 pid, __u32 cpu)
{
	struct sched_thread *s = bpf_map_lookup_elem(&sched_threads, &pid);

	/* A thread that runs may be woken: it was about to sleep. One that waits already is not woken again. */
	if (s && s->state != SCHED_RUNNING && s->state != SCHED_WAITING)
		sched_woken(s, cpu, bpf_ktime_get_ns());
	return 0;
}

SEC("tracepoint")
int sched_on_wakeup(void *ctx)
{
	__u32 pid = 0, cpu = 0;

	if (stopped)
		return 0;
	READ(pid, wakeup_pid);
	READ(cpu, wakeup_cpu);
	return sched_on_woken(pid, cpu);
}

SEC("tracepoint")
int sched_on_wakeup_new(void *ctx)
{
	__u32 pid = 0, cpu = 0;

	if (stopped)
		return 0;
	READ(pid, wakeup_new_pid);
	READ(cpu, wakeup_new_cpu);
	return sched_on_woken(pid, cpu);
}

SEC("tracepoint")
int sched_on_migrate(void *ctx)
{
	struct sched_thread *s;
	__u32 pid = 0, cpu = 0;

	if (stopped)
		return 0;
	READ(pid, migrate_pid);
	s = bpf_map_lookup_elem(&sched_threads, &pid);
	if (!s || s->state != SCHED_WAITING)
		return 0;
	READ(cpu, migrate_cpu);
	if (cpu != s->cpu)
		sched_woken(s, cpu, bpf_ktime_get_ns());
	return 0;
}

static __always_inline int interrupted(void)
{
	return !stopped && engine_of(pid_tgid());
}

static __always_inline void sched_interrupt(__u64 start, __u32 soft, __u32 vec, const char *name)
{
	struct event_interrupt *e = 0;

	SCHED_COUNT(interrupts);
	if (ring_below(2))
		e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		SCHED_COUNT(interrupts_ring_full);
		return;
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
}

/* irq:irq_handler_entry */
SEC("tracepoint")
int sched_on_irq(void *ctx)
{
	struct sched_cpu *c = sched_cpu();
	__u32 name = 0;

	if (!c)
		return 0;
	c->irq_start = 0;
	if (!interrupted())
		return 0;
	/* A dynamic array: where it is in the record, and above that its length. */
	READ(name, irq_name);
	bpf_probe_read_kernel_str(c->irq_name, sizeof(c->irq_name), (char *)ctx + (name & 0xffff));
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
	__u32 vec = 0;

	if (c && c->softirq_start && !stopped) {
		READ(vec, softirq_vec);
		sched_interrupt(c->softirq_start, 1, vec, 0);
		c->softirq_start = 0;
	}
	return 0;
}
