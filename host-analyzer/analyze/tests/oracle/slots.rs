//! Requests of a real server by slot, compared with the answers of the server: cached tokens,
//! computed tokens, generated tokens, and its own times.

use std::thread;

use profinfer_analysis::Analysis;
use profinfer_analysis::server::{Begin, SlotRequest};
use profinfer_trace::model::Model;

use crate::serve::{Address, Server, Told};
use crate::support::{engine, model, parts};

const SLOTS: i32 = 4;
/// Requests of each slot, in order.
const REQUESTS: u32 = 4;

/// Prompts of a slot that begin alike and end differently, all of token IDs that represent text.
fn prompts(slot: i32) -> Vec<Vec<u32>> {
    let begin: Vec<u32> =
        (0..30 + 11 * slot.unsigned_abs()).map(|i| 300 + (slot.unsigned_abs() * 37 + i) % 200).collect();
    let with_end =
        |k: u32| begin.iter().copied().chain((0..7 * k).map(|i| 300 + (k * 13 + i) % 200)).collect();
    (0..REQUESTS).map(with_end).collect()
}

fn ask(address: Address, slot: i32) -> Vec<Told> {
    let n = 5 + slot.unsigned_abs();
    prompts(slot).iter().zip(n..).map(|(prompt, n)| address.complete_in(slot, prompt, n)).collect()
}

fn record() -> Option<(Model, Vec<Told>)> {
    let parts = parts()?;
    let program = engine("PROFINFER_SERVER_DIR")?.join("llama-server");
    let options = ["-m", &model(&parts, "smollm2"), "-np", "4", "-t", "2", "-c", "2048"];
    let server = Server::start(&parts, &program, &options);
    let address = server.address;
    let clients: Vec<_> = (0..SLOTS).map(|slot| thread::spawn(move || ask(address, slot))).collect();
    let told = clients.into_iter().flat_map(|c| c.join().unwrap()).collect();
    Some((server.stop(), told))
}

/// True if a time measured from call to call equals the server's, except for the server's own work
/// `between` calls, all in ms.
fn near(ours: f64, server: f64, between: f64) -> bool {
    (ours - server).abs() <= 25.0_f64.max(server * 0.1).max(between + 5.0)
}

/// Time from the end of a call to the start of the next one, in ms: the server processes the
/// outputs of the slots one after another, and reports each when it has it. At most 0.2 s, because
/// there may be no later call.
fn between(trace: &Model, end_ns: u64) -> f64 {
    let next = trace.llama_calls.start_ns.iter().filter(|start| **start >= end_ns).min();
    next.map_or(0.0, |start| (start - end_ns).min(200_000_000) as f64 / 1e6)
}

#[test]
fn requests_of_four_slots_are_what_the_server_says() {
    let Some((trace, told)) = record() else { return };
    let ledger = trace.health.parts.unwrap();
    assert!(ledger.balances() && ledger.tokens == ledger.received, "{ledger:?}");
    let analysis = Analysis::compute(&trace);
    let of_slot = |slot: i32| {
        let requests =
            analysis.server.requests.iter().filter(move |r| r.slot == slot && r.begin == Begin::Prompt);
        requests.collect::<Vec<&SlotRequest>>()
    };
    assert_eq!(analysis.server.requests.len(), told.len(), "{:#?}", analysis.server.requests);
    let (mut several, mut reused) = (0, 0);
    for slot in 0..SLOTS {
        let told: Vec<&Told> = told.iter().filter(|t| t.slot == slot).collect();
        let ours = of_slot(slot);
        assert_eq!((ours.len(), told.len()), (REQUESTS as usize, REQUESTS as usize), "slot {slot}");
        for (ours, told) in ours.iter().zip(told) {
            let tokens = (ours.reused.unwrap(), ours.prompt_tokens.unwrap(), ours.output_tokens.unwrap());
            assert_eq!(tokens, told.tokens, "{ours:?}");
            reused += u64::from(tokens.0);
            let ttft = ours.ttft_ns.unwrap() as f64 / 1e6;
            let steps = (tokens.2 - 1) as f64;
            let answer = ours.tpot_ns.unwrap() as f64 * steps / 1e6;
            println!(
                "slot {slot}: TTFT {ttft:.1} and {:.1} ms, answer {answer:.1} and {:.1} ms",
                told.prompt_ms, told.predicted_ms
            );
            let first = between(&trace, ours.start_ns + ours.ttft_ns.unwrap());
            let last = between(&trace, ours.end_ns);
            assert!(near(ttft, told.prompt_ms, first), "{ttft} against {told:?}, {first} to the next call");
            assert!(
                near(answer, told.predicted_ms, first.max(last)),
                "{answer} against {told:?}, {first} and {last} to the next calls"
            );
            assert!(ours.waited_ns.unwrap() <= ours.ttft_ns.unwrap());
        }
        several += ours.len();
    }
    assert!(reused > 0 && several == told.len(), "the prompts begin alike");
    // Every token that the server counts was in a batch, except for the last of each answer.
    let context = analysis.server.contexts.iter().find(|c| c.slots.len() == SLOTS as usize).unwrap();
    let sum =
        |of: fn(&profinfer_analysis::server::Batches) -> u64| context.batches.iter().map(of).sum::<u64>();
    assert_eq!(sum(|b| b.prompt_tokens), told.iter().map(|t| t.tokens.1).sum::<u64>());
    assert_eq!(sum(|b| b.answer_tokens), told.iter().map(|t| t.tokens.2 - 1).sum::<u64>());
    assert!(
        context.batches.iter().any(|b| b.sequences > 1),
        "clients ask at the same time: {:?}",
        context.batches
    );
    // The requests' shares of the calls are the time of the calls.
    let calls: u64 = context.batches.iter().map(|b| b.time_ns).sum();
    assert_eq!(context.spreads.cost_ns, calls);
    // The list of requests has the same.
    let listed: u64 =
        analysis.token.requests.iter().filter(|r| r.slot.is_some()).map(|r| r.prompt_tokens).sum();
    assert_eq!(listed, told.iter().map(|t| t.tokens.1).sum::<u64>());
}
