//! Threads and CPUs: their number, which CPUs, and other tasks on them.

use std::ops::Range;

use profinfer_analysis::Analysis;
use profinfer_analysis::compare::WARM_UP;
use profinfer_analysis::findings::{Confidence, Remedy, Requirement, Value};
use profinfer_analysis::ladder::Question;
use profinfer_analysis::phase::Phase;
use profinfer_analysis::tune::{PRACTICAL, Prediction};
use profinfer_trace::model::*;

use super::Answer::{Found, NotKnown, RuledOut, Silent};
use super::memory::ceiling;
use super::{
    PROCESS, answer, confidence, delayed_start, evidence, findings, number, remedy, rises, tell, text,
};
use crate::models::planted::{DELAY, Plant, TOKENS, each, state, taken, tokens, turn};
use crate::models::rows::ceiling as ceiling_of;
use crate::models::small::PID;

fn allowed(cpus: &str) -> Model {
    let mut m = tokens(0, 0, 0, false);
    m.session.cpus = 4;
    text(&mut m, PROCESS, "affinity", cpus);
    m
}

#[test]
fn more_threads_than_cpus() {
    let m = allowed("0");
    // Without the scheduler level, nobody knows how long they waited for each other.
    assert_eq!(answer(&m, "too_many_threads"), Found(0, 0));
    assert_eq!(remedy(&m, "too_many_threads"), Remedy::Threads { threads: 1 });
    assert_eq!(evidence(&m, "too_many_threads", "cpus"), Some(Value::Cpus(vec![0])));
    assert_eq!(answer(&allowed("0-1"), "too_many_threads"), RuledOut);
    // OpenMP binds each thread to a different CPU, including the first one, whose mask is the
    // process's.
    let mut bound = allowed("0");
    text(&mut bound, FactScope::Thread(101), "affinity", "1");
    assert_eq!(answer(&bound, "too_many_threads"), RuledOut);
    // A mask may name more CPUs than are online.
    let mut offline = allowed("0-1");
    number(&mut offline, FactScope::Cpu(0), "cpu.online", 1);
    number(&mut offline, FactScope::Cpu(1), "cpu.online", 0);
    assert_eq!(answer(&offline, "too_many_threads"), Found(0, 0));
    // In each token the worker waits two microseconds for the CPU of the other thread.
    let mut waits = tokens(DELAY, 0, 0, true);
    waits.session.cpus = 4;
    text(&mut waits, PROCESS, "affinity", "0");
    engines_task(&mut waits);
    // Of these 2000 ns, 100 remain: one thread does the work of both in that operator. The time
    // without the wait, 550 ns, is known to 8.4 %: 3 % and 7.8 %, added as squares; another session's
    // wait, of 1900 ns, to 7.8 %.
    assert_eq!(answer(&waits, "too_many_threads"), Found(1_745, 1_946));
    text(&mut waits, PROCESS, "affinity", "0-1");
    assert_eq!(answer(&waits, "too_many_threads"), RuledOut);
    assert_eq!(answer(&waits, "shared_cpu"), Found(1_840, 2_038));
    let affinity = Requirement::Fact("affinity");
    assert_eq!(answer(&tokens(0, 0, 0, false), "too_many_threads"), NotKnown(vec![affinity]));
}

/// The engine's other thread has the CPU for which the worker waits in each token.
fn engines_task(m: &mut Model) {
    let none = Text::default();
    m.sched.tasks.push(Task { tid: 100, pid: 7, name: none, command: none, cgroup: none });
    wait_for_task(m);
}

/// The worker waits in each token for the first task.
fn wait_for_task(m: &mut Model) {
    for call in 0..TOKENS as usize {
        let at = m.llama_calls.start_ns[call] + 50;
        state(m, 1, at, DELAY, ThreadState::Preempted);
        m.sched.turns.cpu.push(1);
        m.sched.turns.start_ns.push(at);
        m.sched.turns.duration_ns.push(DELAY);
        m.sched.turns.task.push(TaskId(0));
    }
}

#[test]
fn fewer_threads_than_cpus() {
    let m = allowed("0-3");
    // Half of 137 ns of work at most. Without ceilings nothing shows that the memory allows it.
    assert_eq!(answer(&m, "few_threads"), Found(0, 69));
    assert_eq!(remedy(&m, "few_threads"), Remedy::Threads { threads: 4 });
    assert_eq!(answer(&allowed("0-1"), "few_threads"), RuledOut);
    // Slower CPUs do not count, nor do more than a quota allows.
    let mut slow = allowed("0-3");
    for (cpu, capacity) in [(0, 1024), (1, 1024), (2, 500), (3, 500)] {
        number(&mut slow, FactScope::Cpu(cpu), "cpu.capacity", capacity);
    }
    let mut quota = allowed("0-3");
    number(&mut quota, PROCESS, "cgroup.quota_us", 200_000);
    number(&mut quota, PROCESS, "cgroup.period_us", 100_000);
    // 41.6 GB/s are read.
    let mut full = allowed("0-3");
    ceiling(&mut full, CeilingKind::Read, 52_000_000_000);
    assert_eq!([slow, quota, full].map(|m| answer(&m, "few_threads")), [RuledOut, RuledOut, RuledOut]);
}

/// With the ceilings of as many threads, a token with them is what `tune` predicts.
#[test]
fn more_threads_save_what_their_ceilings_allow() {
    let mut m = allowed("0-3");
    for (cpus, factor) in [(&[0, 1][..], 1), (&[0, 1, 2, 3], 2)] {
        for kind in [CeilingKind::Read, CeilingKind::Int8, CeilingKind::F32] {
            m.ceilings.push(ceiling_of(kind, cpus, 100_000_000_000 * factor));
        }
        m.ceilings.push(ceiling_of(CeilingKind::Barrier, cpus, 10));
    }
    let tuned = Prediction::compute(&m, PRACTICAL, WARM_UP).unwrap();
    let of = |threads: u32| tuned.settings.iter().find(|s| s.threads == threads).unwrap();
    let saved = (tuned.makeup.token_ns - of(4).token_ns).round() as u64;
    let f = findings(&m);
    let found = f.found.iter().find(|f| f.rule.code == "few_threads").unwrap();
    let gain = found.gain().unwrap();
    assert_eq!((gain.question, gain.likely_ns), (Question::Decode, saved));
    // Twice the rate halves the 137 ns of work at most.
    assert!((20..=69).contains(&saved) && gain.low_ns < saved && saved < gain.high_ns, "{gain:?}");
}

/// In each token the worker is runnable for two microseconds while its CPU is idle.
fn throttled(periods: u64) -> Model {
    let mut m = tokens(DELAY, 0, 0, true);
    let text = Text::default();
    m.sched.tasks.push(Task { tid: 0, pid: 0, name: text, command: text, cgroup: text });
    wait_for_task(&mut m);
    number(&mut m, PROCESS, "cgroup.quota_us", 150_000);
    number(&mut m, PROCESS, "cgroup.period_us", 100_000);
    rises(&mut m, "cgroup.periods", 20);
    rises(&mut m, "cgroup.throttled_periods", periods);
    m
}

#[test]
fn a_quota() {
    let m = throttled(7);
    assert_eq!(answer(&m, "quota"), Found(1_840, 2_038));
    assert_eq!(remedy(&m, "quota"), Remedy::Quota { cpus: 2, threads: 1 });
    assert_eq!(evidence(&m, "quota", "quota"), Some(Value::MilliCpus(1_500)));
    assert_eq!(evidence(&m, "quota", "throttled_periods"), Some(Value::Count(7)));
    assert_eq!(evidence(&m, "quota", "lost_ns"), Some(Value::Nanoseconds(DELAY)));
    // The CPU was idle while a thread was ready, and it was not the quota.
    assert_eq!(answer(&throttled(0), "quota"), NotKnown(vec![Requirement::Culprit]));
    // Periods were throttled, but not while tokens were decoded.
    let mut before = throttled(7);
    before.sched.states = ThreadStates::default();
    assert_eq!(answer(&before, "quota"), RuledOut);
    let fact = Requirement::Fact("cgroup.throttled_periods");
    assert_eq!(answer(&tokens(0, 0, 0, false), "quota"), NotKnown(vec![fact]));
}

/// The worker has this much more work, on a CPU of half the speed.
fn uneven(work: u64, capacity: u64) -> Model {
    late(work, 0, capacity)
}

/// It also begins this much later, and the main thread waits for it inside its first operator.
fn late(work: u64, late: u64, capacity: u64) -> Model {
    let mut m = tokens(work, late, 0, true);
    for i in 0..m.spans.len() {
        if m.spans.thread[i] == ThreadId(0) && m.spans.work_ns[i] == 100 {
            m.spans.work_ns[i] += late;
            m.spans.wait_ns[i] -= u32::try_from(late).unwrap();
        }
    }
    for (cpu, capacity) in [(0, 1024), (1, capacity)] {
        number(&mut m, FactScope::Cpu(cpu), "cpu.capacity", capacity);
    }
    m
}

#[test]
fn cores_of_two_speeds() {
    let m = uneven(400, 512);
    // The slow one takes 540 ns and the fast one 140, so 3.86 times as long, and 500 instead of 100 in
    // the type of operator where it is slowest. On the fast one alone both take 140 + 540 / 3.86 = 280 of
    // the 540, or 140 + 540 / 5 = 248, which is 260 or 292 less; with 7.8 % of these and
    // of the other 574 ns, added as squares.
    assert_eq!(answer(&m, "mixed_cores"), Found(224, 328));
    assert_eq!(remedy(&m, "mixed_cores"), Remedy::Pin { threads: 1, cpus: vec![0] });
    assert_eq!(evidence(&m, "mixed_cores", "slowest_to_fastest"), Some(Value::Share(0.5)));
    assert_eq!(evidence(&m, "mixed_cores", "wait_slower_core_ns"), Some(Value::Nanoseconds(200)));
    let others = [uneven(400, 1024), uneven(10, 512)];
    assert_eq!(others.map(|m| answer(&m, "mixed_cores")), [RuledOut, RuledOut]);
    let capacity = Requirement::Fact("cpu.capacity");
    assert_eq!(answer(&tokens(0, 0, 0, false), "mixed_cores"), NotKnown(vec![capacity]));
}

/// The same, and the slow thread begins 200 ns later: a product with quantized weights, so the fast one waits for it
/// inside. Both together take 200 ns more, and the fast one alone as long as before.
#[test]
fn a_slow_core_that_begins_late() {
    let m = late(400, 200, 512);
    assert_eq!(answer(&m, "mixed_cores"), Found(416, 536));
    assert_eq!(confidence(&m, "mixed_cores"), Confidence::High);
}

#[test]
fn threads_that_wander() {
    let mut m = tokens(0, 0, 0, false);
    assert_eq!(answer(&m, "migrations"), RuledOut);
    // The worker is on another CPU in each token: 38 moves in 39 tokens.
    for i in 0..m.spans.len() {
        if m.spans.thread[i] == ThreadId(1) {
            m.spans.cpu[i] = Some(1 + (i / 6 % 2) as u16);
        }
    }
    assert_eq!((answer(&m, "migrations"), remedy(&m, "migrations")), (Found(0, 0), Remedy::PinThreads));
    assert_eq!(evidence(&m, "migrations", "moves_per_token"), Some(Value::Mean(38.0 / 39.0)));
    assert_eq!(evidence(&m, "migrations", "cpus"), Some(Value::Cpus(vec![0, 1, 2])));
}

/// Direct probes on engines with musl or bionic record no CPU. Then there is no verdict about CPUs,
/// neither that threads migrate nor that they do not.
#[test]
fn cpus_that_are_not_known() {
    let mut m = tokens(0, 0, 0, false);
    assert_eq!(answer(&m, "migrations"), RuledOut);
    // A single span without a CPU is enough: it may have been anywhere.
    let i = m.spans.len() / 2;
    m.spans.cpu[i] = None;
    let moved = |m: &Model| Analysis::compute(m).thread.iter().map(|t| t.migrated).collect::<Vec<_>>();
    assert_eq!(moved(&m).iter().filter(|moved| moved.is_none()).count(), 1);
    m.spans.cpu.fill(None);
    assert!(
        moved(&m).iter().zip(&Analysis::compute(&m).thread).all(|(moved, t)| moved.is_none() || t.spans == 0)
    );
    for code in ["migrations", "mixed_cores", "clock_limit"] {
        let NotKnown(missing) = answer(&m, code) else { panic!("{code}: {:?}", answer(&m, code)) };
        assert!(missing.contains(&Requirement::Cpus), "{code}: {missing:?}");
    }
    let roofs = Analysis::compute(&m).roof;
    let roof = roofs.phase(Phase::Decode);
    assert!(roof.cpus.is_empty() && roof.threads > 0);
}

/// A third thread of the engine, without operators, runs all the time.
fn with_idle_thread() -> Model {
    let mut m = tokens(0, 0, 0, false);
    let idle = m.threads.find_or_add(102);
    m.threads.describe(idle, PID, Text::default());
    let (from, to) = (m.llama_calls.start_ns[0], *m.llama_calls.start_ns.last().unwrap());
    state(&mut m, 2, from, to - from, ThreadState::Running);
    m
}

#[test]
fn threads_that_spin_and_compute_nothing() {
    let m = with_idle_thread();
    // It has a CPU that nobody waits for: what that costs is not known.
    assert_eq!((answer(&m, "idle_team"), remedy(&m, "idle_team")), (Found(0, 0), Remedy::NoIdleTeam));
    // The worker waits for it in each token.
    let waits = |mut m: Model| {
        let none = Text::default();
        m.sched.tasks.push(Task { tid: 102, pid: PID, name: none, command: none, cgroup: none });
        wait_for_task(&mut m);
        m
    };
    let long = waits(tokens(DELAY, 0, 0, true));
    assert_eq!(
        (answer(&long, "idle_team"), remedy(&long, "idle_team")),
        (Found(1_840, 2_038), Remedy::NoIdleTeam)
    );
    assert_eq!(answer(&long, "shared_cpu"), RuledOut);
    // For a third of a token, and it has no part in other calls: it works for the application.
    let short = waits(each(|_| Plant { work: DELAY, before: 4_000, ..Plant::default() }));
    assert_eq!(
        (answer(&short, "idle_team"), remedy(&short, "idle_team")),
        (Found(0, 0), Remedy::LessApplicationWork)
    );
    let mut quiet = tokens(0, 0, 0, false);
    quiet.sched.recorded = true;
    assert_eq!(answer(&quiet, "idle_team"), RuledOut);
}

#[test]
fn a_hypervisor_that_takes_a_cpu() {
    let stolen = |share: f64, times: u64| {
        let mut m = tokens(0, 0, 0, false);
        m.sched.recorded = true;
        let (from, to) = (m.llama_calls.start_ns[0], *m.llama_calls.start_ns.last().unwrap() + 500);
        let to = from + (to - from) * times;
        let ns = ((to - from) as f64 * share) as u64;
        for (cpu, last) in [(0, 1_000), (1, 1_000 + ns)] {
            for (at, value) in [(from, 1_000), (to, last)] {
                tell(&mut m, at, FactScope::Cpu(cpu), "cpu.steal_ns", FactValue::Number(value));
            }
        }
        m
    };
    let m = stolen(0.2, 1);
    let Some(Value::Share(lost)) = evidence(&m, "steal", "lost_share") else { panic!() };
    assert!((lost - 0.2).abs() < 0.01, "{lost}");
    let Found(low, high) = answer(&m, "steal") else { panic!() };
    assert!(low <= 90 && 90 <= high && low > 55 && high < 125, "{low} to {high}");
    assert_eq!(answer(&stolen(0.01, 1), "steal"), RuledOut);
    // The calls have a third of the time between two readings, or a twentieth: they may have lost all or none.
    assert!(matches!(answer(&stolen(0.2, 3), "steal"), Found(..)));
    assert_eq!(answer(&stolen(0.2, 20), "steal"), NotKnown(vec![Requirement::StealReadings]));
}

/// From the twentieth token on each takes 1000 ns more; a reading shows other CPUs later.
#[test]
fn a_change_in_the_middle() {
    let changed = |to: &str| {
        let mut m = each(|token| Plant { work: if token >= 20 { 1_000 } else { 0 }, ..Plant::default() });
        text(&mut m, PROCESS, "affinity", "0-1");
        let (at, cpus) = (m.llama_calls.start_ns[25], m.texts.intern(to));
        tell(&mut m, at, PROCESS, "affinity", FactValue::Text(cpus));
        m
    };
    let m = changed("0");
    // 19 tokens of 450 ns and 20 of 1450: 962 in the mean. Other sessions differ by 7.8 % of 450, and of 512.
    assert_eq!(answer(&m, "regimes"), Found(459, 565));
    assert_eq!(evidence(&m, "regimes", "time_ns_after"), Some(Value::Nanoseconds(1_450)));
    let values = ["value_before", "value_after"].map(|key| evidence(&m, "regimes", key));
    assert_eq!(values, [vec![0, 1], vec![0]].map(|cpus| Some(Value::Cpus(cpus))));
    // Two threads on one CPU are what the change made of them.
    assert_eq!(answer(&m, "too_many_threads"), Silent);
    // Without a record of what changed, the operators' speed did, and nothing is promised.
    assert_eq!(answer(&changed("0-1"), "regimes"), Found(0, 0));
    let what = evidence(&changed("0-1"), "regimes", "changed");
    assert_eq!(what, Some(Value::Name("operator_speed".to_owned())));
}

/// A group's quota and clamp are lowered in the middle, or the process is moved to a group with others.
#[test]
fn limits_of_the_group_that_change_in_the_middle() {
    let changed = |facts: &[(&str, Option<u64>, u64)]| {
        let mut m = each(|token| Plant { work: if token >= 20 { 1_000 } else { 0 }, ..Plant::default() });
        let at = m.llama_calls.start_ns[25];
        for (name, before, after) in facts {
            match before {
                Some(before) => number(&mut m, PROCESS, name, *before),
                None => text(&mut m, PROCESS, name, "none"),
            }
            tell(&mut m, at, PROCESS, name, FactValue::Number(*after));
        }
        ["changed", "value_before", "value_after"].map(|key| evidence(&m, "regimes", key))
    };
    let name = |name: &str| Some(Value::Name(name.to_owned()));
    let period = |to| ("cgroup.period_us", Some(100_000), to);
    assert_eq!(
        changed(&[("cgroup.quota_us", Some(150_000), 50_000), period(100_000)]),
        [name("cgroup.quota_us"), Some(Value::MilliCpus(1_500)), Some(Value::MilliCpus(500))]
    );
    // The same time in longer periods.
    assert_eq!(
        changed(&[("cgroup.quota_us", Some(50_000), 50_000), period(200_000)])[1..],
        [500, 250].map(|n| Some(Value::MilliCpus(n)))
    );
    assert_eq!(
        changed(&[("cgroup.uclamp_max", None, 3_050)]),
        [name("cgroup.uclamp_max"), name("none"), Some(Value::Share(0.305))]
    );
    // A limit that is raised or stays as it is makes nothing slower.
    let raised = [("cgroup.quota_us", Some(50_000), 90_000), period(100_000)];
    let same = [("cgroup.quota_us", Some(50_000), 50_000), period(100_000)];
    for facts in [raised, same] {
        assert_eq!(changed(&facts), [name("operator_speed"), None, None]);
    }
}

/// Tokens take longer from the twentieth on. A reading finds a CPU offline, which comes back later.
#[test]
fn a_cpu_that_goes_offline() {
    let with = |offline: bool| {
        let mut m = each(|token| Plant { work: if token >= 20 { 1_000 } else { 0 }, ..Plant::default() });
        text(&mut m, PROCESS, "affinity", "0-1");
        for cpu in [0, 1] {
            number(&mut m, FactScope::Cpu(cpu), "cpu.online", 1);
        }
        let at = m.llama_calls.start_ns[25];
        tell(&mut m, at, FactScope::Cpu(1), "cpu.online", FactValue::Number(u64::from(!offline)));
        let last = *m.llama_calls.start_ns.last().unwrap();
        tell(&mut m, last, FactScope::Cpu(1), "cpu.online", FactValue::Number(1));
        ["changed", "cpus", "value_after"].map(|key| evidence(&m, "regimes", key))
    };
    let name = |name: &str| Some(Value::Name(name.to_owned()));
    assert_eq!(with(true), [name("cpu.online"), Some(Value::Cpus(vec![1])), Some(Value::Count(0))]);
    assert_eq!(with(false), [name("operator_speed"), None, None]);
}

/// A program has the worker's CPU in some of the tokens.
#[test]
fn a_program_that_came_in_the_middle() {
    let during = |tokens: Range<u64>| {
        let work = |token| if tokens.contains(&token) { DELAY } else { 0 };
        let mut m = each(|token| Plant { work: work(token), ..Plant::default() });
        m.sched.recorded = true;
        for token in tokens {
            let at = m.llama_calls.start_ns[token as usize] + 50;
            taken(&mut m, at, DELAY);
        }
        m
    };
    let m = during(20..TOKENS);
    // The gain is that of the finding about the program.
    assert_eq!(answer(&m, "regimes"), Found(0, 0));
    assert_eq!(evidence(&m, "regimes", "changed"), Some(Value::Name("hog".to_owned())));
    assert_eq!(evidence(&m, "regimes", "time_ns_before"), Some(Value::Nanoseconds(450)));
    assert_eq!(evidence(&m, "regimes", "time_ns_after"), Some(Value::Nanoseconds(2_450)));
    // The token begins where the one before ends.
    let at = m.llama_calls.start_ns[19] + m.llama_calls.duration_ns[19] - m.session.start_ns;
    assert_eq!(evidence(&m, "regimes", "changed_at"), Some(Value::Nanoseconds(at)));
    // From the start; too short to tell; it goes again.
    for tokens in [0..TOKENS, 35..TOKENS, 12..24] {
        assert_eq!(answer(&during(tokens.clone()), "regimes"), Silent, "{tokens:?}");
    }
}

/// A program that has the CPU of the main thread for 500 of the 1,000 ns before the first call, and nothing later.
/// Another start differs by 7.8 % of it.
#[test]
fn a_program_that_delays_the_start() {
    let mut m = tokens(0, 0, 0, false);
    m.session.cpus = 3;
    delayed_start(&mut m, ThreadState::Preempted);
    let (none, name) = (Text::default(), m.texts.intern("hog"));
    m.sched.tasks.push(Task { tid: 4242, pid: 4242, name, command: name, cgroup: none });
    let cpu = m.threads.find_or_add(PID).0 as u16;
    turn(&mut m, cpu, 200, 500);
    let f = findings(&m);
    let found = f.found.iter().find(|f| f.rule.code == "preempted").unwrap();
    let [effect] = &found.effects[..] else { panic!("{:?}", found.effects) };
    assert_eq!((effect.question, effect.observed, effect.ns), (Question::StartUp, true, 500));
    assert_eq!(effect.gain.map(|g| (g.low_ns, g.likely_ns, g.high_ns)), Some((461, 500, 539)));
    assert_eq!(remedy(&m, "preempted"), Remedy::MoveTasks { tasks: vec![(4242, "hog".to_owned())] });
    // Sleep at the start is no sleep inside operators.
    assert_ne!(answer(&m, "asleep"), Found(500, 500));
}

/// The main thread sleeps for 500 of the 1,000 ns before the first call, and a program has the CPU of another
/// thread of the process for 350 of them.
#[test]
fn a_program_that_delays_a_thread_for_which_the_start_sleeps() {
    let mut m = tokens(0, 0, 0, false);
    m.session.cpus = 3;
    delayed_start(&mut m, ThreadState::Sleeping);
    taken(&mut m, 250, 350);
    // With a command line it is no thread of the kernel.
    m.sched.tasks[0].command = m.sched.tasks[0].name;
    let f = findings(&m);
    let found = f.found.iter().find(|f| f.rule.code == "preempted").unwrap();
    let [effect] = &found.effects[..] else { panic!("{:?}", found.effects) };
    assert_eq!((effect.question, effect.observed, effect.ns), (Question::StartUp, true, 350));
    assert_eq!(remedy(&m, "preempted"), Remedy::MoveTasks { tasks: vec![(4242, "hog".to_owned())] });
}
