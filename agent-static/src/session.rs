//! One session: from a plan to the `End` record.
//!
//! ```text
//! targets ──▶ attach ──▶ ring buffer ──▶ lower ──▶ emit ──▶ link
//!    ▲ watch (ptrace) until the operators are attached      ▲ control frames of the host
//! ```
//! One thread, one loop. It sleeps up to 50 ms when little happens; the kernel wakes it when its ring
//! buffer is a quarter full.

use std::cell::RefCell;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use libbpf_rs::RingBufferBuilder;
use profinfer_wire::WIRE_VERSION;
use profinfer_wire::record::Record;
use profinfer_wire::record::control::{Refused, level};
use profinfer_wire::record::counter::Counter;
use profinfer_wire::record::loss::{End, EndReason, Loss};
use profinfer_wire::record::session::Session as SessionRecord;

use crate::bpf::{Bpf, Storage};
use crate::cost::{calibrate, sample};
use crate::counter::{Counters, pmu};
use crate::emit::Emitter;
use crate::error::{Diagnostic, Result};
use crate::gauge::Gauges;
use crate::host::Host;
use crate::link::Output;
use crate::link::output::{Kind, Weight};
use crate::lower::Lower;
use crate::placement::Placements;
use crate::plan::Plan;
use crate::ring::Event;
use crate::signals::{Signals, Sleeper};
use crate::target::process::Target;
use crate::tracer::Tracer;
use crate::{clock, cost};

/// Bytes of the kernel's ring buffer. Mapped twice, it is a third of the agent's resident set. It holds 16,000 operators: a
/// fast small model on two threads fills half of it in the 50 ms that the loop sleeps, and then wakes it.
pub const RING_BYTES: u32 = 1 << 20;
/// Longest sleep between two looks at the ring buffer.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// Between two records of clocks and totals, and two looks at whether the engine lives.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// How long the link may take none of what is left at the end.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// How long the agent stays when all is sent over a serial line: the host may ask for a frame that noise cost. It says
/// `Stop` when it has the end.
const LINGER: Duration = Duration::from_secs(6);

/// Runs one session to its end.
///
/// # Errors
/// When nothing can be traced; then nothing was left behind and the host was told why.
pub fn run(
    plan: &Plan,
    target: &Target,
    output: Output,
    signals: &Signals,
    host: &mut Host<'_>,
) -> Result<Summary> {
    let emitter = Emitter::begin(output, nonce());
    let lower = RefCell::new(Lower::new(emitter, plan.levels));
    let outcome = capture(plan, target, &lower, signals, host);
    let mut lower = lower.into_inner();
    if let Err(e) = &outcome {
        emit_refusal(&mut lower.emit, e);
    }
    let sent = last_words(&mut lower.emit, host, signals);
    let summary = outcome?;
    match lower.emit.output().error() {
        Some(e) => Err(e),
        None if !sent => Err(Diagnostic::new(
            "sending the rest of the stream",
            "the link takes no more bytes",
            "the recording lacks its end; use a faster link or fewer levels",
        )),
        None => Ok(summary),
    }
}

/// Tells a host why it gets no session.
pub fn refuse(output: Output, why: &Diagnostic, signals: &Signals) {
    let mut emit = Emitter::begin(output, nonce());
    emit_refusal(&mut emit, why);
    last_words(&mut emit, &mut Host::nobody(), signals);
}

fn emit_refusal(emit: &mut Emitter, why: &Diagnostic) {
    let reason = why.to_string();
    let reason = &reason[..reason.floor_char_boundary(3000)];
    emit.emit(&Record::Refused(Refused { reason }), Weight::Essential);
}

/// Waits until the link has everything; for a host whose connection broke as long as the session itself would.
fn last_words(emit: &mut Emitter, host: &mut Host<'_>, signals: &Signals) -> bool {
    let (mut begun, mut waiting) = (Instant::now(), usize::MAX);
    loop {
        emit.flush();
        let output = emit.output();
        // Less than before, or more because it was asked for again: somebody is there.
        if output.waiting() != waiting {
            (begun, waiting) = (Instant::now(), output.waiting());
        }
        let lingers = output.kind() == Kind::Serial && begun.elapsed() < LINGER && !host.said_stop();
        if output.broken() || (output.empty() && !lingers) {
            return !output.broken();
        }
        if output.suspended() {
            begun = Instant::now();
            if signals.asked_to_end() {
                return false;
            }
        } else if begun.elapsed() > LAST_WORDS {
            return false;
        }
        host.step(emit);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What a session came to.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Why it ended.
    pub reason: EndReason,
    /// Final totals.
    pub end: End,
    /// Exit status of the program that the agent started, when it ended.
    pub status: Option<i32>,
}

fn capture(
    plan: &Plan,
    target: &Target,
    lower: &RefCell<Lower>,
    signals: &Signals,
    host: &mut Host<'_>,
) -> Result<Summary> {
    begin(plan, &mut lower.borrow_mut());
    let mut storage = Storage::default();
    let counted = if plan.levels & level::OP != 0 { plan.counters.as_slice() } else { &[] };
    let mut counters = Counters::open(counted, Path::new("/sys"));
    let bpf = Bpf::load(&mut storage, RING_BYTES, &counters)?;
    let _following = follow(&bpf, &mut counters);
    emit_counters(&counters, &mut lower.borrow_mut());
    let mut gauges = Gauges::open(&plan.gauges, Path::new("/"));
    gauges.emit(&mut lower.borrow_mut().emit);
    if plan.levels & level::OP != 0
        && let Some(cost) = calibrate::probe_cost(&bpf)
    {
        lower.borrow_mut().emit.emit(&Record::ProbeCost(cost), Weight::Essential);
    }
    let mut ring = RingBufferBuilder::new();
    let failed = |e: libbpf_rs::Error| {
        Diagnostic::new("mapping the ring buffer", e, "free memory: the agent needs 5 MB on the board")
    };
    ring.add(bpf.events(), |bytes| {
        if let Some(event) = Event::parse(bytes) {
            lower.borrow_mut().event(&event);
        }
        0
    })
    .map_err(failed)?;
    let ring = ring.build().map_err(failed)?;
    let sleeper = Sleeper::new(signals, bpf.events().as_fd())?;
    let mut tracer = Tracer::new(&bpf, plan.levels);
    tracer.begin(target, lower)?;

    let mut placements = Placements::default();
    let mut heartbeat = Instant::now();
    let mut sleep = Duration::ZERO;
    let mut sampler = sample::Sampler::default();
    let reason = loop {
        let sleeps = [sampler.step(), gauges.due_in()].into_iter().flatten().fold(sleep, Duration::min);
        sleeper.sleep(sleeps);
        gauges.sample(&mut lower.borrow_mut().emit, false);
        let before = lower.borrow().emit.frames();
        let _ = ring.consume();
        place(&mut placements, &mut lower.borrow_mut());
        tracer.step(lower)?;
        sleep = next_sleep(sleep, lower.borrow().emit.frames() != before, tracer.watching());
        {
            let lower = &mut *lower.borrow_mut();
            // At once: a topology that only the kernel remembers costs its graphs' spans.
            lower.forgotten.drain(..).for_each(|key| bpf.forget_topology(key));
            lower.emit.flush();
        }
        if let Some(reason) = end_reason(&tracer, signals, host, lower) {
            break reason;
        }
        if heartbeat.elapsed() >= HEARTBEAT {
            heartbeat = Instant::now();
            tracer.look_alive();
            tracer.check(&mut lower.borrow_mut(), &bpf.totals());
            emit_heartbeat(&bpf, &mut lower.borrow_mut());
        }
    };
    let nothing = if reason == EndReason::EngineEnded { tracer.nothing_traced() } else { None };
    gauges.sample(&mut lower.borrow_mut().emit, true);
    tracer.detach();
    let _ = ring.consume();
    if let Some(nothing) = nothing {
        return Err(nothing);
    }
    let mut lower = lower.borrow_mut();
    place(&mut placements, &mut lower);
    tracer.check(&mut lower, &bpf.totals());
    lower.finish();
    let end = end(reason, &bpf, &mut lower);
    lower.emit.emit(&Record::Clock(clock::all()), Weight::Essential);
    let end = End { frames: lower.emit.frames(), ..end };
    lower.emit.emit(&Record::End(end), Weight::Essential);
    Ok(Summary { reason, end, status: tracer.status() })
}

/// Finds out where the weights of new topologies lie, while the engine has them.
fn place(placements: &mut Placements, lower: &mut Lower) {
    for unplaced in std::mem::take(&mut lower.unplaced) {
        placements.send(&unplaced, &mut lower.emit);
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

fn emit_counters(counters: &Counters, lower: &mut Lower) {
    lower.counter_slots = (counters.slots, counters.hardware);
    for c in &counters.all {
        let cpus = pmu::list_of(&c.cpus);
        let record = Counter {
            slot: u8::try_from(c.slot).unwrap_or(u8::MAX),
            name: &c.name[..c.name.floor_char_boundary(100)],
            event: c.event,
            pmu: &c.pmu,
            cpus: &cpus,
            attached: c.refused.is_empty(),
            note: &c.refused,
        };
        lower.emit.emit(&Record::Counter(record), Weight::Essential);
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
    lower: &RefCell<Lower>,
) -> Option<EndReason> {
    if tracer.finished() {
        return Some(EndReason::EngineEnded);
    }
    if signals.asked_to_end() {
        return Some(EndReason::Interrupted);
    }
    if host.step(&mut lower.borrow_mut().emit) {
        return Some(EndReason::HostStopped);
    }
    lower.borrow().emit.output().broken().then_some(EndReason::Error)
}

fn begin(plan: &Plan, lower: &mut Lower) {
    let uname = nix::sys::utsname::uname().ok();
    let of = |s: Option<&std::ffi::OsStr>| s.map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let (kernel, machine) =
        (of(uname.as_ref().map(|u| u.release())), of(uname.as_ref().map(|u| u.machine())));
    let now = clock::all();
    let record = SessionRecord {
        wire_version: WIRE_VERSION,
        agent: env!("CARGO_PKG_VERSION"),
        kernel: &kernel,
        machine: &machine,
        cpu_model: &cpu_model(),
        board: &plan.board,
        cpus: std::thread::available_parallelism().map_or(0, |n| u16::try_from(n.get()).unwrap_or(u16::MAX)),
        levels: plan.levels,
        start_ns: now.monotonic_ns,
        start_unix_ns: now.realtime_ns,
    };
    lower.emit.emit(&Record::Session(record), Weight::Essential);
    lower.emit.emit(&Record::Clock(now), Weight::Essential);
}

fn emit_heartbeat(bpf: &Bpf<'_>, lower: &mut Lower) {
    lower.emit.emit(&Record::Clock(clock::all()), Weight::Droppable);
    let loss = emit_losses(bpf, lower, Weight::Droppable);
    lower.emit.emit(&Record::Loss(loss), Weight::Droppable);
}

/// Says what was lost of nested calls and experts, and returns the ledger of all else, of the same moment.
fn emit_losses(bpf: &Bpf<'_>, lower: &mut Lower, weight: Weight) -> Loss {
    let (now, totals) = (clock::monotonic_ns(), bpf.totals());
    lower.emit_nested_loss(now, &bpf.nested_totals(), weight);
    lower.emit_expert_loss(now, &totals, weight);
    lower.loss(now, &totals)
}

fn end(reason: EndReason, bpf: &Bpf<'_>, lower: &mut Lower) -> End {
    let (bpf_run_ns, bpf_runs) = sample::runs(bpf);
    let loss = emit_losses(bpf, lower, Weight::Essential);
    End {
        reason,
        frames: lower.emit.frames(),
        loss,
        bpf_run_ns,
        bpf_runs,
        agent_cpu_ns: cost::cpu_ns(),
        agent_rss_bytes: cost::peak_rss_bytes(),
    }
}

/// Sixteen random bytes.
fn nonce() -> [u8; 16] {
    use std::io::Read;
    let mut nonce = [0; 16];
    let _ = std::fs::File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut nonce));
    nonce
}

/// What the machine calls itself: the device tree's model on boards, /proc/cpuinfo elsewhere.
fn cpu_model() -> String {
    let device_tree = std::fs::read_to_string("/proc/device-tree/model").unwrap_or_default();
    let device_tree = device_tree.trim_end_matches('\0').trim();
    if !device_tree.is_empty() {
        return device_tree.to_owned();
    }
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = cpuinfo.lines().find(|l| l.starts_with("model name"));
    line.and_then(|l| l.split_once(':')).map(|(_, v)| v.trim().to_owned()).unwrap_or_default()
}

impl Summary {
    /// One line for the terminal.
    #[must_use]
    pub fn line(&self) -> String {
        let l = &self.end.loss;
        let lost = l.spans_ring_full + l.spans_queue_full + l.spans_no_graph;
        format!(
            "{} spans sent, {lost} lost, {} frames; agent: {:.1} MB, {:.2} s CPU",
            l.spans_sent,
            self.end.frames,
            self.end.agent_rss_bytes as f64 / 1e6,
            self.end.agent_cpu_ns as f64 / 1e9,
        )
    }
}
