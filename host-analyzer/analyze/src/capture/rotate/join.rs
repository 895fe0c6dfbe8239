//! Reads pieces: one, several, or all of a folder. Joined, they are the stream byte for byte.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::{Frame, decode};
use profinfer_wire::hello::{HELLO_LEN, Hello};
use profinfer_wire::record::Record;

/// A recording that is not in pieces.
pub(crate) const WHOLE: &str = "recording.pfi";

/// Maximum size of the frame that ends a piece, bytes: header, trailer, a number, and the overhead
/// of COBS.
const LONGEST_END: u64 = 32;

/// Files that are one recording.
#[derive(Debug)]
pub(crate) struct Source {
    /// The pieces, in order.
    pub(crate) paths: Vec<PathBuf>,
}

/// One piece: its number, its session, and the range of the stream in its file.
struct Part {
    path: PathBuf,
    number: u32,
    nonce: Option<[u8; 16]>,
    from: u64,
    to: u64,
}

/// True for the file name of a piece.
pub(crate) fn is_piece(name: &str) -> bool {
    let number = name.strip_prefix("recording-").and_then(|n| n.strip_suffix(".pfi"));
    number.is_some_and(|n| n.len() >= 4 && n.bytes().all(|b| b.is_ascii_digit()))
}

/// The named files, or the pieces in a named folder.
///
/// # Errors
///
/// The path that cannot be read, and the system's answer.
pub(crate) fn of(paths: &[PathBuf]) -> Result<Source, (PathBuf, io::Error)> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let failed = |e| (path.clone(), e);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            names.extend(name.to_str().filter(|n| is_piece(n)).map(|n| path.join(n)));
        }
        if names.is_empty() {
            names.push(path.join(WHOLE));
        }
        all.extend(names);
    }
    Ok(Source { paths: all })
}

impl Source {
    /// Opens the stream.
    ///
    /// # Errors
    ///
    /// The path that cannot be read, and the reason.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>, (PathBuf, io::Error)> {
        if let [path] = &self.paths[..] {
            let file = File::open(path).map_err(|e| (path.clone(), e))?;
            return Ok(Box::new(file));
        }
        let mut parts = Vec::new();
        for path in &self.paths {
            parts.push(part(path).map_err(|e| (path.clone(), e))?);
        }
        parts.sort_by_key(|p| p.number);
        let mut stream: Box<dyn Read> = Box::new(io::empty());
        let mut last: Option<&Part> = None;
        for part in &parts {
            let other = |what: &str| {
                let with = last.map(|l| l.path.display().to_string()).unwrap_or_default();
                (part.path.clone(), io::Error::other(format!("{what} {with}")))
            };
            if last.is_some_and(|l| l.nonce != part.nonce) {
                return Err(other("it belongs to another session than"));
            }
            if last.is_some_and(|l| l.number == part.number) {
                return Err(other("it is the same piece as"));
            }
            // After a missing piece, the records that the next piece repeats are needed. The first
            // piece is read with its hello.
            let follows = last.is_some_and(|l| l.number + 1 == part.number);
            let from = match last {
                None => 0,
                Some(_) if follows => part.from,
                Some(_) => HELLO_LEN as u64,
            };
            let open = || {
                let mut file = File::open(&part.path)?;
                file.seek(SeekFrom::Start(from))?;
                Ok(file.take(part.to.saturating_sub(from)))
            };
            let file = open().map_err(|e| (part.path.clone(), e))?;
            stream = Box::new(stream.chain(file));
            last = Some(part);
        }
        // Read the last piece to the end of its file, with the record that announces another piece.
        if let Some(last) = parts.last() {
            let open = || {
                let mut file = File::open(&last.path)?;
                file.seek(SeekFrom::Start(last.to))?;
                Ok(file)
            };
            stream = Box::new(stream.chain(open().map_err(|e| (last.path.clone(), e))?));
        }
        Ok(stream)
    }
}

/// Finds the range of the stream in a file.
fn part(path: &Path) -> io::Result<Part> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut head = Vec::new();
    file.by_ref().take(HELLO_LEN as u64).read_to_end(&mut head)?;
    let nonce = Hello::parse(&head).ok().map(|h| h.nonce);
    let (number, from) = carried(&mut file)?;
    Ok(Part { path: path.to_owned(), number, nonce, from, to: end(&mut file, len)? })
}

/// Number of the piece, and the end of the records that it repeats.
fn carried(file: &mut File) -> io::Result<(u32, u64)> {
    let (mut accumulator, mut at, mut bytes) = (Accumulator::new(), HELLO_LEN as u64, vec![0; 1 << 16]);
    let mut piece: Option<(u32, u32)> = None;
    loop {
        let n = file.read(&mut bytes)?;
        let mut input = &bytes[..n];
        while !input.is_empty() {
            let before = input.len();
            let found = accumulator.feed(&mut input);
            at += (before - input.len()) as u64;
            let Some(found) = found else { continue };
            piece = match (piece, found) {
                (Some((number, left)), _) => Some((number, left.saturating_sub(1))),
                (None, Found::Frame(frame)) => match Record::decode(&frame) {
                    Ok(Record::Piece(p)) => Some((p.number, p.carried)),
                    _ => return Ok((1, 0)),
                },
                (None, Found::Damage(_)) => return Ok((1, 0)),
            };
            if let Some((number, 0)) = piece {
                return Ok((number, at));
            }
        }
        if n == 0 {
            return Ok((piece.map_or(1, |p| p.0), at));
        }
    }
}

/// End of the stream in a file of `len` bytes: before the record that announces another piece, if
/// there is one.
fn end(file: &mut File, len: u64) -> io::Result<u64> {
    let from = len.saturating_sub(LONGEST_END);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(LONGEST_END).read_to_end(&mut tail)?;
    let Some((0, frames)) = tail.split_last() else { return Ok(len) };
    let Some(zero) = frames.iter().rposition(|b| *b == 0) else { return Ok(len) };
    let mut last = frames[zero + 1..].to_vec();
    let is_end = |frame: Frame<'_>| matches!(Record::decode(&frame), Ok(Record::PieceEnd(_)));
    Ok(if decode(&mut last).is_ok_and(is_end) { from + zero as u64 + 1 } else { len })
}
