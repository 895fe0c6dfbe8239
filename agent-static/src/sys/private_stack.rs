//! Whether the kernel gives functions of BPF programs per-CPU stacks (Linux 6.13 on x86-64, later
//! on arm64).

use std::os::fd::{FromRawFd, OwnedFd};

use libbpf_sys as bpf;

/// Tries a program that only such a kernel accepts.
#[must_use]
pub fn private_stacks() -> bool {
    deep_program().is_some()
}

/// Name of the test program.
pub const DEEP_PROGRAM: &str = "private_stack";

/// Loads a program whose two functions together use 800 bytes of stack. Without per-CPU stacks, the
/// verifier accepts at most 512. The program is attached to nothing.
#[must_use]
pub fn deep_program() -> Option<OwnedFd> {
    const HALF: i16 = -400;
    // `*(u64 *)(r10 - 400) = 0; call +2; r0 = 0; exit`. The called function does the same without
    // the call.
    let store = bpf::bpf_insn {
        code: 0x7a,
        off: HALF,
        _bitfield_1: bpf::bpf_insn::new_bitfield_1(10, 0),
        ..Default::default()
    };
    let call = bpf::bpf_insn {
        code: 0x85,
        imm: 2,
        _bitfield_1: bpf::bpf_insn::new_bitfield_1(0, 1),
        ..Default::default()
    };
    let zero = bpf::bpf_insn { code: 0xb7, ..Default::default() };
    let exit = bpf::bpf_insn { code: 0x95, ..Default::default() };
    let program = [store, call, zero, exit, store, zero, exit];
    // SAFETY: The name, the license and the instructions outlive the call, which only reads them;
    // the count is that of the instructions. A null pointer selects default options.
    let fd = unsafe {
        bpf::bpf_prog_load(
            bpf::BPF_PROG_TYPE_KPROBE,
            c"private_stack".as_ptr(),
            c"GPL".as_ptr(),
            program.as_ptr(),
            program.len() as _,
            std::ptr::null_mut(),
        )
    };
    // SAFETY: The call above returned this descriptor to us alone.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}
