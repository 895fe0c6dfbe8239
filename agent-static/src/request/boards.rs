//! The plans of the shipped board profiles. build.rs compiles them in.

use crate::error::{Diagnostic, Result};
use crate::request::plan::{self, CounterRequest, GaugeRequest};
use profinfer_wire::options::same_board;
use profinfer_wire::record::control;
use profinfer_wire::record::gauge::{GaugeKind, GaugeParse, GaugeUnit};

#[derive(Debug)]
pub struct Board {
    /// Name of the profile.
    pub name: &'static str,
    other_names: &'static [&'static str],
    /// `uname -m`, or `any`.
    machine: &'static str,
    /// A list for [`plan::levels`].
    levels: &'static str,
    sets: &'static [Set],
    gauges: &'static [control::GaugeRequest<'static>],
}

/// Each counter: event name, event number, MIDR (main ID register) of the cores that have it.
#[derive(Debug)]
struct Set {
    name: &'static str,
    counters: &'static [(&'static str, u32, u32)],
}

const BOARDS: &[Board] = include!(concat!(env!("OUT_DIR"), "/plans.rs"));

impl Board {
    /// The profile that people call so.
    ///
    /// # Errors
    /// If the name is unknown; the error lists the known names.
    pub fn find(name: &str) -> Result<&'static Self> {
        let called =
            |b: &&Self| same_board(b.name, name) || b.other_names.iter().any(|n| same_board(n, name));
        BOARDS.iter().find(called).ok_or_else(|| {
            let names: Vec<_> = BOARDS.iter().map(|b| b.name).collect();
            Diagnostic::new(
                format!("looking for the board profile `{name}`"),
                format!("this agent has the profiles {}", names.join(", ")),
                "use one of them; to use a custom profile, run `serve` here and `analyze --board` on the host",
            )
        })
    }

    /// Checks that it can be the profile of this machine.
    ///
    /// # Errors
    /// If the machine is of another type.
    pub fn check(&self) -> Result<()> {
        let here = std::env::consts::ARCH;
        if [here, "any"].contains(&self.machine) {
            return Ok(());
        }
        Err(Diagnostic::new(
            format!("using the board profile `{}`", self.name),
            format!("it is for {}, and this machine is {here}", self.machine),
            "leave --board out, or use the profile nevertheless with --force-board",
        ))
    }

    #[must_use]
    pub fn levels(&self) -> u32 {
        plan::levels(self.levels).unwrap_or(0)
    }

    /// Counters of a set, or of the first set if `set` is `None`. `None` if the board has no such
    /// set.
    #[must_use]
    pub fn counters(&self, set: Option<&str>) -> Option<Vec<CounterRequest>> {
        let set = self.sets.iter().find(|s| set.is_none_or(|n| n == s.name))?;
        let request = |(name, event, midr): &(&str, u32, u32)| CounterRequest {
            name: (*name).to_owned(),
            event: *event,
            midr: *midr,
        };
        Some(set.counters.iter().map(request).collect())
    }

    #[must_use]
    pub fn gauges(&self, period_ms: u32) -> Vec<GaugeRequest> {
        self.gauges.iter().map(|w| control::GaugeRequest { period_ms, ..*w }.into()).collect()
    }

    /// The sensors that most machines have.
    #[must_use]
    pub fn generic_gauges(period_ms: u32) -> Vec<GaugeRequest> {
        Self::find("generic-aarch64").map_or_else(|_| Vec::new(), |b| b.gauges(period_ms))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    #[test]
    fn plans_are_those_of_the_profiles() {
        let catalog = profinfer_boards::Catalog::shipped().unwrap();
        assert_eq!(BOARDS.len(), catalog.boards().count());
        for board in catalog.boards() {
            let ours = Board::find(&board.name).unwrap();
            assert_eq!(ours.levels(), plan::levels(&board.levels.join(",")).unwrap());
            let gauges: Vec<GaugeRequest> =
                board.gauge_plan(20).into_iter().map(GaugeRequest::from).collect();
            assert_eq!(ours.gauges(20), gauges);
            for set in board.set_names() {
                let told = board.counter_plan(Some(set)).unwrap();
                let compiled = ours.counters(Some(set)).unwrap();
                assert_eq!(told.len(), compiled.len());
                for (a, b) in told.iter().zip(&compiled) {
                    assert_eq!((&a.name, a.event, a.midr), (&b.name, b.event, b.midr));
                }
            }
        }
        assert_eq!(Board::generic_gauges(100).len(), 2);
        assert_eq!(Board::find("rk3588").unwrap().gauges(100).len(), 9);
        assert_eq!(Board::find("Orange Pi 5").unwrap().name, "rk3588");
        assert_eq!(Board::find("RPi5").unwrap().name, "bcm2712");
        assert_eq!(Board::find(plan::UNKNOWN).unwrap().name, plan::UNKNOWN);
    }

    #[test]
    fn unknown_boards_and_sets() {
        assert!(Board::find("").is_err() && Board::find("host").unwrap().check().is_ok());
        let foreign = if cfg!(target_arch = "aarch64") { "x86_64" } else { "aarch64" };
        for board in BOARDS {
            assert_eq!(board.check().is_err(), board.machine == foreign, "{}", board.name);
        }
        let e = Board::find("rk3599").unwrap_err();
        assert!(e.answer.contains("rk3588") && e.tried.contains("rk3599"), "{e}");
        assert!(Board::find("rk3588").unwrap().counters(Some("nonsense")).is_none());
        let counters = Board::find("rk3588").unwrap().counters(None).unwrap();
        assert!(counters.iter().any(|c| c.name == "CPU_CYCLES" && c.midr == 0x4100_d0b0), "{counters:?}");
        assert!(counters.iter().any(|c| c.name == "minor-faults" && c.midr == 0));
    }
}
