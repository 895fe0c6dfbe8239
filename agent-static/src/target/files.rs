//! The files that a process maps as code.
//!
//! Paths are those that the target sees. The agent opens them through /proc/PID/root. If that leads
//! to another file (deleted, replaced, overlaid), it uses /proc/PID/map_files, which is the mapping
//! itself.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::archive::Archives;
use super::maps::{FileId, Mapping, mappings};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    /// Device and inode, which are the same for two processes that map the same library.
    pub id: FileId,
    /// Path as the process sees it.
    pub path: String,
    /// Path that the agent opens and passes to the kernel for the probe.
    pub open_path: PathBuf,
}

/// The files that `pid` maps as executable, and the libraries that it maps out of archives, each once; none
/// if the process has ended.
#[must_use]
pub fn code_files(pid: u32) -> Vec<MappedFile> {
    let mappings = mappings(pid);
    let mut archives = Archives::default();
    let mut files: Vec<MappedFile> = Vec::new();
    for (i, m) in mappings.iter().enumerate().filter(|(_, m)| m.executable && m.path.starts_with('/')) {
        let open_path = || open_path(pid, m);
        let (id, name) = match archives.library(&mappings[..=i], &open_path) {
            Some((at, name)) => (FileId { image: at, ..m.id }, name),
            None => (m.id, String::new()),
        };
        if files.iter().any(|f| f.id == id) {
            continue;
        }
        files.push(MappedFile { id, path: format!("{}{name}", m.path), open_path: open_path() });
    }
    files
}

impl MappedFile {
    /// The library itself, of the bytes of its file.
    #[must_use]
    pub fn image<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        usize::try_from(self.id.image).ok().and_then(|at| bytes.get(at..)).unwrap_or_default()
    }

    /// Offsets in the file, of offsets in the library.
    #[must_use]
    pub fn in_file(&self, offsets: &[u64]) -> Vec<u64> {
        offsets.iter().map(|offset| offset.saturating_add(self.id.image)).collect()
    }
}

fn open_path(pid: u32, mapping: &Mapping) -> PathBuf {
    let by_root = PathBuf::from(format!("/proc/{pid}/root{}", mapping.path));
    // Device numbers in maps and stat differ on some file systems (btrfs, overlay). So only the
    // inode is compared.
    if fs::metadata(&by_root).is_ok_and(|m| m.ino() == mapping.id.inode) {
        return by_root;
    }
    let by_map = PathBuf::from(format!("/proc/{pid}/map_files/{:x}-{:x}", mapping.start, mapping.end));
    if File::open(&by_map).is_ok() { by_map } else { by_root }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn finds_this_program() {
        let exe = fs::metadata("/proc/self/exe").unwrap().ino();
        let files = code_files(std::process::id());
        let own = files.iter().find(|f| f.id.inode == exe).unwrap();
        assert_eq!(fs::metadata(&own.open_path).unwrap().ino(), exe);
    }
}
