//! The stubs in the agent itself, so that what they cost can be measured.

use std::io;
use std::ops::Range;

use memmap2::{Mmap, MmapMut};

use super::layout as at;

/// Memory for a code page and a control page of the agent's own.
#[derive(Debug)]
pub struct Pages(MmapMut);

/// The same, executable: nothing is written there any more but the control page's words, before.
#[derive(Debug)]
pub struct Code(Mmap);

impl Pages {
    /// Zeros.
    ///
    /// # Errors
    /// What mmap(2) answers.
    pub fn new() -> io::Result<Self> {
        MmapMut::map_anon(2 * at::PAGE).map(Self)
    }

    /// Where they lie.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.0.as_ptr().addr() as u64
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Makes them executable and no longer writable.
    ///
    /// # Errors
    /// What mprotect(2) answers: a system may forbid it.
    pub fn executable(self) -> io::Result<Code> {
        self.0.make_exec().map(Code)
    }
}

impl Code {
    /// Runs the loop at `code`, which [`looped`] made: passes its places `pairs` times with `node` as second argument.
    pub fn pass(&self, code: &Range<usize>, pairs: u32, node: u64) {
        if pairs == 0 || code.end > at::PAGE || !cfg!(target_arch = "x86_64") {
            return;
        }
        let address = self.0.as_ptr().wrapping_add(code.start);
        // SAFETY: The bytes there are the loop of `looped`, with two of its instructions led through thunks of this page: a function
        // of the C calling convention that changes only the first argument's register, touches no memory but the stack and what
        // the stubs write, which lives as long as the caller's `Shared`, and returns after `pairs` rounds, which is not 0.
        let pass: unsafe extern "C" fn(u64, u64) = unsafe { std::mem::transmute(address) };
        // SAFETY: See above.
        unsafe { pass(u64::from(pairs), node) }
    }
}

/// A function with a call and an instruction of eight bytes behind it, as x86-64 code: its bytes, and the offsets of both in it and
/// of what is called. Its first argument is a number of rounds.
#[must_use]
pub const fn looped() -> ([u8; 20], usize, usize, usize) {
    let code = [
        0xe8, 0x0e, 0, 0, 0, // call 19
        0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, // nop, eight bytes
        0x48, 0xff, 0xcf, // dec rdi
        0x75, 0xee, // jnz 0
        0xc3, // ret
        0xc3, // 19: ret
    ];
    (code, 0, 5, 19)
}

/// Where this thread's control block lies; 0 where that is not known.
#[must_use]
pub fn thread_pointer() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        let pointer: u64;
        // SAFETY: The first word of every thread's control block is its own address, by the x86-64 ABI for thread-local storage;
        // it is only read.
        unsafe {
            std::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, readonly, preserves_flags))
        };
        pointer
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}
