//! Prints the time of analyses and views for a session of about a million spans.
//!
//! `taskset -c 1 cargo run --release --example bench_views [SPANS]`

use std::io;
use std::time::{Duration, Instant};

use profinfer_analysis::Analysis;
use profinfer_analysis::capture::Capture;
use profinfer_analysis::duty::Slowdown;
use profinfer_analysis::ending::Ending;
use profinfer_analysis::{
    bound, budget, ceiling, cost, counter, dag, duty, execution, expert, fact, gauge, graph, group, health,
    kv, ladder, module, nested, op, phase, replay, roof, sched, server, session, speculative, tally, thread,
    token, track, weight, work,
};
use profinfer_trace::test_support::tables::{self as synthetic, Spec};
use profinfer_views::files::{CHROME, CSV, VIEWS, View};
use profinfer_views::terminal::terminal;

/// The shortest of five runs, and the last result.
fn best<T>(mut f: impl FnMut() -> T) -> (Duration, T) {
    let mut run = || {
        let start = Instant::now();
        let result = f();
        (start.elapsed(), result)
    };
    let (mut shortest, mut last) = run();
    for _ in 0..4 {
        let (time, result) = run();
        shortest = shortest.min(time);
        last = result;
    }
    (shortest, last)
}

fn print(name: &str, time: Duration, note: &str) {
    println!("{name:22}{:9.2} ms  {note}", time.as_secs_f64() * 1e3);
}

fn main() -> io::Result<()> {
    let wanted: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
    // 16 layers of 13 operators, 2 threads.
    let tokens = u32::try_from(wanted / (16 * 13 * 2)).unwrap_or(u32::MAX);
    let model = synthetic::model(&Spec { layers: 16, tokens, ..Spec::default() });
    println!("{} spans in {} token calls", model.spans.len(), model.llama_calls.len());

    let (time, phases) = best(|| phase::Phases::compute(&model));
    print("phases", time, "");
    let (time, executions) = best(|| execution::Executions::compute(&model));
    print("executions", time, &format!("{} rows", executions.len()));
    let (time, groups) = best(|| group::Groups::compute(&model, &phases));
    print("groups", time, "");
    let (time, tallies) = best(|| tally::Tallies::compute(&model, &groups, &executions));
    print("tallies", time, "");
    print("capture", best(|| Capture::compute(&model, &duty::coverage(&model, &phases))).0, "");
    let (time, ending) = best(|| Ending::compute(&model));
    print("ending", time, "");
    let (capture, slowdown) = (Capture::default(), Slowdown::default());
    print("health", best(|| health::health(&model, &ending, &capture, &slowdown, &[])).0, "");
    print("session", best(|| session::duration_ns(&model)).0, "");
    let (time, slots) = best(|| server::Server::compute(&model, &phases));
    print("server", time, "");
    print("token", best(|| token::Token::compute(&model, &phases, &executions, &slots)).0, "");
    print("graph", best(|| graph::graphs(&model)).0, "");
    let (time, op) = best(|| op::Op::compute(&model, &phases, &groups, &executions, &tallies));
    print("op", time, "");
    print("thread", best(|| thread::threads(&model, &phases)).0, "");
    let places = module::Places::compute(&model);
    print("dag", best(|| dag::dags(&model, &groups, &executions, &tallies, &places)).0, "");
    print("track", best(|| track::tracks(&model)).0, "");
    let (time, works) = best(|| work::Works::compute(&model));
    print("work", time, "");
    let (time, achieved) = best(|| work::Achieved::compute(&model, &works, &op, &executions, &tallies));
    print("achieved", time, "");
    let (time, conditions) = best(|| fact::Conditions::compute(&model, &phases));
    print("facts", time, "");
    let token = token::Token::compute(&model, &phases, &executions, &slots);
    let ceilings = ceiling::Ceilings::compute(&model);
    let (time, roofs) =
        best(|| roof::Roofs::compute(&model, &phases, &executions, &token, &op, &achieved, &ceilings));
    print("roof", time, "");
    let (time, counted) = best(|| bound::Counted::compute(&model, &phases, &op, &groups, &tallies));
    print("bound, counted", time, "");
    let (time, disturbed) = best(|| budget::disturbed(&model, &executions, &tallies, &op));
    print("disturbed", time, "");
    print(
        "module",
        best(|| module::Modules::compute(&model, &groups, &tallies, &op, &achieved, &places)).0,
        "",
    );
    print("op_estimate", best(|| duty::types::types(&model, &phases, &op, &executions, &tallies)).0, "");
    print("weight", best(|| weight::weights(&model)).0, "");
    print("speculative", best(|| speculative::speculative(&model, &phases)).0, "");
    print("budget", best(|| budget::Budget::compute(&model, &phases)).0, "");
    print("kv", best(|| kv::kv(&model, &phases, &executions)).0, "");
    print("nested", best(|| nested::nested_calls(&model, &phases, &executions)).0, "");
    print("expert", best(|| expert::routings(&model, &phases)).0, "");
    print("counter", best(|| counter::counted(&model, &phases)).0, "");
    print("gauge", best(|| gauge::gauges(&model, &phases)).0, "");
    let (time, mut replayed) = best(|| replay::Replay::compute(&model, &phases, &conditions, &places));
    print("replay", time, "");
    replayed.add_work(&groups, &tallies, &achieved);
    let (time, ladders) =
        best(|| ladder::Ladders::compute(&model, &phases, &replayed, &token.requests, &roofs));
    print("ladder", time, "");
    let (time, cost) = best(|| cost::Cost::compute(&model, &conditions, &phases, &replayed, &ladders));
    print("cost", time, "");
    print("bound", best(|| bound::bounds(&op, &achieved, &roofs, &counted, &disturbed, &cost)).0, "");
    print("sched", best(|| sched::Sched::compute(&model, &phases)).0, "");
    let (time, analysis) = best(|| Analysis::compute(&model));
    print("= all analyses", time, "");

    let view = |name: &str, view: View| -> io::Result<Duration> {
        let (time, bytes) = best(|| {
            let mut bytes = Vec::new();
            view(&model, &analysis, &mut bytes).map(|()| bytes)
        });
        print(name, time, &format!("{} bytes", bytes?.len()));
        Ok(time)
    };
    let mut all = Duration::ZERO;
    for (name, write) in VIEWS.into_iter().chain([("terminal", terminal as View)]) {
        all += view(name, write)?;
    }
    print("= default views", all, "");
    for (name, write) in CSV.into_iter().chain([CHROME]) {
        view(name, write)?;
    }
    Ok(())
}
