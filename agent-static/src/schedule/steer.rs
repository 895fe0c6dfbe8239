//! Controls how many operators are captured while the session runs. Each engine has a separate
//! switcher and controller.

use std::time::Duration;

use profinfer_wire::record::Record;
use profinfer_wire::record::capture::ALWAYS;
use profinfer_wire::record::duty::{ProbeSwitch, SwitchReason};

use crate::clock;
use crate::error::log;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::lower::progress::{Ended, Progress};
use crate::observe::cost;
use crate::probes::tracer::Tracer;
use crate::request::capture::Effective;
use crate::request::capture::filter::{Filters, Ranges};
use crate::schedule::controller::{Controller, Limits};
use crate::schedule::duty::Captured;
use crate::schedule::duty::probes::{OpProbes, Switched};
use crate::schedule::duty::switcher::ProbeSwitcher;
use crate::schedule::prompts::Prompts;
use crate::sys::probed;
use crate::target::{maps, process};

/// Decode calls before a range of calls at which probes are attached, in addition to the calls of
/// two seconds. The removal of probes may take that long, and it must not be in progress when the
/// range begins.
const LEAD_TOKENS: u32 = 16;
const LEAD_NS: u64 = 2_000_000_000;
/// Decode calls after which the shortest one is a good estimate of an engine's maximum speed.
const KNOWN_AFTER: u32 = 32;
/// Longest sleep of the loop while probes are switched by calls. Each wake-up takes a CPU from the
/// engine, if it uses all.
const SLEEP: Duration = Duration::from_millis(20);
/// Shortest sleep, while a burst ends: calls after it have probes until the loop notices.
const SHORT_SLEEP: Duration = Duration::from_millis(1);
/// Time before the end of a burst from which on its switch is prepared, and how long that lasts.
const SOON: Duration = Duration::from_millis(30);
const PREPARED_NS: u64 = 5_000_000;

#[derive(Debug)]
pub struct Steer {
    effective: Effective,
    /// Cost of a pair of probes, if measured, ns.
    pair_ns: Option<u64>,
    /// See [`Switched::spare_place`].
    spare_place: Option<u64>,
    engines: Vec<Steered>,
}

#[derive(Debug)]
struct Steered {
    switcher: ProbeSwitcher,
    controller: Controller,
    prompts: Prompts,
    /// When a switch was prepared, ns.
    prepared_ns: u64,
    /// The controller changed the duty, and probes were not switched since.
    by_controller: bool,
    /// Probes could not be attached again.
    failed: bool,
    /// Steps since its end. Its last calls may not have arrived yet: it stays until the ring buffer
    /// was drained once more.
    gone: u8,
    fastest: Fastest,
}

/// Maximum speed of an engine. The average is not used: an engine that was delayed for a while
/// continues at full speed, and would reach a range before the probes are attached.
#[derive(Debug, Default)]
struct Fastest {
    calls: u32,
    /// The shortest decode call.
    shortest_ns: Option<u64>,
}

impl Fastest {
    fn call(&mut self, call: &Ended) {
        if call.decode && call.good {
            let took = call.end_ns.saturating_sub(call.start_ns).max(1);
            self.shortest_ns = Some(self.shortest_ns.map_or(took, |shortest| shortest.min(took)));
            self.calls = self.calls.saturating_add(1);
        }
    }

    /// Number of decode calls before a range at which probes must be attached; maximal until the
    /// speed is known.
    fn lead(&self) -> u32 {
        let known = self.shortest_ns.filter(|_| self.calls >= KNOWN_AFTER);
        let of = |ns: u64| u32::try_from(LEAD_NS / ns).unwrap_or(u32::MAX).saturating_add(LEAD_TOKENS);
        known.map_or(u32::MAX, of)
    }
}

impl Steer {
    /// Reports the effective capture settings and prepares `lower` for them.
    pub fn new(effective: Effective, pair_ns: Option<u64>, lower: &mut Lower) -> Self {
        effective.emit(&mut lower.emit);
        lower.starts_only = effective.programs().starts_only;
        lower.filters = effective.filters.clone();
        lower.capture_loss = effective.asked().then(Default::default);
        if effective.switches() {
            lower.engines_progress.keep_ended();
        }
        let place = || maps::file_offset(std::process::id(), probed::sites()[0]);
        let spare_place = effective.switches().then(place).flatten();
        Self { effective, pair_ns, spare_place, engines: Vec::with_capacity(16) }
    }

    /// Time until the next step.
    pub fn due_in(&self) -> Option<Duration> {
        let engines = self.effective.switches().then_some(&self.engines)?;
        engines.iter().map(Steered::due_in).min()
    }

    /// Handles every engine.
    pub fn step(&mut self, tracer: &mut Tracer<'_, '_>, lower: &mut Lower) {
        if !self.effective.switches() {
            return;
        }
        self.meet(tracer, lower);
        self.calls(tracer.op_hits(), lower);
        for steered in &mut self.engines {
            let pid = steered.switcher.pid;
            let Some((attached, bpf)) = tracer.operators(pid) else { continue };
            let mut engine = Switched { attached, bpf, spare_place: self.spare_place };
            if steered.failed {
                continue;
            }
            steered.prepare(&mut engine);
            if let Some(step) = steered.controller.step(pid, clock::monotonic_ns()) {
                lower.emit.emit(&Record::ControllerStep(step), Weight::Essential);
                steered.by_controller = true;
            }
            steered.switcher.cycle.set(steered.controller.duty());
            let call = lower.running_call(pid);
            let progress = lower.engines_progress.of(pid);
            let wanted = steered.wanted(&self.effective.filters, progress, call);
            let running = [call.map(|(since, _)| since), lower.graph_since(pid)].into_iter().flatten().min();
            let emit = &mut lower.emit;
            let mut send = |switch| send(emit, switch);
            let seen = lower.drained_ns;
            match steered.switcher.step(&mut engine, wanted, (running, seen), &clock::monotonic_ns, &mut send)
            {
                Ok(None) => {}
                Ok(Some(took_ns)) => {
                    steered.by_controller = false;
                    if let Some(loss) = &mut lower.capture_loss {
                        loss.switches += 1;
                        loss.switch_ns += took_ns;
                    }
                }
                // It has ended, which the tracer has not noticed yet.
                Err(_) if !process::alive(pid) => steered.failed = true,
                Err(e) => {
                    log(&format!("{e}\n  the operators of process {pid} are no longer captured"));
                    steered.failed = true;
                }
            }
        }
    }

    /// Adds new engines and removes ended ones.
    fn meet(&mut self, tracer: &Tracer<'_, '_>, lower: &mut Lower) {
        let now = clock::monotonic_ns();
        self.engines.retain_mut(|s| {
            if tracer.steerable().any(|(pid, _)| pid == s.switcher.pid) {
                return true;
            }
            s.gone += 1;
            if s.gone == 1
                && let Some(end) = s.switcher.end(now)
            {
                send(&mut lower.emit, end);
            }
            s.gone <= 2
        });
        let new = |s: &[Steered], pid: u32| s.iter().all(|s| s.switcher.pid != pid);
        let mut blind = false;
        for (pid, since_ns) in tracer.steerable() {
            if !new(&self.engines, pid) {
                continue;
            }
            if !tracer.sees_tokens(pid) {
                blind = true;
                continue;
            }
            let force = &self.effective.in_force;
            let limits =
                Limits { keep_above_milli: force.keep_above_milli, max_slowdown_ppm: force.max_slowdown_ppm };
            let controller = Controller::new(limits, force.duty_permille, self.pair_ns);
            let switcher =
                ProbeSwitcher::new(pid, controller.duty(), since_ns, self.effective.filters.of_calls());
            if let Some(begin) = switcher.begin() {
                send(&mut lower.emit, begin);
            }
            self.engines.push(Steered {
                switcher,
                controller,
                prompts: Prompts::default(),
                prepared_ns: 0,
                by_controller: false,
                failed: false,
                gone: 0,
                fastest: Fastest::default(),
            });
        }
        if blind && self.engines.is_empty() {
            log(
                "the engine has no `llama_decode` calls that can be probed: duty cycle, controller and filters on calls are off",
            );
            self.effective.no_token_calls();
            self.effective.emit(&mut lower.emit);
            lower.filters = self.effective.filters.clone();
        }
    }

    /// Passes ended decode calls to their engines' switchers and controllers. `hits`: of operator
    /// probes by now.
    fn calls(&mut self, hits: u64, lower: &mut Lower) {
        // The first calls of an engine that has no switcher yet wait.
        if self.engines.is_empty() {
            return;
        }
        let mut counts = [0; 3];
        let agent_ns = cost::cpu_ns();
        let emit = &mut lower.emit;
        for call in lower.engines_progress.take_ended() {
            let Some(steered) = self.engines.iter_mut().find(|s| s.switcher.pid == call.pid) else {
                continue;
            };
            let prompt = steered.prompts.call(&call, steered.switcher.cycle.permille());
            let captured = steered.switcher.call(&call, prompt, hits, &mut |switch| send(emit, switch));
            steered.controller.call(&call, captured, agent_ns);
            steered.fastest.call(&call);
            let complete = captured == Captured::All && call.kept;
            counts[if complete { 0 } else { 1 + usize::from(captured != Captured::None) }] += 1;
        }
        if let Some(loss) = &mut lower.capture_loss {
            loss.tokens_traced += counts[0];
            loss.tokens_untraced += counts[1];
            loss.tokens_edge += counts[2];
        }
    }

    /// Ends the session: no operator is captured from now on.
    pub fn end(&mut self, hits: u64, lower: &mut Lower) {
        self.calls(hits, lower);
        let now = clock::monotonic_ns();
        for end in self.engines.iter().filter(|s| s.gone == 0).filter_map(|s| s.switcher.end(now)) {
            send(&mut lower.emit, end);
        }
        self.engines.clear();
    }
}

impl Steered {
    /// Whether probes are wanted, and the reason of a switch. `running`: start and number of tokens
    /// of the running call.
    fn wanted(
        &mut self,
        filters: &Filters,
        progress: Progress,
        running: Option<(u64, Option<u32>)>,
    ) -> (bool, SwitchReason) {
        let now = clock::monotonic_ns();
        if !near(&filters.tokens, progress.tokens, self.fastest.lead())
            || !near(&filters.requests, progress.requests, 1)
        {
            return (false, SwitchReason::Filter);
        }
        let cycle = &mut self.switcher.cycle;
        let permille = cycle.permille();
        let on = cycle.on(now, running.is_some());
        // Not if the controller captures nothing. An application that pauses after each token looks
        // idle: the share limits what it costs.
        let prompt = self.prompts.expected(running, now, permille) && permille > 0 && !cycle.overdrawn();
        let reason = match permille {
            _ if self.by_controller => SwitchReason::Controller,
            ALWAYS if filters.of_calls() => SwitchReason::Filter,
            ALWAYS | 0 => SwitchReason::Controller,
            _ => SwitchReason::Duty,
        };
        (on || prompt, reason)
    }

    /// Shortest time until the burst ends; `None` outside of one. It ends when its last call has
    /// begun.
    fn left(&self) -> Option<Duration> {
        let token = Duration::from_nanos(self.fastest.shortest_ns?);
        self.switcher.cycle.left().map(|calls| token * calls.saturating_sub(1))
    }

    /// Prepares the switch at the end of a burst.
    fn prepare(&mut self, engine: &mut Switched<'_, '_>) {
        let now = clock::monotonic_ns();
        let soon = self.switcher.closes() || self.left().is_some_and(|left| left <= SOON);
        if soon && now.saturating_sub(self.prepared_ns) >= PREPARED_NS {
            engine.prepare();
            self.prepared_ns = clock::monotonic_ns();
        }
    }

    /// Longest sleep until the next step.
    fn due_in(&self) -> Duration {
        if self.switcher.leaves() {
            return SHORT_SLEEP;
        }
        self.left().map_or(SLEEP, |left| (left / 2).clamp(SHORT_SLEEP, SLEEP))
    }
}

/// Whether a reached number is in a range, or close before one.
fn near(ranges: &Ranges, reached: u32, lead: u32) -> bool {
    let close = |(from, to): &(u32, u32)| reached.saturating_add(lead) >= *from && reached <= *to;
    ranges.is_empty() || ranges.iter().any(close)
}

fn send(emit: &mut Emitter, switch: ProbeSwitch) {
    emit.emit(&Record::ProbeSwitch(switch), Weight::Essential);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_go_in_some_calls_before_a_range() {
        let ranges = vec![(100, 200), (300, 300)];
        let reached = [0, 83, 84, 200, 201, 283, 284, 300, 301];
        let expected = [false, false, true, true, false, false, true, true, false];
        assert_eq!(reached.map(|n| near(&ranges, n, LEAD_TOKENS)), expected);
        assert!(near(&Vec::new(), 7, 1));
    }

    #[test]
    fn the_lead_depends_on_the_shortest_call() {
        let call = |took: u64, good| Ended {
            pid: 1,
            start_ns: 5,
            end_ns: 5 + took,
            decode: true,
            good,
            operators: 0,
            kept: true,
        };
        let mut fastest = Fastest::default();
        for k in 0..31 {
            fastest.call(&call(100_000_000 + k, true));
            fastest.call(&call(1, false));
        }
        assert_eq!(fastest.lead(), u32::MAX);
        fastest.call(&call(10_000_000, true));
        fastest.call(&call(700_000_000, true));
        assert_eq!(fastest.lead(), 216);
    }
}
