//! The files that a process maps as code, from /proc/PID/maps.
//!
//! Paths are those that the target sees. The agent opens them through /proc/PID/root. If that leads
//! to another file (deleted, replaced, overlaid), it uses /proc/PID/map_files, which is the mapping
//! itself.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::proc_file::text_of_process;

/// One mapping of any kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    pub start: u64,
    /// First address after the mapping.
    pub end: u64,
    /// Offset of `start` in the file.
    pub offset: u64,
    pub executable: bool,
    pub writable: bool,
    /// Identity of the file; zeros if there is none.
    pub id: FileId,
    /// The file as the process sees it, or the kernel's name for the mapping (`[heap]`); may be
    /// empty.
    pub path: String,
}

/// All mappings of `pid` in address order. Empty if they cannot be read, which is logged.
#[must_use]
pub fn mappings(pid: u32) -> Vec<Mapping> {
    let Some(text) = text_of_process(&format!("/proc/{pid}/maps")) else { return Vec::new() };
    text.lines().filter_map(|line| mapping(Line::parse(line)?)).collect()
}

fn mapping(line: Line<'_>) -> Option<Mapping> {
    let (start, end) = line.range.split_once('-')?;
    Some(Mapping {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        offset: u64::from_str_radix(line.offset, 16).ok()?,
        executable: line.executable(),
        writable: line.mode.as_bytes().get(1) == Some(&b'w'),
        id: line.id()?,
        path: line.path.trim_end_matches(" (deleted)").to_owned(),
    })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    /// Device and inode, which are the same for two processes that map the same library.
    pub id: FileId,
    /// Path as the process sees it.
    pub path: String,
    /// Path that the agent opens and passes to the kernel for the probe.
    pub open_path: PathBuf,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// Device as /proc/PID/maps prints it.
    pub device: u64,
    pub inode: u64,
}

/// The files that `pid` maps as executable, each once; none if the process has ended.
#[must_use]
pub fn code_files(pid: u32) -> Vec<MappedFile> {
    let text = text_of_process(&format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut files: Vec<MappedFile> = Vec::new();
    for line in text.lines() {
        let Some((range, id, path)) = executable(line) else { continue };
        if files.iter().any(|f| f.id == id) {
            continue;
        }
        let open_path = open_path(pid, range, id, path);
        files.push(MappedFile { id, path: path.trim_end_matches(" (deleted)").to_owned(), open_path });
    }
    files
}

/// Archives (zip: APK, HAP) from which `pid` maps code at a nonzero offset: its loader maps
/// libraries without unpacking them. Each archive once, with the offset of the first such mapping.
#[must_use]
pub fn archives(pid: u32) -> Vec<(String, u64)> {
    const ZIP: [u8; 4] = *b"PK\x03\x04";
    let text = text_of_process(&format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut seen: Vec<FileId> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((range, id, path)) = executable(line) else { continue };
        let offset = Line::parse(line).and_then(|l| u64::from_str_radix(l.offset, 16).ok()).unwrap_or(0);
        if offset == 0 || seen.contains(&id) {
            continue;
        }
        seen.push(id);
        let mut begin = [0; 4];
        let read = File::open(open_path(pid, range, id, path)).and_then(|mut f| f.read_exact(&mut begin));
        if read.is_ok() && begin == ZIP {
            found.push((path.trim_end_matches(" (deleted)").to_owned(), offset));
        }
    }
    found
}

/// File offset of the code at `address` of `pid`.
#[must_use]
pub fn file_offset(pid: u32, address: u64) -> Option<u64> {
    let mapping = mappings(pid).into_iter().find(|m| (m.start..m.end).contains(&address))?;
    (mapping.executable && mapping.path.starts_with('/')).then(|| address - mapping.start + mapping.offset)
}

/// The fields of one line.
struct Line<'a> {
    range: &'a str,
    mode: &'a str,
    offset: &'a str,
    device: &'a str,
    inode: &'a str,
    path: &'a str,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        // 7f0c9e428000-7f0c9e430000 r-xp 00028000 fe:00 1234    /usr/lib/libc.so.6
        let mut rest = line;
        let mut field = || {
            let trimmed = rest.trim_start();
            let (head, tail) = trimmed.split_at(trimmed.find(' ').unwrap_or(trimmed.len()));
            rest = tail;
            head
        };
        let (range, mode, offset, device, inode) = (field(), field(), field(), field(), field());
        (!inode.is_empty()).then(|| Self { range, mode, offset, device, inode, path: rest.trim_start() })
    }

    fn id(&self) -> Option<FileId> {
        let (major, minor) = self.device.split_once(':')?;
        let device = u64::from_str_radix(major, 16).ok()? << 32 | u64::from_str_radix(minor, 16).ok()?;
        Some(FileId { device, inode: self.inode.parse().ok()? })
    }

    fn executable(&self) -> bool {
        self.mode.as_bytes().get(2) == Some(&b'x')
    }
}

/// Address range, identity and path of an executable file mapping.
fn executable(line: &str) -> Option<(&str, FileId, &str)> {
    let line = Line::parse(line)?;
    let id = line.id()?;
    (line.executable() && line.path.starts_with('/')).then_some((line.range, id, line.path))
}

fn open_path(pid: u32, range: &str, id: FileId, path: &str) -> PathBuf {
    let by_root = PathBuf::from(format!("/proc/{pid}/root{path}"));
    // Device numbers in maps and stat differ on some file systems (btrfs, overlay). So only the
    // inode is compared.
    if fs::metadata(&by_root).is_ok_and(|m| m.ino() == id.inode) {
        return by_root;
    }
    let by_map = PathBuf::from(format!("/proc/{pid}/map_files/{range}"));
    if File::open(&by_map).is_ok() { by_map } else { by_root }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line_with_spaces_in_the_path() {
        let line = "7f0c9e428000-7f0c9e430000 r-xp 00028000 fe:0a 1234                       /opt/my engine/libggml.so";
        let (range, id, path) = executable(line).unwrap();
        assert_eq!(range, "7f0c9e428000-7f0c9e430000");
        assert_eq!(id, FileId { device: 0xfe << 32 | 0x0a, inode: 1234 });
        assert_eq!(path, "/opt/my engine/libggml.so");
    }

    #[test]
    fn skips_mappings_that_are_not_code_of_a_file() {
        for line in [
            "7f00-7f01 r--p 0 fe:00 12 /lib/x.so",
            "7f00-7f01 r-xp 0 00:00 0",
            "7ffc-7ffd r-xp 00000000 00:00 0                          [vdso]",
            "",
            "garbage",
        ] {
            assert_eq!(executable(line), None, "{line}");
        }
    }

    #[test]
    fn reads_mappings_of_every_kind() {
        let read = |line| mapping(Line::parse(line).unwrap()).unwrap();
        let file =
            read("7f00-8f00 r--s 00002000 fe:00 12                         /models/my model.gguf (deleted)");
        assert_eq!((file.start, file.end, file.offset, file.executable), (0x7f00, 0x8f00, 0x2000, false));
        assert_eq!(file.path, "/models/my model.gguf");
        assert_eq!(read("7f00-8f00 rw-p 00000000 00:00 0").path, "");
        assert_eq!(read("7f00-8f00 rw-p 00000000 00:00 0                          [heap]").path, "[heap]");
        assert!(read("7f00-8f00 r-xp 0 00:00 0 [vdso]").executable);
        assert!(Line::parse("garbage").is_none());
    }

    #[test]
    fn finds_this_program() {
        let exe = fs::metadata("/proc/self/exe").unwrap().ino();
        let files = code_files(std::process::id());
        let own = files.iter().find(|f| f.id.inode == exe).unwrap();
        assert_eq!(fs::metadata(&own.open_path).unwrap().ino(), exe);
    }
}
