//! One row per span.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{BooleanArray, UInt64Array};

use super::column::{Column, Part, Values};
use super::keys::{Caller, Computed, Keys};
use super::{Table, cpus, maybe_ns, ns, u32s};
use profinfer_analysis::Analysis;
use profinfer_analysis::phase::Phases;
use profinfer_analysis::work::{Work, Works};
use profinfer_trace::model::{Model, Node, Text, WAIT_UNKNOWN};

pub(super) struct Ops<'a> {
    model: &'a Model,
    phases: &'a Phases,
    works: &'a Works,
}

impl<'a> Ops<'a> {
    pub(super) fn new(model: &'a Model, analysis: &'a Analysis) -> Self {
        Self { model, phases: &analysis.phases, works: &analysis.work }
    }

    fn node(&self, of: &Computed) -> &Node {
        self.model.topologies.get(of.topology).node(of.node)
    }
}

impl Table for Ops<'_> {
    fn len(&self) -> usize {
        self.model.spans.len()
    }

    fn rows(&self, rows: Range<usize>) -> Part {
        let (model, spans, calls) = (self.model, &self.model.spans, &self.model.graph_calls);
        let keys = Keys::new(model, self.works, rows.clone());
        let call = |c: &Caller| c.call.0 as usize;
        let thread = |c: &Caller| model.threads.get(c.thread);
        let name = |text: fn(&Node) -> Text| {
            keys.nodes.column(|n| Some(text(self.node(n))), |list| self.texts(&list))
        };
        let ne = |d: usize| keys.nodes.column(|n| Some(self.node(n).ne[d]), Values::U64);
        let of_work = |number: fn(&Work) -> u64| keys.works.column(|w| Some(number(w)), Values::U64);
        let wait = |i: usize| Some(spans.wait_ns[i]).filter(|ns| *ns != WAIT_UNKNOWN).map(u64::from);
        let migrated = rows.clone().map(|i| spans.cpu[i].map(|_| spans.migrated[i]));
        let start = model.session.start_ns;
        let mut columns = vec![
            ("call", keys.callers.column(|c| calls.decode[call(c)].map(|d| d.0), Values::U32), true),
            ("graph_call", keys.callers.column(|c| Some(c.call.0), Values::U32), false),
            (
                "phase",
                keys.callers.column(|c| Some(self.phases.graph_calls[call(c)].name()), Values::texts),
                false,
            ),
            ("backend", keys.callers.column(|c| Some(calls.backend[call(c)]), |l| self.texts(&l)), false),
            ("pid", keys.callers.column(|c| Some(thread(c).pid), Values::U32), false),
            ("tid", keys.callers.column(|c| Some(thread(c).tid), Values::U32), false),
            ("node", keys.nodes.column(|n| Some(n.node.0), Values::U32), false),
            ("last_node", keys.nodes.column(|n| Some(n.last.0), Values::U32), false),
            ("name", name(|n| n.name), false),
            ("op", name(|n| n.op), false),
            ("desc", name(|n| n.desc), false),
            ("dtype", name(|n| n.dtype), false),
            ("ne0", ne(0), false),
            ("ne1", ne(1), false),
            ("ne2", ne(2), false),
            ("ne3", ne(3), false),
            ("start_ns", ns(rows.clone().map(|i| spans.start_ns[i].saturating_sub(start))), false),
            ("work_ns", ns(rows.clone().map(|i| spans.work_ns[i])), false),
            ("wait_ns", maybe_ns(rows.clone().map(wait)), true),
            ("cpu", cpus(&spans.cpu[rows.clone()]), true),
            ("migrated", Column::Each(Arc::new(BooleanArray::from_iter(migrated))), true),
            ("read_bytes", of_work(Work::read_bytes), false),
            ("written_bytes", of_work(|w| w.written_bytes), false),
            ("operations", of_work(|w| w.operations), false),
        ];
        let counts = &spans.counts;
        if !counts.is_empty() {
            columns.push(("switches", u32s(rows.clone().map(|i| counts.switches[i])), false));
        }
        for (column, name) in counts.names.iter().enumerate() {
            let values = rows.clone().map(|i| counts.value(column, i)).collect::<UInt64Array>();
            columns.push((name, Column::Each(Arc::new(values)), true));
        }
        Part::new(rows.len(), columns)
    }
}

impl Ops<'_> {
    fn texts(&self, list: &[Text]) -> Values {
        Values::texts(list.iter().map(|text| self.model.texts.get(*text)).collect())
    }
}
