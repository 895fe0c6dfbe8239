#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::cell::Cell;

use super::*;

/// An engine whose calls are captured as the programs do it: by the window at their start.
#[derive(Default)]
struct Fake {
    window: Window,
    probes: bool,
    /// Polls until the probes are removed, and those until they have no effect any more.
    slow: u32,
    hits: u64,
}

impl OpProbes for Fake {
    fn prepare(&mut self) {}

    fn hits(&self) -> u64 {
        self.hits
    }

    fn put_in(&mut self) -> crate::error::Result<u16> {
        assert!(!self.probes);
        self.probes = true;
        Ok(3)
    }

    fn take_out(&mut self) -> u16 {
        assert!(self.probes);
        (self.probes, self.slow) = (false, 4);
        3
    }

    fn is_out(&mut self) -> bool {
        self.slow = self.slow.saturating_sub(1);
        self.slow == 0
    }

    fn capture(&mut self, window: Window) -> u64 {
        self.window = window;
        0
    }
}

const MS: u64 = 1_000_000;

/// Calls of 7 ms, 1 ms apart, polled every 3 ms, for this many ms. Returns for each call whether it
/// was captured and the switcher's opinion, and the reported switches.
fn run(
    filtered: bool,
    kept: impl Fn(u64) -> bool,
    wanted: impl Fn(u64) -> bool,
    ticks: u64,
) -> (Vec<(bool, Captured)>, Vec<ProbeSwitch>) {
    let (mut engine, now) = (Fake { probes: true, ..Fake::default() }, Cell::new(0));
    let mut switcher = ProbeSwitcher::new(7, 1000, 0, filtered);
    let mut switches: Vec<ProbeSwitch> = switcher.begin().into_iter().collect();
    let (mut calls, mut running, mut number) = (Vec::new(), None, 0);
    for tick in 0..ticks {
        now.set(tick * MS);
        // Traps stay for two polls after the removal has begun.
        engine.hits += u64::from(running.is_some() && (engine.probes || engine.slow > 2));
        match tick % 8 {
            1 => {
                let inside = (engine.window.from_ns..engine.window.until_ns).contains(&now.get());
                // Captured calls have probes.
                assert!(!inside || engine.probes, "at {tick}");
                running = Some((now.get(), inside));
            }
            0 if tick > 0 => {
                if let Some((start_ns, inside)) = running.take() {
                    assert!(!inside || engine.probes, "probes stay until the end: {tick}");
                    number += 1;
                    let kept = kept(number);
                    let (end_ns, operators) = (now.get(), 500);
                    let call = Ended { pid: 7, start_ns, end_ns, decode: true, good: true, operators, kept };
                    calls.push((
                        inside && kept,
                        switcher.call(&call, false, engine.hits, &mut |s| switches.push(s)),
                    ));
                }
            }
            _ => {}
        }
        if tick % 3 == 0 {
            let since = running.map(|(start, _)| start);
            let wanted = (wanted(number), SwitchReason::Duty);
            let step = switcher
                .step(&mut engine, wanted, (since, now.get()), &|| now.get(), &mut |s| switches.push(s));
            step.unwrap();
        }
    }
    switches.extend(switcher.end(now.get()));
    (calls, switches)
}

/// The host's interpretation of the switches, see docs/wire-format.md.
fn host(switches: &[ProbeSwitch], start_ns: u64) -> Option<bool> {
    let mut sorted = switches.to_vec();
    sorted.sort_by_key(|s| s.began_ns);
    let last = sorted.iter().rev().find(|s| s.began_ns <= start_ns)?;
    match last.on {
        true => (start_ns >= last.done_ns).then_some(true),
        false => Some(false),
    }
}

#[test]
fn every_call_is_captured_completely_or_not_as_reported() {
    let (calls, switches) = run(false, |_| true, |n| n / 20 % 2 == 0, 2_000);
    assert!(switches.len() > 10);
    assert!(switches.iter().all(|s| s.began_ns <= s.done_ns));
    let mut counts = [0; 2];
    for (k, (captured, opinion)) in (0..).zip(&calls) {
        if let Some(expected) = host(&switches, (8 * k + 1) * MS) {
            assert_eq!(expected, *captured, "call {k}");
        }
        match opinion {
            Captured::All => assert!(*captured, "call {k}"),
            Captured::None => assert!(!*captured, "call {k}"),
            Captured::Edge => continue,
        }
        counts[usize::from(*captured)] += 1;
    }
    assert!(counts.iter().all(|n| *n > 60), "{counts:?}");
    assert_eq!(switches.last().map(|s| (s.on, s.reason)), Some((false, SwitchReason::End)));
}

#[test]
fn filtered_calls_are_not_reported_as_captured() {
    // Probes are attached for some calls before and after those that pass, and stay between two
    // ranges.
    let passes = |n: u64| (31..=40).contains(&n) || (45..=50).contains(&n) || n >= 200;
    let (calls, switches) = run(true, passes, |n| (20..=60).contains(&n), 2_000);
    for (k, (captured, _)) in (0..).zip(&calls) {
        let seen = host(&switches, (8 * k + 1) * MS);
        assert_eq!(seen == Some(true), *captured, "call {}: {seen:?}", k + 1);
    }
    assert_eq!(calls.iter().filter(|(captured, _)| *captured).count(), 16);
    // From the first poll on. Earlier calls had probes and are at an edge, not untraced.
    assert_eq!(host(&switches, 25 * 8 * MS), None);
}

/// The engine ends while probes are being removed. The calls after the last that passed were in the
/// window, but filtered.
#[test]
fn an_end_during_removal_reports_no_filtered_call_as_captured() {
    let passes = |n: u64| (31..=60).contains(&n);
    let mut left_out_in_the_window = 0;
    for ticks in 480..540 {
        let mut inside = 0;
        let (calls, switches) = run(true, passes, |n| (20..60).contains(&n), ticks);
        for (k, (captured, _)) in (0..).zip(&calls) {
            let seen = host(&switches, (8 * k + 1) * MS);
            assert_eq!(seen == Some(true), *captured, "ended at {ticks}, call {}: {seen:?}", k + 1);
            inside += u64::from(k >= 60);
        }
        left_out_in_the_window = inside.max(left_out_in_the_window);
    }
    assert!(left_out_in_the_window > 3);
}
