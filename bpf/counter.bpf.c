/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* A traced thread that runs an operator leaves its CPU, or gets one.
 *
 * The arguments are (preempt, prev, next) in every kernel since 5.10; newer kernels only
 * appended some. Only the addresses are used, so that the layout of the task struct is not
 * needed. */
#include "include/counter.h"

SEC("raw_tp/sched_switch")
int sched_switch(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = bpf_get_current_task();
	struct thread *t = bpf_map_lookup_elem(&threads, &task);

	if (t) {
		t->count_seq++;
		if (t->counting == 1) {
			count_read(t, 1);
			t->count_switches++;
			t->counting = 2;
		}
	}
	task = ctx->args[2];
	t = bpf_map_lookup_elem(&threads, &task);
	if (t && t->counting == 2) {
		count_read(t, 0);
		t->counting = 1;
	}
	return 0;
}
