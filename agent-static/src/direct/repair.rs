//! What an agent that was killed left in an engine, put back.

use std::path::PathBuf;

use super::halt::Halted;
use super::leftover::{self, Found, PutBack};
use super::memory::Memory;
use super::owner::Owner;
use super::refused::Refused;
use super::{in_file, room, shared};
use crate::sys::direct::boot;
use crate::sys::direct::layout as at;
use crate::target::maps::{Mapping, mappings};
use crate::target::watch::Watch;

/// What was found in a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Pages of earlier sessions; they stay, and do nothing.
    pub pages: usize,
    /// Their places.
    pub places: PutBack,
}

/// What was done, for the terminal.
#[must_use]
pub fn words(pid: u32, r: Repaired) -> String {
    if r == Repaired::default() {
        return format!("process {pid}: no direct probes were ever put in");
    }
    let left = match r.places.left {
        0 => String::new(),
        n => format!(", {n} left alone: somebody else changed them"),
    };
    format!("process {pid}: {} places put back{left}", r.places.done)
}

/// Puts everything back in `pid`.
///
/// # Errors
/// When the process cannot be stopped, or an agent that lives has its probes there.
pub fn repair(pid: u32) -> Result<Repaired, Refused> {
    let memory = Memory::open(pid).map_err(|e| Refused::NotAllowed(e.to_string()))?;
    // First without stopping it: most have nothing.
    let mapped = mappings(pid);
    let found = leftover::find(&mapped, &memory);
    if found.is_empty() && !covered(pid, &memory, &mapped) {
        return Ok(Repaired::default());
    }
    if let Some(other) = found.iter().find(|l| l.owner.lives()) {
        return Err(Refused::OtherAgent(other.owner.pid));
    }
    let mut watch = Watch::default();
    let h = Halted::new(pid, None, &mut watch)?;
    let mapped = mappings(pid);
    let mut result = Repaired::default();
    bootstrap(pid, &h, &memory, &mapped);
    for old in leftover::find(&mapped, &memory) {
        let back = put_back(pid, &h, &memory, &mapped, &old);
        result.pages += 1;
        result.places.done += back.done;
        result.places.left += back.left;
    }
    Ok(result)
}

/// Puts the places of one page back, and lets it record nothing.
pub(super) fn put_back(
    pid: u32,
    h: &Halted<'_>,
    memory: &Memory,
    mapped: &[Mapping],
    old: &Found,
) -> PutBack {
    let path = mapped.iter().find(|m| m.executable && m.id == old.header.file);
    let path = path.map(|m| PathBuf::from(format!("/proc/{pid}/map_files/{:x}-{:x}", m.start, m.end)));
    let has = |offset| in_file(path.as_deref()?, offset);
    let back = leftover::put_back(h, memory, mapped, old.header.file, &old.header.patches, has);
    let control = old.at + at::PAGE as u64;
    let nobody = Owner::default();
    for (field, value) in
        [(at::CONTROL_DATA, 0), (at::CONTROL_OWNER, nobody.pid), (at::CONTROL_OWNER_BEGAN, nobody.began)]
    {
        // A page that was not begun records nothing anyway.
        let _ = memory.write(control + field as u64, &u64::to_ne_bytes(value));
    }
    if let Ok(shared) = shared(pid, old.data) {
        // Only memory is lost without it.
        let _ = shared.clear();
    }
    back
}

/// Whether a bootstrap lies at the end of some code segment.
fn covered(pid: u32, memory: &Memory, mapped: &[Mapping]) -> bool {
    let code = boot();
    let fixed = &code.bytes[..code.values];
    room::slacks(pid, mapped).into_iter().any(|(from, _)| memory.some(from, fixed.len()) == fixed)
}

/// Puts back what a bootstrap covered, at the ends of code segments, where no thread is in it.
fn bootstrap(pid: u32, h: &Halted<'_>, memory: &Memory, mapped: &[Mapping]) {
    let code = boot();
    let fixed = &code.bytes[..code.values];
    for (from, to) in room::slacks(pid, mapped) {
        let is = memory.some(from, code.bytes.len());
        let Some(m) = mapped.iter().find(|m| (m.start..m.end).contains(&from)) else { continue };
        if is.len() != code.bytes.len() || !is.starts_with(fixed) || fixed.is_empty() {
            continue;
        }
        let busy = |t: &super::halt::Stopped| {
            super::arch::Registers::of(t.tid).map_or(true, |r| (from..to).contains(&r.at()))
        };
        if h.threads.iter().any(busy) {
            continue;
        }
        let path = format!("/proc/{pid}/map_files/{:x}-{:x}", m.start, m.end);
        let mut was = vec![0; code.bytes.len()];
        if read_padded(&path, from - m.start + m.offset, &mut was) {
            let _ = memory.poke(h.any(), from, &was);
        }
    }
}

/// Bytes of a file; behind its end zeros, as they are mapped.
fn read_padded(path: &str, offset: u64, to: &mut [u8]) -> bool {
    use std::os::unix::fs::FileExt;
    let Ok(file) = std::fs::File::open(path) else { return false };
    let mut done = 0;
    while let Some(rest) = to.get_mut(done..).filter(|r| !r.is_empty()) {
        match file.read_at(rest, offset + done as u64) {
            Ok(0) => {
                rest.fill(0);
                return true;
            }
            Ok(n) => done += n,
            Err(_) => return false,
        }
    }
    true
}
