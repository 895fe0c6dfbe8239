//! Steps of the ladders, as the rules see them.

use std::collections::BTreeMap;

use super::{Case, SCHED};
use crate::findings::evidence::{Evidence, Place, Value};
use crate::findings::{Confidence, Effect, Found, Gain, Remedy, Requirement, Rule, Verdict};
use crate::ladder::{self, IGNORED, Ladder, NAMED, Question, StepKind};
use crate::replay::{CallReplay, Cause};
use crate::results::request::Request;
use crate::shared::phase::Phase;
use profinfer_trace::model::Text;

/// Some causes in one ladder.
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

impl Caused<'_> {
    /// Time of a unit, ns.
    pub(in crate::findings) const fn unit_ns(&self) -> u64 {
        self.ns / if self.ladder.units == 0 { 1 } else { self.ladder.units }
    }
}

impl Case<'_> {
    /// All ladders of the process that the rules judge.
    fn all_ladders(&self) -> impl Iterator<Item = &Ladder> {
        let rows = &self.analysis.ladder.rows;
        let pid = if self.pid == 0 { rows.first().map_or(0, |l| l.pid) } else { self.pid };
        rows.iter().filter(move |l| l.pid == pid)
    }

    /// The ladders that all rules judge: the others overlap with these, or have steps of their own.
    pub(in crate::findings) fn ladders(&self) -> impl Iterator<Item = &Ladder> {
        let judged = [Question::Decode, Question::Prompt, Question::Encode];
        self.all_ladders().filter(move |l| judged.contains(&l.question))
    }

    /// Those with recorded operators: the others show no causes, which does not mean that there
    /// are none.
    pub(in crate::findings) fn measured(&self) -> impl Iterator<Item = &Ladder> {
        let recorded = |l: &&Ladder| l.share(l.sum(|kind| kind == StepKind::NotRecorded)) < 0.5;
        let computes = |l: &&Ladder| l.sum(|k| matches!(k, StepKind::Floor | StepKind::AboveFloor)) > 0;
        self.ladders().filter(|l| l.traced_units > 0).filter(computes).filter(recorded)
    }

    /// The ladder of a question.
    pub(in crate::findings) fn ladder(&self, question: Question) -> Option<&Ladder> {
        self.all_ladders().find(|l| l.question == question)
    }

    /// The measured ladder of the judged calls.
    pub(in crate::findings) fn judged(&self) -> Option<&Ladder> {
        self.measured().find(|l| l.question == self.calls.question)
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

    /// The table whose look-ups of rows slept uninterruptibly the longest in calls of a phase, and the share of the
    /// look-ups in all tables in all such sleep; `None` without any.
    pub(in crate::findings) fn blocked_in_tables(&self, phase: Phase) -> Option<(&str, f64)> {
        let replay = &self.analysis.replay;
        let times = replay.class_times.get(phase.index())?;
        let (mut all, mut tables): (u64, BTreeMap<Text, u64>) = (0, BTreeMap::new());
        for (class, times) in replay.classes.iter().zip(times).filter(|(_, times)| times.blocked_ns > 0) {
            all = all.saturating_add(times.blocked_ns);
            if let Some(table) = class.table {
                *tables.entry(table).or_default() += times.blocked_ns;
            }
        }
        let (most, _) = tables.iter().max_by_key(|(_, ns)| **ns)?;
        let share = tables.values().sum::<u64>() as f64 / all as f64;
        Some((self.model.texts.get(*most), share))
    }

    /// The ladder of the start of the program, if most of it was recorded: its samples show which programs had the CPUs.
    fn start_up(&self) -> Option<&Ladder> {
        let recorded = |l: &&Ladder| l.share(l.sum(|kind| kind == StepKind::NotRecorded)) < 0.5;
        self.ladder(Question::StartUp).filter(recorded)
    }

    /// The causes of a rule in all ladders with recorded operators and in that of the start, the most time first;
    /// none without the scheduler level.
    pub(in crate::findings) fn caused(&self, rule: &Rule) -> Vec<Caused<'_>> {
        if !self.model.sched.recorded {
            return Vec::new();
        }
        let ladders = self.measured().chain(self.start_up());
        let mut all: Vec<_> = ladders.map(|ladder| caused(ladder, rule)).collect();
        all.sort_by_key(|c| std::cmp::Reverse(c.ns));
        all
    }

    /// The same of the question that the evidence is about: of those in which the causes matter, the one with the
    /// most time; if there is none, of all.
    pub(in crate::findings) fn most_caused(&self, rule: &Rule) -> Option<Caused<'_>> {
        let caused = self.caused(rule);
        caused.iter().find(|c| c.share >= IGNORED).or(caused.first()).copied()
    }

    /// The verdict on the causes of a rule: found from [`NAMED`] of a question's time on, ruled out
    /// below [`IGNORED`] of every question's.
    pub(in crate::findings) fn judge_caused(
        &self,
        rule: &Rule,
        more: Vec<Evidence>,
        remedy: Remedy,
        confidence: Confidence,
    ) -> Verdict {
        let caused = self.caused(rule);
        let most = caused.iter().map(|c| c.share).fold(0.0, f64::max);
        let Some(main) = self.most_caused(rule) else {
            return Verdict::NotEnoughData(vec![if self.model.sched.recorded {
                Requirement::TracedCalls(1)
            } else {
                Requirement::Level(SCHED)
            }]);
        };
        let mut evidence = lost(&main);
        evidence.extend(more);
        match most {
            share if share < IGNORED => self.absent(rule, evidence),
            share if share < NAMED => Verdict::Noisy(evidence),
            _ => {
                let gains = caused.iter().filter(|c| c.share >= IGNORED).map(|c| c.gain).collect();
                Verdict::Found(Found { evidence, remedy, gains, confidence })
            }
        }
    }

    /// The verdict on a rule whose causes were measured and are below [`IGNORED`]: they may have more time of a
    /// question, of what no record explains and of calls whose operators are unknown. Questions that hardly
    /// take time in this session do not matter.
    pub(in crate::findings) fn absent(&self, rule: &Rule, evidence: Vec<Evidence>) -> Verdict {
        let least = self.session_ns() as f64 * IGNORED;
        let hidden = |l: &Ladder| l.sum(|k| matches!(k, StepKind::NotRecorded | StepKind::Unexplained));
        let at_most = |l: &Ladder| caused(l, rule).share + l.share(hidden(l));
        match self.ladders().filter(|l| l.measured_ns as f64 >= least).all(|l| at_most(l) < IGNORED) {
            true => Verdict::RuledOut(evidence),
            false => Verdict::NotEnoughData(vec![Requirement::Explained]),
        }
    }

    /// The same with what the remedy saves at the start of the program, which is enough for a finding.
    pub(in crate::findings) fn judge_caused_and_start(
        &self,
        rule: &Rule,
        evidence: Vec<Evidence>,
        remedy: Remedy,
        start: Option<Gain>,
    ) -> Verdict {
        let confidence = Confidence::High;
        match (self.judge_caused(rule, evidence.clone(), remedy.clone(), confidence), start) {
            (Verdict::Found(mut found), start) => {
                found.gains.extend(start);
                Verdict::Found(found)
            }
            (_, Some(start)) => Verdict::Found(Found { evidence, remedy, gains: vec![start], confidence }),
            (other, None) => other,
        }
    }

    /// What a remedy changes, question by question, the largest effect on the session first.
    pub(in crate::findings) fn effects(&self, rule: &Rule, gains: &[Gain]) -> Vec<Effect> {
        let of = |question: Question| {
            let sequences = self.headline.sequences.filter(|_| question == Question::Decode);
            let gain = gains.iter().find(|g| g.question == question).copied();
            let gain = gain.map(|g| sequences.map_or(g, |n| g.of_sequences(n)));
            let ladder = self.ladder(question);
            let judged = |l: &&Ladder| {
                let mut judged = self.ladders().chain(self.start_up());
                self.model.sched.recorded && judged.any(|judged| judged.question == l.question)
            };
            let caused = ladder.filter(judged).map(|l| caused(l, rule));
            let observed = caused.filter(|c| c.share >= IGNORED);
            if gain.is_none() && observed.is_none() {
                return None;
            }
            let units = ladder.map_or_else(|| self.units_without_ladder(question), |l| l.units).max(1);
            let steps = ladder.map_or(&[][..], |l| &l.steps[..]);
            let claimed =
                (0_u64..).zip(steps).filter(|(_, s)| (rule.steps)(question, s.kind)).map(|(i, _)| i);
            let whole_ns = gain.map_or(self.calls.unit_ns, |g| g.whole_ns());
            let unit_ns = ladder.map_or(whole_ns, Ladder::unit_ns).max(1);
            // Copies of states before the first call of a request are in no question's time.
            let estimate = gain.map_or(0.0, |g| (g.likely_ns as f64 / unit_ns as f64).min(1.0));
            Some(Effect {
                question,
                share: observed.map_or(estimate, |c| c.share),
                observed: observed.is_some(),
                ns: gain.map_or_else(|| observed.map_or(0, |c| c.ns), |g| g.likely_ns.saturating_mul(units)),
                gain,
                steps: claimed.collect(),
            })
        };
        let mut effects: Vec<Effect> = Question::ALL.into_iter().filter_map(of).collect();
        effects.sort_by_key(|e| (std::cmp::Reverse(e.gain.is_some()), std::cmp::Reverse(e.ns)));
        effects
    }

    /// Requests that share their calls have no ladder of the first token.
    fn units_without_ladder(&self, question: Question) -> u64 {
        let answered = |r: &&Request| r.ttft_ns.is_some() && r.generated > 0;
        match question {
            Question::FirstToken => self.analysis.token.requests.iter().filter(answered).count() as u64,
            _ => self.calls.units,
        }
    }

    /// Time of all questions, ns.
    pub(in crate::findings) fn session_ns(&self) -> u64 {
        self.ladders().map(|l| l.measured_ns).fold(0, u64::saturating_add)
    }

    /// A rule whose other data exclude its cause, while the ladder shows delays of that kind: one
    /// of the rules that were `found` explains them, or what they come from was not recorded. The data of the
    /// rule are no measure of these delays, so they are not inconclusive.
    pub(in crate::findings) fn checked(
        &self,
        rule: &Rule,
        verdict: Verdict,
        found: &[&'static Rule],
    ) -> Verdict {
        let Verdict::RuledOut(evidence) = verdict else { return verdict };
        let caused = self.caused(rule);
        match caused.iter().map(|c| c.share).fold(0.0, f64::max) {
            share if share < IGNORED => Verdict::RuledOut(evidence),
            _ if found.iter().any(|other| self.share_a_cause(rule, other)) => Verdict::DoesNotApply,
            _ => Verdict::NotEnoughData(vec![Requirement::Culprit]),
        }
    }

    fn share_a_cause(&self, one: &Rule, other: &Rule) -> bool {
        let steps = self.measured().flat_map(|l| l.steps.iter().map(|s| (l.question, s.kind)));
        let mut causes = steps.filter(|(_, kind)| matches!(kind, StepKind::Caused(_)));
        causes.any(|(question, kind)| (one.steps)(question, kind) && (other.steps)(question, kind))
    }
}

fn lost(caused: &Caused<'_>) -> Vec<Evidence> {
    vec![
        Evidence::per(caused.ladder.question, "lost_ns", Value::Nanoseconds(caused.unit_ns()), Place::Budget),
        Evidence::new("lost_share", Value::Share(caused.share), Place::Budget),
    ]
}

fn caused<'a>(ladder: &'a Ladder, rule: &Rule) -> Caused<'a> {
    let start_up = ladder.question == Question::StartUp;
    // What a program sleeps for at its start has steps and rules of its own, and its threads do not compute yet.
    let of = |kind: StepKind| match kind {
        StepKind::Caused(cause) => (!start_up || of_others(cause)) && (rule.steps)(ladder.question, kind),
        _ => false,
    };
    let steps = || ladder.steps.iter().filter(|s| of(s.kind));
    let ns: u64 = steps().map(|s| u64::try_from(s.ns).unwrap_or(0)).sum();
    let gain = if start_up {
        // One thread waits, so what it waited is what it would save; another start differs.
        let waited = steps().filter_map(|s| s.gain).fold(ladder::Gain::default(), ladder::Gain::plus);
        Gain::of_ladder(ladder, waited)
    } else {
        Gain::per_unit(ladder, ladder.removal.without(|cause| of(StepKind::Caused(cause))))
    };
    Caused {
        ladder,
        ns,
        share: if ladder.measured_ns == 0 { 0.0 } else { ns as f64 / ladder.measured_ns as f64 },
        gain,
    }
}

/// Somebody else had the CPU.
const fn of_others(cause: Cause) -> bool {
    matches!(cause, Cause::Program(_) | Cause::Throttled | Cause::Steal | Cause::Interrupts)
}
