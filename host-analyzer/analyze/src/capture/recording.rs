//! The received stream, on disk and in tables.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Instant;

use profinfer_wire::record::Record;

use crate::capture::link::Address;
use crate::capture::metrics::Shared;
use crate::capture::rotate::{Pieces, Window, remove_old};
use crate::foreign::FIRST;
use crate::{Result, cli, diagnostic};
use profinfer_trace::decode::{Decoder, Found, OpenError};
use profinfer_trace::ingest::{Ingest, Live};
use profinfer_trace::model::Model;

/// Limit of the stream bytes in the tables of a watched session.
const TABLES_OF: usize = 1 << 20;

pub(crate) struct Recording {
    path: PathBuf,
    file: File,
    pub(crate) decoder: Decoder,
    /// Tables of the current piece or of a part of it, so that memory does not grow with the
    /// session.
    ingest: Ingest,
    /// Totals before the tables.
    before: Live<'static>,
    /// Totals when the current piece began.
    piece_began: Live<'static>,
    /// Stream bytes in the tables.
    tabled: usize,
    /// An engine was seen.
    met: bool,
    pieces: Option<Pieces>,
    window: Option<Window>,
    /// Totals for `--metrics`.
    metered: Option<Shared>,
    unwritten: Option<io::Error>,
    unreadable: Option<OpenError>,
    /// The first bytes.
    first: Vec<u8>,
}

impl Recording {
    /// Creates a recording in the folder, in pieces if requested, and removes an earlier one. If
    /// the session is watched, `window` keeps its last seconds.
    pub(crate) fn create(
        folder: &Path,
        options: &cli::Record,
        window: Option<Window>,
        metered: Option<Shared>,
    ) -> Result<Self> {
        let pieces =
            (!options.rotate.is_empty()).then(|| Pieces::new(folder.to_owned(), options.rotate.clone()));
        let path = pieces.as_ref().map_or_else(|| folder.join("recording.pfi"), Pieces::path);
        remove_old(folder).map_err(|e| diagnostic::unwritable(folder.display(), e))?;
        let file = File::create(&path).map_err(|e| diagnostic::unwritable(path.display(), e))?;
        let (decoder, ingest) = (Decoder::new(), Ingest::new());
        let (before, piece_began) = (Live::default(), Live::default());
        let (met, unwritten, unreadable) = (false, None, None);
        Ok(Self {
            path,
            file,
            decoder,
            ingest,
            before,
            piece_began,
            tabled: 0,
            met,
            pieces,
            window,
            metered,
            unwritten,
            unreadable,
            first: Vec::new(),
        })
    }

    /// Totals of the session so far.
    pub(crate) fn live(&self) -> Live<'_> {
        let (now, before) = (self.ingest.live(), &self.before);
        Live {
            spans: before.spans + now.spans,
            nested: before.nested + now.nested,
            sched: before.sched + now.sched,
            experts: before.experts + now.experts,
            llama_calls: before.llama_calls + now.llama_calls,
            graph_calls: before.graph_calls + now.graph_calls,
            waiting: (before.waiting || now.waiting) && !self.met,
            ..now
        }
    }

    /// Totals of the current piece.
    fn piece(&self) -> Live<'static> {
        let (now, began) = (self.live().counts(), &self.piece_began);
        Live {
            spans: now.spans - began.spans,
            nested: now.nested - began.nested,
            sched: now.sched - began.sched,
            experts: now.experts - began.experts,
            ..now
        }
    }

    /// Starts new tables. Later records do not refer to the old tables until the pieces are joined.
    fn forget_tables(&mut self) {
        self.before = self.live().counts();
        self.ingest = Ingest::new();
        self.tabled = 0;
    }

    /// The last seconds, if they changed.
    pub(crate) fn window(&mut self) -> Option<&mut Window> {
        self.window.as_mut().filter(|w| w.is_fresh())
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if self.first.len() < FIRST {
            self.first.extend(bytes.iter().take(FIRST - self.first.len()));
        }
        let in_frames = self.pieces.is_some() || self.window.is_some();
        let done = if in_frames { self.take_frames(bytes) } else { self.take_all(bytes) };
        if let Err(e) = done {
            self.unwritten.get_or_insert(e);
        }
    }

    fn take_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.decode(bytes);
        self.file.write_all(bytes)
    }

    /// Takes frame by frame, because a piece ends between two frames.
    fn take_frames(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (mut from, mut at) = (0, 0);
        for part in bytes.split_inclusive(|b| *b == 0) {
            self.decode(part);
            at += part.len();
            if let Some(window) = &mut self.window {
                window.take(part, Instant::now());
                // The views use the files. The tables only give the totals.
                self.tabled += part.len();
                if self.tabled >= TABLES_OF {
                    self.forget_tables();
                }
            }
            let Some(pieces) = &mut self.pieces else { continue };
            let full = pieces.full(part.len() as u64);
            if !full || part.last() != Some(&0) {
                continue;
            }
            self.file.write_all(&bytes[from..at])?;
            from = at;
            let held = self.piece();
            let Some(pieces) = &mut self.pieces else { continue };
            pieces.next(&mut self.file, self.decoder.next_seq(), &held)?;
            self.path = pieces.path();
            self.forget_tables();
            self.piece_began = self.before;
        }
        self.file.write_all(&bytes[from..])
    }

    fn decode(&mut self, bytes: &[u8]) {
        let Self { decoder, ingest, pieces, window, met, .. } = self;
        let mut metering = self.metered.as_ref().map(|m| m.lock().unwrap_or_else(PoisonError::into_inner));
        let done = decoder.feed(bytes, &mut |found| {
            *met |= matches!(found, Found::Record { record: Record::Process(_), .. });
            if let Some(window) = window.as_mut() {
                window.see(&found);
            }
            if let Some(pieces) = pieces.as_mut() {
                pieces.see(&found);
            }
            if let Some(metering) = metering.as_mut() {
                metering.found(&found);
            }
            ingest.found(&found);
        });
        drop(metering);
        if let Err(e) = done {
            self.unreadable.get_or_insert(e);
        }
        if let Some(metered) = &self.metered {
            metered.lock().unwrap_or_else(PoisonError::into_inner).counts(&self.live());
        }
    }

    /// The first error of [`Self::take`].
    pub(crate) fn check(&mut self, address: &Address) -> Result<()> {
        if let Some(e) = self.unwritten.take() {
            return Err(diagnostic::unwritable(self.path.display(), e));
        }
        match self.unreadable.take() {
            Some(e) => Err(diagnostic::not_readable(&format!("the stream of {address}"), &self.first, e)),
            None => Ok(()),
        }
    }

    /// Forgets the incomplete frame at a break; the agent sends it again.
    pub(crate) fn forget_partial(&mut self) -> Result<()> {
        let partial = self.decoder.forget_partial();
        if let Some(window) = &mut self.window {
            window.forget_partial(partial);
        }
        let partial = i64::try_from(partial).unwrap_or(0);
        let end = self.file.seek(SeekFrom::Current(-partial));
        end.and_then(|end| self.file.set_len(end)).map_err(|e| diagnostic::unwritable(self.path.display(), e))
    }

    /// The tables. `None` if the recording is in pieces or was watched: it is read again from disk.
    pub(crate) fn finish(mut self, address: &Address) -> Result<Option<Model>> {
        let ingest = &mut self.ingest;
        self.decoder
            .finish(&mut |found| ingest.found(&found))
            .map_err(|e| diagnostic::not_readable(&format!("the stream of {address}"), &self.first, e))?;
        Ok((self.pieces.is_none() && self.window.is_none()).then(|| self.ingest.finish()))
    }
}
