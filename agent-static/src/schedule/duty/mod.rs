//! The duty cycle: captures the operators of some decode calls, in bursts.
//!
//! Traced and untraced bursts of 8 calls alternate from the first call on, until the calls with
//! probes that the share allows in the first 256 calls are used up. From then on a burst begins
//! when the share has room for it. So short runs have traced and untraced calls too, and any run of
//! 256 calls or more keeps the share.
//!
//! A burst is at least as long as its switches take, so that at least half of its cost yields
//! captured calls: see [`Cycle::on`]. The share counts all calls with probes, whether captured
//! completely or at an edge. So a late or slow switch makes the next pause longer.

pub mod probes;
pub mod switcher;

use profinfer_wire::record::capture::ALWAYS;

/// Fewest decode calls of a burst, and of a pause.
const MIN_CALLS: u32 = 8;
/// The share holds over this many calls from the first one on, and over longer runs.
const PERIOD: u32 = 256;

/// What was captured of a decode call's operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Captured {
    /// All operators.
    All,
    /// None, and there were no probes.
    None,
    /// Probes were attached or removed around it.
    Edge,
}

/// The duty cycle of one engine: a state machine that gets ended calls and the time as input.
#[derive(Debug, Clone, Copy)]
pub struct Cycle {
    permille: u16,
    /// Calls so far.
    calls: u32,
    /// Calls that may have probes, beyond those that had, in thousandths of a call. The first
    /// period's are there from the start, and every later call adds its share.
    credit: i64,
    /// Calls with probes since the last burst began, its edges included.
    price: u32,
    state: State,
    /// Duration of the last switch on and the last switch off together, ns.
    switch_ns: u64,
    /// A burst has ended.
    burst_ended: bool,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Burst {
        began_ns: u64,
        /// Completely captured calls.
        captured: u32,
    },
    Pause {
        /// Calls without probes.
        free: u32,
    },
}

impl Cycle {
    /// Starts with a burst at `now_ns`, because probes are attached when an engine is found.
    #[must_use]
    pub fn new(permille: u16, now_ns: u64) -> Self {
        let state = State::Burst { began_ns: now_ns, captured: 0 };
        let credit = of_period(permille);
        Self { permille, calls: 0, credit, price: 0, state, switch_ns: 0, burst_ended: false }
    }

    /// Changes the share.
    pub fn set(&mut self, permille: u16) {
        if self.calls < PERIOD {
            self.credit += of_period(permille) - of_period(self.permille);
        } else if permille != self.permille {
            // The last burst was one of another share, and perhaps very long.
            self.price = 0;
        }
        self.permille = permille;
    }

    /// The share, thousandths.
    #[must_use]
    pub const fn permille(&self) -> u16 {
        self.permille
    }

    /// Whether calls with probes have exceeded the share by those of a complete period.
    #[must_use]
    pub fn overdrawn(&self) -> bool {
        self.credit < -of_period(self.permille)
    }

    /// Sets the duration of a burst's switches.
    pub fn switched(&mut self, ns: u64) {
        self.switch_ns = ns;
    }

    /// Adds a call that has ended.
    pub fn call(&mut self, call: Captured) {
        if self.calls >= PERIOD {
            self.credit += i64::from(self.permille);
        }
        self.calls = self.calls.saturating_add(1);
        match (&mut self.state, call) {
            (State::Burst { captured, .. }, Captured::All) => *captured += 1,
            (State::Pause { free }, Captured::None) => *free = free.saturating_add(1),
            _ => {}
        }
        if call != Captured::None {
            self.credit -= i64::from(ALWAYS);
            self.price = self.price.saturating_add(1);
        }
        // Calls that a filter left out are not saved up for more than a period, or a long burst.
        if let State::Pause { .. } = self.state {
            self.credit = self.credit.min(of_period(self.permille).max(self.needed()));
        }
    }

    /// Whether calls are to be captured now. Bursts and pauses have at least 8 calls, and a burst
    /// lasts at least as long as its switches took. The next burst begins when the share has room
    /// for as many calls with probes as the last one had. `running`: a call is running, which a
    /// burst that ends now still captures.
    pub fn on(&mut self, now_ns: u64, running: bool) -> bool {
        let begin = State::Burst { began_ns: now_ns, captured: 0 };
        match (self.permille, self.state) {
            (0, State::Burst { .. }) => self.end_burst(),
            (0, State::Pause { .. }) | (ALWAYS.., State::Burst { .. }) => {}
            (ALWAYS.., State::Pause { .. }) => (self.state, self.price) = (begin, 0),
            (_, State::Burst { began_ns, captured }) => {
                let long = now_ns.saturating_sub(began_ns) >= self.switch_ns;
                if long && captured + u32::from(running) >= self.least() {
                    self.end_burst();
                }
            }
            (_, State::Pause { free }) if free >= MIN_CALLS && self.credit >= self.needed() => {
                (self.state, self.price) = (begin, 0);
            }
            (_, State::Pause { .. }) => {}
        }
        matches!(self.state, State::Burst { .. })
    }

    /// Calls until this burst may end; `None` in a pause, and if it does not end.
    #[must_use]
    pub fn left(&self) -> Option<u32> {
        match self.state {
            State::Burst { captured, .. } if self.permille < ALWAYS => {
                Some(self.least().saturating_sub(captured))
            }
            _ => None,
        }
    }

    fn end_burst(&mut self) {
        (self.state, self.burst_ended) = (State::Pause { free: 0 }, true);
    }

    /// Fewest captured calls of a burst.
    fn least(&self) -> u32 {
        // Long enough for a pause of eight calls after it. The first one is short in any case: early
        // calls without probes show what probes cost.
        let rest = u32::from(ALWAYS.saturating_sub(self.permille)).max(1);
        let least = (MIN_CALLS * u32::from(self.permille) / rest).max(MIN_CALLS);
        if self.burst_ended { least } else { MIN_CALLS }
    }

    /// Credit that the next burst needs, less what its calls add.
    fn needed(&self) -> i64 {
        let adds = if self.calls < PERIOD { 0 } else { self.permille };
        i64::from(self.price.max(self.least())) * i64::from(ALWAYS.saturating_sub(adds))
    }
}

/// Calls with probes in a period, in thousandths of a call.
fn of_period(permille: u16) -> i64 {
    i64::from(PERIOD) * i64::from(permille)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `calls` calls of 10 ms; a switch takes effect `lag` calls later. Returns the state of
    /// each call.
    fn run(cycle: &mut Cycle, calls: u64, lag: usize) -> Vec<bool> {
        let mut states = Vec::new();
        for k in 0..calls {
            states.push(cycle.on(k * 10_000_000, false));
            let on = states.len().checked_sub(lag + 1).is_none_or(|at| states[at]);
            cycle.call(if on { Captured::All } else { Captured::None });
        }
        states
    }

    /// Bursts and pauses, in order, as numbers of calls.
    fn stretches(states: &[bool]) -> Vec<(bool, usize)> {
        states.chunk_by(|a, b| a == b).map(|s| (s[0], s.len())).collect()
    }

    #[test]
    fn the_share_is_kept_whatever_the_lag() {
        for (permille, lag) in [(100, 0), (100, 5), (50, 3), (500, 2), (900, 1), (10, 4)] {
            let probed = |calls: u64| {
                let states = run(&mut Cycle::new(permille, 0), calls, lag);
                // A switch takes effect later.
                let late = states.iter().take(states.len() - lag).filter(|on| **on).count() + lag;
                late as u64
            };
            let share = 1000 * probed(20_000) / 20_000;
            // A late switch costs a call of each pause, at 90 % a hundredth of all.
            let low = if permille > 500 { 10 } else { 2 };
            let kept = (u64::from(permille) - low..=u64::from(permille) + 2).contains(&share);
            assert!(kept, "{permille} with lag {lag}: {share}");
            // The first burst has eight calls, whatever the share.
            let most = (256 * u64::from(permille) / 1000).max(8 + lag as u64);
            assert!(probed(256) <= most, "{permille} with lag {lag}: {} of 256", probed(256));
        }
    }

    #[test]
    fn traced_and_untraced_bursts_of_eight_alternate_from_the_start() {
        // 12 % of 256 calls are 30: three bursts of eight. The next one begins when 32 of all calls
        // are 12 %.
        let all = stretches(&run(&mut Cycle::new(120, 0), 1_000, 0));
        assert_eq!(all[..6], [(true, 8), (false, 8), (true, 8), (false, 8), (true, 8), (false, 219)]);
        assert!(all[6..all.len() - 1].iter().all(|(on, n)| if *on { *n == 8 } else { *n >= 50 }), "{all:?}");
        // A share of nine tenths has one short burst, then pauses of eight calls.
        let all = stretches(&run(&mut Cycle::new(900, 0), 400, 0));
        assert_eq!(all[..5], [(true, 8), (false, 8), (true, 72), (false, 8), (true, 72)]);
    }

    #[test]
    fn the_share_may_become_known_during_the_first_burst() {
        let mut cycle = Cycle::new(900, 0);
        run(&mut cycle, 3, 0);
        cycle.set(64);
        let rest = stretches(&run(&mut cycle, 253, 0));
        assert_eq!(rest, [(true, 5), (false, 8), (true, 8), (false, 232)]);
    }

    #[test]
    fn a_running_call_is_part_of_the_burst() {
        let mut cycle = Cycle::new(100, 0);
        (0..7).for_each(|_| cycle.call(Captured::All));
        assert_eq!((cycle.left(), cycle.on(0, false), cycle.on(0, true)), (Some(1), true, false));
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
            let on = cycle.on(k * 10_000_000, false);
            // Probes stay for 20 calls after the switch off.
            let call = match (on, left) {
                (true, _) => Captured::All,
                (false, 1..) => Captured::Edge,
                (false, _) => Captured::None,
            };
            left = if on { 20 } else { left.saturating_sub(1) };
            captured += u64::from(call == Captured::All);
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

    #[test]
    fn a_smaller_share_begins_with_a_pause() {
        let mut cycle = Cycle::new(1000, 0);
        run(&mut cycle, 300, 0);
        cycle.set(500);
        assert_eq!(stretches(&run(&mut cycle, 40, 0))[0], (false, 8));
    }

    #[test]
    fn calls_beyond_the_share_are_noticed() {
        let mut cycle = Cycle::new(100, 0);
        (0..51).for_each(|_| cycle.call(Captured::All));
        assert!(!cycle.overdrawn());
        cycle.call(Captured::Edge);
        assert!(cycle.overdrawn());
    }
}
