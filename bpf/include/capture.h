/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What is captured of operators: all of a call or nothing; and filters.
 *
 * The agent attaches and removes probes while the engine computes. A call with only some of its
 * operators seen must not count as captured. So the decision is made once, when a call begins, by a
 * time window that the agent sets in advance. Within a llama_decode call, all graphs follow the
 * decision for that call.
 */
#ifndef PROFINFER_CAPTURE_H
#define PROFINFER_CAPTURE_H

#include "maps.h"

/* Set before loading. */
const volatile __u32 starts_only = 0; /* no end probes: operators produce a record at their start only */
const volatile __u32 filter_nodes = 0; /* the map `left_out` is in use */
const volatile __u32 filter_threads = 0; /* threads with this index or a higher one are filtered out; 0: none */
const volatile __u32 filter_tids = 0; /* threads that are not in the map `kept_threads` are filtered out */

struct node_key {
	__u64 topology;
	__u64 node;
};

/* Nodes that filters exclude, as sent by the agent: only the agent knows their names. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct node_key);
	__type(value, __u32);
} left_out SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u32);
} kept_threads SEC(".maps");

/* Whether the operators of a call that began at `start` are not captured. Must be called after
 * `start` was read, so that every affected call sees a window that the agent sets in advance. */
static __always_inline __u32 skips(const struct engine_config *g, __u64 start)
{
	return start < g->ops_from || start >= g->ops_until;
}

/* Whether a thread filter excludes the operator that begins with these parameters. */
static __noinline __u32 thread_left_out(const struct thread *t, __u64 params)
{
	__u32 tid = (__u32)t->id, ith = 0;

	if (filter_tids && !bpf_map_lookup_elem(&kept_threads, &tid))
		return 1;
	if (!filter_threads)
		return 0;
	if (bpf_probe_read_user(&ith, sizeof(ith), (void *)(params + config_of(t)->ith)))
		return 0;
	return ith >= filter_threads;
}

static __noinline __u32 node_left_out(__u64 topology, __u64 node)
{
	struct node_key key = { .topology = topology, .node = node };

	return bpf_map_lookup_elem(&left_out, &key) ? 1 : 0;
}

#endif
