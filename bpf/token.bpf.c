/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Token level: llama_decode, llama_process, llama_encode; and the stop before the first token. */
#include "include/capture.h"
#include "part.bpf.c"

/* wire's token::function */
enum { LLAMA_DECODE = 0, LLAMA_PROCESS = 1, LLAMA_ENCODE = 2 };

#define SIGURG 23

/* A process that the agent watches from its start is stopped here once, because the libraries with the
 * operators were loaded after the ones with the token functions. The agent is its tracer and sees the
 * signal before the process does; should the agent be gone, SIGURG is ignored by default. */
static __always_inline int to_be_held(const struct engine_config *g, const struct engine_state *s)
{
	return g && s && g->hold && !s->held;
}

static __always_inline void hold(const struct engine_config *g, struct engine_state *s, __u64 id)
{
	struct event_process *p;

	if (!to_be_held(g, s))
		return;
	s->held = 1;
	held_engines[(id >> 32) & (HELD_ENGINES - 1)] = id >> 32;
	p = bpf_ringbuf_reserve(&events, sizeof(*p), 0);
	if (p) {
		head(&p->head, EVENT_HOLD, id, 0);
		p->at_ns = bpf_ktime_get_ns();
		bpf_get_current_comm(p->comm, sizeof(p->comm));
		bpf_ringbuf_submit(p, BPF_RB_FORCE_WAKEUP);
	}
	bpf_send_signal_thread(SIGURG);
}

static __always_inline int decode_event(struct thread *t, __u64 id, __u32 kind, __u64 end, __s32 status)
{
	struct event_decode *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		COUNT(calls_ring_full);
		return 0;
	}
	head(&e->head, kind, id, t->decode_function);
	e->start_ns = t->decode_start;
	e->end_ns = end;
	e->context = t->decode_context;
	e->n_tokens = t->decode_tokens;
	e->status = status;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline int decode_enter(struct pt_regs *ctx, __u32 function)
{
	__u64 id = pid_tgid();
	struct thread *t = thread_of(id);
	struct llama_batch batch = { .n_tokens = -1 };

	if (!t)
		return 0;
	hold(engine_of(id), engine_state_of(id), id);
	if (t->decode_depth++)
		return 0; /* one calls the other: the outer call is the token */
	if (function != LLAMA_PROCESS) {
		/* struct llama_batch by value. */
#if defined(__TARGET_ARCH_x86)
		__u64 at = PT_REGS_SP(ctx) + 8; /* above the return address */
#else
		__u64 at = PT_REGS_PARM2(ctx); /* AAPCS64: larger than 16 bytes, so a copy by reference */
#endif
		if (bpf_probe_read_user(&batch, sizeof(batch), (void *)at))
			batch.n_tokens = -1;
	}
	t->decode_function = function;
	t->decode_context = PT_REGS_PARM1(ctx);
	t->decode_tokens = batch.n_tokens;
	t->decode_start = bpf_ktime_get_ns();
	t->decode_skip = skips(id, t->decode_start);
	decode_event(t, id, EVENT_DECODE_START, 0, 0);
	parts(t, id, &batch);
	return 0;
}

static __always_inline int decode_leave(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 id = pid_tgid();
	struct thread *t = known_thread(id);

	if (!t || !t->decode_depth || stopped)
		return 0;
	if (--t->decode_depth)
		return 0;
	return decode_event(t, id, EVENT_DECODE_END, now, (__s32)PT_REGS_RC(ctx));
}

SEC("uprobe")
int llama_decode_enter(struct pt_regs *ctx)
{
	return decode_enter(ctx, LLAMA_DECODE);
}

SEC("uprobe")
int llama_process_enter(struct pt_regs *ctx)
{
	return decode_enter(ctx, LLAMA_PROCESS);
}

SEC("uprobe")
int llama_encode_enter(struct pt_regs *ctx)
{
	return decode_enter(ctx, LLAMA_ENCODE);
}

SEC("uretprobe")
int llama_call_return(struct pt_regs *ctx)
{
	return decode_leave(ctx);
}
