//! Recordings that do not belong together, and models that do not fit into the memory of a board.

use profinfer_analysis::predict::{NoCensus, Prediction, Query, Refusal, Run};

use super::board::{Made, Q8, VOCAB};

const MADE: Made = Made { layers: 2, embd: 64, dtype: Q8 };

fn refused(runs: &[Run], ask: &Query) -> Refusal {
    Prediction::compute(&MADE.file().read().unwrap(), runs, ask).expect_err("a refusal")
}

/// Two recordings, the second of which is changed.
fn with(change: impl Fn(&mut Run)) -> Refusal {
    let mut runs = [MADE.run(), MADE.run()];
    change(&mut runs[1]);
    refused(&runs, &Query::default())
}

#[test]
fn recordings_that_do_not_belong_together() {
    assert_eq!(refused(&[], &Query::default()), Refusal::NoOperators);
    assert_eq!(with(|r| r.decode.nodes.clear()), Refusal::NoOperators);
    assert_eq!(with(|r| r.whole = false), Refusal::NoOperators);
    let machines = ["made (1 CPUs)", "other (1 CPUs)"].map(str::to_owned).to_vec();
    assert_eq!(with(|r| r.cpu_model = "other".to_owned()), Refusal::Machines(machines));
    assert_eq!(with(|r| r.cpus = 4).code(), "different_machines");
    assert_eq!(with(|r| r.threads = 4), Refusal::Threads(vec![1, 4]));
    assert_eq!(
        with(|r| r.backends.push("Vulkan0".to_owned())),
        Refusal::Backends(vec!["Vulkan0".to_owned()])
    );
    let mut runs = [MADE.run(), MADE.run()];
    for (run, hz) in runs.iter_mut().zip([1e9, 1.06e9]) {
        run.clocks.push(("cpu0".to_owned(), hz));
    }
    assert_eq!(refused(&runs, &Query::default()).code(), "different_clocks");
    runs[1].clocks[0].1 = 1.04e9;
    assert!(Prediction::compute(&MADE.file().read().unwrap(), &runs, &Query::default()).is_ok());
}

#[test]
fn another_board_than_was_asked_for() {
    let ask = |board: &str| Query { board: Some(board.to_owned()), ..Query::default() };
    assert!(Prediction::compute(&MADE.file().read().unwrap(), &[MADE.run()], &ask("board")).is_ok());
    let refusal = refused(&[MADE.run()], &ask("rk3588"));
    assert_eq!(refusal, Refusal::Board { asked: "rk3588".to_owned(), found: "board".to_owned() });
    assert_eq!(refusal.code(), "other_board");
}

/// File and cache must fit into the board's available memory, to the byte.
#[test]
fn a_model_that_would_page() {
    let file = MADE.file();
    // Of the embeddings, a token reads a row.
    let table = MADE.bytes(MADE.embd, VOCAB);
    let needed = (file.header().len() + file.weights) as u64 - table;
    let with = |memory| Run { memory_bytes: Some(memory), ..MADE.run() };
    assert!(Prediction::compute(&file.read().unwrap(), &[with(needed)], &Query::default()).is_ok());
    let refusal = refused(&[with(needed - 1)], &Query::default());
    assert_eq!(refusal, Refusal::Paging { needed, available: needed - 1 });
    // A table per layer, as large as all else, changes nothing.
    let large = file.clone().tensor("per_layer_token_embd.weight", &[64, 4_096], 8, 278_528);
    let header = (large.header().len() - file.header().len()) as u64;
    let fits = |memory| Prediction::compute(&large.read().unwrap(), &[with(memory)], &Query::default());
    assert!(fits(needed + header).is_ok());
    assert_eq!(fits(needed + header - 1).map_err(|r| r.code()).err(), Some("would_page"));
}

#[test]
fn files_without_a_census() {
    let of = |file: super::file::File| {
        Prediction::compute(&file.read().unwrap(), &[MADE.run()], &Query::default())
    };
    let split = MADE.file().number("split.count", 3);
    assert_eq!(of(split), Err(Refusal::NoCensus(NoCensus::Split(3))));
    let empty = super::file::File::new("clip");
    assert_eq!(of(empty), Err(Refusal::NoCensus(NoCensus::NoLanguageModel)));
    let embeddings = super::file::File::new("bert").number("bert.attention.causal", 0);
    assert_eq!(of(embeddings), Err(Refusal::NoCensus(NoCensus::NotCausal)));
    // Architectures that are bidirectional in the engine's code, and files whose outputs are pooled.
    for hidden in [super::file::File::new("gemma-embedding"), MADE.file().number("llama.pooling_type", 3)] {
        assert_eq!(of(hidden), Err(Refusal::NoCensus(NoCensus::NotCausal)));
    }
    assert!(of(MADE.file().number("llama.pooling_type", 0)).is_ok());
    let both = super::file::File::new("t5").tensor("dec.blk.0.attn_q.weight", &[64, 64], 1, 8_192);
    assert_eq!(of(both), Err(Refusal::NoCensus(NoCensus::EncoderDecoder)));
    let experts = MADE.file().tensor("blk.0.ffn_up_exps.weight", &[64, 32, 8], 8, 17_408);
    assert_eq!(of(experts), Err(Refusal::NoCensus(NoCensus::ExpertsUsed)));
}
