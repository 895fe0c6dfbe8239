//! Removes what a killed agent left in an engine.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::halt::Halted;
use super::leftover::{self, Found, PutBack};
use super::memory::Memory;
use super::owner::Owner;
use super::refused::Refused;
use super::{in_file, shared, space};
use crate::sys::direct::boot;
use crate::sys::direct::layout as at;
use crate::target::maps::{Mapping, mappings};
use crate::target::watch::Watch;

/// Bytes that are written to code in one step.
const WORD: usize = 8;

/// Result of a repair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Pages of earlier sessions; they stay, but record nothing.
    pub pages: usize,
    /// The places of these pages.
    pub places: PutBack,
}

/// The result as text for the terminal.
#[must_use]
pub fn words(pid: u32, r: Repaired) -> String {
    if r == Repaired::default() {
        return format!("process {pid}: no direct probes were ever installed");
    }
    let left = match r.places.left {
        0 => String::new(),
        n => format!(", {n} left alone: another program changed them"),
    };
    format!("process {pid}: {} places put back{left}", r.places.done)
}

/// Removes all leftovers from `pid`.
///
/// # Errors
/// If the process cannot be stopped, or a living agent has its probes there.
pub fn repair(pid: u32) -> Result<Repaired, Refused> {
    let memory = Memory::open(pid).map_err(|e| Refused::NotAllowed(e.to_string()))?;
    // First without stopping the process: most have nothing.
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
    bootstrap(pid, &h, &memory, &mapped);
    let found = leftover::find(&mapped, &memory);
    Ok(Repaired { pages: found.len(), places: put_back(pid, &h, &memory, &mapped, &found) })
}

/// Puts the places of all pages back and disables their recording.
pub(super) fn put_back(
    pid: u32,
    h: &Halted<'_>,
    memory: &Memory,
    mapped: &[Mapping],
    found: &[Found],
) -> PutBack {
    let done = found.iter().map(|old| put_page_back(pid, h, memory, mapped, old)).sum();
    let left =
        found.iter().map(|old| leftover::changed(memory, mapped, old.header.file, &old.header.patches));
    let left: BTreeSet<u64> = left.flatten().collect();
    PutBack { done, left: u16::try_from(left.len()).unwrap_or(u16::MAX) }
}

fn put_page_back(pid: u32, h: &Halted<'_>, memory: &Memory, mapped: &[Mapping], old: &Found) -> u16 {
    let path = mapped.iter().find(|m| m.executable && m.id.same_file(&old.header.file));
    let path = path.map(|m| PathBuf::from(format!("/proc/{pid}/map_files/{:x}-{:x}", m.start, m.end)));
    let image = old.header.file.image;
    let has = |offset: u64| in_file(path.as_deref()?, offset.checked_add(image)?);
    let back = leftover::put_back(h, memory, mapped, old.header.file, &old.header.patches, has);
    let control = old.at + at::PAGE as u64;
    let nobody = Owner::default();
    for (field, value) in
        [(at::CONTROL_DATA, 0), (at::CONTROL_OWNER, nobody.pid), (at::CONTROL_OWNER_BEGAN, nobody.began)]
    {
        // A page that was not started records nothing anyway.
        let _ = memory.write(control + field as u64, &u64::to_ne_bytes(value));
    }
    if let Ok(shared) = shared(pid, old.data) {
        // Without it, only memory is wasted.
        let _ = shared.clear();
    }
    back
}

/// Whether a bootstrap, or the beginning of one, is at the end of some code segment. It is written
/// from its first word on and removed from its last word on. So an agent that was killed in between
/// has left the beginning.
fn covered(pid: u32, memory: &Memory, mapped: &[Mapping]) -> bool {
    let first = boot().bytes.get(..WORD).unwrap_or_default();
    space::slacks(pid, mapped).into_iter().any(|(from, _)| memory.some(from, WORD) == first)
}

/// Whether `is` contains a bootstrap `code` or its beginning, where the file has `was`. The values
/// after the code may be anything.
fn begun(is: &[u8], was: &[u8], code: &[u8]) -> bool {
    let mut words = is.chunks(WORD).zip(was.chunks(WORD)).zip(code.chunks(WORD));
    let of_both = words.clone().skip_while(|((is, _), code)| is == code).all(|((is, was), _)| is == was);
    words.next().is_some_and(|((is, was), code)| is == code && is != was) && of_both
}

/// Restores the bytes under a bootstrap at the ends of code segments, unless a thread is executing
/// there.
fn bootstrap(pid: u32, h: &Halted<'_>, memory: &Memory, mapped: &[Mapping]) {
    let code = boot();
    let fixed = &code.bytes[..code.values / WORD * WORD];
    for (from, to) in space::slacks(pid, mapped) {
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

/// Bytes of a file, with zeros after its end, as in a mapping.
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
    fn a_bootstrap_is_recognized_by_its_beginning() {
        let code: Vec<u8> = (1..=32).collect();
        let was = [0; 32];
        for words in 0..=4 {
            let is = [&code[..words * WORD], &was[words * WORD..]].concat();
            assert_eq!(begun(&is, &was, &code), words > 0, "{words}");
        }
        // Foreign bytes before and after a word of ours.
        assert!(!begun(&[7; 32], &was, &code));
        assert!(!begun(&[&code[..WORD], &[7; 24][..]].concat(), &was, &code));
        // The file itself contains it.
        assert!(!begun(&code, &code, &code));
        assert!(!begun(&[], &[], &[]));
    }
}
