//! The uprobes of one process on its engine. If the kernel supports it, one link attaches all
//! places of a program.

use libbpf_rs::Link;
use profinfer_engine::ProbeKind;

use crate::bpf::{AttachPoint, Bpf};
use crate::error::Result;
use crate::target::files::MappedFile;
use crate::target::maps::FileId;

/// All uprobes, starts before ends.
#[derive(Debug, Default)]
pub struct Uprobes {
    rows: Vec<Row>,
}

/// Places in one file that are probed for the same purpose, with their links: one for entries,
/// another for returns.
#[derive(Debug)]
struct Row {
    kind: ProbeKind,
    file: FileId,
    offsets: Vec<u64>,
    /// Empty while the probes are removed.
    links: Vec<Link>,
}

impl Row {
    fn probes(&self) -> usize {
        self.offsets.len() * self.links.len()
    }
}

impl Uprobes {
    /// Kinds of all places that are or were probed; a kind may appear several times.
    pub fn kinds(&self) -> impl Iterator<Item = ProbeKind> + '_ {
        self.rows.iter().map(|r| r.kind)
    }

    /// Whether the place is or was probed for this kind.
    #[must_use]
    pub fn has(&self, kind: ProbeKind, file: FileId, offset: u64) -> bool {
        self.rows.iter().any(|r| r.kind == kind && r.file == file && r.offsets.contains(&offset))
    }

    /// Attaches probes of one kind to places of a file. Returns the result of each place, because
    /// the kernel may refuse single ones.
    pub fn attach(
        &mut self,
        bpf: &Bpf<'_>,
        pid: u32,
        kind: ProbeKind,
        file: &MappedFile,
        offsets: &[u64],
    ) -> Vec<(u64, Result<()>)> {
        if bpf.multi() && offsets.len() > 1 && self.attach_row(bpf, pid, kind, file, offsets).is_ok() {
            return offsets.iter().map(|offset| (*offset, Ok(()))).collect();
        }
        // One by one, to find out which places fail.
        let one = |offset: &u64| (*offset, self.attach_row(bpf, pid, kind, file, &[*offset]));
        offsets.iter().map(one).collect()
    }

    fn attach_row(
        &mut self,
        bpf: &Bpf<'_>,
        pid: u32,
        kind: ProbeKind,
        file: &MappedFile,
        offsets: &[u64],
    ) -> Result<()> {
        let links = bpf.attach(AttachPoint::Engine(kind), pid, &file.open_path, &file.in_file(offsets))?;
        let row = Row { kind, file: file.id, offsets: offsets.to_vec(), links };
        let at = self.rows.partition_point(|r| r.kind <= kind);
        self.rows.insert(at, row);
        Ok(())
    }

    /// Returns the links of some kinds, starts before ends, and the number of their probes. The
    /// probes are removed when the links are dropped.
    pub fn take_out(&mut self, of: impl Fn(ProbeKind) -> bool) -> (Vec<Link>, usize) {
        let (mut links, mut probes) = (Vec::new(), 0);
        for row in self.rows.iter_mut().filter(|r| of(r.kind)) {
            probes += row.probes();
            links.append(&mut row.links);
        }
        (links, probes)
    }

    /// Attaches removed probes of some kinds again, ends before starts. Returns their number.
    ///
    /// # Errors
    /// What the kernel answered; some probes may be attached nevertheless.
    pub fn put_in(
        &mut self,
        bpf: &Bpf<'_>,
        pid: u32,
        files: &[MappedFile],
        of: impl Fn(ProbeKind) -> bool,
    ) -> Result<usize> {
        let mut put = 0;
        for row in self.rows.iter_mut().rev().filter(|r| r.links.is_empty() && of(r.kind)) {
            let Some(file) = files.iter().find(|f| f.id == row.file) else { continue };
            let (point, offsets) = (AttachPoint::Engine(row.kind), file.in_file(&row.offsets));
            row.links = bpf.attach(point, pid, &file.open_path, &offsets)?;
            put += row.probes();
        }
        Ok(put)
    }

    /// Removes all probes in a file permanently.
    pub fn forget(&mut self, file: FileId) {
        self.rows.retain(|r| r.file != file);
    }

    /// Removes all probes. Starts before ends: an operator that is running now ends unseen and is
    /// counted as such.
    pub fn clear(&mut self) {
        self.rows.drain(..).for_each(drop);
    }
}
