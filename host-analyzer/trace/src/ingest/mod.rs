//! Records to tables: order and meaning.
//!
//! Stage: second. From: [`crate::decode::Found`]. To: [`Model`]. Promises: records may come in any
//! order. A reference to something that never came is counted as damage; rows that depend on it are
//! left out, never invented. Memory grows with the bytes of the stream, not with the numbers in it.

pub mod accelerator;
mod capture;
mod ceiling;
mod controller;
mod counter;
mod damage;
mod direct;
mod duty;
mod edit;
mod ending;
mod expert;
mod fact;
mod gauge;
mod graph;
mod housekeeping;
mod loss;
pub mod meter;
mod mirror;
mod nested;
mod op;
mod packed;
mod part;
mod piece;
mod role;
mod sched;
mod session;
mod start_up;
mod token;
mod topology;
mod wait;
mod weight;

use std::collections::HashMap;

use profinfer_wire::record::Record;
use profinfer_wire::record::token::Taken;

use crate::decode::Found;
use crate::model::totals::Totals;
use crate::model::{
    CaptureLedger, CpuUseLedger, DamageKind, Model, NestedLedger, ReasonLedger, RefusedPlan, SchedLedger,
    Text,
};

use damage::Damages;
use expert::Selections;
use graph::Calls;
use op::Batches;
use token::Tokens;
use topology::Assembly;

/// Collects the records of one session.
#[derive(Debug, Default)]
pub struct Ingest {
    model: Model,
    texts: HashMap<u32, Text>,
    damages: Damages,
    tokens: Tokens,
    calls: Calls,
    topologies: Assembly,
    batches: Batches,
    selections: Selections,
    parts: part::Batches,
    taken: Vec<Taken>,
    gauges: gauge::Gauges,
    nested: nested::Calls,
    sched: sched::Records,
    weights: weight::Weights,
}

/// Progress of a running session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live<'a> {
    /// Type of the machine, for example `aarch64`; empty if unknown.
    pub machine: &'a str,
    /// Name of the machine or of its processor; empty if unknown.
    pub cpu_model: &'a str,
    /// Bytes up to the end of the last frame or damage.
    pub bytes: u64,
    /// Operator spans.
    pub spans: u64,
    /// Nested calls.
    pub nested: u64,
    /// Events of the scheduler.
    pub sched: u64,
    /// Selections of an expert.
    pub experts: u64,
    /// Decode calls.
    pub llama_calls: u64,
    /// Graph calls.
    pub graph_calls: u64,
    /// The agent waits for the engine and has not found one. From now on it sees an engine from its
    /// start.
    pub waiting: bool,
    /// The agent has ended the session.
    pub ended: bool,
    /// The agent cannot carry out the plan.
    pub refused: Option<&'a RefusedPlan>,
}

impl Live<'_> {
    /// The same without what it borrows.
    #[must_use]
    pub const fn counts(&self) -> Live<'static> {
        let Self { bytes, spans, nested, sched, experts, llama_calls, graph_calls, waiting, ended, .. } =
            *self;
        let (machine, cpu_model, refused) = ("", "", None);
        Live {
            machine,
            cpu_model,
            bytes,
            spans,
            nested,
            sched,
            experts,
            llama_calls,
            graph_calls,
            waiting,
            ended,
            refused,
        }
    }
}

impl Ingest {
    /// Starts without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one item from the decoder.
    pub fn found(&mut self, found: &Found<'_>) {
        match found {
            Found::Hello(_) => self.model.health.bytes = profinfer_wire::hello::HELLO_LEN as u64,
            Found::Damage(d) => {
                self.model.health.bytes = d.offset + d.bytes;
                self.damages.found(d);
            }
            Found::Cut { offset, bytes } => {
                self.model.health.bytes = offset + bytes;
                self.model.health.cut_bytes = *bytes;
                // Nothing can follow the end record, so this is not a frame of the session.
                if self.model.health.end.is_some() {
                    self.damages.add(DamageKind::Short, 1, *bytes, *offset);
                }
            }
            Found::Record { offset, bytes, record, .. } => {
                self.model.health.bytes = offset + bytes;
                self.model.health.frames += 1;
                self.record(*offset, *bytes, record);
            }
        }
    }

    fn record(&mut self, offset: u64, bytes: u64, record: &Record<'_>) {
        match record {
            Record::Session(r) => session::session(&mut self.model.session, r),
            Record::Text(r) => {
                let text = self.model.texts.intern(r.text);
                self.texts.insert(r.id, text);
            }
            Record::Process(r) => session::process(&mut self.model.session, r),
            Record::Agent(r) => self.model.session.agent_pid = Some(r.pid),
            Record::Library(r) => session::library_of_words(&mut self.model.session, r),
            Record::Library2(r) => session::library(&mut self.model.session, r),
            Record::Probe(r) => session::probe(&mut self.model.session, r),
            Record::Counter(r) => counter::counter(&mut self.model.session, r),
            Record::Ceiling(r) => ceiling::add(&mut self.model, r, offset, &mut self.damages),
            Record::CeilingPoint(r) => ceiling::add_point(&mut self.model, r, offset, &mut self.damages),
            Record::CeilingLoad(r) => ceiling::add_load(&mut self.model, r, offset, &mut self.damages),
            Record::Gauge(r) => self.gauges.gauge(r),
            Record::GaugeBatch(r) => self.gauges.batch(r, offset, &mut self.damages),
            Record::Fact(r) => fact::fact(&mut self.model.facts, &mut self.model.texts, r),
            Record::Thread(r) => {
                let name = self.model.texts.intern(r.name);
                let id = self.model.threads.find_or_add(r.tid);
                self.model.threads.describe(id, r.pid, name);
            }
            Record::Decode(r) => self.tokens.add(*r, self.model.threads.find_or_add(r.tid)),
            Record::Topology(r) => self.topologies.head(r),
            Record::Tensors(r) => self.topologies.part(r, offset, &mut self.damages),
            Record::TensorBatch(r) => self.topologies.batch(r, offset, &mut self.damages),
            Record::Buffer(r) => self.weights.buffer(r),
            Record::PlacementBatch(r) => self.weights.add(r, offset, &mut self.damages),
            Record::GraphCall(r) => self.calls.add(*r, self.model.threads.find_or_add(r.tid), offset),
            Record::Past(r) => self.calls.past(*r),
            Record::SpanBatch(r) => {
                let thread = self.model.threads.find_or_add(r.tid);
                self.model.health.span_bytes += bytes;
                self.model.health.spans_received += self.batches.add(r, thread, offset, &mut self.damages);
            }
            Record::CountedBatch(r) => {
                let thread = self.model.threads.find_or_add(r.tid);
                self.model.health.span_bytes += bytes;
                let received = self.batches.add_counted(r, thread, offset, &mut self.damages);
                self.model.health.spans_received += received;
            }
            Record::PredictedBatch(r) => {
                let thread = self.model.threads.find_or_add(r.tid);
                self.model.health.span_bytes += bytes;
                let received = self.batches.add_predicted(r, thread, offset, &mut self.damages);
                self.model.health.spans_received += received;
            }
            Record::NestedBatch(r) => {
                self.model.health.nested_received += self.nested.add(r, offset, &mut self.damages);
            }
            Record::NestedLoss(r) => self.model.health.nested = Some(NestedLedger::read(&r.fields())),
            Record::Task(r) => self.sched.task(r, &mut self.model),
            Record::SchedBatch(r) => {
                self.model.health.sched_received += self.sched.events(r, offset, &mut self.damages);
            }
            Record::InterruptBatch(r) => {
                self.model.health.sched_received += self.sched.interrupts(r, offset, &mut self.damages);
            }
            Record::CpuUseBatch(r) => {
                self.model.health.cpu_use_received += self.sched.cpu_uses(r, offset, &mut self.damages);
            }
            Record::CpuUseLoss(r) => self.model.health.cpu_use = Some(CpuUseLedger::read(&r.fields())),
            Record::SchedLoss(r) => self.model.health.sched = Some(SchedLedger::read(&r.fields())),
            Record::ExpertBatch(r) => self.selections.add(r, offset, &mut self.damages),
            Record::ExpertLoss(r) => self.selections.loss(r),
            Record::PartBatch(r) => self.parts.add(r, offset, &mut self.damages),
            Record::Housekeeping(r) => housekeeping::add(&mut self.model.housekeeping, r),
            Record::Edit(r) => edit::add(&mut self.model.edits, r),
            Record::Taken(r) => self.taken.push(*r),
            Record::PartLoss(r) => self.parts.loss(r),
            Record::ProbesUsed(r) => direct::used(&mut self.model.health, r),
            Record::DirectLoss(r) => self.model.health.direct = Some(direct::totals(r)),
            Record::CaptureOptions(r) => capture::options(&mut self.model.capture, r),
            Record::Filter(r) => capture::filter(&mut self.model.capture, r),
            Record::ProbeSwitch(r) => duty::switch(&mut self.model.duty, r),
            Record::ControllerStep(r) => controller::step(&mut self.model.controller_steps, r),
            Record::CaptureLoss(r) => self.model.health.capture = Some(CaptureLedger::read(&r.fields())),
            Record::LossReasons(r) => self.model.health.reasons = Some(ReasonLedger::read(&r.fields())),
            Record::Piece(r) => piece::begins(&mut self.model.health, r),
            Record::PieceEnd(r) => piece::ends(&mut self.model.health, r),
            Record::StartUp(r) => start_up::add(&mut self.model.start_ups, r),
            Record::Ending(r) => ending::add(&mut self.model.endings, r),
            Record::Loss(r) => loss::ledger(&mut self.model.health, r),
            Record::ProbeCost(r) => self.model.health.probe_cost = Some(loss::probe_cost(r)),
            Record::End(r) => loss::end(&mut self.model.health, r),
            Record::Refused(r) => self.model.health.refused = Some(session::refused_in_one(r)),
            Record::Refused2(r) => self.model.health.refused = Some(session::refused(r)),
            // All times are from the monotonic clock; the session record relates it to the wall
            // clock.
            Record::Clock(_) => {}
            // The host's own records, if a link echoes them.
            Record::Plan(_)
            | Record::CounterRequest(_)
            | Record::GaugeRequest(_)
            | Record::BenchRequest(_)
            | Record::ProbesRequest(_)
            | Record::CaptureRequest(_)
            | Record::FilterRequest(_)
            | Record::Start(_)
            | Record::Resume(_)
            | Record::Stop(_) => {
                self.damages.add(DamageKind::Unresolved, 1, bytes, offset);
            }
        }
    }

    /// Progress of the session.
    #[must_use]
    pub fn live(&self) -> Live<'_> {
        let health = &self.model.health;
        Live {
            machine: &self.model.session.machine,
            cpu_model: &self.model.session.cpu_model,
            bytes: health.bytes,
            spans: health.spans_received,
            nested: health.nested_received,
            sched: health.sched_received,
            experts: self.selections.len() as u64,
            llama_calls: self.tokens.len() as u64,
            graph_calls: self.calls.len() as u64,
            waiting: self.model.session.processes.is_empty() && fact::agent_is_ready(&self.model),
            ended: health.end.is_some(),
            refused: health.refused.as_ref(),
        }
    }

    /// Completes the tables.
    #[must_use]
    pub fn finish(mut self) -> Model {
        let model = &mut self.model;
        let damages = &mut self.damages;
        let ledger = model.health.ledger;
        let cut_short = model.health.cut_short();
        let calls_lost =
            cut_short || damages.records_lost() || ledger.is_none_or(|l| loss::calls_may_be_missing(&l));
        model.gauges = self.gauges.finish(damages);
        fact::finish(&mut model.facts);
        duty::finish(&mut model.duty);
        controller::finish(&mut model.controller_steps);
        session::full_names(model);
        let topologies = self.topologies.finish(&self.texts, model.health.bytes, damages);
        model.topologies = topologies.table;
        role::infer(&mut model.topologies, &model.texts);
        self.weights.finish(&topologies.ids, model, damages);
        self.tokens.add_graphs(&mut self.calls, model, &topologies.ids);
        let llama_calls = self.tokens.finish(&self.calls, calls_lost, &mut model.llama_calls);
        self.parts.finish(&llama_calls, &mut model.parts, &mut model.health, damages);
        model.edits.sort_by_key(|edit| edit.at_ns);
        model.housekeeping.sort_by_key(|done| done.start_ns);
        if !calls_lost {
            let of = |r: &Taken| Some((*llama_calls.get(&r.decode)?, r.outputs));
            model.taken = self.taken.iter().filter_map(of).collect();
            model.taken.sort_unstable();
        }
        let calls =
            self.calls.finish(&llama_calls, &topologies.ids, &self.texts, &mut model.graph_calls, damages);
        // If spans may be missing, the time between two spans need not be a wait.
        let lossy = cut_short
            || damages.records_lost()
            || ledger.is_none_or(|l| loss::spans_may_be_missing(&l))
            || model.capture.nodes_left_out();
        self.batches.finish(&calls, model, lossy, damages);
        self.nested.finish(&calls, &self.texts, model, damages);
        self.selections.finish(&calls, model, damages);
        self.sched.finish(&self.texts, model, damages);
        housekeeping::finish(model);
        (model.health.damage, model.health.skipped) = std::mem::take(damages).sorted();
        self.model
    }
}
