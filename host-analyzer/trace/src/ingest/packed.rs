//! Spans between the stream and the table, in 16 bytes each.
//!
//! A batch waits in memory until its call is known and all batches can be sorted. In a batch, spans
//! follow each other: the wait before a span and its work determine its times.

use profinfer_wire::span::Span;

/// Spans of all batches in one list.
#[derive(Debug, Default)]
pub(super) struct PackedSpans {
    /// In blocks, because a single vector would need twice the size when it grows. Every batch is
    /// in one block.
    blocks: Vec<Vec<Packed>>,
    /// Spans that do not fit a row.
    long: Vec<Span>,
}

#[derive(Debug, Clone, Copy)]
struct Packed {
    /// Time since the end of the previous span; for a span that does not fit, its index among the
    /// long ones.
    wait_ns: u32,
    /// [`LONG`] for a span that does not fit.
    work_ns: u32,
    node: u32,
    /// Twice the number of further nodes that it covers, plus one if the work began on another CPU.
    flags: u16,
    cpu: u16,
}

const LONG: u32 = u32::MAX;
/// Most spans of a block, more than any batch has. It is 64 MB, so large that the allocator returns
/// the memory to the system at once.
const BLOCK: usize = 1 << 22;

/// Where the spans of a batch are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    block: u32,
    first: u32,
    /// Number of spans.
    pub(super) count: usize,
}

impl PackedSpans {
    /// Begins a batch.
    pub(super) fn begin(&mut self) -> Place {
        match self.blocks.last() {
            None => self.blocks.push(Vec::new()),
            Some(block) if block.len() > BLOCK - usize::from(u16::MAX) => {
                self.blocks.push(Vec::with_capacity(BLOCK));
            }
            Some(_) => {}
        }
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let first = self.blocks.last().map_or(0, Vec::len);
        Place { block: number(self.blocks.len() - 1), first: number(first), count: 0 }
    }

    /// Appends the next span of the current batch. `end` is the end of the previous span, or the
    /// batch's base time; it is set to the end of this span.
    #[inline]
    pub(super) fn push(&mut self, place: &mut Place, span: &Span, end: &mut u64) {
        let packed = pack(span, *end).unwrap_or_else(|| self.long(span));
        self.blocks[place.block as usize].push(packed);
        place.count += 1;
        *end = span.start_ns.saturating_add(span.work_ns);
    }

    #[cold]
    fn long(&mut self, span: &Span) -> Packed {
        self.long.push(*span);
        let place = u32::try_from(self.long.len() - 1).unwrap_or(u32::MAX);
        Packed { wait_ns: place, work_ns: LONG, node: 0, flags: 0, cpu: 0 }
    }

    /// The spans of a batch whose base time is `end`.
    pub(super) fn batch(&self, place: Place, mut end: u64) -> impl Iterator<Item = Span> + '_ {
        let first = place.first as usize;
        let block = &self.blocks[place.block as usize][first..first + place.count];
        block.iter().map(move |packed| {
            let span =
                if packed.work_ns == LONG { self.long[packed.wait_ns as usize] } else { packed.span(end) };
            end = span.start_ns.saturating_add(span.work_ns);
            span
        })
    }
}

impl Packed {
    const fn span(self, end: u64) -> Span {
        Span {
            node: self.node,
            last_node: self.node + (self.flags >> 1) as u32,
            start_ns: end + self.wait_ns as u64,
            work_ns: self.work_ns as u64,
            cpu: self.cpu,
            migrated: self.flags & 1 != 0,
        }
    }
}

/// `None` if it does not fit.
#[inline]
fn pack(span: &Span, end: u64) -> Option<Packed> {
    let fused = span.last_node.checked_sub(span.node).filter(|n| *n <= u32::from(u16::MAX >> 1))?;
    Some(Packed {
        wait_ns: u32::try_from(span.start_ns.checked_sub(end)?).ok()?,
        work_ns: u32::try_from(span.work_ns).ok().filter(|ns| *ns != LONG)?,
        node: span.node,
        flags: (fused as u16) << 1 | u16::from(span.migrated),
        cpu: span.cpu,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        let span = |node, last_node, start_ns, work_ns, cpu, migrated| Span {
            node,
            last_node,
            start_ns,
            work_ns,
            cpu,
            migrated,
        };
        let spans = [
            span(0, 0, 100, 5, 0, false),
            span(3, 7, 105, 0, u16::MAX, true),
            // Longer, further away, fused with more nodes, and earlier than fits.
            span(8, 8, 110, u64::from(u32::MAX), 1, false),
            span(9, 9, u64::MAX - 9, 3, 1, true),
            span(10, 10 + 40_000, u64::MAX - 5, u64::MAX, 1, false),
            span(1, 1, 7, 8, 2, false),
        ];
        let mut packed = PackedSpans::default();
        // Enough batches for a second block.
        let places: Vec<Place> = (0..700_000)
            .map(|_| {
                let (mut place, mut end) = (packed.begin(), 90);
                spans.iter().for_each(|span| packed.push(&mut place, span, &mut end));
                place
            })
            .collect();
        assert_eq!(packed.blocks.len(), 2);
        assert_eq!(packed.long.len(), 4 * places.len());
        assert!(places.iter().all(|place| packed.batch(*place, 90).eq(spans)));
    }
}
