//! The first prompt waits for pages of the model.

use super::super::case::SCHED;
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Gain, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::{self, Ladder, NAMED, Question, StepKind};
use crate::replay::Cause;

pub(super) const RULE: Rule = Rule {
    code: "cold_start",
    topic: "cold start",
    title: "The prompt waits for the model to be read from storage",
    question: "Why is the first answer late?",
    condition: "Major page faults, and threads slept uninterruptibly in a prompt, or the program slept at its start while it read from storage: at least 3 % of the time.",
    formula: "The replay without that sleep. In prompts also without the kernel's own work for the pages: its CPU time for the process in these calls, less the probes; at the start its work while it read belongs to the upper end.",
    remedy: "Read the file before it is needed (cat model.gguf > /dev/null, a warm-up call), keep it in memory (--load-mode mlock; older builds: --mlock), or use a faster disk.",
    source: "llama.cpp #91 (mmap: the first prompt reads the weights), #1876",
    questions: ANY,
    requires: &[
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Level(SCHED),
        Requirement::Fact("faults.major"),
    ],
    steps: |question, kind| match kind {
        StepKind::Caused(Cause::Blocked) => question != Question::Decode,
        // Reading takes CPU time of the kernel, too.
        StepKind::PageIn | StepKind::PageFaults => true,
        _ => false,
    },
    judge,
};

fn judge(case: &Case<'_>) -> Verdict {
    let process = case.process();
    let Some(faults) = process.and_then(|p| p.major_faults.value()).map(|rise| rise.whole) else {
        return Verdict::NotEnoughData(vec![Requirement::Fact("faults.major")]);
    };
    let at_start = case.ladder(Question::StartUp);
    // The facts begin when the agent first saw the process, the ladder of the start begins at its exec.
    let start = at_start.and_then(|ladder| ladder.start_up);
    let start_faults = start.map_or(0, |start| start.major_faults);
    let read = process.and_then(|p| p.storage_read_bytes.value()).map(|rise| rise.whole);
    // `None` is less than any number.
    let read = read.max(start.map(|start| start.read_bytes));
    let mut evidence =
        vec![Evidence::new("major_faults", Value::Count(faults.max(start_faults)), Place::Conditions)];
    evidence.extend(read.map(|n| Evidence::new("read_from_storage", Value::Bytes(n), Place::Conditions)));
    evidence.extend(case.most_read());
    let page_in = at_start.map(|ladder| ladder.sum(|kind| kind == StepKind::PageIn));
    let gain = at_start.zip(page_in).and_then(|(ladder, ns)| start_up(ladder, ns));
    if faults == 0 && gain.is_none() {
        return Verdict::RuledOut(evidence);
    }
    match case.judge_caused_and_start(&RULE, evidence, Remedy::WarmCache, gain) {
        // The pages may have been read before the first call, and the start was not recorded.
        Verdict::RuledOut(_) if at_start.is_none() => Verdict::NotEnoughData(vec![Requirement::Culprit]),
        verdict => verdict,
    }
}

/// What a warm page cache saves at the start, if that is enough for a finding. The thread slept while
/// the file was read: all of that goes away, and some of what the kernel computed meanwhile, which is
/// that of reading and of page faults.
fn start_up(ladder: &Ladder, page_in_ns: i64) -> Option<Gain> {
    let low_ns = u64::try_from(page_in_ns).ok().filter(|_| ladder.share(page_in_ns) >= NAMED)?;
    let faults = u64::try_from(ladder.sum(|kind| kind == StepKind::PageFaults)).unwrap_or(0);
    let reading = ladder.start_up.map_or(0, |s| s.reading_ns.saturating_sub(low_ns));
    let high_ns = low_ns.saturating_add(faults.min(reading));
    let likely_ns = u64::midpoint(low_ns, high_ns);
    Some(Gain::of_ladder(ladder, ladder::Gain { low_ns, likely_ns, high_ns }))
}
