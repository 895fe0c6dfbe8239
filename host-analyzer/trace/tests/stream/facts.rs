//! Facts: they arrive in order of time, become conditions, and no value breaks the views.

use profinfer_analysis::Analysis;
use profinfer_analysis::fact::Conditions;
use profinfer_analysis::fact::reading::{Course, Limit, Reading, Rise};
use profinfer_trace::model::{DamageKind, FactScope, FactValue, Model};

use crate::{read, write_views};
use profinfer_trace::test_support::bytes::{Fields, frame, hello};
use profinfer_trace::test_support::records::Value::{Absent, Number, Text};
use profinfer_trace::test_support::records::{self, Record, Scope, fact};
use profinfer_trace::test_support::truth::Decode;

const S: u64 = 1_000_000_000;
const PROCESS: Scope = Scope::Process(7);

fn model(middle: &[Record]) -> Model {
    let mut all = vec![records::session(S)];
    all.extend(middle.iter().cloned());
    all.push(records::end(20 * S, 0, all.len() as u32));
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(&all) {
        bytes.extend(frame(*kind, seq, payload));
    }
    read(&bytes, 7).unwrap()
}

fn conditions(middle: &[Record]) -> Conditions {
    Analysis::compute(&model(middle)).conditions
}

fn decode(id: u32, start: u64, duration: u64, tokens: u32) -> Record {
    let d = Decode { tid: 7, context: 5, start, duration, n_tokens: tokens, status: 0 };
    records::decode(id, 7, &d, Some(tokens))
}

#[test]
fn facts_arrive_in_order_of_time() {
    let mut all = vec![
        fact(2 * S, Scope::System, "memory.available", Number(u64::MAX)),
        fact(2 * S, Scope::Cpu(3), "cpu.governor", Text("performance")),
        fact(3 * S, Scope::Thread(8), "sched.policy", Text("SCHED_FIFO 50")),
        fact(4 * S, PROCESS, "environment.read", Absent("there is no /proc/7/environ")),
        fact(5 * S, Scope::System, "memory.available", Number(5)),
        fact(6 * S, Scope::System, "a fact of later agents", Number(1)),
    ];
    let m = model(&all);
    assert!(m.health.perfect(), "{:?}", m.health);
    let name = m.texts.find("memory.available").unwrap();
    let values: Vec<_> = m.facts.of(FactScope::System, name).map(|f| (f.at_ns, f.value)).collect();
    assert_eq!(values, [(2 * S, FactValue::Number(u64::MAX)), (5 * S, FactValue::Number(5))]);
    assert_eq!(m.facts.latest(FactScope::System, name), Some(FactValue::Number(5)));
    assert_eq!(m.facts.rows.len(), all.len());
    let c = conditions(&all);
    all.reverse();
    assert_eq!(conditions(&all), c);
    assert_eq!(c.cpu(3).unwrap().governor, Reading::Value("performance".to_owned()));
    assert_eq!(c.thread(8).unwrap().policy.as_deref(), Some("SCHED_FIFO 50"));
    assert_eq!(c.process(7).unwrap().variables.why(), Some("there is no /proc/7/environ"));
    assert_eq!(
        (c.absent.len(), c.absent[0].pid, c.absent[0].name.as_str()),
        (1, Some(7), "environment.read")
    );
    assert_eq!(c.system.page_size_bytes, Reading::Unrecorded);
    let other = model(&[(0x0c, Fields::default().uint(1).uint(4).text("x").uint(0).uint(1).0)]);
    assert_eq!(other.health.damage[0].kind, DamageKind::Malformed);
}

/// Read at 1, 2, 3, 4, 5 and 6 s; a prompt until 2.5 s, then tokens until 5.2 s; the process
/// appears at 1.5 s.
fn throttled() -> Vec<Record> {
    let mut all: Vec<Record> =
        (1..=6).map(|s| fact(s * S, Scope::System, "memory.available", Number(1000 - s))).collect();
    all.push(decode(1, S + S / 2, S, 30));
    // A token each 90 ms: 60 ms of a call, 30 ms of sampling.
    all.extend((0..30).map(|i| decode(2 + i, 2_500_000_000 + u64::from(i) * 90_000_000, 60_000_000, 1)));
    let met = |name: &str, value| fact(S + S / 2, PROCESS, name, value);
    all.extend([
        met("program", Text("/usr/bin/llama-cli")),
        met("environment.read", Number(2)),
        met("env.OMP_WAIT_POLICY", Text("passive")),
        met("env.LLAMA_API_KEY", Absent("withheld")),
        met("affinity", Text("0-1,4")),
        met("cgroup.version", Number(2)),
        met("cgroup.cpuset", Text("0-7")),
        met("cgroup.quota_us", Number(150_000)),
        met("cgroup.period_us", Number(100_000)),
        met("cgroup.quota.level", Number(1)),
        met("cgroup.memory.limit", Text("none")),
        met("cgroup.throttled_periods", Number(100)),
        met("nice", Text("-5")),
        met("rss.file", Number(10)),
    ]);
    for (at, throttled) in [(2, 101), (3, 103), (4, 107), (6, 115)] {
        all.push(fact(at * S, PROCESS, "cgroup.throttled_periods", Number(throttled)));
    }
    all.extend([fact(3 * S, PROCESS, "rss.file", Number(30)), fact(4 * S, PROCESS, "rss.file", Number(20))]);
    all
}

#[test]
fn conditions_of_a_process() {
    let c = conditions(&throttled());
    let p = c.process(7).unwrap();
    assert_eq!(
        c.system.memory_available_bytes.value().unwrap(),
        &Course { first: 999, last: 994, min: 994, max: 999 }
    );
    assert_eq!(p.rss_file_bytes.value().unwrap(), &Course { first: 10, last: 20, min: 10, max: 30 });
    assert_eq!((p.variable("OMP_WAIT_POLICY"), p.variable("LLAMA_API_KEY")), (Some("passive"), None));
    assert_eq!((p.environment.len(), p.environment[0].value.why()), (2, Some("withheld")));
    assert_eq!(p.affinity.value().unwrap(), &[0, 1, 4]);
    assert_eq!((p.nice.value(), p.ended), (Some(&-5), false));
    let Some(Limit::At(quota)) = p.cgroup.quota.value() else { panic!("{:?}", p.cgroup) };
    assert_eq!((quota.milli_cpus, quota.level), (1500, Some(1)));
    assert_eq!(p.cgroup.memory_limit_bytes.value(), Some(&Limit::None));
    assert_eq!(p.milli_cpus(), Some(1500));
    // 15 periods from 1.5 s to 6 s. Only the steps to 4 s and to 5 s are in decode: 4 and, not
    // sent, 0.
    let rise = p.cgroup.throttled_periods.value().unwrap();
    assert_eq!(rise, &Rise { whole: 15, whole_ns: 4_500_000_000, decode: Some(4), decode_ns: 2 * S });
    assert_eq!((rise.per_s(), rise.decode_per_s()), (Some(15.0 / 4.5), Some(2.0)));
}

/// A process that ended at 4 s has no rise after it, and no time either.
#[test]
fn nothing_rises_behind_the_end() {
    let mut all = throttled();
    all.retain(|(kind, payload)| {
        *kind != 0x0c || !payload.windows(4).any(|w| w == b"thro") || payload[0] != 0
    });
    all.push(fact(5 * S, PROCESS, "ended", Number(1)));
    all.push(fact(S + S / 2, PROCESS, "faults.major", Number(3)));
    all.push(fact(3 * S, PROCESS, "faults.major", Number(8)));
    let c = conditions(&all);
    let p = c.process(7).unwrap();
    assert!(p.ended);
    let faults = p.major_faults.value().unwrap();
    assert_eq!(
        (faults.whole, faults.whole_ns, faults.decode, faults.decode_ns),
        (5, 2_500_000_000, Some(0), S)
    );
}

/// The fact completes a name that the kernel cut, and may come after the process.
#[test]
fn the_program_has_its_whole_name() {
    let process = Fields::default().uint(7).text("llama-completio").text("./x -m m").text("7.0").0;
    let program = fact(2 * S, PROCESS, "program", Text("/usr/bin/llama-completion"));
    let m = model(&[(0x03, process), program]);
    assert_eq!(m.session.processes[0].name, "llama-completion");
    let mut page = Vec::new();
    profinfer_views::summary::summary(&m, &Analysis::compute(&m), &mut page).unwrap();
    let page: serde_json::Value = serde_json::from_slice(&page).unwrap();
    assert_eq!(page["session"]["processes"][0]["name"], "llama-completion");
}

#[test]
fn the_terminal_says_what_matters() {
    let m = model(&throttled());
    let mut text = Vec::new();
    profinfer_views::terminal::terminal(&m, &Analysis::compute(&m), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    for part in [
        "may run on CPUs 0-1,4",
        "quota of 1.50 CPUs",
        "nice -5",
        "OMP_WAIT_POLICY=passive",
        "LLAMA_API_KEY is set",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn views_stand_whatever_facts_say() {
    let long = "x".repeat(3000);
    let texts =
        ["", "\u{1b}[31m\n\r\0</script><!--", "0-65535,0-65535", "9-1", long.as_str(), "\u{202e}\u{feff}"];
    let names = [
        "kernel.cmdline",
        "memory.available",
        "memory.total",
        "affinity",
        "cgroup.quota_us",
        "cgroup.period_us",
        "cgroup.periods",
        "cgroup.throttled_periods",
        "cgroup.throttled_ns",
        "cgroup.cpuset",
        "cgroup.memory.limit",
        "program",
        "environment.read",
        "env.",
        "env.\u{1b}[2J",
        "cpu.steal_ns",
        "cpu.frequency.limit",
        "cpu.frequency.max",
        "cpu.online",
        "cpu.governor",
        "nice",
        "run_ns",
        "ended",
        "rss.anonymous",
        "rss.file",
        "ddr.frequency",
        "ddr.frequency.max",
        "hugepages.policy",
        "faults.major",
        "",
    ];
    let scopes = [
        Scope::System,
        PROCESS,
        Scope::Process(u32::MAX.into()),
        Scope::Thread(0),
        Scope::Cpu(65535),
        Scope::Cpu(0),
    ];
    let mut all = vec![decode(1, 0, u64::MAX, 1), decode(2, u64::MAX, u64::MAX, 1)];
    for name in names {
        for scope in scopes {
            for (at, value) in
                [(u64::MAX, Number(0)), (0, Number(u64::MAX)), (5, Number(1)), (S, Absent("\u{7}"))]
            {
                all.push(fact(at, scope, name, value));
            }
        }
    }
    let numbers = model(&all);
    write_views(&numbers);
    for text in texts {
        for name in names {
            all.extend(scopes.map(|scope| fact(2 * S, scope, name, Text(text))));
        }
        let m = model(&all);
        write_views(&m);
        let mut shown = Vec::new();
        profinfer_views::terminal::terminal(&m, &Analysis::compute(&m), &mut shown).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        assert!(!shown.contains("\u{1b}[2J") && !shown.contains("\u{1b}[31m\u{fffd}"), "{shown:?}");
    }
}

/// Enough facts, each with its own thread and time, that comparing every pair would take minutes.
#[test]
fn many_facts_take_no_longer_than_their_number() {
    let all: Vec<Record> = (0..60_000)
        .map(|i| fact(i * 1000, Scope::Thread(i), "run_ns", Number(i)))
        .chain((0..100).map(|i| decode(i, u64::from(i) * 100_000, 90_000, 1)))
        .collect();
    let begun = std::time::Instant::now();
    assert_eq!(conditions(&all).threads.len(), 60_000);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
