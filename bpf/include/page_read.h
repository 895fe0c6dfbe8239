/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Pages that came into the page cache for a process, by file. */
#ifndef PROFINFER_PAGE_READ_H
#define PROFINFER_PAGE_READ_H

#include "sched.h"

/* Files per CPU. A program reads dozens of libraries, so those with the most pages are kept. */
#define PAGE_FILES 31

struct page_file {
	__u64 ino; /* 0: free */
	__u32 dev; /* as the kernel numbers it: major << 20 | minor */
	__u32 tgid; /* the engine */
	__u64 pages;
};

struct page_reads {
	struct page_file files[PAGE_FILES];
	__u64 dropped; /* pages of the others */
	__u64 pad[2];
};

/* By CPU, in memory that the agent maps. Only the tracepoint writes to them, with preemption disabled. */
struct page_reads page_reads[SCHED_CPUS] = {};

#endif
