//! The loop of a session: from the first probe to the last event.

use std::cell::RefCell;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use libbpf_rs::RingBufferBuilder;
use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::loss::{End, EndReason};

use super::drain::Drain;
use super::ending::Endings;
use super::pace::Pace;
use super::scheduling::Scheduling;
use super::steer::Steer;
use super::{Summary, records};
use crate::bpf::{Bpf, Storage, own_pid_namespace};
use crate::capture::Granted;
use crate::clock;
use crate::confine;
use crate::cost::{calibrate, sample};
use crate::counter::Counters;
use crate::emit::Emitter;
use crate::error::{Diagnostic, Result, log};
use crate::fact::Facts;
use crate::gauge::Gauges;
use crate::host::Host;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::operators::Wish;
use crate::placement::Placements;
use crate::plan::Plan;
use crate::ring::size::size_for;
use crate::sched;
use crate::signals::{Signals, Sleeper};
use crate::sys::ring::waiting;
use crate::sys::tee;
use crate::target::process::Target;
use crate::tracer::Tracer;

/// Longest sleep between two looks at the ring buffer: how old what a host sees may be. The kernel wakes the agent earlier when there is
/// much to do.
const SLEEP_MAX: Duration = Duration::from_millis(200);
/// Between two records of clocks and totals, and two looks at whether the engine lives.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Most records that are taken from the ring buffer before the agent looks at anything else. An engine that writes faster than the agent
/// reads (a slow board, whose CPUs it has all) would keep it here for ever, deaf to signals and to its host.
const AT_ONCE: usize = 1 << 16;

/// Traces until somebody or something ends it. Whatever comes, `drain` keeps the stream's encoder.
pub(super) fn capture(
    plan: &Plan,
    target: &Target,
    drain: &RefCell<Drain>,
    signals: &Signals,
    host: &mut Host<'_>,
) -> Result<Summary> {
    {
        let emit = &mut drain.borrow_mut().lower.emit;
        records::introduce(&plan.board, plan.levels, emit);
        #[cfg(feature = "bench")]
        super::ceiling::before(plan, target, emit, signals, host)?;
        #[cfg(not(feature = "bench"))]
        if plan.bench.is_some() {
            log(
                "ceilings were asked for, but this agent was built without the feature `bench`: the session begins without them",
            );
        }
    }
    // Before the programs are loaded: what they and the session hold is nobody else's. Without it the engine's last lines stay unknown.
    let stderr = target.starts_program().then(|| tee::begin().ok()).flatten();
    let (mut storage, mut plain) = (Storage::default(), Storage::default());
    let counted = if plan.levels & level::OP != 0 { plan.counters.as_slice() } else { &[] };
    let mut counters = Counters::open(counted, Path::new("/sys"));
    let mut sched = sched::Level::find(plan.levels);
    let mut granted = Granted::of(&plan.capture, plan.levels, !counted.is_empty());
    // What goes by token calls needs their probes.
    let probed = plan.levels | if granted.switches() { level::TOKEN } else { 0 };
    let programs = granted.programs();
    let ring = plan.ring_bytes.unwrap_or_else(|| size_for(probed));
    let bpf = match Bpf::load(&mut storage, ring, &counters, sched.formats.as_ref(), &programs) {
        // A kernel that takes all programs but those: the others do without them.
        Err(e) if sched.formats.is_some() => {
            let bpf = Bpf::load(&mut plain, ring, &counters, None, &programs)?;
            sched.refuse(&e.answer);
            bpf
        }
        loaded => loaded?,
    };
    let _following = follow(&bpf, &mut counters);
    let _ends = bpf.attach_thread_exit().map_err(|e| log(&e.to_string())).ok();
    let mut gauges = Gauges::open(&plan.gauges, Path::new("/"));
    {
        let lower = &mut drain.borrow_mut().lower;
        records::emit_counters(&counters, lower);
        gauges.emit(&mut lower.emit);
        if plan.levels & level::OP != 0
            && granted.in_pairs()
            && let Some(cost) = calibrate::probe_cost(&bpf)
        {
            lower.emit.emit(&Record::ProbeCost(cost), Weight::Essential);
        }
    }
    let mut facts = Facts::begin(Path::new("/"), &mut drain.borrow_mut().lower.emit);
    let mut ring = RingBufferBuilder::new();
    let failed = |e: libbpf_rs::Error| {
        Diagnostic::new("mapping the ring buffer", e, "free memory: the agent needs 5 MB on the board")
    };
    ring.add(bpf.events(), |bytes| {
        drain.borrow_mut().record(bytes);
        0
    })
    .map_err(failed)?;
    let ring = ring.build().map_err(failed)?;
    let sleeper = Sleeper::new(signals, bpf.events().as_fd())?;
    let wish = Wish::of(plan, counters.slots > 0, &granted);
    granted.direct = matches!(wish, Wish::Direct(_));
    let mut steer = Steer::new(granted, &mut drain.borrow_mut().lower);
    let mut tracer = Tracer::new(&bpf, probed, wish);
    begin_sched(&mut sched, &bpf, &mut drain.borrow_mut().lower);
    let admin = !plan.only || confine::needs_admin(|| calibrate::can_attach(&bpf));
    let (mut endings, mut unprobed) = (Endings::new(), None);
    {
        let lower = &mut drain.borrow_mut().lower;
        if let Err(e) = tracer.begin(target, stderr, lower) {
            endings.look(&tracer, lower);
            // The recording has the reason if more is known than that there is no engine.
            unprobed = Some(endings.diagnostic().ok_or(e)?);
        }
    }
    let mut scheduling = Scheduling::begin();
    let confined = if plan.only { confine::attached(admin) } else { confine::begin() };
    facts.agent(&confined, &mut drain.borrow_mut().lower.emit);
    tracer.begin_catch();
    // One that starts from now on is seen from its beginning.
    if let Some(name) = tracer.waits_for() {
        log(&format!("waiting for an engine of the name {name}"));
    }

    let mut placements = Placements::default();
    let mut heartbeat = Instant::now();
    let mut sleep = Duration::ZERO;
    let mut direct_pace = Pace::default();
    let mut sampler = sample::Sampler::default();
    let reason = loop {
        if unprobed.is_some() {
            break EndReason::Error;
        }
        let sleeps = [sampler.step(), gauges.due_in(), steer.due_in()]
            .into_iter()
            .flatten()
            .fold(sleep, Duration::min);
        sleeper.sleep(sleeps);
        let before = {
            let emit = &mut drain.borrow_mut().lower.emit;
            gauges.sample(emit, false);
            emit.frames()
        };
        let before_drain = clock::monotonic_ns();
        let waiting = waiting(&ring);
        let read = usize::try_from(ring.consume_raw_n(AT_ONCE)).unwrap_or(0);
        let more = read >= AT_ONCE;
        {
            let lower = &mut drain.borrow_mut().lower;
            lower.stalls.looked(before_drain, waiting, read > 0);
            if !more {
                lower.drained_ns = before_drain;
            }
        }
        let Drain { lower, executed, forgotten } = &mut *drain.borrow_mut();
        lower.drain_direct();
        place(&mut placements, lower);
        let stopped = tracer.step(executed, lower)?;
        while let Some(pid) = tracer.newly_reported() {
            facts.process(pid, &mut lower.emit);
        }
        endings.look(&tracer, lower);
        sleep = next_sleep(sleep, lower.emit.frames() != before, tracer.watching());
        if more || stopped {
            sleep = Duration::ZERO;
        }
        sleep = direct_pace.next(lower.direct_used()).map_or(sleep, |most| sleep.min(most));
        // At once: a topology that only the kernel remembers costs its graphs' spans.
        forgotten.drain(..).for_each(|key| bpf.forget_topology(key));
        lower.left_out.drain(..).for_each(|(topology, node)| bpf.leave_out(topology, node));
        steer.step(&mut tracer, lower);
        lower.emit.flush();
        if let Some(reason) = end_reason(&tracer, signals, host, &mut lower.emit) {
            break reason;
        }
        if heartbeat.elapsed() >= HEARTBEAT {
            heartbeat = Instant::now();
            tracer.look_alive();
            if tracer.forgot_any() {
                lower.keep_engines(|pid| tracer.knows(pid), forgotten);
                placements.keep(|pid| tracer.knows(pid));
            }
            tracer.check(lower, &bpf.totals());
            facts.sample(&mut lower.computing, &mut lower.emit);
            scheduling.leave_cpus_to(facts.computing());
            records::emit_heartbeat(&bpf, lower);
        }
    };
    if reason == EndReason::EngineEnded {
        unprobed = tracer.nothing_traced().map(|e| endings.diagnostic().unwrap_or(e));
    }
    gauges.sample(&mut drain.borrow_mut().lower.emit, true);
    drain.borrow_mut().lower.drained_ns = clock::monotonic_ns();
    endings.before_detach(&tracer);
    tracer.detach();
    sched.detach();
    let _ = ring.consume();
    {
        // It may take long: by now no operator is lost for it.
        let lower = &mut drain.borrow_mut().lower;
        facts.end(&mut lower.computing, &mut lower.emit);
        if sched.recorded() != 0 {
            facts.sched_missed(sample::sched_missed(&bpf), &mut lower.emit);
        }
    }
    let lower = &mut drain.borrow_mut().lower;
    let nothing = endings.finish(&mut tracer, lower);
    steer.end(lower);
    place(&mut placements, lower);
    tracer.check(lower, &bpf.totals());
    lower.finish();
    let end = records::end(reason, &bpf, lower);
    lower.emit.emit(&Record::Clock(clock::all()), Weight::Essential);
    let end = End { frames: lower.emit.frames(), ..end };
    lower.emit.emit(&Record::End(end), Weight::Essential);
    Ok(Summary { reason, end, status: tracer.status(), nothing, error: unprobed })
}

/// Finds out where the weights of new topologies lie, while the engine has them.
fn place(placements: &mut Placements, lower: &mut Lower) {
    for unplaced in std::mem::take(&mut lower.unplaced) {
        placements.send(&unplaced, &mut lower.emit);
    }
}

/// Attaches the scheduler level, where it is asked for, and says what became of it.
fn begin_sched(sched: &mut sched::Level, bpf: &Bpf<'_>, lower: &mut Lower) {
    sched.attach(bpf);
    sched.emit(&mut lower.emit);
    if let (Some(formats), recorded @ 1..) = (&sched.formats, sched.recorded()) {
        lower.begin_sched(formats, recorded, own_pid_namespace().is_some());
        lower.emit_sched_loss(clock::monotonic_ns(), &bpf.sched_totals(), Weight::Essential);
    }
}

/// Lets the counters count; what cannot be is refused with the reason.
fn follow(bpf: &Bpf<'_>, counters: &mut Counters) -> Option<libbpf_rs::Link> {
    if counters.slots == 0 {
        return None;
    }
    match bpf.attach_counters(counters) {
        Ok(link) => Some(link),
        Err(why) => {
            counters.give_up(&why);
            None
        }
    }
}

/// Sleeps longer the longer nothing happens. While a process is watched every stop is waited for.
fn next_sleep(last: Duration, busy: bool, watching: bool) -> Duration {
    match (watching, busy) {
        (true, _) => Duration::from_millis(5),
        (false, true) => (last * 2).clamp(Duration::from_millis(5), SLEEP_MAX),
        (false, false) => SLEEP_MAX,
    }
}

fn end_reason(
    tracer: &Tracer<'_, '_>,
    signals: &Signals,
    host: &mut Host<'_>,
    emit: &mut Emitter,
) -> Option<EndReason> {
    if tracer.finished() {
        return Some(EndReason::EngineEnded);
    }
    if signals.asked_to_end() {
        return Some(EndReason::Interrupted);
    }
    if host.step(emit) {
        return Some(EndReason::HostStopped);
    }
    emit.output().broken().then_some(EndReason::Error)
}
