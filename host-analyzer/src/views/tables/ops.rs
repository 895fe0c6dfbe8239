//! One row per span.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray, UInt16Array, UInt64Array};
use arrow_schema::ArrowError;

use super::{Table, maybe_ns, maybe_u32s, ns, texts, u32s, u64s};
use crate::analyses::Analysis;
use crate::analyses::phase::{Phase, Phases};
use crate::analyses::work::{Work, Works};
use crate::model::{Model, Node, Text, WAIT_UNKNOWN};

/// The table.
pub(super) struct Ops<'a> {
    model: &'a Model,
    phases: &'a Phases,
    works: &'a Works,
    phase_names: Arc<StringArray>,
    /// Texts that nodes and graph calls use, and for each text of the model its place there.
    names: Arc<StringArray>,
    name_keys: Vec<u32>,
}

impl<'a> Ops<'a> {
    pub(super) fn new(model: &'a Model, analysis: &'a Analysis) -> Self {
        let (names, name_keys) = names(model);
        let phase_names = Arc::new(Phase::ALL.iter().map(|p| Some(p.name())).collect());
        Self { model, phases: &analysis.phases, works: &analysis.work, phase_names, names, name_keys }
    }

    fn node(&self, span: usize) -> &Node {
        let spans = &self.model.spans;
        let call = spans.graph_call[span].0 as usize;
        // A span's graph call always has a topology: the model promises it.
        let topology = self.model.graph_calls.topology[call].map_or(0, |s| s.0 as usize);
        self.model.topologies.rows[topology].node(spans.node[span])
    }

    fn names(&self, rows: Range<usize>, text: fn(&Node) -> Text) -> Result<ArrayRef, ArrowError> {
        texts(rows.map(|i| self.name_keys[text(self.node(i)).index()]), &self.names)
    }
}

/// The texts that nodes use, each once, and for each text of the model its place among them.
fn names(model: &Model) -> (Arc<StringArray>, Vec<u32>) {
    let mut keys = vec![u32::MAX; model.texts.len()];
    let mut list = Vec::new();
    let nodes = model.topologies.rows.iter().flat_map(|s| &s.nodes);
    let used = nodes.flat_map(|node| [node.name, node.op, node.desc, node.dtype]);
    for text in used.chain(model.graph_calls.backend.iter().copied()) {
        let key = &mut keys[text.index()];
        if *key == u32::MAX {
            *key = u32::try_from(list.len()).unwrap_or(u32::MAX);
            list.push(model.texts.get(text));
        }
    }
    (Arc::new(StringArray::from_iter_values(list)), keys)
}

impl Table for Ops<'_> {
    fn len(&self) -> usize {
        self.model.spans.len()
    }

    fn rows(&self, rows: Range<usize>) -> Result<RecordBatch, ArrowError> {
        let (spans, calls) = (&self.model.spans, &self.model.graph_calls);
        let call = |i: usize| spans.graph_call[i].0 as usize;
        let thread = |i: usize| self.model.threads.get(spans.thread[i]);
        let start = self.model.session.start_ns;
        let work = |i: usize| {
            self.works.execution(self.model, spans.graph_call[i], spans.node[i], spans.last_node[i])
        };
        let work: Vec<Work> = rows.clone().map(work).collect();
        let ne = |d: usize| u64s(rows.clone().map(|i| self.node(i).ne[d]));
        let columns = [
            ("call", maybe_u32s(rows.clone().map(|i| calls.decode[call(i)].map(|d| d.0))), true),
            ("graph_call", u32s(rows.clone().map(|i| spans.graph_call[i].0)), false),
            (
                "phase",
                texts(
                    rows.clone().map(|i| self.phases.graph_calls[call(i)].index() as u32),
                    &self.phase_names,
                )?,
                false,
            ),
            (
                "backend",
                texts(rows.clone().map(|i| self.name_keys[calls.backend[call(i)].index()]), &self.names)?,
                false,
            ),
            ("pid", u32s(rows.clone().map(|i| thread(i).pid)), false),
            ("tid", u32s(rows.clone().map(|i| thread(i).tid)), false),
            ("node", u32s(rows.clone().map(|i| spans.node[i].0)), false),
            ("last_node", u32s(rows.clone().map(|i| spans.last_node[i].0)), false),
            ("name", self.names(rows.clone(), |n| n.name)?, false),
            ("op", self.names(rows.clone(), |n| n.op)?, false),
            ("desc", self.names(rows.clone(), |n| n.desc)?, false),
            ("dtype", self.names(rows.clone(), |n| n.dtype)?, false),
            ("ne0", ne(0), false),
            ("ne1", ne(1), false),
            ("ne2", ne(2), false),
            ("ne3", ne(3), false),
            ("start_ns", ns(rows.clone().map(|i| spans.start_ns[i].saturating_sub(start))), false),
            ("work_ns", ns(rows.clone().map(|i| spans.work_ns[i])), false),
            (
                "wait_ns",
                maybe_ns(rows.clone().map(|i| {
                    let wait = spans.wait_ns[i];
                    (wait != WAIT_UNKNOWN).then_some(u64::from(wait))
                })),
                true,
            ),
            ("cpu", Arc::new(rows.clone().map(|i| spans.cpu[i]).collect::<UInt16Array>()) as ArrayRef, true),
            (
                "migrated",
                Arc::new(BooleanArray::from_iter(
                    rows.clone().map(|i| spans.cpu[i].map(|_| spans.migrated[i])),
                )) as ArrayRef,
                true,
            ),
            ("read_bytes", u64s(work.iter().map(Work::read_bytes)), false),
            ("written_bytes", u64s(work.iter().map(|w| w.written_bytes)), false),
            ("operations", u64s(work.iter().map(|w| w.operations)), false),
        ];
        let counts = &spans.counts;
        let mut columns: Vec<(&str, ArrayRef, bool)> = columns.into();
        if !counts.is_empty() {
            columns.push(("switches", u32s(rows.clone().map(|i| counts.switches[i])), false));
        }
        for (column, name) in counts.names.iter().enumerate() {
            let values = rows.clone().map(|i| counts.value(column, i)).collect::<UInt64Array>();
            columns.push((name, Arc::new(values), true));
        }
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}
