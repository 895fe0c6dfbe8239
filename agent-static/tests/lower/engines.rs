//! Engines that end and restart, like a server's: the state of ended ones is dropped, and each new
//! one is followed like the first.

use profinfer_agent::bpf::ring::{Decode, Head};

use crate::engine::chain;
use crate::run::{PID, Run, decode_call, sorted, spans};

/// More than can be followed at once.
const STARTS: u32 = 150;
/// Engines that a session remembers.
const KEPT: u32 = 8;

#[test]
fn an_ended_engine_is_dropped_and_the_next_is_followed() {
    let mut run = Run::of_levels("all");
    let mut expected = Vec::new();
    for n in 0..STARTS {
        let (pid, key, start) = (PID + 10 * n, u64::from(n) + 1, 10_000 * (u64::from(n) + 1));
        run.process(pid);
        let thread = Head { tid: pid + 1, tgid: pid, arg: 1 };
        let graph = chain(0x1000, "n", 3);
        run.topology(thread, key, &graph);
        for token in 1..=2 {
            let call = decode_call(thread, start + 1000 * token, 1);
            run.decode(call);
            expected.push(run.compute(thread, call.start_ns + 10, key, &graph.0));
            run.decode(Decode { end_ns: call.start_ns + 500, ..call });
        }
        let progress = run.lower.engines_progress.of(pid);
        assert_eq!((progress.tokens, progress.requests), (2, 1), "engine {n}");
        run.lower.keep_engines(|known| known + 10 * KEPT > pid, &mut run.forgotten);
        assert_eq!(run.forgotten.len(), (n + 1).saturating_sub(KEPT) as usize, "engine {n}");
    }
    // The kernel side has to drop each once, the oldest first.
    assert_eq!(run.forgotten, (1..=u64::from(STARTS - KEPT)).collect::<Vec<_>>());
    let model = run.finish();
    assert_eq!(spans(&model), sorted(expected));
    assert_eq!(model.topologies.rows.len(), STARTS as usize);
}
