//! The stream that is received, on disk and in the tables.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::link::Address;
use super::rotate::{Pieces, remove_old};
use super::{Diagnostic, Result, cli};
use crate::decode::{Decoder, OpenError};
use crate::ingest::Ingest;
use crate::model::Model;

/// One recording.
pub(super) struct Recording {
    path: PathBuf,
    file: File,
    pub(super) decoder: Decoder,
    /// Of one in pieces: the tables of the piece that is written, so that memory does not grow with the session.
    pub(super) ingest: Ingest,
    pieces: Option<Pieces>,
    unwritten: Option<io::Error>,
    unreadable: Option<OpenError>,
}

impl Recording {
    /// Begins one in the folder, in pieces if that is asked for. An earlier one there is removed.
    pub(super) fn create(folder: &Path, options: &cli::Record) -> Result<Self> {
        let pieces =
            (!options.rotate.is_empty()).then(|| Pieces::new(folder.to_owned(), options.rotate.clone()));
        let path = pieces.as_ref().map_or_else(|| folder.join("recording.pfi"), Pieces::path);
        remove_old(folder).map_err(|e| unwritable(folder, e))?;
        let file = File::create(&path).map_err(|e| unwritable(&path, e))?;
        let (decoder, ingest) = (Decoder::new(), Ingest::new());
        Ok(Self { path, file, decoder, ingest, pieces, unwritten: None, unreadable: None })
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        let done = if self.pieces.is_some() { self.take_frames(bytes) } else { self.take_all(bytes) };
        if let Err(e) = done {
            self.unwritten.get_or_insert(e);
        }
    }

    fn take_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.decode(bytes);
        self.file.write_all(bytes)
    }

    /// Frame by frame, because a piece ends between two.
    fn take_frames(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (mut from, mut at) = (0, 0);
        for part in bytes.split_inclusive(|b| *b == 0) {
            self.decode(part);
            at += part.len();
            let Some(pieces) = &mut self.pieces else { continue };
            let full = pieces.full(part.len() as u64);
            if !full || part.last() != Some(&0) {
                continue;
            }
            self.file.write_all(&bytes[from..at])?;
            from = at;
            pieces.next(&mut self.file, self.decoder.next_seq(), &self.ingest.live())?;
            self.path = pieces.path();
            self.ingest = Ingest::new();
        }
        self.file.write_all(&bytes[from..])
    }

    fn decode(&mut self, bytes: &[u8]) {
        let Self { decoder, ingest, pieces, .. } = self;
        let done = decoder.feed(bytes, &mut |found| {
            if let Some(pieces) = pieces.as_mut() {
                pieces.see(&found);
            }
            ingest.found(&found);
        });
        if let Err(e) = done {
            self.unreadable.get_or_insert(e);
        }
    }

    /// The first error of [`Self::take`].
    pub(super) fn check(&mut self, address: &Address) -> Result<()> {
        if let Some(e) = self.unwritten.take() {
            return Err(unwritable(&self.path, e));
        }
        match self.unreadable.take() {
            Some(e) => Err(Diagnostic::not_readable(&format!("the stream of {address}"), e)),
            None => Ok(()),
        }
    }

    /// Forgets the frame that a break cut; it comes again whole.
    pub(super) fn forget_partial(&mut self) -> Result<()> {
        let partial = i64::try_from(self.decoder.forget_partial()).unwrap_or(0);
        let end = self.file.seek(SeekFrom::Current(-partial));
        end.and_then(|end| self.file.set_len(end)).map_err(|e| unwritable(&self.path, e))
    }

    /// The tables; of a recording in pieces `None`: it is read again, or a part of it.
    pub(super) fn finish(mut self, address: &Address) -> Result<Option<Model>> {
        let ingest = &mut self.ingest;
        self.decoder
            .finish(&mut |found| ingest.found(&found))
            .map_err(|e| Diagnostic::not_readable(&format!("the stream of {address}"), e))?;
        Ok(self.pieces.is_none().then(|| self.ingest.finish()))
    }
}

fn unwritable(path: &Path, e: io::Error) -> Diagnostic {
    Diagnostic::new(
        format!("writing {}", path.display()),
        e,
        "free space, or choose another place with --out",
    )
}
