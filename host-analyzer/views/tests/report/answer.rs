//! The first screen against the summary, and the sections that its links lead to.

use serde_json::{Value, json};

use crate::disturbed::{DISTURBED, INTERRUPT_NS, TAKEN_NS, WORKER};
use crate::session::{DECODE_NS, PAUSE_NS};
use crate::{HOSTILE, Shown, of_phase, rows_equal, same};

fn codes(rows: &Value) -> Vec<&Value> {
    rows.as_array().unwrap().iter().map(|row| &row["code"]).collect()
}

/// Speed, every finding, everything ruled out, ladders that add up; the ladder begins within 900 px,
/// and everything else is folded.
pub(crate) fn first_screen(Shown { page, summary, .. }: &Shown) {
    let (shown, findings) = (&page["answer"], &summary["findings"]);
    let measured = &page["speeds"]["measured"]["value"];
    assert!(same(measured, &findings["headline"]["tokens_per_s"]), "{measured} {findings}");
    assert_eq!(shown["findings"].as_array().unwrap().iter().collect::<Vec<_>>(), codes(&findings["found"]));
    let excluded = ["ruled_out", "noisy", "not_known"].iter().flat_map(|list| codes(&findings[*list]));
    assert_eq!(
        shown["excluded"].as_array().unwrap().iter().collect::<Vec<_>>(),
        excluded.collect::<Vec<_>>()
    );
    assert_eq!(page["tokens"], findings["headline"]["tokens"]);
    ladders(page, &summary["ladders"]);
    bars(page, &summary["budget"], &summary["ladders"]);
    heading_and_evidence(page, summary);
    let begins = page["ladder_begins"].as_f64().unwrap();
    assert!(begins > 0.0 && begins < 900.0, "{begins}");
    let folded = page["folded"].as_array().unwrap();
    assert_eq!(folded.len(), 4, "{folded:?}");
    assert!(folded.iter().all(|group| group[1] == true), "{folded:?}");
}

/// Model, engine and machine, and the evidence of each finding, are in the words of the summary.
fn heading_and_evidence(page: &Value, summary: &Value) {
    let heading = &summary["heading"];
    let line = |parts: &Value| {
        let parts = parts.as_array().unwrap().iter().map(|part| part.as_str().unwrap());
        parts.collect::<Vec<_>>().join(" · ")
    };
    assert_eq!(page["heading"], heading["name"]);
    let shown = page["head"].as_array().unwrap();
    assert_eq!(shown[0], line(&heading["model"]));
    for parts in ["engine", "machine"] {
        let line = line(&heading[parts]);
        assert!(line.is_empty() || shown.contains(&json!(line)), "{line} is not in {shown:?}");
    }
    let found = summary["findings"]["found"].as_array().unwrap();
    let evidence = found.iter().flat_map(|f| f["evidence"].as_array().unwrap());
    let named: Vec<Value> = evidence.map(|e| json!([e["name"], e["text"]])).collect();
    assert_eq!(page["answer"]["evidence"], Value::from(named));
}

/// Each step begins where the one before ends, and the last one ends at the measured time.
fn ladders(page: &Value, expected: &Value) {
    let expected = expected.as_array().unwrap();
    assert!(!expected.is_empty());
    for ladder in expected {
        let shown = &page["ladders"][ladder["question"].as_str().unwrap()];
        assert_eq!(shown["measured"], ladder["measured_ns"]);
        // Those of other questions are folded, and nothing in them is hidden.
        let first = ladder["question"] == "decode" || ladder["question"] == "prompt";
        assert_eq!(shown["hidden"], first && ladder["question"] != expected[0]["question"]);
        assert_eq!(shown["folded"], !first);
        let (steps, wanted) = (shown["steps"].as_array().unwrap(), ladder["steps"].as_array().unwrap());
        assert_eq!(steps.len(), wanted.len());
        let (mut sum, mut least, mut most) = (0, 0, ladder["measured_ns"].as_i64().unwrap());
        for (step, want) in steps.iter().zip(wanted) {
            assert_eq!((&step["kind"], &step["ns"]), (&want["kind"], &want["ns"]));
            assert!(step["text"].as_str().unwrap().starts_with(want["label"].as_str().unwrap()), "{step}");
            sum += step["ns"].as_i64().unwrap();
            (least, most) = (least.min(sum), most.max(sum));
        }
        assert_eq!(json!(sum), ladder["measured_ns"]);
        let axis = (most - least) as f64;
        let mut at = 0;
        for step in steps {
            let next = at + step["ns"].as_i64().unwrap();
            let left = (at.min(next) - least) as f64 / axis * 100.0;
            let width = (next - at).abs() as f64 / axis * 100.0;
            let close = |shown: &Value, want: f64| (shown.as_f64().unwrap() - want).abs() < 0.01;
            assert!(close(&step["left"], left) && close(&step["width"], width), "{step} {left} {width}");
            at = next;
        }
    }
}

/// The ladders of all pieces are folded, and name programs by the file name of their command.
pub(crate) fn pieces(Shown { page, summary, .. }: &Shown) {
    let sums = summary["ladders_of_pieces"].as_array().unwrap();
    assert_eq!(sums[0]["question"], "decode");
    let program = |step: &Value| step["kind"] == "program" && step["culprit"] == "script><img";
    assert!(sums[0]["steps"].as_array().unwrap().iter().any(program), "{}", sums[0]);
    for sum in sums {
        let question = format!("pieces {}", sum["question"].as_str().unwrap());
        let shown = json!({"question": question, "measured_ns": sum["measured_ns"], "steps": sum["steps"]});
        ladders(page, &json!([shown]));
    }
}

/// The pieces of each bar are the times of the summary, and fill it.
fn bars(page: &Value, budget: &Value, ladders: &Value) {
    let phases = budget["phases"].as_array().unwrap();
    assert!(!phases.is_empty());
    for phase in phases {
        let name = phase["phase"].as_str().unwrap();
        let question = if name == "prefill" { "prompt" } else { name };
        let wall = &page["bars"][format!("budget.{name}.wall")];
        // One figure for a fact: that of the ladder, where there is one.
        if ladders.as_array().unwrap().iter().any(|l| l["question"] == question) {
            assert_eq!(*wall, Value::Null);
        } else {
            one_bar(wall, &phase["wall"], &phase["time_ns"]);
        }
        for thread in phase["threads"].as_array().unwrap() {
            let key = format!("budget.{name}.{}", thread["tid"]);
            one_bar(&page["bars"][key], &thread["parts"], &thread["time_ns"]);
        }
    }
}

fn one_bar(bar: &Value, parts: &Value, time: &Value) {
    let shown: Vec<u64> =
        bar["parts"].as_array().unwrap().iter().map(|part| part.as_u64().unwrap()).collect();
    let wanted = parts.as_array().unwrap().iter().map(|part| part.as_u64().unwrap());
    assert_eq!(shown, wanted.filter(|part| *part > 0).collect::<Vec<_>>());
    assert_eq!(shown.iter().sum::<u64>(), time.as_u64().unwrap());
    assert_eq!(bar["whole"], *time);
    let filled = bar["filled"].as_f64().unwrap();
    assert!((filled - 100.0).abs() < 0.1, "{filled} % of the bar is filled");
}

/// Neither evidence nor navigation links to a section that this recording does not have.
pub(crate) fn links_lead_somewhere(page: &Value) {
    assert_eq!(page["dead"], json!([]));
    let navigation = page["navigation"].as_array().unwrap();
    for section in ["#answer", "#ladder", "#group-operators", "#group-timeline", "#group-recording"] {
        assert!(navigation.contains(&json!(section)), "{section} is not in {navigation:?}");
    }
}

/// Each statement of the first screen links to its source. `dead` lists links without a target.
pub(crate) fn statements_have_evidence(Shown { page, summary, .. }: &Shown) {
    let statements = page["statements"].as_array().unwrap();
    for statement in statements {
        assert!(!statement["links"].as_array().unwrap().is_empty(), "nothing shows: {statement}");
    }
    let of = |kind: &str| statements.iter().filter(|s| s["kind"] == kind).count();
    let rows = |list: &str| summary["findings"][list].as_array().unwrap().len();
    assert_eq!(of("#answer .findings > li"), rows("found"));
    assert_eq!(of("#answer .excluded > li"), rows("ruled_out") + rows("noisy") + rows("not_known"));
    assert_eq!(of("#budget .lead"), 1);
    assert!(of("#budget .budget-legend > li") > 2);
}

pub(crate) fn modules(Shown { page, summary, .. }: &Shown) {
    let keys = ["share", "wall_ns", "wait_ns", "read_bytes", "operations"];
    let modules = of_phase(&summary["work"]["modules"], "decode");
    assert!(modules.len() > 2);
    rows_equal(&page["tables"]["modules"], &modules, &["module"]);
    rows_equal(&page["tables"]["modules"], &modules, &keys);
    let mut layers = of_phase(&summary["work"]["layers"], "decode");
    layers.sort_by_key(|row| row["layer"].as_u64().unwrap_or(u64::MAX));
    rows_equal(&page["tables"]["layers"], &layers, &keys);
    // A module's name links to all its operators.
    let part = &page["exercise"]["part"];
    assert_eq!(part["name"], modules[0]["module"]);
    assert_eq!(part["wall"], modules[0]["wall_ns"]);
}

/// By hand: a task has the worker's CPU for the same time in each decode call.
pub(crate) fn interference(Shown { page, summary, .. }: &Shown) {
    let rows: Vec<&Value> = summary["sched"]["interference"].as_array().unwrap().iter().collect();
    assert_eq!(rows.len(), 1);
    let keys = ["name", "tid", "pid", "time_ns", "decode_ns", "turns", "command"];
    rows_equal(&page["tables"]["interference"], &rows, &keys);
    let row = &page["tables"]["interference"][0];
    assert_eq!((&row["name"], &row["command"]), (&json!(HOSTILE), &json!(HOSTILE)));
    assert_eq!((&row["time_ns"], &row["cpus"]), (&json!((DISTURBED * TAKEN_NS).to_string()), &json!("1")));
    assert_eq!(row["preempted_ns"], (DISTURBED * TAKEN_NS).to_string());
    assert_eq!(page["states"][format!("sched.decode.{WORKER}.preempted_ns")], DISTURBED * TAKEN_NS);
    let interrupt = &page["tables"]["interrupts"][0];
    assert_eq!((&interrupt["name"], &interrupt["kind"]), (&json!("TIMER"), &json!("soft")));
    assert_eq!(interrupt["time_ns"], (DISTURBED * INTERRUPT_NS).to_string());
    // The first screen names the program, and stops it: there is no CPU to move it to.
    assert_eq!(page["programs"], json!([{ "pid": 998, "ns": DISTURBED * TAKEN_NS }]));
    assert_eq!(page["answer"]["commands"][0], "kill -STOP 998");
    let decode = page["ladders"]["decode"]["steps"].as_array().unwrap();
    assert!(decode.iter().any(|step| step["kind"] == "program"), "{decode:?}");
    without_delays(page, summary);
    // The link opens only the timeline, and shows one of its tokens.
    let jump = &page["jump"];
    assert_eq!((&jump["open"], &jump["others"]), (&json!(true), &json!(1)));
    let window: Vec<f64> =
        jump["window"].as_str().unwrap().split(' ').map(|ns| ns.parse().unwrap()).collect();
    let token = (DECODE_NS + PAUSE_NS) as f64;
    assert!((window[1] - window[0] - token * 1.1).abs() < token * 0.05, "{window:?}");
    assert_eq!(page["answer"]["findings"][0], "preempted");
    assert!(page["answer"]["links"].as_array().unwrap().contains(&json!("#interference")));
}

/// Below the worker's operators is the task that took its CPU; the other thread is shown as unknown.
pub(crate) fn thread_states(page: &Value) {
    let tracks = page["thread_states"]["tracks"].as_array().unwrap();
    let [main, worker] = &tracks[..] else { panic!("{tracks:?}") };
    assert_eq!((&main["track"], &worker["track"]), (&json!("4711 state"), &json!(format!("{WORKER} state"))));
    assert_eq!(main["states"], json!([]));
    for row in [main, worker] {
        assert_eq!(row["begins"][0], "unknown", "{row}");
    }
    // Four decode calls.
    assert_eq!(worker["states"], json!(["running", "preempted", "running"].repeat(4)));
    let by = format!("preempted by {HOSTILE}");
    let told = json!([by, "3.00 ms", format!("by {HOSTILE}, thread 999 of process 998"), "CPU 1"]);
    assert_eq!(worker["taken"].as_array().unwrap()[..4], told.as_array().unwrap()[..]);
    // The slice contains the text if there is room.
    let written = worker["written"].as_array().unwrap();
    assert!(written.iter().any(|text| text.as_str().unwrap().starts_with(&by[..60])), "{written:?}");
}

/// The speed without delays is that of the ladder.
fn without_delays(page: &Value, summary: &Value) {
    let ladder = &summary["ladders"][0];
    assert_eq!(ladder["question"], "decode");
    let left = ladder["measured_ns"].as_f64().unwrap() - ladder["all_causes"]["likely_ns"].as_f64().unwrap();
    let speed = ladder["units"].as_f64().unwrap() * 1e9 / left;
    let shown = |row: &str| page["speeds"][row]["value"].as_str().unwrap().parse::<f64>().unwrap();
    assert!((shown("without") - speed).abs() < speed * 1e-9, "{} {speed}", page["speeds"]);
    assert!(shown("measured") < speed);
}

pub(crate) fn conditions(Shown { page, .. }: &Shown) {
    let shown = &page["conditions"];
    assert_eq!(shown["Page size"], "16.0 KiB");
    assert_eq!(shown["CPU quota"], "1.50 CPUs: 150 ms per 100 ms");
    assert_eq!(page["environment"], json!([format!("OMP_NUM_THREADS={HOSTILE}")]));
    // Both CPUs in a line.
    assert_eq!(page["absent"], json!(["cpu.governor of CPUs 0-1: there is no such file"]));
    let cpus = page["tables"]["cpus"].as_array().unwrap();
    assert_eq!(cpus.len(), 2);
    // A column without known values is absent.
    assert_eq!((&cpus[1]["capacity"], &cpus[1]["governor"]), (&json!("1024"), &Value::Null));
}

pub(crate) fn ceilings(Shown { page, summary, .. }: &Shown) {
    let rows: Vec<&Value> = summary["ceilings"].as_array().unwrap().iter().collect();
    assert_eq!(rows.len(), 3);
    let keys = ["kind", "core", "threads", "median", "min", "max", "repeats", "how", "note"];
    rows_equal(&page["tables"]["ceilings"], &rows, &keys);
    assert!(same(&page["tables"]["ceilings"][0]["median"], &json!(12_000_000_000_u64)));
}
