//! When operator probes of one engine go in and out: by duty cycle, controller and filters.
//!
//! ```text
//! In ── asked to be out ──▶ Closing ── the last captured call has ended ──▶ Leaving ── they are out ──▶ Out
//!  ▲                                                                                                     │
//!  └──────────────────────────────────── asked to be in: put in ◀────────────────────────────────────────┘
//! ```
//! The window in which calls are captured is told to the programs some time ahead, so that a call cannot begin between the
//! decision and its effect.

use profinfer_wire::record::duty::{ProbeSwitch, SwitchReason};

use super::probes::OpProbes;
use super::{Captured, Cycle};
use crate::bpf::Window;
use crate::lower::progress::Ended;

/// How far ahead a window is told, ns: far longer than it takes to tell it.
const AHEAD_NS: u64 = 2_000_000;
/// Switches remembered for calls that end later: more than fit into one call.
const REMEMBERED: usize = 8;

/// One engine.
#[derive(Debug)]
pub struct ProbeSwitcher {
    /// Process.
    pub pid: u32,
    /// Its duty cycle.
    pub cycle: Cycle,
    state: State,
    /// The last switches, on or off, from and until when they were under way.
    past: Vec<(bool, u64, u64)>,
    /// Since when probes are in without a switch that says so: no call that passes the filters was seen yet.
    unsaid_ns: Option<u64>,
    /// End of the last call that passed the filters, where not all do.
    kept_end_ns: Option<u64>,
    switch_ns: u64,
    /// Not all calls pass the filters.
    filtered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    In,
    Closing { until_ns: u64 },
    Leaving { began_ns: u64, probes: u16, reason: SwitchReason },
    Out,
}

impl ProbeSwitcher {
    /// An engine whose probes have been in since `since_ns`. With filters on calls, not all calls pass.
    #[must_use]
    pub fn new(pid: u32, permille: u16, since_ns: u64, filtered: bool) -> Self {
        let mut past = Vec::with_capacity(REMEMBERED);
        past.push((true, since_ns, since_ns));
        let cycle = Cycle::new(permille, since_ns);
        let unsaid_ns = filtered.then_some(since_ns);
        Self { pid, cycle, state: State::In, past, unsaid_ns, kept_end_ns: None, switch_ns: 0, filtered }
    }

    /// The record of the beginning; `None` where it waits for the first call that passes the filters.
    #[must_use]
    pub fn begin(&self) -> Option<ProbeSwitch> {
        let since_ns = self.past[0].1;
        let none = self.unsaid_ns.is_none();
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

    /// Probes are in or on their way out.
    #[must_use]
    pub fn is_in(&self) -> bool {
        self.state != State::Out
    }

    /// What became of the operators of a call: as the host will see it.
    #[must_use]
    pub fn captured(&self, start_ns: u64, end_ns: u64) -> Captured {
        let after = self.past.iter().position(|(_, began, _)| *began > start_ns).unwrap_or(self.past.len());
        let Some((on, _, done)) = after.checked_sub(1).map(|at| self.past[at]) else { return Captured::Edge };
        let next = self.past.get(after);
        match on {
            true if start_ns >= done => Captured::Whole,
            false if start_ns >= done && next.is_none_or(|(_, began, _)| *began >= end_ns) => Captured::None,
            _ => Captured::Edge,
        }
    }

    /// Takes a call that has ended, and says so where filters begin or cease to let calls pass.
    pub fn call(&mut self, call: &Ended, say: &mut dyn FnMut(ProbeSwitch)) -> Captured {
        let captured = self.captured(call.start_ns, call.end_ns);
        self.cycle.call(captured);
        if !self.filtered {
            return captured;
        }
        if call.kept {
            if let (Some(since), Captured::Whole) = (self.unsaid_ns, captured) {
                self.unsaid_ns = None;
                say(self.switch(true, SwitchReason::Filter, (since, call.start_ns), 0));
            }
            self.kept_end_ns = Some(call.end_ns);
        } else if self.unsaid_ns.is_none()
            && self.state == State::In
            && let Some(last) = self.kept_end_ns.take()
        {
            say(self.switch(false, SwitchReason::Filter, (last, last), 0));
            self.unsaid_ns = Some(last);
        }
        captured
    }

    /// Puts probes in or takes them out. `wanted` says whether they shall be in, and why if that is new; `running_since` is when
    /// the earliest call began that is running, and `seen_ns` up to when calls are known. Returns the time that it took, ns.
    ///
    /// # Errors
    /// When probes cannot be put in again.
    pub fn step(
        &mut self,
        engine: &mut dyn OpProbes,
        (wanted, reason): (bool, SwitchReason),
        (running_since, seen_ns): (Option<u64>, u64),
        clock: &dyn Fn() -> u64,
        say: &mut dyn FnMut(ProbeSwitch),
    ) -> crate::error::Result<Option<u64>> {
        match self.state {
            State::In if !wanted => {
                let until_ns = clock() + AHEAD_NS;
                let told_ns = engine.capture(Window { from_ns: self.since(), until_ns });
                self.state = State::Closing { until_ns: until_ns.max(told_ns) };
                self.remember((false, until_ns, u64::MAX));
                Ok(None)
            }
            // The last captured call has ended, as far as its events say; what they do not say yet, the next look will.
            State::Closing { until_ns }
                if seen_ns > until_ns && running_since.is_none_or(|since| since >= until_ns) =>
            {
                let began_ns = clock();
                let probes = engine.take_out();
                self.state = State::Leaving { began_ns, probes, reason };
                Ok(None)
            }
            State::Leaving { began_ns: left_ns, probes, reason } if engine.is_out() => {
                let done_ns = clock();
                self.state = State::Out;
                let began_ns = self.past.last().map_or(left_ns, |(_, began, _)| *began);
                if let Some(last) = self.past.last_mut() {
                    last.2 = done_ns;
                }
                let off_ns = self.kept_end_ns.take().map_or(began_ns, |kept| kept.min(began_ns));
                if let Some(since) = self.unsaid_ns.take() {
                    // No call passed: those that ran had probes all the same.
                    say(self.switch(true, SwitchReason::Filter, (since, began_ns), 0));
                    say(self.switch(false, reason, (began_ns, done_ns), probes));
                } else {
                    say(self.switch(false, reason, (off_ns, done_ns), probes));
                }
                let took = done_ns - left_ns;
                self.cycle.switched(self.switch_ns + took);
                Ok(Some(took))
            }
            State::Out if wanted => {
                let began_ns = clock();
                let probes = engine.put_in()?;
                let from_ns = clock() + AHEAD_NS;
                let told_ns = engine.capture(Window { from_ns, until_ns: u64::MAX });
                let done_ns = from_ns.max(told_ns);
                self.state = State::In;
                self.remember((true, began_ns, done_ns));
                self.switch_ns = told_ns.saturating_sub(began_ns);
                if self.filtered {
                    self.unsaid_ns = Some(began_ns);
                } else {
                    say(self.switch(true, reason, (began_ns, done_ns), probes));
                }
                Ok(Some(self.switch_ns))
            }
            State::In | State::Closing { .. } | State::Leaving { .. } | State::Out => Ok(None),
        }
    }

    /// The session, or the engine, has ended.
    #[must_use]
    pub fn end(&self, now_ns: u64) -> Option<ProbeSwitch> {
        let said = self.state != State::Out && self.unsaid_ns.is_none();
        let began_ns = match (self.state, self.past.last()) {
            (State::Closing { until_ns }, _) => until_ns.min(now_ns),
            (State::Leaving { .. }, Some((_, began, _))) => *began,
            _ => now_ns,
        };
        // Calls behind the last that passed may have begun in the window all the same: filters left them out.
        let began_ns = self.kept_end_ns.map_or(began_ns, |kept| kept.min(began_ns));
        said.then(|| self.switch(false, SwitchReason::End, (began_ns, now_ns.max(began_ns)), 0))
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
