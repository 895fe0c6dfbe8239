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

/// Bytes that are written to code in one step.
const WORD: usize = 8;

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

/// Whether a bootstrap, or the beginning of one, lies at the end of some code segment. It is written from its first word on and taken out
/// from its last one on: an agent that was killed meanwhile has left its beginning.
fn covered(pid: u32, memory: &Memory, mapped: &[Mapping]) -> bool {
    let first = boot().bytes.get(..WORD).unwrap_or_default();
    room::slacks(pid, mapped).into_iter().any(|(from, _)| memory.some(from, WORD) == first)
}

/// Whether `is`, where a file has `was`, is a bootstrap of this code or its beginning. Its values, behind the code, may be any.
fn begun(is: &[u8], was: &[u8], code: &[u8]) -> bool {
    let mut words = is.chunks(WORD).zip(was.chunks(WORD)).zip(code.chunks(WORD));
    let of_both = words.clone().skip_while(|((is, _), code)| is == code).all(|((is, was), _)| is == was);
    words.next().is_some_and(|((is, was), code)| is == code && is != was) && of_both
}

/// Puts back what a bootstrap covered, at the ends of code segments, where no thread is in it.
fn bootstrap(pid: u32, h: &Halted<'_>, memory: &Memory, mapped: &[Mapping]) {
    let code = boot();
    let fixed = &code.bytes[..code.values / WORD * WORD];
    for (from, to) in room::slacks(pid, mapped) {
        let is = memory.some(from, code.bytes.len());
        let Some(m) = mapped.iter().find(|m| (m.start..m.end).contains(&from)) else { continue };
        let path = format!("/proc/{pid}/map_files/{:x}-{:x}", m.start, m.end);
        let mut was = vec![0; code.bytes.len()];
        if is.len() != was.len() || !read_padded(&path, from - m.start + m.offset, &mut was) {
            continue;
        }
        let busy = |t: &super::halt::Stopped| {
            super::arch::Registers::new(t.tid).map_or(true, |r| (from..to).contains(&r.at()))
        };
        if begun(&is[..fixed.len()], &was[..fixed.len()], fixed) && !h.threads.iter().any(busy) {
            let _ = memory.poke_backwards(h.any(), from, &was);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bootstrap_is_known_by_its_beginning() {
        let code: Vec<u8> = (1..=32).collect();
        let was = [0; 32];
        for words in 0..=4 {
            let is = [&code[..words * WORD], &was[words * WORD..]].concat();
            assert_eq!(begun(&is, &was, &code), words > 0, "{words}");
        }
        // Somebody else's, before and behind a word of ours.
        assert!(!begun(&[7; 32], &was, &code));
        assert!(!begun(&[&code[..WORD], &[7; 24][..]].concat(), &was, &code));
        // The file has it so.
        assert!(!begun(&code, &code, &code));
        assert!(!begun(&[], &[], &[]));
    }
}
