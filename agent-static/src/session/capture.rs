//! The setup of a session: from the plan to probes in place. [`super::running`] has the loop.
//!
//! The order of the steps matters. A comment at each step states what it depends on.

use std::cell::RefCell;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use libbpf_rs::{RingBuffer, RingBufferBuilder};
use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::loss::EndReason;

use super::drain::Drain;
use super::ending::Endings;
use super::running::Running;
use super::scheduling::Scheduling;
use super::{Summary, records};
use crate::bpf::ring::size::size_for;
use crate::bpf::{Bpf, Programs, Storage, own_pid_namespace};
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
use crate::sys::tee::{self, Tail};
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
    let operators = plan.levels & level::OP != 0;
    let counted = if operators { plan.counters.as_slice() } else { &[] };
    let mut counters = Counters::open(counted, Path::new("/sys"));
    let mut sched = sched::Level::find(plan.levels);
    let mut effective = Effective::new(&plan.capture, plan.levels, !counted.is_empty());
    // What depends on `llama_decode` calls needs their probes.
    let probed = plan.levels | if effective.switches() { level::TOKEN } else { 0 };
    let ring_bytes = plan.ring_bytes.unwrap_or_else(|| size_for(probed));
    let mut storages = Default::default();
    let bpf = load(&mut storages, ring_bytes, &counters, &mut sched, &effective.programs())?;
    let _following = follow(&bpf, &mut counters);
    let _ends = bpf.attach_thread_exit().map_err(|e| log(&e.to_string())).ok();
    let gauges = Gauges::open(&plan.gauges, Path::new("/"));
    let calibrated = operators && effective.in_pairs();
    describe(&bpf, &counters, &gauges, calibrated, &mut drain.borrow_mut().lower);
    let facts = Facts::begin(Path::new("/"), &mut drain.borrow_mut().lower.emit);
    let ring = map_ring(&bpf, drain)?;
    let sleeper = Sleeper::new(signals, bpf.events().as_fd())?;
    let mode = ProbeMode::from_parts(plan, counters.slots > 0, &effective);
    effective.direct = matches!(mode, ProbeMode::Direct(_));
    let steer = Steer::new(effective, &mut drain.borrow_mut().lower);
    let mut tracer = Tracer::new(&bpf, probed, mode);
    begin_sched(&mut sched, &bpf, &mut drain.borrow_mut().lower);
    let admin = !plan.only || confine::needs_admin(|| calibrate::can_attach(&bpf));
    let mut endings = Endings::new();
    let unprobed = begin_target(&mut tracer, target, stderr, &mut endings, &mut drain.borrow_mut().lower)?;
    // After the engine was started: a child would inherit the scheduling.
    let scheduling = Scheduling::begin();
    // After everything is attached that needs the privileges.
    let confined = if plan.only { confine::attached(admin) } else { confine::begin() };
    facts.agent(&confined, &mut drain.borrow_mut().lower.emit);
    tracer.begin_catch();
    // The agent observes an engine that starts from now on from its beginning.
    if let Some(name) = tracer.waits_for() {
        log(&format!("waiting for an engine named {name}"));
    }
    let mut running = Running {
        sampler: Sampler::default(),
        #[cfg(feature = "direct")]
        direct_pace: Pace::default(),
        placements: Placements::default(),
        scheduling,
        endings,
        tracer,
        steer,
        sleeper,
        ring,
        facts,
        gauges,
        sched: &mut sched,
        bpf: &bpf,
        drain,
        heartbeat: Instant::now(),
        sleep: Duration::ZERO,
    };
    let reason = if unprobed.is_some() { EndReason::Error } else { running.run(signals, host)? };
    Ok(running.end(reason, unprobed))
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

/// Loads the programs. If the kernel refuses the scheduler level, loads them again without it.
/// `storages`: one per attempt.
fn load<'s>(
    storages: &'s mut (Storage, Storage),
    ring_bytes: u32,
    counters: &Counters,
    sched: &mut sched::Level,
    programs: &Programs<'_>,
) -> Result<Bpf<'s>> {
    match Bpf::load(&mut storages.0, ring_bytes, counters.in_use(), sched.layout(), programs) {
        Err(e) if sched.formats.is_some() => {
            let bpf = Bpf::load(&mut storages.1, ring_bytes, counters.in_use(), None, programs)?;
            sched.refuse(&e.answer);
            Ok(bpf)
        }
        loaded => loaded,
    }
}

/// Attaches the counters. If that fails, they are refused with the reason.
fn follow(bpf: &Bpf<'_>, counters: &mut Counters) -> Option<libbpf_rs::Link> {
    if counters.slots == 0 {
        return None;
    }
    match bpf.attach_counters(&counters.open, &counters.cores) {
        Ok(link) => Some(link),
        Err(why) => {
            counters.give_up(&why);
            None
        }
    }
}

/// Sends the counters and sensors and, if `calibrated`, the cost of a pair of probes.
fn describe(bpf: &Bpf<'_>, counters: &Counters, gauges: &Gauges, calibrated: bool, lower: &mut Lower) {
    records::emit_counters(counters, lower);
    gauges.emit(&mut lower.emit);
    if calibrated && let Some(cost) = calibrate::probe_cost(bpf) {
        lower.emit.emit(&Record::ProbeCost(cost), Weight::Essential);
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
    sched.emit(&mut lower.emit);
    if let (Some(formats), recorded @ 1..) = (&sched.formats, sched.recorded()) {
        lower.begin_sched(formats, recorded, own_pid_namespace().is_some());
        lower.emit_sched_loss(clock::monotonic_ns(), &bpf.sched_totals(), Weight::Essential);
    }
}

/// Attaches to running processes, or starts the program. Returns the error if nothing can be traced
/// and the recording has the reason.
fn begin_target(
    tracer: &mut Tracer<'_, '_>,
    target: &Target,
    stderr: Option<(OwnedFd, Tail)>,
    endings: &mut Endings,
    lower: &mut Lower,
) -> Result<Option<Diagnostic>> {
    let Err(e) = tracer.begin(target, stderr, lower) else { return Ok(None) };
    endings.look(tracer, lower);
    // The recording has the reason if the agent knows more than that there is no engine.
    endings.diagnostic().ok_or(e).map(Some)
}
