//! Causes of the ladders, as the rules see them.

use super::Case;
use crate::findings::evidence::{Evidence, Place, Value};
use crate::findings::{Confidence, Found, Gain, Remedy, Verdict};
use crate::ladder::{self, IGNORED, Ladder, NAMED, Question, StepKind};
use crate::replay::{CallReplay, Cause};
use crate::shared::phase::Phase;

/// Some causes in the ladder in which they cost most.
#[derive(Debug, Clone, Copy)]
pub(in crate::findings) struct Caused<'a> {
    pub(in crate::findings) ladder: &'a Ladder,
    /// Time of the causes, ns of all units.
    pub(in crate::findings) ns: u64,
    /// Share of the ladder's time, 0 to 1.
    pub(in crate::findings) share: f64,
    /// Effect of removing them.
    pub(in crate::findings) gain: Gain,
}

impl Case<'_> {
    /// The ladders of the process that the rules judge.
    fn ladders(&self) -> impl Iterator<Item = &Ladder> {
        let rows = &self.analysis.ladder.rows;
        let pid = if self.pid == 0 { rows.first().map_or(0, |l| l.pid) } else { self.pid };
        // The others overlap with these.
        let judged = |l: &&Ladder| matches!(l.question, Question::Decode | Question::Prompt);
        rows.iter().filter(move |l| l.pid == pid).filter(judged)
    }

    /// The ladder of a question.
    pub(in crate::findings) fn ladder(&self, question: Question) -> Option<&Ladder> {
        self.ladders().find(|l| l.question == question)
    }

    /// The calls of a phase of the process that the rules judge.
    pub(in crate::findings) fn replayed(&self, phase: Phase) -> Vec<&CallReplay> {
        let pid = self.ladders().next().map(|l| l.pid);
        let own = |c: &&CallReplay| {
            let thread = self.model.llama_calls.thread[c.call.0 as usize];
            Some(self.model.threads.get(thread).pid) == pid
        };
        self.analysis.replay.phase(phase).filter(own).collect()
    }

    /// The causes that `of` selects, where their share is largest. `None` without a ladder of
    /// captured operators, or without the scheduler level.
    pub(in crate::findings) fn caused(&self, of: impl Fn(Cause) -> bool) -> Option<Caused<'_>> {
        if !self.model.sched.recorded {
            return None;
        }
        let measured = self.ladders().filter(|l| l.traced_units > 0 && self.recorded(l));
        measured.map(|ladder| caused(ladder, &of)).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// Most of its time was recorded.
    fn recorded(&self, ladder: &Ladder) -> bool {
        ladder.share(ladder.sum(|kind| kind == StepKind::NotRecorded)) < 0.5
    }

    /// The verdict on some causes: found from [`NAMED`] on, ruled out below [`IGNORED`].
    pub(in crate::findings) fn judge_caused(
        &self,
        of: impl Fn(Cause) -> bool,
        more: Vec<Evidence>,
        remedy: Remedy,
        confidence: Confidence,
    ) -> Verdict {
        let Some(caused) = self.caused(of) else { return Verdict::DoesNotApply };
        let unit = caused.ns / caused.ladder.units.max(1);
        let place = Place::Budget;
        let mut evidence = vec![
            Evidence::new("lost_ns", Value::Nanoseconds(unit), place),
            Evidence::new("lost_share", Value::Share(caused.share), place),
        ];
        evidence.extend(more);
        match caused.share {
            share if share < IGNORED => Verdict::RuledOut(evidence),
            share if share < NAMED => Verdict::Noisy(evidence),
            _ => Verdict::Found(Found { evidence, remedy, gain: Some(caused.gain), confidence }),
        }
    }
}

fn caused<'a>(ladder: &'a Ladder, of: &impl Fn(Cause) -> bool) -> Caused<'a> {
    let steps: Vec<_> =
        ladder.steps.iter().filter(|s| matches!(s.kind, StepKind::Caused(c) if of(c))).collect();
    let ns: u64 = steps.iter().map(|s| u64::try_from(s.ns).unwrap_or(0)).sum();
    let gain = ladder.removal.without(of);
    Caused {
        ladder,
        ns,
        share: if ladder.measured_ns == 0 { 0.0 } else { ns as f64 / ladder.measured_ns as f64 },
        gain: of_unit(ladder, gain),
    }
}

/// The gain per unit.
fn of_unit(ladder: &Ladder, gain: ladder::Gain) -> Gain {
    let per = |ns: u64| ns as f64 / ladder.units.max(1) as f64;
    let (low, likely, high) = (per(gain.low_ns), per(gain.likely_ns), per(gain.high_ns));
    let new = match ladder.question {
        Question::Decode => Gain::new(ladder.unit_ns(), low, high),
        _ => Gain::of_request(ladder.unit_ns(), low, high),
    };
    new.with_likely(likely)
}
