//! What engines read from files into the page cache, as the programs count it.

use std::mem::{offset_of, size_of};
use std::sync::atomic::Ordering::Relaxed;

use super::Bpf;
use super::layout::{View, field, length, types};

const OF_CPU: usize = size_of::<types::page_reads>();
const CPUS: usize = length(|bss| &bss.page_reads);
const OF_FILE: usize = size_of::<types::page_file>();
const FILES: usize = offset_of!(types::page_reads, dropped) / OF_FILE;
/// Most files of all CPUs together.
pub const PAGE_FILES: usize = 4 * FILES;
const _: () = assert!(OF_CPU.is_multiple_of(8) && OF_FILE.is_multiple_of(8), "both are read word by word");

/// Pages of one file that one process read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRead {
    pub pid: u32,
    /// Device as the kernel numbers it: major << 20 | minor.
    pub dev: u32,
    pub ino: u64,
    pub pages: u64,
}

impl Bpf<'_> {
    /// Replaces `sums` by the sums over all CPUs so far, by process and file, the most pages first. Of more
    /// than 31 files per CPU, those with few pages are not in it. With space for [`PAGE_FILES`] it does not
    /// allocate.
    pub fn page_reads(&self, sums: &mut Vec<PageRead>) {
        sums.clear();
        let first = offset_of!(types::bss, page_reads);
        for at in (0..CPUS).flat_map(|cpu| (0..FILES).map(move |file| cpu * OF_CPU + file * OF_FILE)) {
            let mut bytes = [0; OF_FILE];
            let words = self.shared.words(first + at, OF_FILE / 8);
            for (word, bytes) in words.iter().zip(bytes.as_chunks_mut().0) {
                *bytes = word.load(Relaxed).to_ne_bytes();
            }
            let Some(read) = read(&bytes) else { continue };
            let same = |r: &&mut PageRead| (r.pid, r.dev, r.ino) == (read.pid, read.dev, read.ino);
            let full = sums.len() >= PAGE_FILES;
            match sums.iter_mut().find(same) {
                Some(sum) => sum.pages = sum.pages.saturating_add(read.pages),
                None if full => {}
                None => sums.push(read),
            }
        }
        sums.sort_unstable_by_key(|r| std::cmp::Reverse(r.pages));
    }
}

/// `None` in a free place.
fn read(bytes: &[u8]) -> Option<PageRead> {
    let view = View::<types::page_file>::new(bytes)?;
    let ino = field!(view, page_file.ino).filter(|ino| *ino != 0)?;
    Some(PageRead {
        pid: field!(view, page_file.tgid)?,
        dev: field!(view, page_file.dev)?,
        ino,
        pages: field!(view, page_file.pages)?,
    })
}
