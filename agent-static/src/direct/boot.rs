//! Makes one thread of a stopped process map the pages itself.
//!
//! After a single PTRACE_SETREGS the thread needs no further help: it maps the pages, restores its
//! registers and continues where it was. Before that step nothing has changed. So the agent may be
//! killed at any moment. The agent follows each system call to report failures.

use std::time::{Duration, Instant};

use super::arch::{self, Registers};
use super::halt::{Halted, Held, next_stop};
use super::memory::Memory;
use super::refused::Refused;
use crate::sys::direct::layout as at;
use crate::sys::direct::{Boot, boot};
use crate::sys::thread::{Go, go, mark_system_calls, restartable, signal_thread};

/// Most time for the bootstrap, which makes seven system calls.
const PATIENCE: Duration = Duration::from_secs(2);
/// Flags of memfd_create(2): MFD_CLOEXEC, and MFD_NOEXEC_SEAL (Linux 6.3), which some systems
/// require.
const CLOEXEC: u64 = 1;
const NOEXEC_SEAL: u64 = 8;
const SIGTRAP: i32 = nix::libc::SIGTRAP;
const SYSTEM_CALL: i32 = SIGTRAP | 0x80;

/// Maps the code page at `page` and its data on a thread that runs the bootstrap in one of
/// `slacks`. Returns the address of the shared memory.
pub(super) fn run(h: &mut Halted<'_>, memory: &Memory, slacks: &[u64], page: u64) -> Result<u64, Refused> {
    let code = boot();
    let (index, registers) = choose(h, memory).ok_or(Refused::NoThread)?;
    let filled = |slack: &u64| Some((*slack, filled(code, page, *slack, &registers)?));
    let (slack, with) = slacks.iter().find_map(filled).ok_or(Refused::NoRoom)?;
    let mut was = vec![0; code.bytes.len()];
    if !memory.read(slack, &mut was) {
        return Err(Refused::NotMapped);
    }
    let refused = |answer: String| Refused::NotAllowed(answer);
    let tid = h.threads[index].tid;
    let options = h.threads[index].held.options();
    memory.poke(tid, slack, &with).map_err(|e| refused(e.to_string()))?;
    mark_system_calls(tid, true, options).map_err(|e| refused(e.to_string()))?;
    let inside = slack..slack + code.bytes.len() as u64;
    let control = page + at::PAGE as u64;
    let mut waiting: Vec<i32> = Some(h.threads[index].signal).filter(|s| *s != 0).into_iter().collect();
    h.threads[index].signal = 0;
    let sent = registers.send(tid, slack);
    let outcome = match sent {
        Ok(()) => follow(tid, &registers, &inside, &mut waiting),
        Err(e) => Err(refused(e.desc().to_owned())),
    };
    let _ = mark_system_calls(tid, false, options);
    for signal in waiting {
        signal_thread(h.pid, tid, signal);
    }
    // A thread that is still inside keeps its code.
    if !matches!(outcome, Err(Refused::DoesNotStop(_))) {
        memory.poke_backwards(tid, slack, &was).map_err(|e| refused(e.to_string()))?;
    }
    outcome?;
    match memory.word(control + at::CONTROL_MAP as u64) {
        Some(data) if data != 0 => Ok(data),
        _ => Err(Refused::Mapping("mmap", "the pages are missing".to_owned())),
    }
}

/// The most suitable thread for the bootstrap, and its registers.
fn choose(h: &Halted<'_>, memory: &Memory) -> Option<(usize, Registers)> {
    let threads = h.threads.iter().enumerate().filter(|(_, t)| t.held != Held::Deferred);
    let candidates = threads.filter_map(|(n, t)| {
        let registers = Registers::new(t.tid).ok()?;
        let rank = registers.rank()?;
        (!in_sequence(t.tid, memory)).then_some((rank, n, registers))
    });
    candidates.min_by_key(|(rank, ..)| *rank).map(|(_, n, registers)| (n, registers))
}

/// Whether the thread may be in a restartable sequence. The kernel restarts a sequence after an
/// interruption, but it would not notice this one.
fn in_sequence(tid: i32, memory: &Memory) -> bool {
    /// Offset of `rseq_cs` in `struct rseq`.
    const SEQUENCE: u64 = 8;
    match restartable(tid) {
        None | Some(0) => false,
        Some(at) => memory.word(at.wrapping_add(SEQUENCE)) != Some(0),
    }
}

/// The bootstrap at `slack` with its values. `None`: it could not continue from there.
fn filled(code: Boot, page: u64, slack: u64, registers: &Registers) -> Option<Vec<u8>> {
    let mut bytes = code.bytes.to_vec();
    let values = [page, memfd_flags()].into_iter().chain(registers.resume(slack + code.values as u64)?);
    let room = bytes.get_mut(code.values..).unwrap_or_default();
    for (word, value) in room.as_chunks_mut().0.iter_mut().zip(values) {
        *word = value.to_ne_bytes();
    }
    Some(bytes)
}

/// The memfd_create(2) flags that this kernel supports.
fn memfd_flags() -> u64 {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let flags = MFdFlags::from_bits_retain(u32::try_from(CLOEXEC | NOEXEC_SEAL).unwrap_or(0));
    let sealed = memfd_create(c"profinfer", flags).is_ok();
    if sealed { CLOEXEC | NOEXEC_SEAL } else { CLOEXEC }
}

/// Follows the bootstrap until its last system call and then restores the thread: it does not run
/// further while the other threads are stopped. Signals are delayed in the meantime, because a
/// handler would return into the bootstrap.
fn follow(
    tid: i32,
    was: &Registers,
    inside: &std::ops::Range<u64>,
    waiting: &mut Vec<i32>,
) -> Result<(), Refused> {
    let begun = Instant::now();
    let (mut entered, mut opened, mut failed) = (false, false, None);
    while begun.elapsed() < PATIENCE {
        go(tid, Go::ToSystemCall, 0).map_err(|_| Refused::Ended)?;
        let (signal, event) = next_stop(tid, PATIENCE).ok_or(Refused::DoesNotStop(tid))?;
        let Ok(registers) = Registers::new(tid) else { return Err(Refused::Ended) };
        if event == 0 && signal != SYSTEM_CALL {
            waiting.push(signal);
            continue;
        }
        if !inside.contains(&registers.at()) {
            // It restored itself: a call returned a different address than requested.
            return Err(Refused::Mapping(
                "mmap",
                "the kernel mapped the pages at another address".to_owned(),
            ));
        }
        if signal != SYSTEM_CALL {
            continue;
        }
        entered = !entered;
        let (number, returned) = registers.returned();
        if entered {
            continue;
        }
        if (-4095..0).contains(&returned) {
            let answer = std::io::Error::from_raw_os_error(i32::try_from(-returned).unwrap_or(0));
            failed.get_or_insert(Refused::Mapping(arch::call(number), answer.to_string()));
        } else {
            opened |= number == arch::OPENS;
        }
        // An opened descriptor is closed even after a failure.
        if number == arch::LAST_CALL || failed.is_some() && !opened {
            was.put_back(tid).map_err(|e| Refused::NotAllowed(e.desc().to_owned()))?;
            return failed.map_or(Ok(()), Err);
        }
    }
    Err(Refused::DoesNotStop(tid))
}
