//! Totals of a running session, from the same records as the tables. Nothing is kept of finished
//! calls: a session of weeks needs no more memory than one of seconds.

use std::collections::HashMap;

use profinfer_wire::record::Record;
use profinfer_wire::record::graph::{GraphCall, layer};
use profinfer_wire::record::token::Decode;

use crate::decode::Found;
use crate::model::meter::{About, Batch, LIMITS_NS, MAX_GAUGES, Meter, Reading};
use crate::model::totals::Totals;
use crate::model::{CpuUseLedger, ExpertLedger, Ledger, NestedLedger, PartLedger, SchedLedger};

/// Most decode calls that run at once. Further ones that a stream claims are ignored.
const RUNNING: usize = 4096;

/// Sums up records.
#[derive(Debug, Default)]
pub struct Metering {
    meter: Meter,
    /// Tokens of graph calls whose decode call has not come yet: it ends after them.
    running: HashMap<u32, u32>,
}

impl Metering {
    /// The totals so far.
    #[must_use]
    pub const fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Counts that the tables have anyway.
    pub const fn counts(&mut self, live: &super::Live<'_>) {
        let meter = &mut self.meter;
        (meter.spans, meter.nested) = (live.spans, live.nested);
        (meter.sched, meter.bytes) = (live.sched, live.bytes);
    }

    /// Adds one item from the decoder.
    pub fn found(&mut self, found: &Found<'_>) {
        match found {
            Found::Damage(_) => self.meter.damaged += 1,
            Found::Record { record, .. } => self.record(record),
            _ => {}
        }
    }

    fn record(&mut self, record: &Record<'_>) {
        let meter = &mut self.meter;
        match record {
            Record::Session(r) => {
                meter.about = About {
                    board: r.board.to_owned(),
                    machine: r.machine.to_owned(),
                    cpu_model: r.cpu_model.to_owned(),
                    kernel: r.kernel.to_owned(),
                    agent: r.agent.to_owned(),
                    start_unix_ns: r.start_unix_ns,
                }
            }
            Record::GraphCall(r) => self.graph_call(r),
            Record::Decode(r) => self.token_call(r),
            Record::Loss(r) => self.ledger(&r.fields()),
            Record::End(r) => self.ledger(&r.loss.fields()),
            Record::NestedLoss(r) => meter.nested_ledger = Some(NestedLedger::read(&r.fields())),
            Record::SchedLoss(r) => meter.sched_ledger = Some(SchedLedger::read(&r.fields())),
            Record::CpuUseLoss(r) => meter.cpu_use_ledger = Some(CpuUseLedger::read(&r.fields())),
            Record::PartLoss(r) => meter.part_ledger = Some(PartLedger::read(&r.fields())),
            Record::ExpertLoss(r) => meter.expert_ledger = Some(ExpertLedger::read(&r.fields())),
            Record::Gauge(r) if meter.gauges.len() < MAX_GAUGES || meter.gauges.contains_key(&r.id) => {
                let (kind, unit) = (r.kind.into(), r.unit.into());
                meter.gauges.insert(r.id, Reading { name: r.name.to_owned(), kind, unit, value: None });
            }
            Record::GaugeBatch(r) => {
                for sample in r.samples() {
                    if let Some(reading) = meter.gauges.get_mut(&sample.id) {
                        reading.value = sample.value;
                    }
                }
            }
            _ => {}
        }
    }

    /// Counts a scheduler's call, but not the backends' calls inside it, which compute the same
    /// graph.
    fn graph_call(&mut self, r: &GraphCall) {
        if r.layer == layer::SCHEDULER || r.parent == 0 {
            self.meter.graph_calls += 1;
            self.meter.graph_ns = self.meter.graph_ns.saturating_add(r.duration_ns);
        }
        if r.layer == layer::SCHEDULER && r.decode != 0 {
            if self.running.len() >= RUNNING {
                self.running.clear();
            }
            let tokens = self.running.entry(r.decode).or_default();
            *tokens = tokens.saturating_add(r.n_tokens);
        }
    }

    fn token_call(&mut self, r: &Decode) {
        let seen = self.running.remove(&r.id).filter(|n| *n > 0).or(r.n_tokens);
        let calls = &mut self.meter.calls[Batch::new(seen) as usize];
        calls.calls += 1;
        calls.tokens = calls.tokens.saturating_add(seen.unwrap_or(0).into());
        calls.ns = calls.ns.saturating_add(r.duration_ns);
        if let Some(n) = LIMITS_NS.iter().position(|limit| r.duration_ns <= *limit) {
            calls.by_duration[n] += 1;
        }
        self.meter.failed += u64::from(r.status != 0);
    }

    fn ledger(&mut self, fields: &[(&str, u64)]) {
        self.meter.ledger = Some(Ledger::read(fields));
    }
}
