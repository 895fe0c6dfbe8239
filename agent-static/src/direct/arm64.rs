//! Thunks, patched instructions and registers on arm64.

use nix::sys::ptrace;
use nix::unistd::Pid;
use profinfer_engine::{DirectRole, Machine};

use super::page::Targets;
use super::place::Place;
use crate::sys::direct::layout as at;
use crate::sys::direct::regset;
use crate::sys::thread::restartable;

/// Bytes that a patch changes: one instruction.
pub(super) const CHANGED: usize = 4;
/// The machine that the agent has stubs for.
pub(super) const MACHINE: Option<Machine> = Some(Machine::Arm64);

/// `b`, and `bl`.
const JUMP: u32 = 0x1400_0000;
const CALL: u32 = 0x9400_0000;
const RETURN: u32 = 0xd65f_03c0;
/// `svc #0`.
const SYSCALL: u32 = 0xd400_0001;

/// The branch from `from` to `to`; `None` if it is farther than 128 MiB.
fn branch(opcode: u32, from: u64, to: u64) -> Option<u32> {
    const REACH: i64 = 1 << 27;
    let by = to.wrapping_sub(from).cast_signed();
    // 26 bits of distance, in instructions.
    let near = (-REACH..REACH).contains(&by) && by & 3 == 0;
    near.then(|| opcode | (by >> 2).cast_unsigned() as u32 & 0x03ff_ffff)
}

/// The code of a page, word by word.
struct Code<'c> {
    bytes: &'c mut Vec<u8>,
    base: u64,
}

impl Code<'_> {
    fn words(&mut self, words: &[u32]) {
        self.bytes.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    }

    fn branch(&mut self, opcode: u32, to: u64) -> Option<()> {
        let word = branch(opcode, self.base + self.bytes.len() as u64, to)?;
        self.words(&[word]);
        Some(())
    }
}

/// Appends the thunk of `place` to the page `code` at `base`; `None` if a target is out of reach.
pub(super) fn thunk(code: &mut Vec<u8>, base: u64, place: &Place, to: &Targets, phase: bool) -> Option<()> {
    /// `str x30, [sp, #-16]!` and `ldr x30, [sp], #16`: the engine's return address.
    const KEEP: u32 = 0xf81f_0ffe;
    const BACK: u32 = 0xf841_07fe;
    let mut code = Code { bytes: code, base };
    match place.role {
        // Entered by the engine's own call. The callee returns to the engine and does not notice
        // the thunk.
        DirectRole::Start { fused, .. } => {
            code.words(&[KEEP]);
            code.branch(CALL, if fused { to.fused } else { to.start })?;
            code.words(&[BACK]);
            code.branch(JUMP, place.callee)
        }
        // In the middle of a function: flags are live, and so is x16.
        DirectRole::End => {
            // str x30, [sp, #-32]!; str x16, [sp, #8]; mrs x16, nzcv; str x16, [sp, #16]
            code.words(&[0xf81e_0ffe, 0xf900_07f0, 0xd53b_4210, 0xf900_0bf0]);
            code.branch(CALL, to.end)?;
            // ldr x16, [sp, #16]; msr nzcv, x16; ldr x16, [sp, #8]; ldr x30, [sp], #32
            code.words(&[0xf940_0bf0, 0xd51b_4210, 0xf940_07f0, 0xf842_07fe]);
            code.bytes.extend(&place.bytes[..CHANGED]);
            code.branch(JUMP, place.address + CHANGED as u64)
        }
        DirectRole::Whole { .. } => {
            if phase {
                // Not COMPUTE: continue directly with the function. ldr w16, [x0]; cmp w16, #1;
                // b.eq over the jump
                code.words(&[0xb940_0010, 0x7100_061f, 0x5400_0040]);
                code.branch(JUMP, place.callee)?;
            }
            code.words(&[KEEP]);
            code.branch(CALL, to.start)?;
            code.branch(CALL, place.callee)?;
            code.branch(CALL, to.end)?;
            code.words(&[BACK, RETURN]);
            Some(())
        }
    }
}

/// The patched first bytes of `place`, which lead to `thunk`. `None`: out of reach, or a different
/// instruction.
pub(super) fn change(place: &Place, thunk: u64) -> Option<[u8; 8]> {
    let opcode = match place.role {
        DirectRole::End => JUMP,
        DirectRole::Start { .. } | DirectRole::Whole { .. } => CALL,
    };
    let was = u32::from_le_bytes(*place.bytes.first_chunk()?);
    if opcode == CALL && was & 0xfc00_0000 != CALL {
        return None;
    }
    let mut bytes = [0; 8];
    bytes[..CHANGED].copy_from_slice(&branch(opcode, place.address, thunk)?.to_le_bytes());
    Some(bytes)
}

/// Indices of general registers in `user_pt_regs`: x0 to x30, then these.
const PC: usize = 32;
const FLAGS: usize = 33;
/// `NT_PRSTATUS`, `NT_ARM_TLS`, `NT_ARM_SVE`, `NT_ARM_SSVE`.
const GENERAL: i32 = 1;
const THREAD_POINTER: i32 = 0x401;
const SVE: i32 = 0x405;
const STREAMING: i32 = 0x40b;

/// The registers of a stopped thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Registers {
    all: [u64; 34],
    pointer: u64,
    /// The thread is about to make a system call, or an interrupted call will be restarted.
    calls: bool,
    /// Its scalable vectors hold values, which a system call would destroy.
    vectors: bool,
}

impl Registers {
    pub(super) fn new(tid: i32) -> nix::Result<Self> {
        let (mut all, mut pointer) = ([0; 34], [0]);
        let broken = |_| nix::errno::Errno::last();
        regset::read(tid, GENERAL, &mut all).map_err(broken)?;
        regset::read(tid, THREAD_POINTER, &mut pointer).map_err(broken)?;
        let word_at = std::ptr::without_provenance_mut(usize::try_from(all[PC] & !7).unwrap_or(0));
        // Code that cannot be read may be anything.
        let calls = ptrace::read(Pid::from_raw(tid), word_at).map_or(true, |words| {
            let next = words.cast_unsigned() >> (all[PC] % 8 * 8) & u64::from(u32::MAX);
            next == u64::from(SYSCALL)
        });
        let vectors = [SVE, STREAMING].into_iter().any(|kind| has_vectors(tid, kind));
        Ok(Self { all, pointer: pointer[0], calls, vectors })
    }

    /// Address of the next instruction.
    pub(super) const fn at(&self) -> u64 {
        self.all[PC]
    }

    /// Start of the memory that is searched for the thread's id: C libraries have their control
    /// block below the thread pointer.
    pub(super) const fn thread_pointer(&self) -> u64 {
        self.pointer.wrapping_sub(at::BLOCK as u64)
    }

    /// How suitable the thread is for the bootstrap, 0 best; `None`: unsuitable.
    ///
    /// When a thread stops in a system call that will be restarted, the kernel has already reset
    /// its registers (`do_signal` in arch/arm64/kernel/signal.c). For a call with a timeout it
    /// would also substitute `restart_syscall`, but it does not do so when the thread is sent
    /// elsewhere: the timeout starts again. So such a thread is the second choice.
    pub(super) fn rank(&self) -> Option<u8> {
        if self.vectors {
            return None;
        }
        Some(if self.calls { 2 } else { 0 })
    }

    /// The values after the first two of the bootstrap at `values`: where to continue, flags,
    /// registers, in the order of `sys/direct/arm64.rs`. `None`: too far for a branch.
    pub(super) fn resume(&self, values: u64) -> Option<[u64; 33]> {
        const GO_ON: u64 = 16;
        let mut resume = [0; 33];
        resume[0] = branch(JUMP, values + GO_ON, self.all[PC])?.into();
        resume[1] = self.all[FLAGS];
        resume[2..].copy_from_slice(&self.all[..31]);
        Some(resume)
    }

    pub(super) fn send(&self, tid: i32, address: u64) -> nix::Result<()> {
        /// `PSTATE.BTYPE`: type of the last branch. The bootstrap does not begin with a branch
        /// target.
        const BRANCH_TYPE: u64 = 3 << 10;
        let mut all = self.all;
        all[PC] = address;
        all[FLAGS] &= !BRANCH_TYPE;
        regset::write(tid, GENERAL, &mut all).map_err(|_| nix::errno::Errno::last())
    }

    /// Restores the thread to this state from any point. At the end of a system call x7 cannot be
    /// written; the bootstrap does not use it.
    pub(super) fn put_back(&self, tid: i32) -> nix::Result<()> {
        /// `NT_ARM_SYSTEM_CALL`: the thread's current system call. Set to none, whatever x0
        /// contains.
        const SYSTEM_CALL: i32 = 0x404;
        let (mut all, mut none) = (self.all, [u64::MAX]);
        let broken = |_| nix::errno::Errno::last();
        regset::write(tid, SYSTEM_CALL, &mut none).map_err(broken)?;
        regset::write(tid, GENERAL, &mut all).map_err(broken)
    }

    /// At the end of a system call: its number and return value.
    pub(super) const fn returned(&self) -> (u64, i64) {
        (self.all[8], self.all[0].cast_signed())
    }
}

/// Whether the thread has values in its scalable vectors. A system call preserves only the rest of
/// the vectors (Linux, Documentation/arch/arm64/sve.rst).
fn has_vectors(tid: i32, kind: i32) -> bool {
    // `struct user_sve_header`: two sizes, two vector lengths, flags.
    let mut header = [0; 2];
    let read = regset::read(tid, kind, &mut header).is_ok_and(|n| n >= 16);
    let (size, flags) = (header[0] & u64::from(u32::MAX), header[1] >> 32 & 0xffff);
    read && flags & 1 == 1 && size > 16
}

/// Offset of a thread's CPU number, which is in its registered rseq area, from its control block.
/// The offset must be the same in all threads; 0: unknown.
pub(super) fn cpu_at(tids: &[i32]) -> u64 {
    /// Offset of `cpu_id` in `struct rseq`.
    const CPU: u64 = 4;
    let distance = |tid: &i32| {
        let rseq = restartable(*tid).filter(|at| *at != 0)?;
        Some(rseq.wrapping_add(CPU).wrapping_sub(Registers::new(*tid).ok()?.thread_pointer()))
    };
    let mut all = tids.iter().map(distance);
    match all.next() {
        Some(Some(first)) if all.all(|d| d == Some(first)) => first,
        _ => 0,
    }
}

/// Names of the bootstrap's system calls.
pub(super) fn call(number: u64) -> &'static str {
    match number {
        222 => "mmap",
        233 => "madvise",
        279 => "memfd_create",
        46 => "ftruncate",
        57 => "close",
        _ => "a system call",
    }
}

/// memfd_create(2).
pub(super) const OPENS: u64 = 279;

/// The bootstrap's last system call. After it the bootstrap only restores its registers.
pub(super) const LAST_CALL: u64 = 57;

/// C libraries for arm64 store the thread id at no fixed distance from the thread pointer.
pub(super) const THREAD_NUMBERS: [u64; 0] = [];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_reach_128_mib() {
        assert_eq!(branch(CALL, 0x1000, 0x1010), Some(0x9400_0004));
        assert_eq!(branch(JUMP, 0x1000, 0xff8), Some(0x17ff_fffe));
        assert_eq!(branch(JUMP, 0x1000_0000, 0x1000_0000 - (1 << 27)), Some(0x1600_0000));
        assert_eq!(branch(JUMP, 0, 1 << 27), None);
        assert_eq!(branch(JUMP, 0, 2), None);
    }
}
