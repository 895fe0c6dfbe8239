/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Operators as the paper records them (MLSys 2026, tables 2 and 6): a probe at the entry and one at the return of the function that every
 * operator passes, a record at each, with the tensor's name, operator, shape and sources at the entry, into a perf buffer.
 * Also the parts that such programs are made of, one by one, for traps.c. Nothing here is part of the agent. */
#include "portable.h"

/* struct ggml_tensor since 2024-12, as in the paper's table of offsets. */
enum { TENSOR_NE = 16, TENSOR_OP = 80, TENSOR_SRC = 152, TENSOR_NAME = 256 };

struct start {
	__u64 at_ns;
	__u32 tid;
	__u16 type, cpu;
	char name[16];
	__u32 op, pad;
	__u64 tensor, src[2];
	__s64 ne[4], src_ne[2][4];
};

struct end {
	__u64 at_ns;
	__u32 tid;
	__u16 type, cpu;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u64[64]);
} threads SEC(".maps");

/* Too large for a program's stack. */
static const __u64 no_state[64] = {};

#define CURRENT_CPU 0xffffffffull /* BPF_F_CURRENT_CPU */

SEC("uprobe")
int operator_entry(struct pt_regs *ctx)
{
	struct start s = { .at_ns = bpf_ktime_get_ns(), .tid = (__u32)bpf_get_current_pid_tgid(), .type = 20 };

	s.cpu = bpf_get_smp_processor_id();
	s.tensor = PT_REGS_PARM2(ctx);
	bpf_probe_read_user(s.name, sizeof(s.name), (void *)s.tensor + TENSOR_NAME);
	bpf_probe_read_user(&s.op, sizeof(s.op), (void *)s.tensor + TENSOR_OP);
	bpf_probe_read_user(s.ne, sizeof(s.ne), (void *)s.tensor + TENSOR_NE);
	bpf_probe_read_user(s.src, sizeof(s.src), (void *)s.tensor + TENSOR_SRC);
	for (int k = 0; k < 2; k++)
		if (s.src[k])
			bpf_probe_read_user(s.src_ne[k], sizeof(s.src_ne[k]), (void *)s.src[k] + TENSOR_NE);
	bpf_perf_event_output(ctx, &events, CURRENT_CPU, &s, sizeof(s));
	return 0;
}

SEC("uretprobe")
int operator_return(struct pt_regs *ctx)
{
	struct end e = { .at_ns = bpf_ktime_get_ns(), .tid = (__u32)bpf_get_current_pid_tgid(), .type = 25 };

	e.cpu = bpf_get_smp_processor_id();
	bpf_perf_event_output(ctx, &events, CURRENT_CPU, &e, sizeof(e));
	return 0;
}

SEC("uprobe")
int empty(UNUSED struct pt_regs *ctx)
{
	return 0;
}

SEC("uprobe")
int with_clock(UNUSED struct pt_regs *ctx)
{
	return bpf_ktime_get_ns() == 1;
}

SEC("uprobe")
int with_state(UNUSED struct pt_regs *ctx)
{
	__u64 task = bpf_get_current_task();
	__u64 *state = bpf_map_lookup_elem(&threads, &task);

	if (state)
		state[1] = bpf_ktime_get_ns();
	else
		bpf_map_update_elem(&threads, &task, no_state, BPF_ANY);
	return 0;
}

/* The record of an operator, 56 bytes with its head. */
SEC("uprobe")
int with_ring(UNUSED struct pt_regs *ctx)
{
	__u64 *e = bpf_ringbuf_reserve(&ring, 56, 0);

	if (!e)
		return 0;
	e[0] = bpf_ktime_get_ns();
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
