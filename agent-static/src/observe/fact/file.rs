//! Files that a process reads into the page cache, by name.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::sys::stat::{major, minor};
use profinfer_wire::record::fact::FactScope;

use super::read;
use super::send::{Changing, Sender};
use crate::bpf::page_read::PageRead;

/// Most files of a process whose counts are sent at a time: those with the most pages. The first files of
/// a process are its libraries, and the model comes after them.
const MAX_FILES: usize = 16;
/// Most words of a command line that may be files.
const MAX_WORDS: usize = 256;
/// Longest command line that is read, bytes.
const COMMAND: usize = 16 << 10;
const PAGE: u64 = 4096;

/// A file by device, as the kernel numbers it, and inode.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Named {
    dev: u32,
    ino: u64,
    name: String,
}

#[derive(Debug)]
struct File {
    dev: u32,
    ino: u64,
    /// The fact.
    name: String,
    sent: Changing,
    /// Bytes.
    most: u64,
}

/// The files of one process.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Words of its command line that are files: a process may end before a file of it is asked for.
    of_command: Vec<Named>,
    rows: Vec<File>,
}

impl Files {
    pub(super) fn begin(root: &Path, pid: u32) -> Self {
        Self { of_command: of_command(root, pid), rows: Vec::new() }
    }

    /// Sends the bytes of each file that have changed. `reads`: the most pages first.
    pub(super) fn send(&mut self, root: &Path, pid: u32, reads: &[PageRead], out: &mut Sender<'_>) {
        for read in reads.iter().filter(|r| r.pid == pid) {
            let bytes = read.pages.saturating_mul(PAGE);
            let Some(at) = self.place(root, pid, read, bytes) else { continue };
            let File { name, sent, most, .. } = &mut self.rows[at];
            // A small file may have lost its place on a CPU.
            *most = bytes.max(*most);
            sent.send(out, FactScope::Process(pid), name, Some(*most));
        }
    }

    /// The row of a file: its own, a new one, or that of the file with the fewest bytes, if those are fewer.
    fn place(&mut self, root: &Path, pid: u32, read: &PageRead, bytes: u64) -> Option<usize> {
        let known = self.rows.iter().position(|f| (f.dev, f.ino) == (read.dev, read.ino));
        if known.is_some() {
            return known;
        }
        let least = self.rows.iter().enumerate().min_by_key(|(_, f)| f.most);
        let at = match least {
            Some((_, least)) if self.rows.len() >= MAX_FILES && least.most >= bytes => return None,
            Some((at, _)) if self.rows.len() >= MAX_FILES => at,
            _ => self.rows.len(),
        };
        let name = format!("read.{}", self.name(root, pid, read));
        let file = File { dev: read.dev, ino: read.ino, name, sent: Changing::default(), most: 0 };
        match self.rows.get_mut(at) {
            Some(row) => *row = file,
            None => self.rows.push(file),
        }
        Some(at)
    }

    /// The base name of a file: of the command line, or of a mapping.
    fn name(&self, root: &Path, pid: u32, read: &PageRead) -> String {
        let mapped = fs::read(read::at(root, &format!("/proc/{pid}/maps"))).unwrap_or_default();
        let all: Vec<Named> = self.of_command.iter().cloned().chain(of_maps(&mapped)).collect();
        let same = |n: &&Named| n.ino == read.ino && n.dev == read.dev;
        // Layered file systems number their devices in their own way.
        let found = all.iter().find(same).or_else(|| all.iter().find(|n| n.ino == read.ino));
        found.map_or_else(|| format!("inode {}", read.ino), |n| n.name.clone())
    }
}

/// The device number of the kernel, from that of system calls.
fn kernel_dev(dev: u64) -> u32 {
    u32::try_from(major(dev) << 20 | minor(dev)).unwrap_or(0)
}

fn base(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

fn of_command(root: &Path, pid: u32) -> Vec<Named> {
    let at = |name: &str| read::at(root, &format!("/proc/{pid}/{name}"));
    let mut words = fs::read(at("cmdline")).unwrap_or_default();
    words.truncate(COMMAND);
    let cwd = at("cwd");
    let of = |word: &[u8]| {
        let path = std::str::from_utf8(word).ok().filter(|word| !word.is_empty())?;
        // As the process sees it: it may have another root.
        let seen = match path.strip_prefix('/') {
            Some(absolute) => at("root").join(absolute),
            None => cwd.join(path),
        };
        let file = fs::metadata(seen).ok().filter(fs::Metadata::is_file)?;
        Some(Named { dev: kernel_dev(file.dev()), ino: file.ino(), name: base(path) })
    };
    words.split(|b| *b == 0).take(MAX_WORDS).filter_map(of).collect()
}

/// `7f0a00-7f0b00 r--p 00000000 fe:01 1234   /usr/lib/libx.so`
fn of_maps(text: &[u8]) -> impl Iterator<Item = Named> {
    text.split(|b| *b == b'\n').filter_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let mut words = line.split_ascii_whitespace();
        let (major, minor) = words.nth(3)?.split_once(':')?;
        let dev =
            u32::from_str_radix(major, 16).ok()?.checked_shl(20)? | u32::from_str_radix(minor, 16).ok()?;
        let ino = words.next()?.parse().ok().filter(|ino| *ino != 0)?;
        // A path may have spaces.
        let path = &line[line.find('/')?..];
        Some(Named { dev, ino, name: base(path) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_maps_names_a_file() {
        let text = b"7f0a00000000-7f0a00001000 r--p 00000000 fe:01 1234                       /srv/my models/a b.gguf\n\
            7f0a-7f0b rw-p 00000000 00:00 0 \nffff [vsyscall]\n\xff\xfe /x\n7f0c-7f0d r--p 0 zz:01 7 /y\n";
        let all: Vec<Named> = of_maps(text).collect();
        assert_eq!(all, [Named { dev: 0xfe << 20 | 1, ino: 1234, name: "a b.gguf".to_owned() }]);
    }

    #[test]
    fn a_large_file_takes_the_place_of_a_small_one() {
        let (root, pid) = (Path::new("/"), std::process::id());
        let mut files = Files::default();
        let mut place = |ino: u64, pages: u64| {
            let at = files.place(root, pid, &PageRead { pid, dev: 1, ino, pages }, pages * PAGE)?;
            files.rows[at].most = pages * PAGE;
            Some((at, files.rows.len()))
        };
        for (at, ino) in (100..).take(MAX_FILES).enumerate() {
            assert_eq!(place(ino, 10 + ino), Some((at, at + 1)));
        }
        // Not more than the smallest, more than it, and the next smallest.
        assert_eq!(place(1, 110), None);
        assert_eq!(place(2, 50_000), Some((0, MAX_FILES)));
        assert_eq!(place(100, 112), Some((1, MAX_FILES)));
        // One that has a place keeps it.
        assert_eq!(place(2, 1), Some((0, MAX_FILES)));
    }

    #[test]
    fn words_of_a_command_line_that_are_files() {
        let all = of_command(Path::new("/"), std::process::id());
        // Its own program is one of its words.
        let own = std::env::current_exe().ok().and_then(|path| fs::metadata(path).ok()).map(|m| m.ino());
        assert!(all.iter().any(|n| Some(n.ino) == own), "{all:?}");
        assert_eq!(of_command(Path::new("/"), 4_194_305), []);
    }
}
