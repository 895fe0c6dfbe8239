//! The setup of a session: from the plan to probes in place. [`super::running`] has the loop.
//!
//! The order of the steps matters. A comment at each step states what it depends on.

use std::cell::RefCell;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use libbpf_rs::{Link, RingBuffer, RingBufferBuilder};
use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;

use super::drain::Drain;
use super::ending::Endings;
use super::running::Running;
use super::scheduling::Scheduling;
use super::{Summary, records};
use crate::bpf::page_read::PAGE_FILES;
use crate::bpf::ring::size::size_for;
use crate::bpf::{Bpf, Storage, own_pid_namespace};
use crate::clock;
use crate::confine;
use crate::error::{Diagnostic, Result, log};
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::observe::cost::calibrate;
use crate::observe::cost::sample::Sampler;
use crate::observe::counter::Counters;
use crate::observe::fact::Facts;
use crate::observe::gauge::Gauges;
use crate::observe::placement::Placements;
use crate::observe::sched;
use crate::probes::operators::ProbeMode;
use crate::probes::tracer::Tracer;
use crate::request::capture::Effective;
use crate::request::plan::Plan;
#[cfg(feature = "direct")]
use crate::schedule::pace::Pace;
use crate::schedule::steer::Steer;
use crate::session::host::Host;
use crate::signals::{Signals, Sleeper};
use crate::sys::tee;
use crate::target::catch::Wanted;
use crate::target::process::Target;

/// Traces until the engine, the host or a signal ends the session. `drain` keeps the encoder of the
/// stream, also after an error.
pub(super) fn capture(
    plan: &Plan,
    target: &Target,
    drain: &RefCell<Drain>,
    signals: &Signals,
    host: &mut Host<'_>,
) -> Result<Summary> {
    introduce(plan, target, &mut drain.borrow_mut().lower.emit, signals, host)?;
    // Before the programs are loaded: the tee process must not inherit their descriptors. If it
    // fails, the last lines of the engine stay unknown.
    let stderr = target.starts_program().then(|| tee::begin().ok()).flatten();
    let mut setup = Setup::new(plan);
    let mut storages = Default::default();
    let bpf = setup.load(&mut storages)?;
    let _links = setup.attach_links(&bpf);
    let gauges = Gauges::open(&plan.gauges, Path::new("/"));
    setup.describe(&bpf, &gauges, &mut drain.borrow_mut().lower);
    let facts = Facts::begin(Path::new("/"), &mut drain.borrow_mut().lower.emit);
    let ring = map_ring(&bpf, drain)?;
    let sleeper = Sleeper::new(signals, bpf.events().as_fd())?;
    let (mut tracer, steer) = setup.tracer(plan, &bpf, &mut drain.borrow_mut().lower);
    begin_sched(&mut setup.sched, &bpf, &mut drain.borrow_mut().lower);
    let admin = !plan.only || confine::needs_admin(|| calibrate::can_attach(&bpf));
    tracer.begin(target, stderr, &mut drain.borrow_mut().lower)?;
    // After the engine was started: a child would inherit the scheduling.
    let scheduling = Scheduling::begin();
    // After everything is attached that needs the privileges.
    let confined = if plan.only { confine::attached(admin) } else { confine::begin() };
    facts.agent(&confined, &mut drain.borrow_mut().lower.emit);
    catch_new_engines(&mut tracer);
    let mut running = Running {
        sampler: Sampler::default(),
        #[cfg(feature = "direct")]
        direct_pace: Pace::default(),
        placements: Placements::default(),
        scheduling,
        endings: Endings::new(),
        tracer,
        steer,
        sleeper,
        ring,
        facts,
        page_reads: Vec::with_capacity(PAGE_FILES),
        gauges,
        sched: &mut setup.sched,
        bpf: &bpf,
        drain,
        heartbeat: Instant::now(),
        sleep: Duration::ZERO,
    };
    let reason = running.run(signals, host)?;
    Ok(running.end(reason))
}

/// Sends the session records, and measures the ceilings first if the plan requests them.
fn introduce(
    plan: &Plan,
    target: &Target,
    emit: &mut Emitter,
    signals: &Signals,
    host: &mut Host<'_>,
) -> Result<()> {
    records::introduce(&plan.board, plan.levels, emit);
    #[cfg(feature = "bench")]
    super::ceiling::before(plan, target, emit, signals, host)?;
    #[cfg(not(feature = "bench"))]
    let (_, _, _) = (target, signals, host);
    #[cfg(not(feature = "bench"))]
    if plan.bench.is_some() {
        log(
            "the plan requests ceilings, but this agent was built without the feature `bench`: the session starts without them",
        );
    }
    Ok(())
}

/// The levels, counters and operator options of a session, while the programs are set up for them.
struct Setup {
    /// The operator level is captured.
    operators: bool,
    /// Their descriptors must stay open as long as the session.
    counters: Counters,
    sched: sched::Level,
    effective: Effective,
    /// The captured levels, and those that the capture options need.
    probed: u32,
    ring_bytes: u32,
    /// Cost of a pair of uprobes, if measured, ns.
    pair_ns: Option<u64>,
}

impl Setup {
    fn new(plan: &Plan) -> Self {
        let operators = plan.levels & level::OP != 0;
        let counted = if operators { plan.counters.as_slice() } else { &[] };
        let effective = Effective::new(&plan.capture, plan.levels, !counted.is_empty());
        // What depends on `llama_decode` calls needs their probes.
        let probed = plan.levels | if effective.switches() { level::TOKEN } else { 0 };
        Self {
            operators,
            counters: Counters::open(counted, Path::new("/sys")),
            sched: sched::Level::find(plan.levels),
            effective,
            probed,
            ring_bytes: plan.ring_bytes.unwrap_or_else(|| size_for(probed)),
            pair_ns: None,
        }
    }

    /// Loads the programs. If the kernel refuses the scheduler level, loads them again without it.
    /// `storages`: one per attempt.
    fn load<'s>(&mut self, storages: &'s mut (Storage, Storage)) -> Result<Bpf<'s>> {
        let (counters, programs) = (self.counters.in_use(), self.effective.programs());
        match Bpf::load(&mut storages.0, self.ring_bytes, counters, self.sched.layout(), &programs) {
            Err(e) if self.sched.formats.is_some() => {
                let counters = self.counters.in_use();
                let bpf = Bpf::load(&mut storages.1, self.ring_bytes, counters, None, &programs)?;
                self.sched.refuse(&e.answer);
                Ok(bpf)
            }
            loaded => loaded,
        }
    }

    /// Attaches the programs that follow all threads: the counters and the end of threads. Counters
    /// that cannot be attached are refused with the reason. The links must live as long as the session.
    fn attach_links(&mut self, bpf: &Bpf<'_>) -> [Option<Link>; 2] {
        let counting = if self.counters.slots == 0 {
            None
        } else {
            bpf.attach_counters(&self.counters.open, &self.counters.cores)
                .map_err(|why| self.counters.give_up(&why))
                .ok()
        };
        [counting, bpf.attach_thread_exit().map_err(|e| log(&e.to_string())).ok()]
    }

    /// Sends the counters and sensors and, if operators are probed in pairs, the cost of a pair.
    fn describe(&mut self, bpf: &Bpf<'_>, gauges: &Gauges, lower: &mut Lower) {
        records::emit_counters(&self.counters, lower);
        gauges.emit(&mut lower.emit);
        let calibrated = self.operators && self.effective.in_pairs();
        if calibrated && let Some(cost) = calibrate::probe_cost(bpf) {
            self.pair_ns = Some(cost.pair_ns);
            lower.emit.emit(&Record::ProbeCost(cost), Weight::Essential);
        }
    }

    /// The parts that attach to processes and decide how much is captured.
    fn tracer<'c, 's>(
        &mut self,
        plan: &Plan,
        bpf: &'c Bpf<'s>,
        lower: &mut Lower,
    ) -> (Tracer<'c, 's>, Steer) {
        let mode = ProbeMode::from_parts(plan, self.counters.slots > 0, &self.effective);
        self.effective.direct = matches!(mode, ProbeMode::Direct(_));
        let pair_ns = match &mode {
            ProbeMode::Direct(cost) => cost.map(|c| c.pair_ns),
            ProbeMode::Uprobes | ProbeMode::Refused(_) => self.pair_ns,
        };
        let steer = Steer::new(std::mem::take(&mut self.effective), pair_ns, lower);
        (Tracer::new(bpf, self.probed, mode), steer)
    }
}

/// Maps the ring buffer. Its records go to `drain`.
fn map_ring<'c>(bpf: &'c Bpf<'_>, drain: &'c RefCell<Drain>) -> Result<RingBuffer<'c>> {
    let failed = |e: libbpf_rs::Error| {
        Diagnostic::new("mapping the ring buffer", e, "free memory: the agent needs 5 MB on the board")
    };
    let mut ring = RingBufferBuilder::new();
    ring.add(bpf.events(), move |bytes| {
        drain.borrow_mut().record(bytes);
        0
    })
    .map_err(failed)?;
    ring.build().map_err(failed)
}

/// Attaches the scheduler level, if requested, and sends the result.
fn begin_sched(sched: &mut sched::Level, bpf: &Bpf<'_>, lower: &mut Lower) {
    sched.attach(bpf);
    bpf.cpu_use_none();
    sched.emit(&mut lower.emit);
    if let (Some(formats), recorded @ 1..) = (&sched.formats, sched.recorded()) {
        lower.begin_sched(formats, recorded, own_pid_namespace().is_some());
        let now = clock::monotonic_ns();
        lower.emit_sched_loss(now, &bpf.sched_totals(), Weight::Essential);
        lower.emit_cpu_use_loss(now, &bpf.cpu_use_totals(), Weight::Essential);
    }
}

/// Observes an engine that starts from now on from its beginning.
fn catch_new_engines(tracer: &mut Tracer<'_, '_>) {
    tracer.begin_catch();
    match tracer.waits_for() {
        Some(Wanted::Named(name)) => log(&format!("waiting for an engine named {name}")),
        Some(Wanted::Below(root)) => log(&format!("waiting for an engine that process {root} starts")),
        None => {}
    }
}
