//! Thunks, patched instructions and registers on x86-64.

use nix::libc::user_regs_struct;
use nix::sys::ptrace;
use nix::unistd::Pid;
use profinfer_engine::{DirectRole, Machine};

use super::page::Targets;
use super::place::Place;

/// Bytes that a patch changes: a jump or call with a 32-bit distance.
pub(super) const CHANGED: usize = 5;
/// The machine that the agent has stubs for.
pub(super) const MACHINE: Option<Machine> = Some(Machine::X86_64);

const CALL: u8 = 0xe8;
const JUMP: u8 = 0xe9;

/// Appends a `call` or `jmp` to `to` to the page `code` at `base`; `None`: out of reach.
fn branch(code: &mut Vec<u8>, base: u64, opcode: u8, to: u64) -> Option<()> {
    let next = base + code.len() as u64 + CHANGED as u64;
    code.push(opcode);
    code.extend(distance(next, to)?.to_le_bytes());
    Some(())
}

fn distance(next: u64, to: u64) -> Option<i32> {
    i32::try_from(to.wrapping_sub(next).cast_signed()).ok()
}

/// Appends the thunk of `place` to the page `code` at `base`; `None` if a target is out of reach.
pub(super) fn thunk(code: &mut Vec<u8>, base: u64, place: &Place, to: &Targets, phase: bool) -> Option<()> {
    match place.role {
        // Entered by the engine's own call. The return address on the stack stays the engine's, so
        // the callee does not notice the thunk.
        DirectRole::Start { fused, .. } => {
            branch(code, base, CALL, if fused { to.fused } else { to.start })?;
            branch(code, base, JUMP, place.callee)
        }
        // In the middle of a function: flags are live, and the red zone may be in use.
        DirectRole::End => {
            code.extend([0x48, 0x8d, 0x64, 0x24, 0x80]); // lea rsp, [rsp - 128]
            code.push(0x9c); // pushfq
            branch(code, base, CALL, to.end)?;
            code.push(0x9d); // popfq
            code.extend([0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0]); // lea rsp, [rsp + 128]
            code.extend(&place.bytes[..place.len]);
            branch(code, base, JUMP, place.address + place.len as u64)
        }
        DirectRole::Whole { .. } => {
            if phase {
                // Not COMPUTE: continue directly with the function.
                code.extend([0x83, 0x3f, 0x01]); // cmp dword ptr [rdi], 1
                code.extend([0x74, 0x05]); // je over the jump
                branch(code, base, JUMP, place.callee)?;
            }
            code.extend([0x48, 0x83, 0xec, 0x08]); // sub rsp, 8: functions expect a 16-byte aligned stack
            branch(code, base, CALL, to.start)?;
            branch(code, base, CALL, place.callee)?;
            branch(code, base, CALL, to.end)?;
            code.extend([0x48, 0x83, 0xc4, 0x08, 0xc3]); // add rsp, 8; ret
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
    if opcode == CALL && (place.bytes[0] != CALL || place.len != CHANGED) {
        return None;
    }
    let mut bytes = [0; 8];
    bytes[0] = opcode;
    let next = place.address + CHANGED as u64;
    bytes[1..CHANGED].copy_from_slice(&distance(next, thunk)?.to_le_bytes());
    Some(bytes)
}

/// The registers of a stopped thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Registers(user_regs_struct);

impl Registers {
    pub(super) fn new(tid: i32) -> nix::Result<Self> {
        ptrace::getregs(Pid::from_raw(tid)).map(Self)
    }

    /// Address of the next instruction.
    pub(super) const fn at(&self) -> u64 {
        self.0.rip
    }

    /// Address of the control block.
    pub(super) const fn thread_pointer(&self) -> u64 {
        self.0.fs_base
    }

    /// How suitable the thread is for the bootstrap, 0 best; `None`: unsuitable.
    ///
    /// The kernel would restart an interrupted system call. Code that redirects the thread must do
    /// that itself. Calls that continue where they were (`restart_syscall`), and calls that must
    /// see a signal's handler (`pause`, `ppoll` with a signal mask), are less safe.
    pub(super) fn rank(&self) -> Option<u8> {
        /// Code segment of 64-bit programs.
        const USER_64: u64 = 0x33;
        if self.0.cs != USER_64 {
            return None;
        }
        if self.0.orig_rax.cast_signed() < 0 {
            return Some(0);
        }
        match self.0.rax.cast_signed() {
            RESTARTSYS | RESTARTNOINTR => Some(2),
            RESTART_RESTARTBLOCK => Some(3),
            RESTARTNOHAND => None,
            // A completed call.
            _ => Some(1),
        }
    }

    /// Restores the thread to this state from any point.
    pub(super) fn put_back(&self, tid: i32) -> nix::Result<()> {
        let (rip, rax) = self.again();
        let mut r = self.0;
        (r.rip, r.rax, r.orig_rax) = (rip, rax, u64::MAX);
        ptrace::setregs(Pid::from_raw(tid), r)
    }

    /// Next instruction and rax that restart an interrupted system call.
    const fn again(&self) -> (u64, u64) {
        /// Length of `syscall`.
        const SYSCALL: u64 = 2;
        let r = &self.0;
        match r.rax.cast_signed() {
            _ if r.orig_rax.cast_signed() < 0 => (r.rip, r.rax),
            RESTARTSYS | RESTARTNOINTR | RESTARTNOHAND => (r.rip - SYSCALL, r.orig_rax),
            RESTART_RESTARTBLOCK => (r.rip - SYSCALL, RESTART_SYSCALL),
            _ => (r.rip, r.rax),
        }
    }

    /// The values after the first two of the bootstrap: where to continue, flags, registers, in the
    /// order of `sys/direct/x86.rs`.
    pub(super) const fn resume(&self, _values: u64) -> Option<[u64; 17]> {
        let r = &self.0;
        let (rip, rax) = self.again();
        Some([
            rip, r.eflags, rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.r8, r.r9, r.r10, r.r11, r.r12,
            r.r13, r.r14, r.r15,
        ])
    }

    /// Sends the thread to `address`, out of any system call.
    pub(super) fn send(&self, tid: i32, address: u64) -> nix::Result<()> {
        let mut r = self.0;
        r.rip = address;
        r.orig_rax = u64::MAX;
        ptrace::setregs(Pid::from_raw(tid), r)
    }

    /// At the end of a system call: its number and return value.
    pub(super) const fn returned(&self) -> (u64, i64) {
        (self.0.orig_rax, self.0.rax.cast_signed())
    }
}

// include/linux/errno.h of the kernel: return values of an interrupted call before it is restarted.
const RESTARTSYS: i64 = -512;
const RESTARTNOINTR: i64 = -513;
const RESTARTNOHAND: i64 = -514;
const RESTART_RESTARTBLOCK: i64 = -516;
/// arch/x86/entry/syscalls/syscall_64.tbl.
const RESTART_SYSCALL: u64 = 219;

/// The clock instruction also returns the CPU.
pub(super) const fn cpu_at(_tids: &[i32]) -> u64 {
    0
}

/// Names of the bootstrap's system calls.
pub(super) fn call(number: u64) -> &'static str {
    match number {
        9 => "mmap",
        28 => "madvise",
        319 => "memfd_create",
        77 => "ftruncate",
        3 => "close",
        _ => "a system call",
    }
}

/// memfd_create(2).
pub(super) const OPENS: u64 = 319;

/// The bootstrap's last system call. After it the bootstrap only restores its registers.
pub(super) const LAST_CALL: u64 = 3;

/// Offsets of the thread id in the control block: glibc, musl.
pub(super) const THREAD_NUMBERS: [u64; 2] = [0x2d0, 0x30];
