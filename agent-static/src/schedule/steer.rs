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
use crate::probes::tracer::Tracer;
use crate::request::capture::Effective;
use crate::request::capture::filter::{Filters, Ranges};
use crate::schedule::controller::{Controller, Limits};
use crate::schedule::duty::Captured;
use crate::schedule::duty::probes::Switched;
use crate::schedule::duty::switcher::ProbeSwitcher;

/// Decode calls before a range of calls at which probes are attached, in addition to the calls of
/// two seconds. The removal of probes may take that long, and it must not be in progress when the
/// range begins.
const LEAD_TOKENS: u32 = 16;
const LEAD_NS: u64 = 2_000_000_000;
/// Decode calls after which the shortest one is a good estimate of an engine's maximum speed.
const KNOWN_AFTER: u32 = 32;
/// Longest sleep of the loop while probes are switched by tokens.
const SLEEP: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub struct Steer {
    effective: Effective,
    engines: Vec<Steered>,
}

#[derive(Debug)]
struct Steered {
    switcher: ProbeSwitcher,
    controller: Controller,
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
    pub fn new(effective: Effective, lower: &mut Lower) -> Self {
        effective.emit(&mut lower.emit);
        lower.starts_only = effective.programs().starts_only;
        lower.filters = effective.filters.clone();
        lower.capture_loss = effective.asked().then(Default::default);
        if effective.switches() {
            lower.engines_progress.keep_ended();
        }
        Self { effective, engines: Vec::with_capacity(16) }
    }

    /// Time until the next step.
    pub fn due_in(&self) -> Option<Duration> {
        (self.effective.switches() && !self.engines.is_empty()).then_some(SLEEP)
    }

    /// Handles every engine.
    pub fn step(&mut self, tracer: &mut Tracer<'_, '_>, lower: &mut Lower) {
        if !self.effective.switches() {
            return;
        }
        self.meet(tracer, lower);
        self.calls(lower);
        for steered in &mut self.engines {
            let pid = steered.switcher.pid;
            let Some((attached, bpf)) = tracer.operators(pid) else { continue };
            let mut engine = Switched { attached, bpf };
            if steered.failed {
                continue;
            }
            if let Some(step) = steered.controller.step(pid, clock::monotonic_ns()) {
                lower.emit.emit(&Record::ControllerStep(step), Weight::Essential);
                steered.by_controller = true;
            }
            steered.switcher.cycle.set(steered.controller.duty());
            let wanted = steered.wanted(&self.effective.filters, lower.engines_progress.of(pid));
            let running = [lower.token_since(pid), lower.graph_since(pid)].into_iter().flatten().min();
            let emit = &mut lower.emit;
            let mut say = |switch| say(emit, switch);
            let seen = lower.drained_ns;
            match steered.switcher.step(&mut engine, wanted, (running, seen), &clock::monotonic_ns, &mut say)
            {
                Ok(None) => {}
                Ok(Some(took_ns)) => {
                    steered.by_controller = false;
                    if let Some(loss) = &mut lower.capture_loss {
                        loss.switches += 1;
                        loss.switch_ns += took_ns;
                    }
                }
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
                say(&mut lower.emit, end);
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
            let controller = Controller::new(limits, force.duty_permille);
            let switcher =
                ProbeSwitcher::new(pid, controller.duty(), since_ns, self.effective.filters.of_calls());
            if let Some(begin) = switcher.begin() {
                say(&mut lower.emit, begin);
            }
            self.engines.push(Steered {
                switcher,
                controller,
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

    /// Passes ended decode calls to their engines' switchers and controllers.
    fn calls(&mut self, lower: &mut Lower) {
        // The first calls of an engine that has no switcher yet wait.
        if self.engines.is_empty() {
            return;
        }
        let mut counts = [0; 3];
        let emit = &mut lower.emit;
        for call in lower.engines_progress.take_ended() {
            let Some(steered) = self.engines.iter_mut().find(|s| s.switcher.pid == call.pid) else {
                continue;
            };
            let captured = steered.switcher.call(&call, &mut |switch| say(emit, switch));
            steered.controller.call(&call, captured);
            steered.fastest.call(&call);
            let whole = captured == Captured::Whole && call.kept;
            counts[if whole { 0 } else { 1 + usize::from(captured != Captured::None) }] += 1;
        }
        if let Some(loss) = &mut lower.capture_loss {
            loss.tokens_traced += counts[0];
            loss.tokens_untraced += counts[1];
            loss.tokens_edge += counts[2];
        }
    }

    /// Ends the session: no operator is captured from now on.
    pub fn end(&mut self, lower: &mut Lower) {
        self.calls(lower);
        let now = clock::monotonic_ns();
        for end in self.engines.iter().filter(|s| s.gone == 0).filter_map(|s| s.switcher.end(now)) {
            say(&mut lower.emit, end);
        }
        self.engines.clear();
    }
}

impl Steered {
    /// Whether probes are wanted, and the reason of a switch.
    fn wanted(&mut self, filters: &Filters, progress: Progress) -> (bool, SwitchReason) {
        let now = clock::monotonic_ns();
        if !near(&filters.tokens, progress.tokens, self.fastest.lead())
            || !near(&filters.requests, progress.requests, 1)
        {
            return (false, SwitchReason::Filter);
        }
        let on = self.switcher.cycle.on(now);
        let cycle = self.switcher.cycle.permille();
        let reason = match cycle {
            _ if self.by_controller => SwitchReason::Controller,
            ALWAYS if filters.of_calls() => SwitchReason::Filter,
            ALWAYS | 0 => SwitchReason::Controller,
            _ => SwitchReason::Duty,
        };
        (on, reason)
    }
}

/// Whether a reached number is in a range, or close before one.
fn near(ranges: &Ranges, reached: u32, lead: u32) -> bool {
    let close = |(from, to): &(u32, u32)| reached.saturating_add(lead) >= *from && reached <= *to;
    ranges.is_empty() || ranges.iter().any(close)
}

fn say(emit: &mut Emitter, switch: ProbeSwitch) {
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
        let call =
            |took: u64, good| Ended { pid: 1, start_ns: 5, end_ns: 5 + took, decode: true, good, kept: true };
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
