//! Stretches of time: when operator probes were in place, and what the controller had set.

use profinfer_trace::model::{ControllerStep, Model, ProbeSwitch, SwitchReason};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Operators are captured.
    On(SwitchReason),
    /// Probes are being inserted.
    PuttingIn(SwitchReason),
    /// Probes are being removed.
    TakingOut(SwitchReason),
    /// The controller has changed the duty: the row of its step.
    Step(usize),
}

/// A stretch of time. Stretches of switches do not overlap within a process, nor do those of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub pid: u32,
    /// ns.
    pub start_ns: u64,
    /// ns; not before the start.
    pub end_ns: u64,
    pub what: What,
}

/// The stretches with probes, by process and start, limited to `from..to`. A stretch that is open
/// at the end extends to `to`.
#[must_use]
pub fn probes(model: &Model, from: u64, to: u64) -> Vec<Stretch> {
    let mut all = Vec::new();
    for of_process in model.duty.switches.chunk_by(|a, b| a.pid == b.pid) {
        let mut at = from;
        let mut push = |s: &ProbeSwitch, start: u64, end: u64, what: What| {
            let start = start.max(at);
            let end = end.max(start);
            if end > start {
                all.push(Stretch { pid: s.pid, start_ns: start, end_ns: end, what });
                at = end;
            }
        };
        for (i, s) in of_process.iter().enumerate() {
            let until = of_process.get(i + 1).map_or(to, |next| next.began_ns);
            if s.on {
                push(s, s.began_ns, s.done_ns, What::PuttingIn(s.reason));
                push(s, s.done_ns, until, What::On(s.reason));
            } else {
                push(s, s.began_ns, s.done_ns, What::TakingOut(s.reason));
            }
        }
    }
    all
}

/// The stretches from one step of the controller to the next of the same process, by process and
/// start.
#[must_use]
pub fn steps(model: &Model, from: u64, to: u64) -> Vec<Stretch> {
    let mut rows: Vec<(usize, &ControllerStep)> = model.controller_steps.iter().enumerate().collect();
    rows.sort_by_key(|(_, step)| (step.pid, step.at_ns));
    let next = |i: usize, pid: u32| rows.get(i + 1).filter(|(_, n)| n.pid == pid).map(|(_, n)| n.at_ns);
    let of = |(i, (row, step)): (usize, &(usize, &ControllerStep))| {
        let start_ns = step.at_ns.max(from);
        let end_ns = next(i, step.pid).unwrap_or(to).max(start_ns);
        Stretch { pid: step.pid, start_ns, end_ns, what: What::Step(*row) }
    };
    rows.iter().enumerate().map(of).collect()
}
