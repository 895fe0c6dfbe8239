//! Comparisons of runs of the real engine: the same run twice is the same work, another model is
//! refused, and a planted slowdown is in the first row.

use std::path::Path;
use std::process::Command;

use profinfer_analysis::compare::{Choices, Code, Comparison, Found, Item, Level, Row, Run, Thing};
use profinfer_analysis::ladder::StepKind;

use crate::support::{engine, model, parts, record};

/// A run with this many tokens.
fn run(gguf: &str, threads: &str, prompt: &str) -> Option<Run> {
    let parts = parts()?;
    let driver = engine("PROFINFER_ENGINE_DIR")?.join("nodes");
    let gguf = model(&parts, gguf);
    let command = [driver.to_str().unwrap(), "-m", &gguf, "-t", threads, "-p", prompt, "-n", "60"];
    let (trace, _) = record(&parts, &[], &command);
    Some(Run::compute(&trace))
}

fn item(c: &Comparison, thing: Thing) -> &Item {
    c.gate.iter().find(|i| i.key.thing == thing).unwrap()
}

fn compare(a: Run, b: Run, different_work: bool) -> Comparison {
    let c = Comparison::new(&[a], &[b], Choices { different_work, ..Choices::default() });
    if let Some(token) = c.unit_ns() {
        for level in Level::ALL {
            let rows = || c.rows.iter().filter(|r| r.level == level);
            assert_eq!([0, 1].map(|side: usize| rows().map(|r| r.side_ns[side]).sum::<i64>()), token);
        }
        // All work belongs to operators: no remainder, but what a hypervisor had of it.
        let work = |r: &&Row| r.level == Level::Operator && r.step == StepKind::AboveFloor && r.op.is_empty();
        assert!(c.rows.iter().filter(work).all(|r| r.side_ns.iter().all(|ns| *ns <= 0)), "{:?}", c.rows);
    }
    c
}

#[test]
fn the_same_twice_is_the_same_work() {
    let (Some(a), Some(b)) = (run("dense-q8", "2", "8"), run("dense-q8", "2", "8")) else { return };
    let c = compare(a, b, false);
    assert_ne!(c.verdict.code, Code::DifferentWork, "{:#?}", c.gate);
    for thing in [
        Thing::Weights,
        Thing::Experts,
        Thing::Draft,
        Thing::Capture,
        Thing::ModelFile,
        Thing::EngineBuild,
        Thing::Command,
        Thing::Threads,
        Thing::KvCache,
        Thing::Operators,
        Thing::Prompt,
        Thing::Kernel,
    ] {
        assert_eq!(item(&c, thing).found, Found::Same, "{:?}", item(&c, thing));
    }
    // The driver generates 60 tokens, the same in each run.
    assert_eq!(c.sides[0].runs[0].calls, c.sides[1].runs[0].calls);
    assert!(c.sides[0].runs[0].calls >= 50, "{:?}", c.sides);
}

#[test]
fn another_model_is_refused_and_another_prompt_is_not() {
    let (Some(a), Some(b)) = (run("dense-f32", "2", "8"), run("dense-q4", "2", "8")) else { return };
    let c = compare(a.clone(), b.clone(), false);
    assert_eq!(c.verdict.code, Code::DifferentWork);
    assert!(c.rows.is_empty());
    // Same names and dimensions, other types.
    let weights = item(&c, Thing::Weights);
    let types = |side| {
        weights
            .only_in(side)
            .iter()
            .filter_map(|w| w.split(' ').nth(1))
            .map(str::to_lowercase)
            .collect::<Vec<_>>()
    };
    assert!(types(0).iter().all(|t| t == "f32") && types(1).iter().any(|t| t == "q4_0"), "{weights:?}");
    // With --different-work: the operators that read the changed weights changed most. The model in
    // F32 has seven times the bytes, so that holds on any machine.
    let c = compare(a.clone(), b, true);
    let work = |r: &&Row| r.level == Level::Operator && r.step == StepKind::AboveFloor;
    let operators: Vec<&Row> = c.rows.iter().filter(work).collect();
    let most = operators.iter().max_by_key(|r| r.change_ns().unsigned_abs()).unwrap();
    assert!(most.op == "MUL_MAT" && most.change_ns() < 0, "{operators:?}");

    let Some(longer) = run("dense-f32", "2", "16") else { return };
    let c = compare(a, longer, false);
    assert_ne!(c.verdict.code, Code::DifferentWork);
    assert_eq!(item(&c, Thing::Prompt).found, Found::Different);
    let (first, last) = c.selection.positions.unwrap();
    assert!(first >= 16 && last > first, "{first} {last}");
}

#[test]
fn other_threads_are_named_and_move_the_products() {
    let (Some(a), Some(b)) = (run("dense-f32", "2", "8"), run("dense-f32", "1", "8")) else { return };
    let c = compare(a, b, false);
    assert_eq!(item(&c, Thing::Threads).found, Found::Different);
    assert_ne!(c.verdict.code, Code::DifferentWork);
    // The work of a single thread takes longer in the matrix products. Whether the token takes
    // longer depends on other users of the CPUs.
    let of = |op: &str| c.rows.iter().find(|r| r.level == Level::Operator && r.op == op).unwrap();
    let uneven = c.rows.iter().find(|r| r.level == Level::Step && r.step == StepKind::Imbalance).unwrap();
    // The work of a single thread is not uneven.
    assert!(uneven.side_ns[0] > 0 && uneven.side_ns[1] == 0, "{uneven:?}");
    assert!(of("MUL_MAT").side_ns.iter().all(|ns| *ns > 0));
}

/// The command itself on recordings of the engine: repeated runs in folders, in turn; a script gets
/// the result as exit status.
#[test]
fn a_script_compares_folders() {
    let Some(parts) = parts() else { return };
    let Some(bin) = engine("PROFINFER_ENGINE_DIR") else { return };
    let dir = tempfile::tempdir().unwrap();
    let script = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../scripts/compare.sh");
    let driver =
        |gguf: &str| format!("{} -m {} -t 2 -p 8 -n 24", bin.join("nodes").display(), model(&parts, gguf));
    let run = |rounds: &str, a: &str, b: &str| {
        Command::new(&script)
            .args(["--rounds", rounds, "--out", dir.path().to_str().unwrap()])
            .args([
                "--agent",
                parts.agent.to_str().unwrap(),
                "--analyze",
                env!("CARGO_BIN_EXE_analyze"),
                a,
                b,
            ])
            .output()
            .unwrap()
    };
    let output = run("4", &driver("dense-q8"), &driver("dense-q8"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let json = std::fs::read(dir.path().join("comparison/compare.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["verdict"]["method"], "ranks", "{said}");
    assert_eq!(json["same_work"], true);
    assert!(json["sides"].as_array().unwrap().iter().all(|s| s["runs"].as_array().unwrap().len() == 4));
    // A B B A: neither side is completely before the other.
    assert!(!json["notes"].as_array().unwrap().iter().any(|n| n["code"] == "not_in_turn"), "{json}");

    let output = run("1", &driver("dense-q8"), &driver("dense-q4"));
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
}
