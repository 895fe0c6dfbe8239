/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Kernel declarations that the programs need, written by hand.
 *
 * No vmlinux.h, no kernel or libc headers, no CO-RE: nothing depends on the compiling machine. The
 * object contains no relocations against kernel types, so it loads on kernels built without
 * CONFIG_DEBUG_INFO_BTF. The register structs are user-space ABI (uapi asm/ptrace.h), so they are
 * stable.
 */
#ifndef PROFINFER_PORTABLE_H
#define PROFINFER_PORTABLE_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16; /* bpf_helper_defs.h names these */
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u64 __be64;

/* include/uapi/linux/bpf.h */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0 };
struct bpf_pidns_info {
	__u32 pid;
	__u32 tgid;
};
struct bpf_raw_tracepoint_args {
	__u64 args[0];
};
struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8;
	unsigned long rax, rcx, rdx, rsi, rdi, orig_rax, rip, cs, eflags, rsp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs; /* opaque: bpf_tracing.h casts it to user_pt_regs */
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};
#else
#error "add this architecture's user-space register layout"
#endif

#define UNUSED __attribute__((unused))

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#endif
