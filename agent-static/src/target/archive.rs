//! Libraries that a process maps out of an archive (zip: APK, HAP): the loaders of Android and OpenHarmony
//! map them where they lie in the file, without unpacking them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::maps::{FileId, Mapping};

/// First bytes of an entry of a zip file, which are also those of the file.
const ENTRY: [u8; 4] = *b"PK\x03\x04";
const ELF: [u8; 4] = *b"\x7fELF";
/// The fixed part of an entry's head; the lengths of its name and of its extra field are at the end.
const HEAD: usize = 30;
const NAME_LENGTH: usize = 26;
const EXTRA_LENGTH: usize = 28;
/// Longest head that is searched for: name and padding to a large page.
const LONGEST: u64 = 1 << 17;

/// The archives among the files of a process.
#[derive(Debug, Default)]
pub(super) struct Archives {
    /// Whether a file is one.
    seen: Vec<(FileId, bool)>,
}

impl Archives {
    /// The library that the last of `mappings` is a part of, if its file is an archive: where it begins, and
    /// `!/` with its name there. `mappings` are those of the process, by address, up to this one.
    pub(super) fn library(
        &mut self,
        mappings: &[Mapping],
        open_path: &dyn Fn() -> PathBuf,
    ) -> Option<(u64, String)> {
        let last = mappings.last().filter(|m| m.offset > 0)?;
        let known = self.seen.iter().find(|(id, _)| *id == last.id).map(|(_, is)| *is);
        if known == Some(false) {
            return None;
        }
        let file = File::open(open_path()).ok();
        let begins = |at: u64, with: [u8; 4]| {
            let mut bytes = [0; 4];
            file.as_ref().is_some_and(|f| f.read_exact_at(&mut bytes, at).is_ok()) && bytes == with
        };
        if known.is_none() {
            let is = begins(0, ENTRY);
            self.seen.push((last.id, is));
            if !is {
                return None;
            }
        }
        // The first segment of a library has its head, and the lowest address.
        let of_file = mappings.iter().rev().filter(|m| m.id == last.id && m.offset <= last.offset);
        let at = of_file.map(|m| m.offset).find(|at| begins(*at, ELF))?;
        let name =
            file.and_then(|f| name(&f, at)).map_or_else(|| format!("!{at:#x}"), |name| format!("!/{name}"));
        Some((at, name))
    }
}

/// Name of the entry whose data begins at `at`.
fn name(file: &File, at: u64) -> Option<String> {
    let from = at.saturating_sub(LONGEST);
    let mut before = vec![0; usize::try_from(at - from).ok()?];
    file.read_exact_at(&mut before, from).ok()?;
    let last = before.len().checked_sub(HEAD)?;
    (0..=last).rev().find_map(|head| {
        let bytes = before.get(head..)?;
        let length =
            |at: usize| bytes.get(at..at + 2)?.try_into().ok().map(|b| usize::from(u16::from_le_bytes(b)));
        let (name, extra) = (length(NAME_LENGTH)?, length(EXTRA_LENGTH)?);
        let is_head = bytes.starts_with(&ENTRY) && HEAD + name + extra == bytes.len();
        is_head.then(|| String::from_utf8_lossy(&bytes[HEAD..HEAD + name]).into_owned())
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use std::io::Write;

    use super::*;

    fn entry(name: &str, data: &[u8], out: &mut Vec<u8>) -> u64 {
        let at = (out.len() + HEAD + name.len()).next_multiple_of(4096);
        let extra = at - out.len() - HEAD - name.len();
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&ENTRY);
        head[NAME_LENGTH..EXTRA_LENGTH].copy_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
        head[EXTRA_LENGTH..].copy_from_slice(&u16::try_from(extra).unwrap().to_le_bytes());
        out.extend(head);
        out.extend(name.as_bytes());
        out.resize(at, 0);
        out.extend(data);
        at as u64
    }

    fn mapping(inode: u64, offset: u64) -> Mapping {
        let id = FileId { inode, ..FileId::default() };
        let (executable, writable, path) = (true, false, "/app.apk".to_owned());
        Mapping { start: offset, end: offset + 4096, offset, executable, writable, id, path }
    }

    #[test]
    fn the_library_of_a_mapping_is_the_one_whose_head_is_mapped_before() {
        let library = [&ELF[..], &[7; 9000]].concat();
        let mut bytes = Vec::new();
        let first = entry("lib/arm64-v8a/libggml.so", &library, &mut bytes);
        let second = entry("lib/arm64-v8a/libllama.so", &library, &mut bytes);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let path = || file.path().to_owned();
        let at = |of: &[u64]| -> Vec<Mapping> { of.iter().map(|offset| mapping(1, *offset)).collect() };
        let mut archives = Archives::default();
        let llama = Some((second, "!/lib/arm64-v8a/libllama.so".to_owned()));
        assert_eq!(archives.library(&at(&[first, second, second + 4096]), &path), llama);
        assert_eq!(archives.library(&at(&[first, second]), &path), llama);
        let ggml = Some((first, "!/lib/arm64-v8a/libggml.so".to_owned()));
        assert_eq!(archives.library(&at(&[second, first, first + 4096]), &path), ggml);
        // The head of the library is not mapped.
        assert_eq!(archives.library(&at(&[second + 4096]), &path), None);
        // The archive itself as a library, and another file.
        assert_eq!(archives.library(&at(&[0]), &path), None);
        let mut other = tempfile::NamedTempFile::new().unwrap();
        other.write_all(&library).unwrap();
        assert_eq!(archives.library(&[mapping(2, 0), mapping(2, 4096)], &|| other.path().to_owned()), None);
    }
}
