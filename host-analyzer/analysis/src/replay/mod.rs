//! The replay: what each `llama_decode` call would have taken without what delayed it.
//!
//! Stage: analysis. From: spans, the scheduler level, the cost of the probes. To: [`Replay`].
//! Promises: the parts of a call sum to its measured time. Nothing is assigned to a cause that was
//! not recorded. The time of operators is what their threads computed: the time on the CPU, less the
//! spin at barriers inside operators, which is learnt from the recording.
//!
//! The form is that of a graph of meetings: all threads meet at the barrier after each operator.
//! The time of a meeting is the maximum over the threads, see `split.rs` and `member.rs`.

mod away;
mod batches;
mod call;
mod cause;
mod class;
mod coming_back;
mod computing;
mod crowded;
mod fact_times;
mod frozen;
mod holders;
mod inner;
mod kernel;
mod lookup;
mod meeting;
mod member;
mod missed;
mod neighbours;
mod offline;
mod opening;
mod outside;
mod programs;
mod returning;
mod runs;
mod speed;
mod split;
mod stays;
mod steal;
mod sum;
mod teams;
mod typical;
mod untraced;
mod usual;
mod waits;
mod waking;

pub use cause::{Amounts, Cause, Culprit, CulpritId};
pub use class::{Class, ClassId};
pub use neighbours::{Neighbours, Share};
pub use speed::SpeedChange;
pub use usual::Usual;
pub use waits::StartWaits;

use crate::results::fact::Conditions;
use crate::results::module::Places;
use crate::results::work::{Achieved, Work};
use crate::shared::group::Groups;
use crate::shared::interval;
use crate::shared::phase::{Phase, Phases};
use crate::shared::tally::Tallies;
use away::AwayTimes;
use call::Walk;
use profinfer_trace::model::{LlamaCallId, Model, Node, NodeIdx, TopologyId};
use programs::Programs;

/// An effect on calls is seen if it is this many standard errors from none. Calls next to each other are alike, so
/// two would be too few.
const SEEN: f64 = 4.0;

/// One `llama_decode` call, with the time since the call before if it generates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallReplay {
    pub call: LlamaCallId,
    pub phase: Phase,
    /// Its operators were completely captured. If not, `usual` is that of traced calls of the same
    /// graph.
    pub traced: bool,
    /// Measured, ns. The parts below sum to it.
    pub time_ns: u64,
    /// Operators, without what delayed them.
    pub usual: Usual,
    /// In `usual.work`: operators that multiply with weights, whose work does not depend on the context, ns.
    pub weights_ns: u64,
    /// Between two calls: sampling and the application, ns.
    pub application_ns: u64,
    /// Between two calls: the calling thread slept, ns. Only in [`Replay::gaps`]: in calls it is part of
    /// `application_ns`.
    pub idle_ns: u64,
    /// Between two calls: graphs of an encoder of images or sound, ns.
    pub encoder_ns: u64,
    /// Between two calls: copies of the states of sequences, ns.
    pub state_copies_ns: u64,
    /// In the call and outside of graphs, ns.
    pub preparation_ns: u64,
    /// In the call: the memory of a graph is allocated anew, ns.
    pub allocation_ns: u64,
    /// In graphs of other backends than the CPU's, and waiting for these backends, ns.
    pub other_backend_ns: u64,
    /// In graphs without recorded operators, ns.
    pub not_recorded_ns: u64,
    /// Delays by cause, ns.
    pub caused: Amounts,
    /// What the call would take less with one cause removed and the others kept, ns. Delays that
    /// overlap are in none of them, so the sum may be below or above that of `caused`.
    pub alone: Amounts,
    /// Delays that no recorded cause explains, ns.
    pub unexplained_ns: u64,
}

impl CallReplay {
    /// Time without all causes, ns.
    #[must_use]
    pub fn undisturbed_ns(&self) -> u64 {
        self.time_ns.saturating_sub(self.caused.total())
    }

    /// The call alone, without what is between two calls and without all causes, ns.
    #[must_use]
    pub fn alone_ns(&self) -> u64 {
        let between = self.application_ns.saturating_add(self.state_copies_ns);
        self.undisturbed_ns().saturating_sub(between)
    }

    /// On one thread and outside of graphs, without what delayed it, ns.
    pub(crate) const fn serial_ns(&self) -> u64 {
        let call = self.preparation_ns.saturating_add(self.allocation_ns);
        call.saturating_add(self.application_ns).saturating_add(self.state_copies_ns)
    }

    /// Its process.
    pub(crate) fn pid(&self, model: &Model) -> u32 {
        model.threads.get(model.llama_calls.thread[self.call.0 as usize]).pid
    }

    /// Its start and end, ns.
    fn bounds(&self, model: &Model) -> (u64, u64) {
        let row = self.call.0 as usize;
        let end = model.llama_calls.start_ns[row].saturating_add(model.llama_calls.duration_ns[row]);
        (end.saturating_sub(self.time_ns), end)
    }

    /// Gives time to a cause that no operator shows: what is unexplained first, then the uneven split,
    /// then the work.
    fn claim(&mut self, cause: Cause, ns: u64) {
        let mut left = ns;
        let work = self.usual.work;
        let usual = &mut self.usual;
        for part in [
            &mut self.unexplained_ns,
            &mut usual.imbalance,
            &mut usual.work,
            &mut usual.dispatch,
            &mut self.preparation_ns,
            &mut self.application_ns,
            &mut self.allocation_ns,
            &mut self.state_copies_ns,
        ] {
            let taken = left.min(*part);
            *part -= taken;
            left -= taken;
        }
        self.caused.add(cause, ns - left);
        self.alone.add(cause, ns - left);
        self.scale_weights(work);
    }

    /// Takes from the products with weights the part that was taken from all work, which was `before`, ns.
    fn scale_weights(&mut self, before: u64) {
        let left = u128::from(self.weights_ns) * u128::from(self.usual.work) / u128::from(before.max(1));
        self.weights_ns = u64::try_from(left).unwrap_or(u64::MAX);
    }
}

/// One operator of a completely traced call.
#[derive(Debug, Clone, Copy)]
pub struct OperatorTime<'a> {
    pub call: LlamaCallId,
    pub node: &'a Node,
    /// Of its graph.
    pub topology: TopologyId,
    pub index: NodeIdx,
    /// It is in `other_backend_ns` of the call, else in `usual.work`.
    pub other_backend: bool,
    /// Without what delayed it; on another backend, its time. ns.
    pub ns: u64,
}

/// Receives operators.
type Heard<'a> = dyn FnMut(&OperatorTime<'_>) + 'a;

/// Usual time of the operators of one class in one phase, over completely traced calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassTimes {
    pub instances: u64,
    /// Without what delayed them.
    pub usual: Usual,
    /// Threads that computed an instance, summed over instances.
    pub threads: u64,
    /// Uninterruptible sleep that delayed them, ns.
    pub blocked_ns: u64,
    /// Bytes and operations of the executions.
    pub work: Work,
}

/// The replay of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replay {
    /// The scheduler level was recorded. Without it, delays hide in the time of operators.
    pub scheduler: bool,
    /// Successful calls, process by process, by end.
    pub calls: Vec<CallReplay>,
    /// The time before calls, since the end of the process's previous call: process by process. They
    /// overlap with the calls that generate, which include it.
    pub gaps: Vec<CallReplay>,
    /// The end of that time, from the first graph of an encoder on, before calls that do not generate and follow
    /// one: process by process.
    pub encodes: Vec<CallReplay>,
    /// Waits for a CPU before the first calls of processes whose start was sampled.
    pub start_waits: Vec<StartWaits>,
    pub classes: Vec<Class>,
    /// By topology, then node.
    class_of_node: Vec<Vec<ClassId>>,
    /// By class: all threads wait inside until the last one has begun.
    inner: Vec<bool>,
    /// By [`Phase::index`], then class.
    pub class_times: Vec<Vec<ClassTimes>>,
    pub culprits: Vec<Culprit>,
    /// Programs on other CPUs, by process.
    pub neighbours: Vec<Neighbours>,
    /// Changes of the operators' speed in calls with one sequence, process by process.
    pub speed_changes: Vec<SpeedChange>,
    /// A hypervisor took CPUs in a time of which calls have little, so that nothing shows whether they lost any.
    pub steal_unknown: bool,
}

impl Replay {
    #[must_use]
    pub fn compute(model: &Model, phases: &Phases, conditions: &Conditions, places: &Places) -> Self {
        Self::with_operators(model, phases, conditions, places, &mut |_| {})
    }

    /// The replay of a session. `heard` receives each operator of the completely traced calls.
    #[must_use]
    pub fn with_operators(
        model: &Model,
        phases: &Phases,
        conditions: &Conditions,
        places: &Places,
        heard: &mut Heard<'_>,
    ) -> Self {
        let mut programs = Programs::new(model);
        let away = AwayTimes::compute(model, &phases.tracing, conditions, &mut programs);
        let interrupts = lookup::interrupts(model);
        let intervals = interval::intervals(model, phases);
        let mut walk = Walk::new(model, &away, &interrupts, places);
        let mut calls: Vec<CallReplay> = walk.calls(&intervals, phases, heard);
        let mut gaps = walk.gaps(&intervals);
        let mut encodes = walk.encodes(&intervals);
        let start_waits = waits::waits(model, &away);
        let (classes, inner, class_times) = walk.into_classes();
        let (classes, class_of_node) = classes.into_parts();
        let steal_unknown = steal::assign(model, conditions, &mut calls);
        kernel::assign(model, &away, &mut calls);
        crowded::assign(model, &away, conditions, &mut calls);
        let all = calls.iter_mut().chain(&mut gaps).chain(&mut encodes);
        batches::assign(model, conditions, all);
        let neighbours = neighbours::assign(model, phases.decode, &mut programs, &mut calls);
        let speed_changes = speed::assign(model, &mut calls);
        let scheduler = model.sched.recorded;
        Self {
            scheduler,
            calls,
            gaps,
            encodes,
            start_waits,
            classes,
            class_of_node,
            inner,
            class_times,
            culprits: programs.into_culprits(),
            neighbours,
            speed_changes,
            steal_unknown,
        }
    }

    /// The classes of the nodes of a topology.
    #[must_use]
    pub fn classes_of(&self, topology: TopologyId) -> &[ClassId] {
        self.class_of_node.get(topology.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// All threads of its operators wait inside until the last one has begun, as far as the recording shows.
    #[must_use]
    pub fn meets_inside(&self, class: ClassId) -> bool {
        self.inner.get(class.0 as usize).copied().unwrap_or(false)
    }

    #[must_use]
    pub fn culprit(&self, id: CulpritId) -> Option<&Culprit> {
        self.culprits.get(id.0 as usize)
    }

    /// Adds the bytes and operations of each class, over the completely traced calls.
    pub fn add_work(&mut self, groups: &Groups, tallies: &Tallies, achieved: &Achieved) {
        let Self { class_times, class_of_node, .. } = self;
        for computed in &tallies.computed {
            let times = &mut class_times[groups.get(computed.group).phase.index()];
            let classes = class_of_node.get(computed.topology.0 as usize).map_or(&[][..], Vec::as_slice);
            for (class, cell) in classes.iter().zip(computed.cell_range()) {
                if let Some(sum) = times.get_mut(class.0 as usize) {
                    sum.work.add(&achieved.cells[cell]);
                }
            }
        }
    }

    /// The calls of a phase.
    pub fn phase(&self, phase: Phase) -> impl Iterator<Item = &CallReplay> {
        self.calls.iter().filter(move |c| c.phase == phase)
    }
}
