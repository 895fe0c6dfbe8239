//! The stubs and the bootstrap, position-independent, for arm64. Nothing of this runs where it lies: it is copied.
//!
//! A stub is called by a thunk behind it in the same page and preserves every register: a linker's veneer may change x16 and x17 at a
//! call, but the end of an operator is no call. The flags are the thunk's business. There is no red zone below the stack pointer.
//! `isb` keeps the clock from being read before the operator's instructions are done; it empties the pipeline, some tens of cycles.

use std::arch::global_asm;

use super::layout as at;
use super::{Boot, Stubs};

// The claim of a slot has no offset to give.
const _: () = assert!(at::SLOT_KEY == 0);

global_asm!(
    ".section .rodata.profinfer_direct, \"a\", @progbits",
    ".balign 64",
    ".globl profinfer_direct_page",
    ".hidden profinfer_direct_page",
    "profinfer_direct_page:",
    ".Lpage:",
    ".skip {header}",
    // x3 = shared memory, w4 = this thread's number, x5 = below its control block, x6 = its slot. Nothing to record: to 9; no slot: to 8.
    ".macro profinfer_enter",
    "stp x3, x4, [sp, #-80]!",
    "stp x5, x6, [sp, #16]",
    "stp x7, x8, [sp, #32]",
    "stp x16, x17, [sp, #48]",
    "str x30, [sp, #64]",
    "ldr x3, .Lpage + {page} + {control_data}",
    "cbz x3, 9f",
    "ldr w4, [x3, #{on}]",
    "cbz w4, 9f",
    "ldr x4, .Lpage + {page} + {control_tid}",
    "mrs x5, tpidr_el0",
    "sub x5, x5, #{block}",
    "ldr w4, [x5, x4]",
    "and w7, w4, #{last_slot}",
    "add x6, x3, x7, lsl #{slot_shift}",
    "ldr w8, [x6]",
    "cmp w8, w4",
    "b.eq 4f",
    "bl .Lsearch",
    "cbz x6, 8f",
    "4:",
    ".endm",
    // x8 = clock, x17 = CPU as the thread's restartable sequence has it; 4095: it is not known.
    ".macro profinfer_now",
    "ldr x8, .Lpage + {page} + {control_cpu}",
    "mov x17, #0xfff",
    "cbz x8, 3f",
    "ldr w17, [x5, x8]",
    "and x17, x17, #0xfff",
    "3: isb",
    "mrs x8, cntvct_el0",
    ".endm",
    ".macro profinfer_leave",
    "ldr x30, [sp, #64]",
    "ldp x16, x17, [sp, #48]",
    "ldp x7, x8, [sp, #32]",
    "ldp x5, x6, [sp, #16]",
    "ldp x3, x4, [sp], #80",
    "ret",
    ".endm",
    // Adds 1 to what all threads share, x6 bytes behind x3.
    ".macro profinfer_count",
    "add x6, x3, x6",
    "1: ldxr x7, [x6]",
    "add x7, x7, #1",
    "stxr w8, x7, [x6]",
    "cbnz w8, 1b",
    ".endm",
    // (params, first, last)
    ".balign 32",
    ".globl profinfer_direct_fused",
    ".hidden profinfer_direct_fused",
    "profinfer_direct_fused:",
    "profinfer_enter",
    "mov x16, x2",
    "b 5f",
    // (params, tensor)
    ".balign 32",
    ".globl profinfer_direct_start",
    ".hidden profinfer_direct_start",
    "profinfer_direct_start:",
    "profinfer_enter",
    "mov x16, x1",
    "5: ldr x7, [x6, #{node}]",
    "cbz x7, 6f",
    "ldr x7, [x6, #{no_end}]",
    "add x7, x7, #1",
    "str x7, [x6, #{no_end}]",
    "6: str x1, [x6, #{node}]",
    "str x16, [x6, #{last}]",
    "profinfer_now",
    "str w17, [x6, #{cpu}]",
    "str x8, [x6, #{start}]",
    "9: profinfer_leave",
    "8: mov x6, #{no_slot_starts}",
    "profinfer_count",
    "b 9b",
    ".balign 32",
    ".globl profinfer_direct_end",
    ".hidden profinfer_direct_end",
    "profinfer_direct_end:",
    "profinfer_enter",
    "ldr x7, [x6, #{node}]",
    "cbz x7, 7f",
    "profinfer_now",
    // This thread's ring.
    "sub x16, x6, x3",
    "lsl x16, x16, #{ring_shift} - {slot_shift}",
    "add x16, x16, x3",
    "mov x5, #{rings}",
    "add x16, x16, x5",
    "ldr x3, [x6, #{head}]",
    "ldr x5, [x6, #{tail}]",
    "sub x5, x3, x5",
    "lsr x5, x5, #{ring_bits}",
    "cbnz x5, 6f",
    "and x5, x3, #(1 << {ring_bits}) - 1",
    "add x16, x16, x5, lsl #{record_shift}",
    "ldr x5, [x6, #{start}]",
    "str x5, [x16, #{record_start}]",
    "sub x8, x8, x5",
    "orr x8, x8, x17, lsl #48",
    "str x8, [x16, #{record_took}]",
    "ldr x5, [x6, #{last}]",
    "sub x5, x5, x7",
    "asr x5, x5, #3",
    "str w5, [x16, #{record_last}]",
    "ldr w5, [x6, #{cpu}]",
    "bfi x7, x5, #48, #16",
    "str x7, [x16, #{record_node}]",
    "str w4, [x16, #{record_tid}]",
    // Who sees the new number sees the record.
    "add x3, x3, #1",
    "add x5, x6, #{head}",
    "stlr x3, [x5]",
    "5: str xzr, [x6, #{node}]",
    "9: profinfer_leave",
    "6: ldr x5, [x6, #{full}]",
    "add x5, x5, #1",
    "str x5, [x6, #{full}]",
    "b 5b",
    "7: ldr x5, [x6, #{no_start}]",
    "add x5, x5, #1",
    "str x5, [x6, #{no_start}]",
    "b 9b",
    "8: mov x6, #{no_slot_ends}",
    "profinfer_count",
    "b 9b",
    // x6 = the slot of thread w4, from number w7 at x6 on, claiming a free one; 0: there is none. Without LSE's atomics: older
    // processors have none. Changes w7, w8, w16, w17.
    ".balign 32",
    ".Lsearch:",
    "mov w16, #{slots}",
    "1: ldaxr w8, [x6]",
    "cmp w8, w4",
    "b.eq 3f",
    "cbnz w8, 2f",
    "stxr w17, w4, [x6]",
    "cbnz w17, 1b",
    "3: ret",
    "2: add w7, w7, #1",
    "and w7, w7, #{last_slot}",
    "add x6, x3, x7, lsl #{slot_shift}",
    "sub w16, w16, #1",
    "cbnz w16, 1b",
    "mov x6, xzr",
    "ret",
    ".globl profinfer_direct_page_end",
    ".hidden profinfer_direct_page_end",
    "profinfer_direct_page_end:",
    ".purgem profinfer_enter",
    ".purgem profinfer_now",
    ".purgem profinfer_leave",
    ".purgem profinfer_count",
    // What one stopped thread of the engine is made to run, once: it maps the pages and the shared memory, puts its registers back by
    // itself and goes on where it was. So it does not matter whether the one who sent it here still lives. No stack is used. A
    // call that fails leads to the end: who watches the system calls sees it. No register is free to hold where to go on: a
    // branch that is made for it leads there.
    ".balign 16",
    ".globl profinfer_direct_boot",
    ".hidden profinfer_direct_boot",
    "profinfer_direct_boot:",
    "ldr x9, .Lpage_at",
    "mov x0, x9",
    "mov x1, #{page}",
    "mov x2, #5",                  // PROT_READ | PROT_EXEC: it is written by ptrace only
    "mov x3, #0x22",               // MAP_PRIVATE | MAP_ANONYMOUS …
    "movk x3, #0x10, lsl #16",     // … | MAP_FIXED_NOREPLACE
    "mov x4, #-1",
    "mov x5, xzr",
    "mov x8, #222",                // mmap
    "svc #0",
    "cmp x0, x9",
    "b.ne 1f",
    "add x9, x9, x1",
    "mov x0, x9",
    "mov x2, #3",                  // PROT_READ | PROT_WRITE
    "svc #0",
    "cmp x0, x9",
    "b.ne 1f",
    "mov x2, #18",                 // MADV_WIPEONFORK
    "mov x8, #233",                // madvise
    "svc #0",
    "cbnz x0, 1f",
    "adr x0, .Lname",
    "ldr x1, .Lmemfd",
    "mov x8, #279",                // memfd_create
    "svc #0",
    "tbnz x0, #63, 1f",
    "mov x12, x0",
    "ldr x1, .Ldata",
    "mov x8, #46",                 // ftruncate
    "svc #0",
    "mov x13, x0",
    "cbnz x0, 2f",
    "mov x2, #3",
    "mov x3, #1",                  // MAP_SHARED
    "mov x4, x12",
    "mov x5, xzr",
    "mov x8, #222",
    "svc #0",
    "mov x13, x0",
    // Small negative numbers are errors.
    "2: cmn x13, #4095",
    "b.hs 3f",
    "str x13, [x9, #{control_map}]",
    "3: mov x0, x12",
    "mov x8, #57",                 // close: the last call, behind which the agent puts the thread back itself
    "svc #0",
    "1: ldr x30, .Lflags",
    "msr nzcv, x30",
    "adr x30, .Lregisters",
    "ldp x0, x1, [x30]",
    "ldp x2, x3, [x30, #16]",
    "ldp x4, x5, [x30, #32]",
    "ldp x6, x7, [x30, #48]",
    "ldp x8, x9, [x30, #64]",
    "ldp x10, x11, [x30, #80]",
    "ldp x12, x13, [x30, #96]",
    "ldp x14, x15, [x30, #112]",
    "ldp x16, x17, [x30, #128]",
    "ldp x18, x19, [x30, #144]",
    "ldp x20, x21, [x30, #160]",
    "ldp x22, x23, [x30, #176]",
    "ldp x24, x25, [x30, #192]",
    "ldp x26, x27, [x30, #208]",
    "ldp x28, x29, [x30, #224]",
    "ldr x30, [x30, #240]",
    "b .Lgo_on",
    ".Lname: .asciz \"profinfer-probes\"",
    ".balign 8",
    ".Ldata: .quad {data}",
    ".globl profinfer_direct_boot_values",
    ".hidden profinfer_direct_boot_values",
    "profinfer_direct_boot_values:",
    ".Lpage_at: .quad 0",
    ".Lmemfd: .quad 0",
    ".Lgo_on: .quad 0",
    ".Lflags: .quad 0",
    ".Lregisters: .skip 8 * 31",
    ".globl profinfer_direct_boot_end",
    ".hidden profinfer_direct_boot_end",
    "profinfer_direct_boot_end:",
    ".text",
    header = const at::HEADER,
    page = const at::PAGE,
    data = const at::DATA,
    control_data = const at::CONTROL_DATA,
    control_tid = const at::CONTROL_TID,
    control_map = const at::CONTROL_MAP,
    control_cpu = const at::CONTROL_CPU,
    block = const at::BLOCK,
    on = const at::ON,
    slots = const at::SLOTS,
    last_slot = const at::SLOTS - 1,
    slot_shift = const at::SLOT_SHIFT,
    cpu = const at::SLOT_CPU,
    start = const at::SLOT_START,
    node = const at::SLOT_NODE,
    last = const at::SLOT_LAST,
    head = const at::SLOT_HEAD,
    full = const at::SLOT_FULL,
    no_end = const at::SLOT_NO_END,
    no_start = const at::SLOT_NO_START,
    tail = const at::SLOT_TAIL,
    no_slot_starts = const at::NO_SLOT_STARTS,
    no_slot_ends = const at::NO_SLOT_ENDS,
    rings = const at::RINGS,
    ring_bits = const at::RING_BITS,
    ring_shift = const at::RING_SHIFT,
    record_shift = const at::RECORD_SHIFT,
    record_start = const at::RECORD_START,
    record_node = const at::RECORD_NODE,
    record_took = const at::RECORD_TOOK,
    record_tid = const at::RECORD_TID,
    record_last = const at::RECORD_LAST,
);

unsafe extern "C" {
    static profinfer_direct_page: u8;
    static profinfer_direct_fused: u8;
    static profinfer_direct_start: u8;
    static profinfer_direct_end: u8;
    static profinfer_direct_page_end: u8;
    static profinfer_direct_boot: u8;
    static profinfer_direct_boot_values: u8;
    static profinfer_direct_boot_end: u8;
}

/// The stubs as they are copied into an engine.
#[must_use]
pub fn stubs() -> Stubs {
    let page = &raw const profinfer_direct_page;
    let from = |label: *const u8| label.addr() - page.addr();
    let size = from(&raw const profinfer_direct_page_end);
    Stubs {
        // SAFETY: The labels are the beginning and the end of the bytes above, in that order, in read-only memory.
        bytes: unsafe { std::slice::from_raw_parts(page, size) },
        start: from(&raw const profinfer_direct_start),
        fused: from(&raw const profinfer_direct_fused),
        end: from(&raw const profinfer_direct_end),
    }
}

/// The bootstrap as it is copied into an engine.
#[must_use]
pub fn boot() -> Boot {
    let code = &raw const profinfer_direct_boot;
    let from = |label: *const u8| label.addr() - code.addr();
    let size = from(&raw const profinfer_direct_boot_end);
    Boot {
        // SAFETY: As in `stubs`.
        bytes: unsafe { std::slice::from_raw_parts(code, size) },
        values: from(&raw const profinfer_direct_boot_values),
    }
}
