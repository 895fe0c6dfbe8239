//! The stubs inside the agent, to measure their cost.

use std::io;
use std::ops::Range;

use memmap2::{Mmap, MmapMut};

use super::layout as at;

/// Memory for a code page and a control page of the agent.
#[derive(Debug)]
pub struct Pages(MmapMut);

/// The same, executable and read-only. The words of the control page are set before.
#[derive(Debug)]
pub struct Code(Mmap);

impl Pages {
    /// Zero-filled pages.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new() -> io::Result<Self> {
        MmapMut::map_anon(2 * at::PAGE).map(Self)
    }

    /// The address of the pages.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.0.as_ptr().addr() as u64
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Makes the pages executable and read-only.
    ///
    /// # Errors
    /// The error of mprotect(2): a system may forbid it.
    pub fn executable(self) -> io::Result<Code> {
        self.0.make_exec().map(Code)
    }
}

impl Code {
    /// Runs the loop at `code`, described by [`LOOPED`]: executes its places `pairs` times, with
    /// `node` as second argument.
    pub fn pass(&self, code: &Range<usize>, pairs: u32, node: u64) {
        if pairs == 0 || code.end > at::PAGE {
            return;
        }
        let address = self.0.as_ptr().wrapping_add(code.start);
        // SAFETY: The bytes are the loop of `LOOPED`, with two instructions redirected through
        // thunks of this page. It is a function of the C calling convention. It changes only the
        // register of the first argument. It touches no memory except the stack and what the stubs
        // write, which lives as long as the `Shared` of the caller. It returns after `pairs`
        // rounds, which is not 0.
        let pass: unsafe extern "C" fn(u64, u64) = unsafe { std::mem::transmute(address) };
        // SAFETY: See above.
        unsafe { pass(u64::from(pairs), node) }
    }
}

/// A function with a call, followed by an instruction that can be moved. Its first argument is a
/// number of rounds.
#[derive(Debug)]
pub struct Looped {
    pub code: &'static [u8],
    /// Offset of the call.
    pub start: usize,
    /// Offset of the instruction.
    pub end: usize,
    /// Length of the instruction at `end`.
    pub moved: usize,
    /// Offset of the called function.
    pub callee: usize,
}

/// The loop for x86-64.
#[cfg(target_arch = "x86_64")]
pub const LOOPED: Looped = Looped {
    code: &[
        0xe8, 0x0e, 0, 0, 0, // call 19
        0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, // nop, eight bytes
        0x48, 0xff, 0xcf, // dec rdi
        0x75, 0xee, // jnz 0
        0xc3, // ret
        0xc3, // 19: ret
    ],
    start: 0,
    end: 5,
    moved: 8,
    callee: 19,
};

/// The loop for arm64.
#[cfg(target_arch = "aarch64")]
pub const LOOPED: Looped = Looped {
    code: &[
        0xfe, 0x0f, 0x1f, 0xf8, // str x30, [sp, #-16]!
        0x06, 0, 0, 0x94, // 4: bl 28
        0x1f, 0x20, 0x03, 0xd5, // nop
        0, 0x04, 0, 0xf1, // subs x0, x0, #1
        0xa1, 0xff, 0xff, 0x54, // b.ne 4
        0xfe, 0x07, 0x41, 0xf8, // ldr x30, [sp], #16
        0xc0, 0x03, 0x5f, 0xd6, // ret
        0xc0, 0x03, 0x5f, 0xd6, // 28: ret
    ],
    start: 4,
    end: 8,
    moved: 4,
    callee: 28,
};

/// The address of the control block of this thread; on arm64, the start of the part that is
/// searched.
#[must_use]
pub fn thread_pointer() -> u64 {
    let pointer: u64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: By the x86-64 ABI for thread-local storage, the first word of the control block of
    // every thread is its own address. It is only read.
    unsafe {
        std::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: Every program may read the register; nothing else is read.
    unsafe {
        std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, nomem, preserves_flags));
    }
    if cfg!(target_arch = "aarch64") { pointer.wrapping_sub(at::BLOCK as u64) } else { pointer }
}
