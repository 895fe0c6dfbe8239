//! Decides when the operator probes of one engine are attached and removed, by duty cycle,
//! controller and filters.
//!
//! ```text
//! In ── removal wanted ──▶ Closing ── the last captured call has ended ──▶ Leaving ── removed ──▶ Out
//!  ▲                                                                                               │
//!  └──────────────────────────── capture wanted: probes attached ◀─────────────────────────────────┘
//! ```
//! The programs get the window in which calls are captured some time in advance, so that a call
//! cannot begin between the decision and its effect.
//!
//! The kernel removes traps at once, but releases a probe only when no CPU can be executing it, which
//! takes many short calls. So probes are also out when a call has run without a hit.

use profinfer_wire::record::duty::{ProbeSwitch, SwitchReason};

use super::probes::OpProbes;
use super::{Captured, Cycle};
use crate::bpf::Window;
use crate::lower::progress::Ended;

/// How far in advance a window is set, ns: far longer than setting it takes.
const AHEAD_NS: u64 = 2_000_000;
/// Switches remembered for calls that end later: more than fit into one call.
const REMEMBERED: usize = 8;

#[derive(Debug)]
pub struct ProbeSwitcher {
    pub pid: u32,
    pub cycle: Cycle,
    state: State,
    /// The last switches: on or off, and when they began and were done.
    past: Vec<(bool, u64, u64)>,
    /// Since when probes are attached without a reported switch, because no call has passed the
    /// filters yet.
    unreported_ns: Option<u64>,
    /// End of the last call that passed the filters, if not all calls pass.
    kept_end_ns: Option<u64>,
    switch_ns: u64,
    /// Not all calls pass the filters.
    filtered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    In,
    Closing { until_ns: u64 },
    Leaving { began_ns: u64, probes: u16, reason: SwitchReason, hits: Hits },
    Out,
}

/// Hits of operator probes while they are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hits {
    /// Their number when it was last seen to change, and when that was, ns.
    n: u64,
    at_ns: u64,
    /// A call has run without a hit since.
    none: bool,
}

impl ProbeSwitcher {
    /// An engine whose probes are attached since `since_ns`. `filtered`: there are filters on
    /// calls.
    #[must_use]
    pub fn new(pid: u32, permille: u16, since_ns: u64, filtered: bool) -> Self {
        let mut past = Vec::with_capacity(REMEMBERED);
        past.push((true, since_ns, since_ns));
        let cycle = Cycle::new(permille, since_ns);
        let unreported_ns = filtered.then_some(since_ns);
        Self { pid, cycle, state: State::In, past, unreported_ns, kept_end_ns: None, switch_ns: 0, filtered }
    }

    /// The initial record; `None` if it waits for the first call that passes the filters.
    #[must_use]
    pub fn begin(&self) -> Option<ProbeSwitch> {
        let since_ns = self.past[0].1;
        let none = self.unreported_ns.is_none();
        none.then(|| self.switch(true, SwitchReason::Begin, (since_ns, since_ns), 0))
    }

    const fn switch(
        &self,
        on: bool,
        reason: SwitchReason,
        (began_ns, done_ns): (u64, u64),
        probes: u16,
    ) -> ProbeSwitch {
        ProbeSwitch { pid: self.pid, on, reason, began_ns, done_ns, probes, pause_ns: None }
    }

    /// Whether probes are attached or being removed.
    #[must_use]
    pub fn is_in(&self) -> bool {
        self.state != State::Out
    }

    /// What was captured of a call, as the host will see it.
    #[must_use]
    pub fn captured(&self, start_ns: u64, end_ns: u64) -> Captured {
        let after = self.past.iter().position(|(_, began, _)| *began > start_ns).unwrap_or(self.past.len());
        let Some((on, _, done)) = after.checked_sub(1).map(|at| self.past[at]) else { return Captured::Edge };
        let next = self.past.get(after);
        match on {
            true if start_ns >= done => Captured::All,
            false if start_ns >= done && next.is_none_or(|(_, began, _)| *began >= end_ns) => Captured::None,
            _ => Captured::Edge,
        }
    }

    /// Whether the last captured call of a burst runs.
    #[must_use]
    pub fn closes(&self) -> bool {
        matches!(self.state, State::Closing { .. })
    }

    /// Whether probes are about to be removed, after the last captured call or by the kernel.
    #[must_use]
    pub fn leaves(&self) -> bool {
        matches!(self.state, State::Closing { .. } | State::Leaving { .. })
    }

    /// Processes a call that has ended. A prompt is not part of the share. `hits`: of operator probes
    /// by now. Reports a switch if calls begin or cease to pass the filters.
    pub fn call(
        &mut self,
        call: &Ended,
        prompt: bool,
        hits: u64,
        send: &mut dyn FnMut(ProbeSwitch),
    ) -> Captured {
        if let State::Leaving { hits: seen, .. } = &mut self.state
            && seen.n == hits
            && seen.at_ns <= call.start_ns
            && let Some(last) = self.past.last_mut()
        {
            seen.none = true;
            last.2 = seen.at_ns;
        }
        let captured = self.captured(call.start_ns, call.end_ns);
        if !prompt {
            self.cycle.call(captured);
        }
        if !self.filtered {
            return captured;
        }
        if call.kept {
            if let (Some(since), Captured::All) = (self.unreported_ns, captured) {
                self.unreported_ns = None;
                send(self.switch(true, SwitchReason::Filter, (since, call.start_ns), 0));
            }
            self.kept_end_ns = Some(call.end_ns);
        } else if self.unreported_ns.is_none()
            && self.state == State::In
            && let Some(last) = self.kept_end_ns.take()
        {
            send(self.switch(false, SwitchReason::Filter, (last, last), 0));
            self.unreported_ns = Some(last);
        }
        captured
    }

    /// Attaches or removes probes. `wanted`: whether probes are wanted, and why, if that is new.
    /// `running_since`: start of the earliest running call. `seen_ns`: calls are known up to this
    /// time. Returns the duration of a finished switch, ns.
    ///
    /// # Errors
    /// If probes cannot be attached again.
    pub fn step(
        &mut self,
        engine: &mut dyn OpProbes,
        (wanted, reason): (bool, SwitchReason),
        (running_since, seen_ns): (Option<u64>, u64),
        clock: &dyn Fn() -> u64,
        send: &mut dyn FnMut(ProbeSwitch),
    ) -> crate::error::Result<Option<u64>> {
        match self.state {
            State::In if !wanted => {
                let until_ns = clock() + AHEAD_NS;
                let told_ns = engine.capture(Window { from_ns: self.since(), until_ns });
                self.state = State::Closing { until_ns: until_ns.max(told_ns) };
                self.remember((false, until_ns, u64::MAX));
                Ok(None)
            }
            // The last captured call has ended, as far as events have arrived. Later events are
            // handled by the next step.
            State::Closing { until_ns }
                if seen_ns > until_ns && running_since.is_none_or(|since| since >= until_ns) =>
            {
                let began_ns = clock();
                let probes = engine.take_out();
                let hits = Hits { n: engine.hits(), at_ns: clock(), none: false };
                self.state = State::Leaving { began_ns, probes, reason, hits };
                Ok(None)
            }
            State::Leaving { began_ns: left_ns, probes, reason, hits } if hits.none || engine.is_out() => {
                let done_ns = if hits.none { hits.at_ns } else { clock() };
                self.state = State::Out;
                let began_ns = self.past.last().map_or(left_ns, |(_, began, _)| *began);
                if let Some(last) = self.past.last_mut() {
                    last.2 = done_ns;
                }
                let off_ns = self.kept_end_ns.take().map_or(began_ns, |kept| kept.min(began_ns));
                if let Some(since) = self.unreported_ns.take() {
                    // No call passed, but the calls that ran had probes.
                    send(self.switch(true, SwitchReason::Filter, (since, began_ns), 0));
                    send(self.switch(false, reason, (began_ns, done_ns), probes));
                } else {
                    send(self.switch(false, reason, (off_ns, done_ns), probes));
                }
                let took = done_ns - left_ns;
                self.cycle.switched(self.switch_ns + took);
                Ok(Some(took))
            }
            State::Out if wanted => {
                engine.prepare();
                let began_ns = clock();
                let probes = engine.put_in()?;
                let from_ns = clock() + AHEAD_NS;
                let told_ns = engine.capture(Window { from_ns, until_ns: u64::MAX });
                let done_ns = from_ns.max(told_ns);
                self.state = State::In;
                self.remember((true, began_ns, done_ns));
                self.switch_ns = told_ns.saturating_sub(began_ns);
                if self.filtered {
                    self.unreported_ns = Some(began_ns);
                } else {
                    send(self.switch(true, reason, (began_ns, done_ns), probes));
                }
                Ok(Some(self.switch_ns))
            }
            State::Leaving { began_ns, probes, reason, hits } => {
                let n = engine.hits();
                if n != hits.n {
                    let hits = Hits { n, at_ns: clock(), none: false };
                    self.state = State::Leaving { began_ns, probes, reason, hits };
                }
                Ok(None)
            }
            State::In | State::Closing { .. } | State::Out => Ok(None),
        }
    }

    /// The final record, at the end of the session or the engine.
    #[must_use]
    pub fn end(&self, now_ns: u64) -> Option<ProbeSwitch> {
        let reported = self.state != State::Out && self.unreported_ns.is_none();
        let began_ns = match (self.state, self.past.last()) {
            (State::Closing { until_ns }, _) => until_ns.min(now_ns),
            (State::Leaving { .. }, Some((_, began, _))) => *began,
            _ => now_ns,
        };
        // Calls after the last that passed may have begun in the window, but filters excluded them.
        let began_ns = self.kept_end_ns.map_or(began_ns, |kept| kept.min(began_ns));
        reported.then(|| self.switch(false, SwitchReason::End, (began_ns, now_ns.max(began_ns)), 0))
    }

    fn since(&self) -> u64 {
        self.past.last().map_or(0, |(_, _, done)| *done)
    }

    fn remember(&mut self, switch: (bool, u64, u64)) {
        if self.past.len() == REMEMBERED {
            self.past.remove(0);
        }
        self.past.push(switch);
    }
}

#[cfg(test)]
mod tests;
