//! Growth with the context: planted slopes.

use profinfer_analysis::Analysis;
use profinfer_analysis::kv::{Kv, Step};

use crate::models::calls::{CELLS, Call, call, model};

const A: u64 = 0x5000;

/// 20 tokens for each of `steps` steps of 256 cells. Attention takes 100 ns and 2 ns per cell, the
/// product 500 ns and up to 9 ns more regardless of the cells, and a call 50 ns more than both.
pub(crate) fn calls(steps: u64) -> Vec<Call> {
    let mut calls = vec![call(A, 250, &[1], 0)];
    for step in 1..=steps {
        for token in 0..20 {
            let n_kv = step * 256;
            let work = [100 + 2 * n_kv, 500 + (token * 7 + step * 3) % 10];
            let n_past = 250 + calls.len() as u32;
            calls.push(Call { n_kv, work, length: work[0] + work[1] + 50, ..call(A, 1, &[1], n_past) });
        }
    }
    calls
}

fn only(calls: &[Call]) -> Kv {
    let all = Analysis::compute(&model(calls, true)).kv;
    assert_eq!(all.len(), 1);
    all.into_iter().next().unwrap()
}

#[test]
fn a_planted_slope_is_found_where_it_is() {
    let kv = only(&calls(6));
    assert_eq!(kv.limit_cells, Some(CELLS));
    assert_eq!(kv.steps[0], Step { cells: 256, tokens: 20, median_ns: 100 + 512 + 504 + 50 });
    assert_eq!(kv.steps.len(), 6);
    let of = |name: &str| kv.names.iter().find(|o| o.name.as_deref() == Some(name)).unwrap().growth;
    let flash = of("node");
    assert_eq!(flash.ns_per_1000_cells, 2_000);
    assert!(flash.grows && flash.low_ns > 1_995 && flash.high_ns < 2_005, "{flash:?}");
    assert_eq!(flash.median_ns, 100 + 2 * 1_536);
    let ffn = of("ffn_out");
    assert!(!ffn.grows && ffn.low_ns <= 0 && ffn.high_ns >= 0, "{ffn:?}");
    assert_eq!(kv.types[0].desc, "FLASH_ATTN_EXT");
    let token = kv.token.unwrap();
    assert!(token.grows && (token.ns_per_1000_cells - 2_000).abs() <= 10, "{token:?}");
    assert!((flash.share - flash.median_ns as f64 / token.median_ns as f64).abs() < 1e-9);
    let limit = kv.at_limit.unwrap();
    let expected = 100 + 2 * CELLS + 504 + 50;
    assert!(limit.low_ns <= expected && expected <= limit.high_ns, "{limit:?}, {expected}");
    assert!(limit.token_ns.abs_diff(expected) < 40, "{limit:?}, {expected}");
}

#[test]
fn two_steps_are_not_enough() {
    let kv = only(&calls(2));
    assert_eq!((kv.steps.len(), kv.token, kv.at_limit), (2, None, None));
    assert!(kv.types.is_empty() && kv.names.is_empty());
    // A third step with too few tokens for a median does not count.
    let mut calls = calls(3);
    calls.truncate(1 + 20 + 20 + 7);
    assert_eq!(only(&calls).token, None);
}

#[test]
fn a_machine_that_was_slow_for_a_while_is_no_slope() {
    let mut calls = calls(6);
    for call in calls.iter_mut().filter(|c| c.n_kv >= 1_280) {
        call.work[1] += [0, 400][(call.n_kv == 1_280) as usize];
    }
    let kv = only(&calls);
    let ffn = kv.names.iter().find(|o| o.name.as_deref() == Some("ffn_out")).unwrap().growth;
    assert!(!ffn.grows, "{ffn:?}");
}
