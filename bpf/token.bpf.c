/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Token level: llama_decode, llama_process, llama_encode; and the stop before the first of them. */
#include "include/capture.h"
#include "batch.bpf.c"

/* wire's token::function */
enum { LLAMA_DECODE = 0, LLAMA_PROCESS = 1, LLAMA_ENCODE = 2 };

#define SIGURG 23

/* A process that the agent watches from its start is stopped here once, because the libraries
 * with the operators were loaded after those with the llama functions. The agent is its tracer
 * and sees the signal first. If the agent is gone, SIGURG is ignored by default. */
static __always_inline int to_be_held(const struct engine_config *g, const struct engine_state *s)
{
	return g->hold && !s->held;
}

static __noinline int hold(const struct thread *t)
{
	struct engine_state *s = state_of(t);
	struct event_process *p;

	if (!to_be_held(config_of(t), s))
		return 0;
	s->held = 1;
	p = bpf_ringbuf_reserve(&events, sizeof(*p), 0);
	if (p) {
		head(&p->head, EVENT_HOLD, t->id, 0);
		p->at_ns = bpf_ktime_get_ns();
		bpf_get_current_comm(p->comm, sizeof(p->comm));
		bpf_ringbuf_submit(p, BPF_RB_FORCE_WAKEUP);
	}
	bpf_send_signal_thread(SIGURG);
	return 0;
}

static __noinline int decode_event(const struct thread *t, __u32 kind, __u64 end, __s32 status)
{
	struct event_decode *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		COUNT(calls_ring_full);
		return 0;
	}
	head(&e->head, kind, t->id, t->decode_function);
	e->start_ns = t->decode_start;
	e->end_ns = end;
	e->context = t->decode_context;
	e->batch = t->decode_batch;
	e->n_tokens = t->decode_tokens;
	e->status = status;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Reads the batch of the call, which is passed by value, or was filled before llama_process. */
static __noinline int read_batch(struct pt_regs *ctx, struct thread *t, __u32 function)
{
#if defined(__TARGET_ARCH_x86)
	__u64 at = PT_REGS_SP(ctx) + 8; /* above the return address */
#else
	__u64 at = PT_REGS_PARM2(ctx); /* AAPCS64: larger than 16 bytes, so a copy by reference */
#endif

	t->decode_batch = t->decode_start;
	if (function == LLAMA_PROCESS) {
		t->batch.n_tokens = -1;
		t->decode_batch = 0;
		if (batch_take(t, PT_REGS_PARM3(ctx))) {
			t->batch.n_tokens = t->filled_n;
			t->decode_batch = t->filled_id;
		}
	} else if (bpf_probe_read_user(&t->batch, sizeof(t->batch), (void *)at)) {
		t->batch.n_tokens = -1;
	}
	return 0;
}

static __always_inline int decode_enter(struct pt_regs *ctx, __u32 function)
{
	struct thread *t = thread_of(pid_tgid());

	if (!t)
		return 0;
	hold(t);
	if (t->decode_depth++)
		return 0; /* nested calls: only the outer one counts */
	t->decode_start = bpf_ktime_get_ns();
	read_batch(ctx, t, function);
	/* llama_process has a type: 0 is that of an encoder. */
	t->decode_function = function == LLAMA_PROCESS && !(__u32)PT_REGS_PARM2(ctx) ? LLAMA_ENCODE : function;
	t->decode_context = PT_REGS_PARM1(ctx);
	t->decode_tokens = t->batch.n_tokens;
	t->decode_skip = skips(config_of(t), t->decode_start);
	decode_event(t, EVENT_DECODE_START, 0, 0);
	if (function != LLAMA_PROCESS)
		parts(t);
	return 0;
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
	__u64 now = bpf_ktime_get_ns();
	struct thread *t = known_thread(pid_tgid());

	if (!t || !t->decode_depth || stopped)
		return 0;
	if (--t->decode_depth)
		return 0;
	ADD(state_of(t)->calls, 1);
	return decode_event(t, EVENT_DECODE_END, now, (__s32)PT_REGS_RC(ctx));
}
