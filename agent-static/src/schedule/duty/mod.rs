//! The duty cycle: captures the operators of some decode calls, in bursts.
//!
//! A burst is at least as long as its switches take, so that at least half of its cost yields
//! captured calls: see [`Cycle::on`]. The share counts all calls with probes, whether captured
//! completely or at an edge. So a late or slow switch makes the next pause longer.

pub mod probes;
pub mod switcher;

use profinfer_wire::record::capture::ALWAYS;

/// Fewest decode calls of a burst, and of a pause.
const MIN_CALLS: u32 = 8;

/// What was captured of a decode call's operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Captured {
    /// All operators.
    Whole,
    /// None, and there were no probes.
    None,
    /// Probes were attached or removed around it.
    Edge,
}

/// The duty cycle of one engine: a state machine that gets ended calls and the time as input.
#[derive(Debug, Clone, Copy)]
pub struct Cycle {
    permille: u16,
    /// Calls with probes, captured or not.
    probed: u64,
    /// Calls without probes.
    free: u64,
    burst: Option<Burst>,
    /// Duration of the last switch on and the last switch off together, ns.
    switch_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Burst {
    began_ns: u64,
    calls: u32,
}

impl Cycle {
    /// Starts with a burst at `now_ns`, because probes are attached when an engine is found.
    #[must_use]
    pub fn new(permille: u16, now_ns: u64) -> Self {
        let burst = Some(Burst { began_ns: now_ns, calls: 0 });
        Self { permille, probed: 0, free: 0, burst, switch_ns: 0 }
    }

    /// Changes the share. A smaller one starts with a pause, as if a burst had just ended.
    pub fn set(&mut self, permille: u16) {
        if permille < self.permille {
            (self.burst, self.probed) = (None, MIN_CALLS.into());
        } else if permille > self.permille {
            self.probed = 0;
        } else {
            return;
        }
        (self.permille, self.free) = (permille, 0);
    }

    /// The share, thousandths.
    #[must_use]
    pub const fn permille(&self) -> u16 {
        self.permille
    }

    /// Sets the duration of a burst's switches.
    pub fn switched(&mut self, ns: u64) {
        self.switch_ns = ns;
    }

    /// Adds a call that has ended.
    pub fn call(&mut self, captured: Captured) {
        match captured {
            Captured::Whole => {
                self.probed += 1;
                if let Some(burst) = &mut self.burst {
                    burst.calls += 1;
                }
            }
            Captured::Edge => self.probed += 1,
            Captured::None => self.free += 1,
        }
    }

    /// Whether calls are to be captured now. Bursts and pauses have at least 8 calls, and a burst
    /// lasts at least as long as its switches took. The next burst begins when the share of calls
    /// with probes has fallen to the configured share.
    pub fn on(&mut self, now_ns: u64) -> bool {
        match self.permille {
            0 => {
                self.burst = None;
                return false;
            }
            ALWAYS.. => {
                self.burst.get_or_insert(Burst { began_ns: now_ns, calls: 0 });
                return true;
            }
            _ => {}
        }
        let due = u128::from(self.permille) * u128::from(self.probed + self.free);
        let behind = u128::from(self.probed) * u128::from(ALWAYS) <= due;
        match self.burst {
            Some(b) => {
                let long = now_ns.saturating_sub(b.began_ns) >= self.switch_ns;
                // Long enough for a pause of eight calls after it.
                let rest = u32::from(ALWAYS - self.permille);
                let least = (MIN_CALLS * u32::from(self.permille) / rest).max(MIN_CALLS);
                if b.calls >= least && long && !behind {
                    self.burst = None;
                }
            }
            None if behind => self.burst = Some(Burst { began_ns: now_ns, calls: 0 }),
            None => {}
        }
        self.burst.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `calls` calls of 10 ms; a switch takes effect `lag` calls later. Returns the state of
    /// each call.
    fn run(cycle: &mut Cycle, calls: u64, lag: usize) -> Vec<bool> {
        let mut states = Vec::new();
        for k in 0..calls {
            states.push(cycle.on(k * 10_000_000));
            let on = states.len().checked_sub(lag + 1).is_none_or(|at| states[at]);
            cycle.call(if on { Captured::Whole } else { Captured::None });
        }
        states
    }

    #[test]
    fn the_share_is_kept_whatever_the_lag() {
        for (permille, lag) in [(100, 0), (100, 5), (50, 3), (500, 2), (900, 1), (10, 4)] {
            let mut cycle = Cycle::new(permille, 0);
            run(&mut cycle, 20_000, lag);
            let share = 1000 * cycle.probed / (cycle.probed + cycle.free);
            assert!(share.abs_diff(permille.into()) <= 2, "{permille} with lag {lag}: {share}");
        }
    }

    #[test]
    fn bursts_are_as_long_as_their_switches() {
        let mut cycle = Cycle::new(100, 0);
        // 600 ms are 60 calls.
        cycle.switched(600_000_000);
        let states = run(&mut cycle, 3_000, 0);
        let bursts: Vec<usize> = states.split(|on| !*on).map(<[bool]>::len).filter(|n| *n > 0).collect();
        assert!(bursts.len() >= 3 && bursts.iter().all(|n| *n >= 60), "{bursts:?}");
        // If switches take no time, eight calls are enough.
        let states = run(&mut Cycle::new(100, 0), 3_000, 0);
        assert!(states.split(|on| !*on).filter(|b| !b.is_empty()).all(|b| (8..=10).contains(&b.len())));
    }

    #[test]
    fn calls_at_edges_are_part_of_the_share() {
        let mut cycle = Cycle::new(100, 0);
        let (mut captured, mut edges, mut left, mut before) = (0_u64, 0_u64, 0_u32, true);
        for k in 0..20_000 {
            let on = cycle.on(k * 10_000_000);
            // Probes stay for 20 calls after the switch off.
            let call = match (on, left) {
                (true, _) => Captured::Whole,
                (false, 1..) => Captured::Edge,
                (false, _) => Captured::None,
            };
            left = if on { 20 } else { left.saturating_sub(1) };
            captured += u64::from(call == Captured::Whole);
            edges += u64::from(call == Captured::Edge);
            cycle.call(call);
            // From the end of the first period on.
            assert!(!on || before || 10 * (captured + edges - 1) <= k, "{k}: {captured} and {edges}");
            before = on;
        }
        assert!(captured > 300 && edges > 2 * captured, "{captured} and {edges}");
    }

    #[test]
    fn always_and_never() {
        assert!(run(&mut Cycle::new(1000, 0), 50, 0).iter().all(|on| *on));
        let mut cycle = Cycle::new(1000, 0);
        cycle.set(0);
        assert!(run(&mut cycle, 50, 0).iter().all(|on| !*on));
        cycle.set(500);
        assert!(run(&mut cycle, 50, 0)[0]);
    }
}
