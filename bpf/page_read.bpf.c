/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What an engine reads from files into the page cache: by a read, by a page fault, and what the kernel
 * reads ahead meanwhile.
 *
 * Every page or folio passes this tracepoint, of all processes. Counts are per CPU and need no atomic
 * operations, because the program runs with preemption disabled. On PREEMPT_RT it does not, and is not
 * attached.
 */
#include "include/page_read.h"

static __noinline struct page_file *page_file(struct page_reads *r, __u32 tgid, __u32 dev, __u64 ino)
{
	struct page_file *least = &r->files[0];

	for (__u32 i = 0; i < PAGE_FILES; i++) {
		struct page_file *f = &r->files[i];

		if (f->ino == ino && f->dev == dev && f->tgid == tgid)
			return f;
		if (f->pages < least->pages)
			least = f;
	}
	/* The agent may read between these writes: a free place has no inode. */
	r->dropped += least->pages;
	least->ino = 0;
	least->pages = 0;
	least->dev = dev;
	least->tgid = tgid;
	least->ino = ino;
	return least;
}

/* filemap:mm_filemap_add_to_page_cache */
SEC("tracepoint")
int page_on_add(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 id = pid_tgid();
	struct page_file *f;
	__u8 order = 0;
	__u64 ino = 0;

	if (stopped || cpu >= SCHED_CPUS || slot_of(id) >= ENGINES)
		return 0;
	bpf_probe_read_kernel(&ino, sizeof(ino), (char *)ctx + sched_format.page_ino);
	if (sched_format.page_order)
		bpf_probe_read_kernel(&order, sizeof(order), (char *)ctx + sched_format.page_order);
	/* Inode 0 is none of a file. */
	if (!ino)
		return 0;
	f = page_file(&page_reads[cpu & (SCHED_CPUS - 1)], id >> 32, FIELD(page_dev), ino);
	f->pages += 1ULL << (order & 31);
	return 0;
}
