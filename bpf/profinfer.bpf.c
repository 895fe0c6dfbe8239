/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* All programs as one object, so that they share their maps. One file per level. */
#include "loading.bpf.c"
#include "token.bpf.c"
#include "edit.bpf.c"
#include "housekeeping.bpf.c"
#include "graph.bpf.c"
#include "expert.bpf.c"
#include "op.bpf.c"
#include "backend.bpf.c"
#include "counter.bpf.c"
#include "process.bpf.c"
#include "cpu_use.bpf.c"
#include "sched.bpf.c"
#include "page_read.bpf.c"

char LICENSE[] SEC("license") = "GPL";
