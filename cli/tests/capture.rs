//! The capture options, which the agent and the host share.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use clap::{CommandFactory, Parser};
use profinfer_cli::{CaptureArgs, ProbesArgs};
use profinfer_wire::record::capture::{CaptureRequest, Ends};
use profinfer_wire::record::direct::Probes;
use profinfer_wire::record::filter::FilterOn;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    probes: ProbesArgs,
    #[command(flatten)]
    capture: CaptureArgs,
}

fn line(words: &str) -> Line {
    Line::try_parse_from(std::iter::once("test").chain(words.split_whitespace())).unwrap()
}

fn refused(words: &str) -> String {
    Line::try_parse_from(["test"].into_iter().chain(words.split_whitespace())).unwrap_err().to_string()
}

#[test]
fn without_options_the_slowdown_is_limited() {
    let default = CaptureRequest {
        duty_permille: 1000,
        ends: Ends::Both,
        keep_above_milli: 0,
        max_slowdown_ppm: 30_000,
    };
    let nothing = line("");
    assert_eq!((nothing.probes.kind, nothing.capture.request()), (Probes::Auto, Some(default)));
    assert_eq!(nothing.capture.filters().count(), 0);
    let limit = |words: &str| line(words).capture.request().map_or(0, |r| r.max_slowdown_ppm);
    // Options that leave the choice of the calls to the agent.
    for words in ["--ends none", "--keep-above 5t/s", "--only-op ROPE", "--only-threads first"] {
        assert_eq!(limit(words), 30_000, "{words}");
    }
    // Options that choose the calls.
    for words in ["--duty 10%", "--tokens 5", "--requests 1", "--full --keep-above 5t/s"] {
        assert_eq!(limit(words), 0, "{words}");
    }
    assert_eq!(limit("--duty 10% --max-slowdown 1%"), 10_000);
    // Everything is not a request.
    for words in ["--full", "--duty 100% --ends both"] {
        assert_eq!(line(words).capture.request(), None, "{words}");
    }
    Line::command().debug_assert();
}

#[test]
fn options_are_requests() {
    let all = line("--probes direct --duty 2.5% --ends none --keep-above 7.5t/s --max-slowdown 0.5%");
    let request = CaptureRequest {
        duty_permille: 25,
        ends: Ends::None,
        keep_above_milli: 7_500,
        max_slowdown_ppm: 5_000,
    };
    assert_eq!((all.probes.kind, all.capture.request()), (Probes::Direct, Some(request)));
    assert_eq!(line("--probes uprobe").probes.kind, Probes::Uprobe);
    let all = line(
        "--only-op MUL_MAT,ROPE --only-name ffn_* --only-layers 0-3 --only-threads first --tokens 100-200 --requests 3-5",
    );
    let filters: Vec<_> = all.capture.filters().map(|f| (f.on, f.text)).collect();
    let expected = [
        (FilterOn::Op, "MUL_MAT,ROPE"),
        (FilterOn::Name, "ffn_*"),
        (FilterOn::Layer, "0-3"),
        (FilterOn::Thread, "first"),
        (FilterOn::Token, "100-200"),
        (FilterOn::Request, "3-5"),
    ];
    assert_eq!(filters, expected);
    assert_eq!(all.capture.request(), None);
}

#[test]
fn what_cannot_be_meant_is_refused_by_name() {
    for words in [
        "--duty 0%",
        "--duty 10",
        "--ends start",
        "--keep-above fast",
        "--max-slowdown 101%",
        "--only-layers 3-1",
        "--only-threads 0",
        "--tokens 0",
        "--requests -",
        "--probes kprobe",
        "--full --duty 10%",
        "--full --max-slowdown 1%",
    ] {
        let (option, said) = (words.split(' ').next().unwrap(), refused(words));
        assert!(said.contains(option), "{words}: {said}");
    }
    assert!(refused("--probes kprobe").contains("use auto, uprobe or direct"));
}
