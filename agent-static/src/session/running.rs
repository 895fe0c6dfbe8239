//! The loop of a session: from the last attached probe to the last event.
//!
//! ```text
//! sleep ─▶ drain (ring buffer ─▶ lower) ─▶ watch (new processes, stops) ─▶ steer ─▶ flush ─▶ over?
//!       ─▶ once per second: heartbeat
//! end: detach ─▶ last drain ─▶ totals ─▶ End
//! ```

use std::cell::RefCell;
use std::time::{Duration, Instant};

use libbpf_rs::RingBuffer;
use profinfer_wire::record::Record;
use profinfer_wire::record::loss::{End, EndReason};

use super::drain::Drain;
use super::ending::Endings;
use super::scheduling::Scheduling;
use super::{Summary, records};
use crate::bpf::Bpf;
use crate::bpf::page_read::PageRead;
use crate::clock;
use crate::error::Result;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::observe::cost::sample::{self, Sampler};
use crate::observe::fact::Facts;
use crate::observe::gauge::Gauges;
use crate::observe::placement::Placements;
use crate::observe::sched;
use crate::probes::tracer::Tracer;
#[cfg(feature = "direct")]
use crate::schedule::pace::Pace;
use crate::schedule::steer::Steer;
use crate::session::host::Host;
use crate::signals::{Signals, Sleeper};
use crate::sys::ring::waiting;

/// Maximum sleep between two reads of the ring buffer, and so the maximum age of what a host sees.
/// The kernel wakes the agent earlier if there is much to do.
const SLEEP_MAX: Duration = Duration::from_millis(200);
/// Interval between two records of clocks and totals, and between two checks whether the engine is
/// alive.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Maximum number of records that the agent reads before it does anything else. An engine that
/// writes faster than the agent reads (on a slow board whose CPUs it occupies) would keep it in
/// this loop, unresponsive to signals and its host.
const AT_ONCE: usize = 1 << 16;

/// The parts of a session, in the order in which they are dropped.
pub(super) struct Running<'c, 's> {
    pub(super) sampler: Sampler,
    #[cfg(feature = "direct")]
    pub(super) direct_pace: Pace,
    pub(super) placements: Placements,
    pub(super) scheduling: Scheduling,
    pub(super) endings: Endings,
    pub(super) tracer: Tracer<'c, 's>,
    pub(super) steer: Steer,
    pub(super) sleeper: Sleeper<'c>,
    pub(super) ring: RingBuffer<'c>,
    pub(super) facts: Facts,
    /// What files were read, at the last heartbeat.
    pub(super) page_reads: Vec<PageRead>,
    pub(super) gauges: Gauges,
    pub(super) sched: &'c mut sched::Level,
    pub(super) bpf: &'c Bpf<'s>,
    /// The callback of the ring buffer borrows it too: nothing else may borrow it while the ring is
    /// read.
    pub(super) drain: &'c RefCell<Drain>,
    /// Time of the last heartbeat.
    pub(super) heartbeat: Instant,
    /// Duration of the next sleep.
    pub(super) sleep: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Drained {
    /// Frames sent before this iteration.
    frames: u32,
    /// True if the ring buffer may have more records.
    more: bool,
}

impl Running<'_, '_> {
    /// Runs until something ends the session. Returns the reason.
    ///
    /// # Errors
    /// If the program cannot be started, or the kernel refuses a new process.
    pub(super) fn run(&mut self, signals: &Signals, host: &mut Host<'_>) -> Result<EndReason> {
        loop {
            self.wait();
            let drained = self.drain_ring();
            self.watch(drained)?;
            self.steer();
            if let Some(reason) = self.over(signals, host) {
                return Ok(reason);
            }
            if self.heartbeat.elapsed() >= HEARTBEAT {
                self.heartbeat = Instant::now();
                self.beat();
            }
        }
    }

    /// Sleeps until an event arrives or something is due.
    fn wait(&mut self) {
        let due = [self.sampler.step(), self.gauges.due_in(), self.steer.due_in()];
        let sleep = due.into_iter().flatten().fold(self.sleep, Duration::min);
        self.sleeper.sleep(sleep);
    }

    /// Reads the sensors that are due, then the ring buffer.
    fn drain_ring(&mut self) -> Drained {
        let frames = {
            let emit = &mut self.drain.borrow_mut().lower.emit;
            self.gauges.sample(emit, false);
            emit.frames()
        };
        let before_drain = clock::monotonic_ns();
        let waiting = waiting(&self.ring);
        let read = usize::try_from(self.ring.consume_raw_n(AT_ONCE)).unwrap_or(0);
        let more = read >= AT_ONCE;
        let lower = &mut self.drain.borrow_mut().lower;
        lower.stalls.looked(before_drain, waiting, read > 0);
        if !more {
            lower.drained_ns = before_drain;
        }
        lower.drain_direct();
        place(&mut self.placements, lower);
        Drained { frames, more }
    }

    /// Handles new processes and stops, and sets the next sleep.
    fn watch(&mut self, drained: Drained) -> Result<()> {
        let Drain { lower, executed, loading, .. } = &mut *self.drain.borrow_mut();
        for (pid, moment) in loading.drain(..) {
            self.tracer.loading(pid, moment, lower);
        }
        let stopped = self.tracer.step(executed, lower)?;
        while let Some(pid) = self.tracer.newly_reported() {
            self.facts.process(pid, &mut lower.emit);
        }
        self.endings.look(&self.tracer, lower);
        let busy = lower.emit.frames() != drained.frames;
        self.sleep = next_sleep(self.sleep, busy, self.tracer.watching());
        if drained.more || stopped {
            self.sleep = Duration::ZERO;
        }
        #[cfg(feature = "direct")]
        if let Some(most) = self.direct_pace.next(lower.direct_used()) {
            self.sleep = self.sleep.min(most);
        }
        Ok(())
    }

    /// Informs the programs about forgotten topologies and left-out nodes, and inserts or removes
    /// operator probes.
    fn steer(&mut self) {
        let Drain { lower, forgotten, .. } = &mut *self.drain.borrow_mut();
        // Immediately: a topology that only the kernel remembers loses the spans of its graphs.
        forgotten.drain(..).for_each(|key| self.bpf.forget_topology(key));
        lower.left_out.drain(..).for_each(|(topology, node)| self.bpf.leave_out(topology, node));
        self.steer.step(&mut self.tracer, lower);
        lower.emit.flush();
    }

    /// The reason if the session is over.
    fn over(&self, signals: &Signals, host: &mut Host<'_>) -> Option<EndReason> {
        let emit = &mut self.drain.borrow_mut().lower.emit;
        end_reason(&self.tracer, signals, host, emit)
    }

    /// Once per second: forgets ended processes, reads what changes slowly, sends totals.
    fn beat(&mut self) {
        let Drain { lower, forgotten, .. } = &mut *self.drain.borrow_mut();
        self.tracer.look_alive();
        if self.tracer.forgot_any() {
            lower.keep_engines(|pid| self.tracer.knows(pid), forgotten);
            self.placements.keep(|pid| self.tracer.knows(pid));
        }
        if self.bpf.cpu_use_over() {
            end_cpu_use(self.bpf, lower, clock::monotonic_ns());
        }
        self.tracer.check(lower, &self.bpf.totals());
        self.bpf.page_reads(&mut self.page_reads);
        self.facts.sample(&mut lower.computing, &self.page_reads, &mut lower.emit);
        self.scheduling.leave_cpus_to(self.facts.computing());
        records::emit_heartbeat(self.bpf, lower);
    }

    /// Removes the probes, reads the remaining events and sends the totals.
    pub(super) fn end(mut self, reason: EndReason) -> Summary {
        let error = match reason {
            EndReason::EngineEnded => self.tracer.nothing_traced(),
            _ => None,
        };
        self.detach();
        let lower = &mut self.drain.borrow_mut().lower;
        let nothing = self.endings.finish(&mut self.tracer, lower);
        self.steer.end(self.tracer.op_hits(), lower);
        place(&mut self.placements, lower);
        self.tracer.check(lower, &self.bpf.totals());
        lower.finish();
        let end = records::end(reason, self.bpf, lower);
        lower.emit.emit(&Record::Clock(clock::all()), Weight::Essential);
        let end = End { frames: lower.emit.frames(), ..end };
        lower.emit.emit(&Record::End(end), Weight::Essential);
        Summary { reason, end, status: self.tracer.status(), nothing, error }
    }

    /// Removes all probes and reads the ring buffer for the last time.
    fn detach(&mut self) {
        {
            let lower = &mut self.drain.borrow_mut().lower;
            self.gauges.sample(&mut lower.emit, true);
            // Before probes are removed, which may take a second in which the engine does nothing.
            self.bpf.page_reads(&mut self.page_reads);
            self.facts.end(&mut lower.computing, &self.page_reads, &mut lower.emit);
            lower.drained_ns = clock::monotonic_ns();
        }
        self.endings.before_detach(&self.tracer);
        self.tracer.detach();
        self.sched.detach();
        let _ = self.ring.consume();
        // Last, because it may take long: no operator is lost any more.
        {
            let lower = &mut self.drain.borrow_mut().lower;
            end_cpu_use(self.bpf, lower, lower.drained_ns);
        }
        // Windows that ended meanwhile.
        let _ = self.ring.consume();
        let lower = &mut self.drain.borrow_mut().lower;
        if self.sched.recorded() != 0 {
            self.facts.sched_missed(sample::sched_missed(self.bpf), &mut lower.emit);
        }
        let batch_hits = self.bpf.totals().batch_hits;
        if batch_hits != 0 {
            self.facts.batch_hits(batch_hits, &mut lower.emit);
        }
    }
}

/// Determines where the weights of new topologies are placed, while the engine still has them.
fn place(placements: &mut Placements, lower: &mut Lower) {
    for unplaced in std::mem::take(&mut lower.unplaced) {
        placements.send(&unplaced, &mut lower.emit);
    }
}

/// Adds the windows of CPUs that are still open.
fn end_cpu_use(bpf: &Bpf<'_>, lower: &mut Lower, to_ns: u64) {
    let open = bpf.end_cpu_use(to_ns, sched::task::name_of);
    lower.open_cpu_uses(&open);
}

/// The next sleep. It is short while a process is watched, because the agent waits for its stops.
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
