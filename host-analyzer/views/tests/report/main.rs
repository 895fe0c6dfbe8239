//! `report.html` in a real browser: it shows the data, reports no error, loads nothing, and no name
//! from the traced process becomes part of the page.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answer;
mod browser;
mod compare;
mod disturbed;
mod fold;
mod session;
mod size;

use std::collections::{BTreeMap, BTreeSet};

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::LadderSums;
use profinfer_trace::model::{EndingKind, EndingRow, Health, Ledger, Model};
use profinfer_views as views;
use serde_json::{Value, json};
use session::{DECODE_NS, DECODES, EXPERT_BYTES, EXPERTS, PAUSE_NS, PREFILL_NS};

const HOSTILE: &str = "a</script><script>window.__hostile=1</script><img src=x onerror=\"window.__hostile=2\"><!-- \u{2028}'\"]]>&lt;";

struct Shown {
    page: Value,
    summary: Value,
    dag: Value,
    model: Model,
}

fn show(model: Model) -> Option<Shown> {
    let analysis = Analysis::compute(&model);
    show_results(model, analysis)
}

fn show_results(model: Model, analysis: Analysis) -> Option<Shown> {
    let page = browser::open(&model, &analysis)?;
    let summary = browser::json(views::summary::summary, &model, &analysis);
    let dag = browser::json(views::dag::dag, &model, &analysis);
    Some(Shown { page, summary, dag, model })
}

/// A value as in the `data-value` of a cell or figure.
fn told(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

/// Integers and texts are identical. Floats may differ in the last digit, which `serde_json` does not
/// read exactly.
fn same(shown: &Value, expected: &Value) -> bool {
    let shown = shown.as_str().unwrap_or("(absent)");
    match expected {
        Value::Number(n) if n.is_f64() => {
            let (a, b) = (shown.parse::<f64>().unwrap_or(f64::NAN), n.as_f64().unwrap());
            (a - b).abs() <= b.abs() * 1e-14
        }
        _ => shown == told(expected),
    }
}

/// Rows of a table of the page against rows of the summary, in the order of the page's sorting.
fn rows_equal(shown: &Value, expected: &[&Value], keys: &[&str]) {
    let shown = shown.as_array().unwrap();
    assert_eq!(shown.len(), expected.len());
    for (row, want) in shown.iter().zip(expected) {
        for key in keys {
            assert!(same(&row[key], &want[key]), "{key}: shown {}, data {}", row[key], want[key]);
        }
    }
}

/// Rows of one phase, the most wall time first; equal rows in the order of the summary.
fn of_phase<'a>(rows: &'a Value, phase: &str) -> Vec<&'a Value> {
    let mut rows: Vec<&Value> = rows.as_array().unwrap().iter().filter(|r| r["phase"] == phase).collect();
    rows.sort_by_key(|r| std::cmp::Reverse(r["wall_ns"].as_u64()));
    rows
}

fn complains_about_nothing(page: &Value) {
    assert_eq!(page["problems"], Value::Array(vec![]));
    let requests = page["requests"].as_array().unwrap();
    assert!(!requests.is_empty());
    for url in requests {
        assert!(url.as_str().unwrap().ends_with("/report.html"), "the page loads {url}");
    }
}

/// Nothing is wider than the window; on a phone, tables with hidden columns say so, and no others.
fn fits(page: &Value) {
    assert_eq!(page["overflow"], json!({ "1280": 0, "800": 0, "390": 0 }));
    let [wide, told, all] = ["wide", "told", "all"].map(|key| page["sideways"][key].as_u64().unwrap());
    assert!(wide > 0 && (told, all) == (wide, wide), "{}", page["sideways"]);
}

/// `?` opens the list of keys, and the steps of the ladders have their definitions.
fn explains_itself(page: &Value) {
    let keys = &page["key_list"];
    assert_eq!(keys["typed"], json!({ "text": "?", "open": false }));
    assert_eq!([&keys["open"], &keys["closed"]], [true, true]);
    assert!(keys["keys"].as_array().unwrap().contains(&json!("?")), "{keys}");
    let ladders = page["ladders"].as_object().unwrap().values();
    let steps: Vec<&Value> = ladders.flat_map(|ladder| ladder["steps"].as_array().unwrap()).collect();
    assert!(!steps.is_empty());
    for step in steps {
        assert!(step["title"].as_str().unwrap().len() > 20, "{step}");
    }
}

/// One browser for everything that a healthy session shows.
#[test]
fn the_page_of_a_perfect_session_shows_its_data() {
    let Some(shown) = show(session::perfect()) else { return };
    complains_about_nothing(&shown.page);
    assert_eq!(shown.page["health"]["kind"], "health good");
    assert_eq!(shown.page["health"]["lines"], shown.summary["health"]["lines"]);
    // A model without routers shows nothing about experts.
    assert_eq!(shown.page["experts"], json!({}));
    explains_itself(&shown.page);
    answer::first_screen(&shown);
    answer::links_lead_somewhere(&shown.page);
    answer::statements_have_evidence(&shown);
    answer::modules(&shown);
    fold::by_module_and_layer(&shown, "Nodes");
    key_figures(&shown);
    tables(&shown);
    graph(&shown);
    timeline(&shown);
}

/// A session without any traced call is never green, however complete its recording is.
#[test]
fn the_page_of_a_session_without_calls_is_grey_or_red() {
    let failed = EndingRow {
        at_ns: 1,
        kind: EndingKind::Exited,
        pid: 7,
        other: 0,
        status: Some(1),
        signal: None,
        since_ns: 0,
        text: "error: failed to load model".into(),
    };
    for (endings, kind) in [(vec![], "health nothing"), (vec![failed], "health bad")] {
        let perfect = session::perfect();
        let health = Health { spans_received: 0, ledger: Some(Ledger::default()), ..perfect.health };
        let Some(shown) = show(Model { session: perfect.session, health, endings, ..Model::default() })
        else {
            return;
        };
        complains_about_nothing(&shown.page);
        assert_eq!(shown.page["health"]["kind"], kind);
        assert_eq!(shown.page["health"]["lines"][0], shown.summary["ending"]["sentence"]);
    }
}

/// The same for a recording of a real engine, see tests/data/PROVENANCE.toml.
#[test]
fn the_page_of_a_real_recording_shows_its_data() {
    let model = profinfer_trace::read(include_bytes!("../../../tests/data/demo.pfi")).expect("a recording");
    let Some(shown) = show(model) else { return };
    complains_about_nothing(&shown.page);
    assert_eq!(shown.page["health"]["lines"], shown.summary["health"]["lines"]);
    answer::first_screen(&shown);
    answer::links_lead_somewhere(&shown.page);
    answer::statements_have_evidence(&shown);
    // More nodes than one view can show legibly.
    fold::by_module_and_layer(&shown, "Modules");
    graph(&shown);
}

/// Both layers of the routed session differ only in the turn: each token uses expert 7 and one of 0 to
/// 4 in turn; none uses 5 and 6.
#[test]
fn the_page_of_a_routed_session_shows_its_experts() {
    let Some(Shown { page, summary, .. }) = show(session::routed()) else { return };
    complains_about_nothing(&page);
    for routing in summary["experts"].as_array().unwrap() {
        let shown = &page["experts"][routing["phase"].as_str().unwrap()];
        let layers: Vec<&Value> = routing["layers"].as_array().unwrap().iter().collect();
        assert_eq!(layers.len(), 2);
        let keys =
            ["layer", "n_used", "tokens", "never_used", "distinct_per_batch", "bytes_per_batch", "balance"];
        rows_equal(&shown["layers"], &layers, &keys);
        let reuse: Vec<&Value> = layers.iter().map(|l| &l["reuse"]).collect();
        rows_equal(&shown["layers"], &reuse, &["share", "median_tokens", "p90_tokens"]);
        let pins: Vec<&Value> = routing["all_layers"]["pins"].as_array().unwrap().iter().collect();
        rows_equal(
            &shown["pins"],
            &pins,
            &["rule", "experts", "bytes", "share", "ahead_share", "even_share"],
        );
        for key in ["distinct_per_batch", "balance"] {
            assert!(same(&shown["figures"][format!("experts.{key}")], &routing["all_layers"][key]), "{key}");
        }
        let cells = shown["cells"].as_array().unwrap();
        assert_eq!(cells.len(), 2 * EXPERTS as usize);
        let mut colours: BTreeMap<u64, &Value> = BTreeMap::new();
        for cell in cells {
            let (line, column) = (cell["line"].as_u64().unwrap(), cell["column"].as_u64().unwrap());
            let uses = layers[line as usize]["expert_uses"][column as usize].as_u64().unwrap();
            let words = match uses {
                0 => "never used".to_owned(),
                1 => "used 1 time, by".to_owned(),
                n => format!("used {n} times, by"),
            };
            assert_eq!(cell["told"][0], format!("layer {line}, expert {column}"));
            assert!(cell["told"][1].as_str().unwrap().starts_with(&words), "{cell}");
            // One colour per number of uses.
            assert_eq!(*colours.entry(uses).or_insert(&cell["colour"]), &cell["colour"], "{cell}");
        }
        let distinct: BTreeSet<&str> = colours.values().map(|c| c.as_str().unwrap()).collect();
        assert_eq!(distinct.len(), colours.len());
        assert_eq!(shown["most"], "layer 0, expert 7");
    }
    fits(&page);
    // By hand: nine tokens; 7 recurs eight times, and of the five in turn the first four recur, five tokens later.
    let whole = &summary["experts"][1]["all_layers"];
    assert_eq!(
        whole["reuse"],
        json!({"uses": 32, "again": 16, "share": 0.5, "even_share": 0.25, "known": 24, "median_tokens": 1,
        "p90_tokens": 5, "never": 12, "unknown": 0})
    );
    assert_eq!(page["experts"]["decode"]["figures"]["experts.reuse_share"], "0.5");
    assert_eq!(page["experts"]["decode"]["figures"]["experts.used"], "12");
    assert_eq!(whole["bytes_per_batch"], (4 * EXPERT_BYTES) as f64);
    // For the prompt's tokens each layer uses 7 and four others.
    assert_eq!(summary["experts"][0]["all_layers"]["distinct_per_batch"], 10.0);
    let sentence = page["experts"]["decode"]["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("A token reads 4.00 MiB of experts' weights; 50.0 % of"), "{sentence}");
    assert_eq!(page["experts"]["prefill"]["sentence"], "");
}

fn key_figures(Shown { page, summary, .. }: &Shown) {
    let (request, headline) = (&summary["tokens"]["requests"][0], &summary["findings"]["headline"]);
    let figures = &page["figures"];
    for (key, expected) in [
        ("ttft_ns", &request["ttft_ns"]),
        // The tokens in the first line of the page.
        ("tpot_ns", &headline["token_ns"]),
        ("tokens_per_s", &headline["tokens_per_s"]),
        ("prefill_tokens_per_s", &summary["tokens"]["prefill"]["tokens_per_s"]),
        ("spans.received", &summary["health"]["spans"]["received"]),
        ("agent_rss_bytes", &summary["cost"]["agent_rss_bytes"]),
    ] {
        assert!(!expected.is_null(), "{key}");
        assert!(same(&figures[key]["value"], expected), "{key}: {} for {expected}", figures[key]["value"]);
    }
    // By hand, from the times of the session, so that a shared error of analysis and page is found.
    assert_eq!(request["ttft_ns"], PREFILL_NS);
    assert_eq!(request["tpot_ns"], DECODE_NS + PAUSE_NS);
    assert_eq!(figures["ttft_ns"]["text"], "40.0 ms");
    assert_eq!(figures["tpot_ns"]["text"], "12.5 ms");
    assert_eq!(figures["prefill_tokens_per_s"]["text"], "100 t/s");
    assert_eq!(figures["tokens_per_s"]["text"], "80");
    assert_eq!(page["chart"], DECODES);
}

fn tables(Shown { page, summary, .. }: &Shown) {
    for phase in ["prefill", "decode"] {
        let types = of_phase(&summary["op_types"], phase);
        assert!(types.len() > 5);
        let keys = ["desc", "share", "wall_ns", "work_ns", "wait_ns", "executions"];
        rows_equal(&page["tables"][format!("op_types {phase}")], &types, &keys);
        let operators = of_phase(&summary["operators"], phase);
        assert!(operators.len() > 70);
        let keys = ["name", "dtype", "executions", "median_ns", "p95_ns", "wall_ns", "wait_ns", "share"];
        rows_equal(&page["operators"][phase], &operators, &keys);
    }
    let graphs: Vec<&Value> = summary["graphs"].as_array().unwrap().iter().collect();
    rows_equal(&page["tables"]["graphs"], &graphs, &["layer", "calls", "topologies", "max_nodes", "time_ns"]);
    let threads = summary["threads"].as_array().unwrap();
    let bars = page["threads"].as_array().unwrap();
    assert_eq!(bars.len(), threads.len() * 4);
    for bar in bars {
        let thread = threads.iter().find(|t| told(&t["tid"]) == bar["tid"].as_str().unwrap()).unwrap();
        assert!(same(&bar["value"], &thread[bar["key"].as_str().unwrap()]), "{bar}");
    }
}

/// Every node and every edge is drawn once, and no box overlaps another.
fn graph(Shown { page, dag, .. }: &Shown) {
    assert_eq!(page["graph_opens"], json!({ "detail": "near", "crossed": 0 }));
    let drawn = page["graphs"].as_array().unwrap();
    let graphs = dag["graphs"].as_array().unwrap();
    assert_eq!((drawn.len(), graphs.len()), (2, 2));
    for graph in graphs {
        let picture = drawn.iter().find(|g| g["phase"] == graph["phase"]).unwrap();
        let nodes: Vec<&Value> = graph["nodes"].as_array().unwrap().iter().map(|n| &n["index"]).collect();
        assert!(nodes.len() > 133, "the listing has 133 nodes, and leafs");
        assert_eq!(picture["nodes"].as_array().unwrap().iter().collect::<Vec<_>>(), nodes);
        let mut edges: Vec<String> = graph["edges"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| format!("{}-{}-{}", e["from"], e["to"], e["slot"]))
            .collect();
        edges.sort();
        assert_eq!(picture["edges"], Value::from(edges));
        assert_eq!(picture["overlaps"], 0, "boxes lie on one another");
        assert_eq!(picture["outside"], 0, "boxes without a place");
    }
    assert_eq!(page["exercise"]["found"], "ffn_out-0");
    let whole = drawn[1]["nodes"].as_array().unwrap().len();
    let weights = graphs.iter().find(|g| g["phase"] == drawn[1]["phase"]).unwrap()["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|n| n["role"] == "weight")
        .count();
    assert_eq!(page["exercise"]["without_weights"], whole - weights);
}

/// The first prompt and four tokens.
fn timeline(Shown { page, summary, model, .. }: &Shown) {
    let of = |kind: &str| -> u64 {
        let tracks = summary["tracks"].as_array().unwrap().iter().filter(|t| t["kind"] == kind);
        tracks.map(|t| t["slices"].as_u64().unwrap()).sum()
    };
    // All calls differ only in the topology: five of ten are in the page, including the prefill.
    let spans_of = |call: u32| model.spans.graph_call.iter().filter(|g| g.0 == call * 2 + 1).count() as u64;
    let slices = 5 + 10 + 2 * (0..5).map(spans_of).sum::<u64>();
    assert!(slices < of("token") + of("graph") + of("thread"));
    assert_eq!(page["timeline"]["rows"], "5");
    assert_eq!(page["timeline"]["slices"], slices.to_string());
    // Without the scheduler level the page claims nothing about the threads.
    assert_eq!((&page["timeline"]["stretches"], &page["thread_states"]["tracks"]), (&json!("0"), &json!([])));
    let hint = page["thread_states"]["hint"].as_str().unwrap();
    assert!(hint.contains("The scheduler level was not recorded"), "{hint}");
    assert_eq!(page["exercise"]["slice"], "prefill n=4");
}

#[test]
fn names_from_the_traced_process_stay_text() {
    // Long, too: it must not make the page wider than the window.
    let hostile = HOSTILE.repeat(4);
    let Some(shown) = show(session::hostile(&hostile)) else { return };
    graph(&shown);
    let Shown { page, summary, .. } = shown;
    assert_eq!(page["health"]["kind"], "health bad");
    assert_eq!(page["health"]["lines"], summary["health"]["lines"]);
    assert!(summary["health"]["lines"].as_array().unwrap().len() > 1);
    complains_about_nothing(&page);
    assert_eq!(page["hostile"]["executed"], "undefined");
    assert_eq!(page["hostile"]["images"], 0);
    assert_eq!(page["hostile"]["scripts"], Value::from(vec!["application/gzip"; 3]));
    // Even in the page, the policy would stop it from running, styling, and sending requests.
    let refused = ["connect-src", "script-src-attr", "script-src-elem", "style-src-attr", "style-src-elem"];
    let nothing = json!({"refused": refused, "ran": "undefined", "answer": "refused", "hidden": false, "styled": false});
    assert_eq!(page["injected"], nothing);
    // It is shown as text.
    assert_eq!(page["heading"], hostile);
    assert_eq!(page["command"], hostile);
    assert_eq!(page["tables"]["probes"][0]["note"], hostile);
    let gauges = &page["tables"]["gauges"];
    assert_eq!((&gauges[0]["name"], &gauges[0]["note"]), (&json!(hostile), &json!(hostile)));
    assert_eq!((&gauges[1]["min"], &gauges[1]["max"]), (&json!("46230"), &json!("48000")));
    let cell = page["experts"]["decode"]["cells"].as_array().unwrap().last().unwrap();
    assert_eq!(cell["told"][0], format!("{hostile}, expert 7"));
    let operators = page["operators"]["decode"].as_array().unwrap();
    assert!(operators.iter().any(|o| o["name"] == hostile));
    fits(&page);
}

/// Another task, with a name that tries to become part of the page, takes a CPU of the engine in every decode call.
#[test]
fn the_page_of_a_disturbed_session_shows_who_disturbed_it() {
    let model = disturbed::disturbed(HOSTILE);
    let mut analysis = Analysis::compute(&model);
    let mut pieces = LadderSums::default();
    pieces.add_model(&model);
    analysis.ladders_of_pieces = pieces.of(pieces.latest().unwrap());
    let Some(shown) = show_results(model, analysis) else { return };
    complains_about_nothing(&shown.page);
    assert_eq!(shown.page["hostile"]["executed"], "undefined");
    assert_eq!(shown.page["hostile"]["images"], 0);
    fits(&shown.page);
    answer::first_screen(&shown);
    answer::links_lead_somewhere(&shown.page);
    answer::statements_have_evidence(&shown);
    answer::interference(&shown);
    answer::pieces(&shown);
    answer::thread_states(&shown.page);
    answer::conditions(&shown);
    answer::ceilings(&shown);
}

#[test]
fn a_session_without_anything_has_a_page() {
    let analysis = Analysis::compute(&Model::default());
    let mut bytes = Vec::new();
    views::report::report(&Model::default(), &analysis, &mut bytes).unwrap();
    let page = String::from_utf8(bytes).unwrap();
    assert!(page.len() < 300_000, "the page without data has {} bytes", page.len());
    for id in ["summary", "dag", "timeline"] {
        assert_eq!(page.matches(&format!("<script type=\"application/gzip\" id=\"{id}\">")).count(), 1);
    }
}

/// The page in a browser that cannot inflate the data, a damaged page, and the target of a section link.
#[test]
fn a_page_that_cannot_be_read_tells_why() {
    let model = session::perfect();
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("report.html");
    let mut bytes = Vec::new();
    views::report::report(&model, &Analysis::compute(&model), &mut bytes).unwrap();
    std::fs::write(&page, bytes).unwrap();
    let Some(output) = browser::node("tests/unread.mjs", &[&page]) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    let old = shown["old"].as_str().unwrap();
    assert!(old.starts_with("This browser cannot read the data on this page"), "{old}");
    assert!(old.contains("Firefox 113"), "{old}");
    let damaged = "The summary on this page is missing or damaged. Write the page again with analyze.";
    assert_eq!(shown["damaged"], damaged);
    assert_eq!(shown["section_in_view"], true);
}

/// Types, format, lint, unit tests of the page, and the built page.
#[test]
fn the_sources_of_the_page_pass_their_checks_and_give_the_checked_in_page() {
    for script in ["tools/types.mjs", "tools/style.mjs", "tools/unit.mjs", "tools/build.mjs"] {
        let Some(output) = browser::node(script, &[std::path::Path::new("--check")]) else { return };
        let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{script}: {said}");
    }
}
