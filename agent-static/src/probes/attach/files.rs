//! The engine's files: finding them among the mapped files, examining them, and detecting changes.

use std::fs::File;
use std::os::unix::fs::MetadataExt;

use memmap2::Mmap;
use profinfer_engine::{Image, examine, is_engine_part, library_event_site};

use super::Attached;
use crate::bpf::{AttachPoint, Bpf};
use crate::error::log;
use crate::probes::outcome::{Fate, Outcome};
use crate::sys::file::{map, sparing};
use crate::target::files::MappedFile;

/// The GUIDs of backends other than the CPU's. build.rs generates them from `boards/backends`.
const OTHER_BACKENDS: &[[u8; 16]] = include!(concat!(env!("OUT_DIR"), "/other_backend_guids.rs"));

impl Attached {
    /// Whether the file is a part of an engine. Also attaches the hook of a dynamic linker.
    pub(super) fn look_at(&mut self, bpf: &Bpf<'_>, file: &MappedFile) -> bool {
        let Some(bytes) = self.read(file) else { return false };
        let Ok(image) = Image::parse(&file.path, file.image(&bytes)) else { return false };
        if !self.linkers.contains(&file.id)
            && let Some(offset) = sparing(std::slice::from_ref(&bytes), || library_event_site(&image))
            && let Ok(links) =
                bpf.attach(AttachPoint::LibraryEvent, self.pid, &file.open_path, &file.in_file(&[offset]))
        {
            self.linkers.insert(file.id);
            self.library_events.extend(links);
        }
        let (part, other_backend) = sparing(std::slice::from_ref(&bytes), || {
            let other_backend = OTHER_BACKENDS.iter().any(|guid| image.writable_has(guid));
            (is_engine_part(&image, &self.backends), other_backend)
        });
        self.other_backend |= other_backend;
        part
    }

    /// The bytes of a file that the process maps. Logs the error if the file cannot be read.
    fn read(&self, file: &MappedFile) -> Option<Mmap> {
        let read = File::open(&file.open_path).and_then(|opened| map(&opened));
        let failed = |e| log(&unreadable(self.pid, file, &e));
        read.map_err(failed).ok()
    }

    /// Rebuilds the plan from the files that are still readable. Other files are not part of it.
    pub(super) fn examine(&mut self) {
        let files = std::mem::take(&mut self.files);
        let (files, opened): (Vec<_>, Vec<_>) =
            files.into_iter().filter_map(|file| self.read(&file).map(|bytes| (file, bytes))).unzip();
        let parsed = files.into_iter().zip(&opened).filter_map(|(file, bytes)| {
            match Image::parse(&file.path, file.image(bytes)) {
                Ok(image) => Some((file, image)),
                Err(e) => {
                    log(&unreadable(self.pid, &file, &e));
                    None
                }
            }
        });
        let (files, images): (Vec<_>, Vec<_>) = parsed.unzip();
        if !images.is_empty() {
            self.plan = Some(sparing(&opened, || examine(&images, &self.backends)));
        }
        self.files = files;
    }

    /// Removes the probes from files that were overwritten since their examination (same inode,
    /// different bytes). The kernel caches the original instruction of a place at its first
    /// registration. As long as one probe stays, a process with the new bytes would execute the old
    /// instruction there.
    pub fn drop_overwritten(&mut self) -> Vec<Outcome> {
        let now =
            |f: &MappedFile| stamp(f).filter(|now| self.stamps.get(&f.id).is_some_and(|then| then != now));
        let changed: Vec<MappedFile> = self.files.iter().filter(|f| now(f).is_some()).cloned().collect();
        for file in &changed {
            self.uprobes.forget(file.id);
            self.stamps.remove(&file.id);
        }
        let of_changed = |o: &Outcome| changed.iter().any(|f| f.path == o.library);
        let (gone, reported) = std::mem::take(&mut self.reported).into_iter().partition(of_changed);
        self.reported = reported;
        let gone: Vec<Outcome> = gone;
        gone.into_iter().map(|o| Outcome { fate: Fate::Overwritten { offset: o.offset() }, ..o }).collect()
    }
}

/// Message for a mapped file that cannot be read.
fn unreadable(pid: u32, file: &MappedFile, e: &dyn std::fmt::Display) -> String {
    format!("cannot read {}, which process {pid} maps: {e}\n  the file gets no probes", file.path)
}

/// Size and modification time (seconds, ns).
pub(super) type Stamp = (u64, i64, i64);

/// The stamp of the mapped file itself; `None` if its path leads to another file by now.
pub(super) fn stamp(file: &MappedFile) -> Option<Stamp> {
    let meta = std::fs::metadata(&file.open_path).ok().filter(|m| m.ino() == file.id.inode)?;
    Some((meta.len(), meta.mtime(), meta.mtime_nsec()))
}
