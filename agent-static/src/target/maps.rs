//! The mappings of a process, from /proc/PID/maps.

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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// Device as /proc/PID/maps prints it.
    pub device: u64,
    pub inode: u64,
    /// Where the library begins in the file: 0, unless the file is an archive. Not in [`Mapping::id`].
    pub image: u64,
}

impl FileId {
    /// Whether both are in one file.
    #[must_use]
    pub const fn same_file(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }
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
        Some(FileId { device, inode: self.inode.parse().ok()?, image: 0 })
    }

    fn executable(&self) -> bool {
        self.mode.as_bytes().get(2) == Some(&b'x')
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line_with_spaces_in_the_path() {
        let line = "7f0c9e428000-7f0c9e430000 r-xp 00028000 fe:0a 1234                       /opt/my engine/libggml.so";
        let read = mapping(Line::parse(line).unwrap()).unwrap();
        assert_eq!((read.start, read.end, read.offset), (0x7f0c_9e42_8000, 0x7f0c_9e43_0000, 0x28000));
        assert_eq!(read.id, FileId { device: 0xfe << 32 | 0x0a, inode: 1234, image: 0 });
        assert!(read.executable);
        assert_eq!(read.path, "/opt/my engine/libggml.so");
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
}
